#include "api/Program.h"

#include "api/EmbeddedKernels.h"
#include "api/Model.h"
#include "api/Script.h"
#include "base/NearestNames.h"
#include "support/SourceText.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::api;

//===- signatures ----------------------------------------------------------------------------===//

static std::string listText(const std::vector<Signature::Parameter> &parameters) {
  std::string text;
  for (const Signature::Parameter &parameter : parameters) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", parameter.name, parameter.type);
    if (parameter.defaultText)
      text += " = " + *parameter.defaultText;
  }
  return "(" + text + ")";
}

std::string Signature::text() const {
  return name + listText(parameters) + (results.empty() ? "" : " -> " + listText(results));
}

size_t Signature::placeOf(const Argument &argument, size_t position) const {
  if (argument.name.empty()) {
    if (position < parameters.size())
      return position;
    throw Error(fmt::format("{} takes {} argument{}, but {} were given", name, parameters.size(),
                            parameters.size() == 1 ? "" : "s", position + 1))
        .note(text());
  }
  std::vector<std::string> names;
  for (size_t place = 0; place < parameters.size(); ++place) {
    if (parameters[place].name == argument.name)
      return place;
    names.push_back(parameters[place].name);
  }
  Error error(fmt::format("{} has no parameter '{}'", name, argument.name));
  std::vector<std::string> near = nearestCandidates(argument.name, names);
  if (!near.empty())
    error.note(fmt::format("did you mean '{}'?", near.front()));
  throw error.note(text());
}

size_t Signature::take(const Argument &argument, size_t position, std::vector<bool> &given) const {
  size_t place = placeOf(argument, position);
  if (given[place])
    throw Error(fmt::format("{}: the argument '{}' is given twice", name, parameters[place].name));
  given[place] = true;
  return place;
}

void Signature::checkComplete(const std::vector<bool> &given) const {
  for (size_t place = 0; place < parameters.size(); ++place)
    if (!given[place] && !parameters[place].defaultText)
      throw Error(fmt::format("{}: the argument '{}' is missing", name, parameters[place].name))
          .note(text());
}

//===- programs ------------------------------------------------------------------------------===//

static ScriptOptions compileOptions(const std::string &path, const RunOptions &options) {
  ScriptOptions result;
  result.path = path;
  result.import = importOptions(options.libraries);
  result.program.builtInKernels = &embeddedKernels();
  result.program.firstTier = pipeline::Tier::BuiltIn;
  result.program.threads = options.threads > 0 ? options.threads : runtime::usableThreads();
  result.program.cacheFolder = cacheFolder(options.cacheFolder);
  result.program.disabled = options.disabled;
  result.program.warn = options.warn;
  return result;
}

Program::Program(const std::string &path, RunOptions options)
    : options_(std::move(options)), compileOptions_(compileOptions(path, options_)),
      scheduler_(options_.threads, options_.warn) {}

Program::~Program() = default;

exec::ProgramOptions Program::explaining(const exec::Explanations &explain,
                                         std::ostream &text) const {
  exec::ProgramOptions options = compileOptions_.program;
  options.explain = explain;
  options.explanations = &text;
  return options;
}

std::unique_ptr<Program> Program::open(const std::string &path, RunOptions options) {
  if (llvm::StringRef(path).ends_with(".onnx"))
    return std::make_unique<Model>(path, std::move(options));
  return std::make_unique<Script>(path, support::readSourceText(path), std::move(options));
}

Program::Run::Run(Program &program, runtime::LateFunctions *functions) : program_(program) {
  {
    std::lock_guard lock(program.mutex_);
    if (!program.idleOutputs_.empty()) {
      output_ = std::move(program.idleOutputs_.back());
      program.idleOutputs_.pop_back();
    }
  }
  if (!output_)
    output_ = std::make_unique<OutputStream>(program.options_.output);
  context.output = output_.get();
  context.scheduler = &program.scheduler_;
  context.functions = functions;
  context.seed = program.options_.seed;
}

Program::Run::~Run() {
  output_->flush();
  std::lock_guard lock(program_.mutex_);
  program_.idleOutputs_.push_back(std::move(output_));
}

void api::addCounts(const exec::RunCounts &counts, exec::RunCounts &sum) {
  sum.specializations += counts.specializations;
  sum.plansLoaded += counts.plansLoaded;
  sum.specializationTime += counts.specializationTime;
  sum.kernelsCompiled += counts.kernelsCompiled;
  sum.kernelsReused += counts.kernelsReused;
  sum.kernelsLoaded += counts.kernelsLoaded;
  sum.kernelsBuiltIn += counts.kernelsBuiltIn;
  sum.kernelTime += counts.kernelTime;
  sum.materializedArrays += counts.materializedArrays;
}
