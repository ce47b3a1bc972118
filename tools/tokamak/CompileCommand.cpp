// compile: functions of a script, or an ONNX model, become object code with a C header.
#include "tokamak/Commands.h"

#include "aot/ModelHeader.h"
#include "aot/OnnxModel.h"
#include "aot/ScriptModel.h"
#include "api/ErrorDiagnostics.h"
#include "base/MemoryErrors.h"
#include "base/NeedsMemory.h"
#include "base/RunInputs.h"
#include "support/SourceText.h"

#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

using namespace tokamak;

static bool isOnnx(const CommandLine &line) { return line.file.ends_with(".onnx"); }

static void checkFile(const CommandLine &line) {
  if (isOnnx(line)) {
    const std::pair<bool, const char *> given[] = {{!line.entries.empty(), "--entry"},
                                                   {!line.fixed.empty(), "--fix"},
                                                   {line.singlePrecision, "--precision"},
                                                   {!line.arguments.empty(), "-nvargs and -args"}};
    for (auto [isGiven, what] : given)
      if (isGiven)
        throw Error(fmt::format("{}: {} is for scripts; expected none, as a model is compiled as a "
                                "whole, with the types that it has",
                                line.file, what));
  }
  if (line.file.ends_with(".mlir") && !line.entries.empty())
    throw Error(
        fmt::format("{}: --entry names functions of a DML script; expected none, as a .mlir "
                    "file is compiled as a whole",
                    line.file));
}

static aot::ModelOptions modelOptions(const CommandLine &line) {
  aot::ModelOptions options{.script = {.path = line.file, .import = {}, .program = line.program},
                            .output = aot::ModelOutput::of(line.output),
                            .entries = line.entries,
                            .shapes = line.shapes,
                            .target = &aot::targetNamed(line.target)};
  for (const std::string &text : line.fixed) {
    size_t equal = text.find('=');
    if (equal == text.npos || equal == 0)
      throw Error(fmt::format("--fix {}: expected NAME=VALUE, such as reg=0.1", text));
    options.fixed[text.substr(0, equal)] = text.substr(equal + 1);
  }
  options.script.import = api::importOptions(line.libraries);
  options.script.import.arguments = line.arguments;
  options.script.singlePrecision = line.singlePrecision;
  return options;
}

// What was written, and how it is called.
static void report(const aot::Model &model, const aot::ModelOutput &output) {
  std::cout << fmt::format("{} and {}: {} kernels for {}\n", output.path, output.header(),
                           aot::kernelsOf(model).size(), model.target->name);
  for (const aot::ModelEntry &entry : model.entries)
    std::cout << '\n' << aot::declarationOf(model, entry);
}

// The plans of all blocks, each with the sizes that it is for.
static void explain(const aot::Model &model) {
  for (const aot::ModelEntry &entry : model.entries) {
    std::cout << fmt::format("# image of {}\n", entry.name);
    runtime::print(entry.program.image, std::cout);
    for (const runtime::PlannedBlock &block : entry.program.blocks)
      for (const runtime::BlockPlan &plan : block.plans) {
        std::cout << fmt::format("# plan of {} for {}\n", block.name, plan.conditions.text());
        runtime::print(*plan.image, std::cout);
      }
  }
}

int tokamak::compileCommand(const CommandLine &line) {
  support::DiagnosticEngine diagnostics;
  api::addLibrarySources(diagnostics);
  auto reportDiagnostics = [&](int status) {
    std::string text;
    llvm::raw_string_ostream out(text);
    diagnostics.render(out, line.color);
    std::cerr << out.str();
    return status;
  };
  checkFile(line);
  aot::ModelOptions options = modelOptions(line);
  aot::checkReplaced(options.output);
  options.onParseError = [&] { _exit(reportDiagnostics(Rejected)); };
  try {
    std::string text;
    if (!isOnnx(line)) {
      text = support::readSourceText(line.file);
      noteInputText(line.file, text);
    }
    const SourcePlace wholeFile{.file = line.file};
    NeedsMemory section(wholeFile);
    exec::ObjectKeeper objects;
    std::optional<aot::Model> model = isOnnx(line)
                                          ? aot::compileOnnx(options, objects)
                                          : aot::compileScript(text, options, objects, diagnostics);
    if (!model)
      return reportDiagnostics(Rejected);
    if (!line.quiet)
      reportDiagnostics(Success);
    if (line.program.explain.image)
      explain(*model);
    aot::writeModel(*model, options.output);
    if (!line.quiet)
      report(*model, options.output);
    return Success;
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Internal || !error.place().isKnown())
      throw;
    std::string text;
    llvm::raw_string_ostream out(text);
    diagnostics.render(api::diagnosticOf(error), out, line.color);
    std::cerr << out.str();
    return Rejected;
  }
}
