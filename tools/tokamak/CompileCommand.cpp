// compile: functions of a script become object code with a C header.
#include "tokamak/Commands.h"

#include "aot/ModelHeader.h"
#include "aot/ScriptModel.h"
#include "api/ErrorDiagnostics.h"
#include "base/MemoryErrors.h"
#include "base/NeedsMemory.h"
#include "base/RunInputs.h"
#include "support/SourceText.h"

#include <fmt/format.h>
#include <iostream>

using namespace tokamak;

static aot::ModelOptions modelOptions(const CommandLine &line) {
  aot::ModelOptions options{.script = {.path = line.file, .program = line.program},
                            .output = aot::ModelOutput::of(line.output),
                            .entries = line.entries,
                            .shapes = line.shapes,
                            .target = &aot::targetNamed(line.target)};
  options.script.import = api::importOptions(line.libraries);
  options.script.import.arguments = line.arguments;
  return options;
}

// What was written, and how it is called.
static void report(const aot::Model &model, const aot::ModelOutput &output) {
  std::cout << fmt::format("{} and {}: {} kernels for {}\n", output.path, output.header(),
                           aot::kernelsOf(model).size(), model.target->name);
  for (const aot::ModelEntry &entry : model.entries)
    std::cout << '\n' << aot::declarationOf(model, entry);
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
  const aot::ModelOptions options = modelOptions(line);
  try {
    std::string text = support::readSourceText(line.file);
    noteInputText(line.file, text);
    const SourcePlace wholeScript{.file = line.file};
    NeedsMemory section(wholeScript);
    exec::ObjectKeeper objects;
    std::optional<aot::Model> model = aot::compileScript(text, options, objects, diagnostics);
    if (!model)
      return reportDiagnostics(Rejected);
    if (!line.quiet)
      reportDiagnostics(Success);
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
