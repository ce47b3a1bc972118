#include "tokamak/ExplainPage.h"

#include "tokamak/PageTemplate.h"

#include "base/RunInputs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

using namespace tokamak;
using Json = nlohmann::ordered_json;
using runtime::OperatorProfile;
using runtime::StepKind;

static Json placeOf(const SourcePlace &place) {
  return {{"file", place.file}, {"line", place.line}, {"column", place.column}};
}

// The texts of all scripts in which something of the run has its place.
static Json sourcesOf(const std::set<std::string> &files) {
  Json sources = Json::array();
  for (const RunInput *input = firstRunInput(); input; input = input->next.load())
    if (input->text && files.contains(input->name))
      sources.push_back(
          {{"file", input->name},
           {"text", std::string_view(input->text, std::min(input->textSize, largestInputText))}});
  return sources;
}

static Json stepOf(const OperatorProfile &step) {
  Json json = {{"kind", nameOf(step.kind)}, {"name", step.name},
               {"calls", step.calls},       {"ns", step.nanoseconds},
               {"bytes", step.bytes},       {"predicted_ns", step.predictedNanoseconds}};
  if (step.place.isKnown())
    json["place"] = placeOf(step.place);
  return json;
}

static Json planOf(const exec::PlanRecord::Plan &plan) {
  Json json = Json::parse(plan.facts);
  json["place"] = placeOf(plan.place);
  json["inputs"] = plan.inputs;
  json["reason"] = plan.reason;
  json["compile_ms"] = plan.milliseconds;
  for (const auto &[number, kernel] : plan.kernels)
    json["operators"].at(number)["kernel"] = kernel;
  return json;
}

static void collectFiles(const Json &plan, std::set<std::string> &files) {
  for (const Json &operation : plan["operations"])
    if (operation.contains("file"))
      files.insert(operation["file"].get<std::string>());
}

// JSON in which no text can end the script element that holds it.
static std::string inScript(const Json &json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace), safe;
  safe.reserve(text.size());
  for (char c : text) {
    if (c == '<') // of strings only, in which this escape means the same
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

std::string tokamak::explainPage(const std::string &script, const RunReport &report,
                                 const exec::PlanRecord &record) {
  std::set<std::string> files = {script};
  Json facts = {{"script", script},
                {"run_ns", report.runTime},
                {"import_ns", report.importTime},
                {"compile_ns", report.counts.specializationTime},
                {"threads", report.threads}};
  facts["plans"] = Json::array();
  for (const exec::PlanRecord::Plan &plan : record.plans()) {
    facts["plans"].push_back(planOf(plan));
    collectFiles(facts["plans"].back(), files);
  }
  facts["steps"] = Json::array();
  for (const OperatorProfile &step : report.profile->operators())
    if (step.kind != StepKind::Compilation) {
      facts["steps"].push_back(stepOf(step));
      files.insert(step.place.file);
    }
  facts["kernels"] = Json::object();
  for (const auto &[name, kernel] : record.kernels())
    facts["kernels"][name] = {
        {"schedule", kernel.schedule}, {"loops", kernel.loops}, {"assembly", kernel.assembly}};
  facts["sources"] = sourcesOf(files);
  std::string page(pageTemplate());
  page.replace(page.find(factsMark), factsMark.size(), inScript(facts));
  return page;
}
