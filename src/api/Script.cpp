#include "api/ScriptFunction.h"

#include "api/ErrorDiagnostics.h"
#include "base/NearestNames.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/Precision.h"
#include "ir/tok/TokDialect.h"
#include "runtime/image/DeepStack.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::api;

// Without the place in the function that passes the arguments on, which is in no file of the user.
static support::Diagnostic shown(support::Diagnostic diagnostic) {
  auto forget = [](auto &placed) {
    if (isEntryFile(placed.file)) {
      placed.file.clear();
      placed.line = placed.column = 0;
    }
  };
  forget(diagnostic);
  llvm::for_each(diagnostic.notes, forget);
  return diagnostic;
}

static std::string rendered(support::DiagnosticEngine &diagnostics,
                            const support::Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream out(text);
  diagnostics.render(shown(diagnostic), out);
  return out.str();
}

Script::Script(std::string path, std::string text, RunOptions options)
    : Program(path, std::move(options)), path_(std::move(path)), text_(std::move(text)),
      named_(compileOptions_, text_) {
  auto diagnostics = this->diagnostics();
  frontend::SourceManager sources;
  std::vector<frontend::FunctionSignature> signatures;
  runtime::runOnDeepStack([&] {
    signatures =
        frontend::signaturesOf(sources, path_, text_, compileOptions_.import, *diagnostics);
  });
  if (diagnostics->hasErrors())
    reject(*diagnostics);
  for (const frontend::FunctionSignature &signature : signatures)
    functions_.emplace_back(*this, signature);
}

Script::~Script() = default;

// With the sources that are not on disk.
std::unique_ptr<support::DiagnosticEngine> Script::diagnostics() const {
  auto diagnostics = std::make_unique<support::DiagnosticEngine>();
  diagnostics->addSource(path_, text_);
  addLibrarySources(*diagnostics);
  return diagnostics;
}

std::vector<Function *> Script::functions() {
  std::vector<Function *> functions;
  for (ScriptFunction &function : functions_)
    functions.push_back(&function);
  return functions;
}

Function &Script::function(const std::string &name) {
  std::lock_guard lock(mutex_);
  for (std::deque<ScriptFunction> *known : {&functions_, &ofLibrary_})
    for (ScriptFunction &function : *known)
      if (function.signature().name == name)
        return function;
  auto diagnostics = this->diagnostics();
  frontend::SourceManager sources;
  auto found =
      frontend::signatureOf(sources, path_, text_, name, compileOptions_.import, *diagnostics);
  if (diagnostics->hasErrors())
    reject(*diagnostics);
  if (found)
    return ofLibrary_.emplace_back(*this, *found);
  std::vector<std::string> names = compileOptions_.import.libraryNames;
  for (const ScriptFunction &function : functions_)
    names.push_back(function.signature().name);
  Error error(fmt::format("neither the script nor the library has a function '{}'", name));
  std::vector<std::string> near = nearestCandidates(name, names);
  if (!near.empty())
    error.note(fmt::format("did you mean '{}'?", near.front()));
  throw error;
}

void Script::run(const std::map<std::string, std::string> &arguments) {
  auto diagnostics = this->diagnostics();
  frontend::ImportOptions import = compileOptions_.import;
  import.arguments = arguments;
  mlir::MLIRContext mlir(mlir::MLIRContext::Threading::DISABLED);
  mlir.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
  mlir.printOpOnDiagnostic(false);
  frontend::SourceManager sources;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  runtime::runOnDeepStack(
      [&] { module = frontend::importDml(sources, path_, text_, import, mlir, *diagnostics); });
  if (!module)
    reject(*diagnostics);
  if (options_.precision == Precision::Single)
    tok::useSinglePrecision(*module);
  std::unique_ptr<exec::Program> program;
  {
    support::MlirDiagnosticForwarder forwarder(&mlir, *diagnostics);
    program = exec::Program::compile(*module, compileOptions_.program);
  }
  if (!program)
    reject(*diagnostics);
  Run run(*this, &named_);
  program->run(run.context);
}

void Script::reject(support::DiagnosticEngine &diagnostics) {
  std::optional<support::Diagnostic> first;
  std::string text;
  for (const support::Diagnostic *diagnostic : diagnostics.sorted()) {
    text += rendered(diagnostics, *diagnostic);
    if (!first && diagnostic->severity == support::Severity::Error)
      first = shown(*diagnostic);
  }
  Rejected rejected(first->message, text);
  rejected.at({first->file, static_cast<int>(first->line), static_cast<int>(first->column)});
  throw rejected;
}

std::string Script::describe(const Error &error) {
  return rendered(*diagnostics(), diagnosticOf(error));
}

exec::RunCounts Script::counts() {
  std::lock_guard lock(mutex_);
  exec::RunCounts sum;
  for (std::deque<ScriptFunction> *known : {&functions_, &ofLibrary_})
    for (ScriptFunction &function : *known)
      addCounts(function.counts(), sum);
  return sum;
}
