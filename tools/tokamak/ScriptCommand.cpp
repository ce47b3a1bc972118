// run, explain, check: import a script, compile it, run it; every failure becomes a message and an
// exit status.
#include "tokamak/Commands.h"
#include "tokamak/CompareCommand.h"
#include "tokamak/EmbeddedLibrary.h"
#include "tokamak/RunReport.h"

#include "frontend/dml/Import.h"
#include "ir/tok/Precision.h"
#include "ir/tok/RunnableProgram.h"
#include "reference/Interpreter.h"
#include "runtime/BufferPool.h"
#include "runtime/Profile.h"
#include "runtime/TileScheduler.h"

#include "mlir/Parser/Parser.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace tokamak;

namespace {

std::optional<std::string> readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Script builtins: the folders given by --library first, then the library built in.
frontend::ImportOptions importOptions(const CommandLine &line) {
  frontend::ImportOptions options;
  options.arguments = line.arguments;
  options.library = [&line](llvm::StringRef name) -> std::optional<frontend::LibrarySource> {
    for (const std::string &folder : line.libraries) {
      std::string path = folder + "/" + name.str() + ".dml";
      if (auto text = readText(path))
        return frontend::LibrarySource{path, *text};
    }
    for (const EmbeddedSource &source : embeddedLibrary())
      if (source.name == std::string_view(name.data(), name.size()))
        return frontend::LibrarySource{std::string(source.path), std::string(source.text)};
    return std::nullopt;
  };
  for (const EmbeddedSource &source : embeddedLibrary())
    options.libraryNames.emplace_back(source.name);
  return options;
}

// One script on its way: what it is made of and how its failures are told.
class Script {
public:
  explicit Script(const CommandLine &line)
      : line_(line), context_(mlir::MLIRContext::Threading::DISABLED) {
    context_.loadDialect<tok::TokDialect, mlir::func::FuncDialect>();
    context_.printOpOnDiagnostic(false); // the user knows a script, no operations
    // The library's sources are not on the user's disk.
    for (const EmbeddedSource &source : embeddedLibrary())
      diagnostics_.addSource({source.path.data(), source.path.size()},
                             {source.text.data(), source.text.size()});
  }

  int execute() {
    auto text = readText(line_.file);
    if (!text) {
      std::cerr << fmt::format("tokamak: can't read '{}'\n", line_.file);
      return Rejected;
    }
    try {
      if (!import(*text))
        return reportDiagnostics(Rejected);
      if (!line_.quiet)
        reportDiagnostics(Success);
      if (line_.compare)
        return compareEngines(*module_, line_, diagnostics_);
      return line_.engine == Engine::Reference ? interpret() : compileAndRun();
    } catch (const Error &error) {
      return reportError(error, false);
    }
  }

private:
  bool import(const std::string &text) {
    if (llvm::StringRef(line_.file).ends_with(".mlir")) {
      support::MlirDiagnosticForwarder forwarder(&context_, diagnostics_);
      module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_, line_.file);
      if (module_ && failed(tok::verifyRunnable(*module_)))
        return false;
    } else {
      module_ = frontend::importDml(sources_, line_.file, text, importOptions(line_), context_,
                                    diagnostics_);
    }
    if (module_ && line_.singlePrecision)
      tok::useSinglePrecision(*module_);
    return bool(module_);
  }

  int compileAndRun() {
    std::unique_ptr<exec::Program> program;
    {
      diagnostics_.clear();
      support::MlirDiagnosticForwarder forwarder(&context_, diagnostics_);
      program = exec::Program::compile(*module_, line_.program);
    }
    if (!program)
      return reportDiagnostics(Rejected);
    if (line_.command == Command::Check)
      std::cout << line_.file << ": no errors\n";
    if (line_.command != Command::Run)
      return Success;
    return run(*program, [&](runtime::ExecutionContext &context) {
      program->run(context);
      counts_ = program->counts();
    });
  }

  int interpret() {
    if (line_.command != Command::Run)
      return Success;
    std::unique_ptr<reference::Interpreter> interpreter;
    struct Started {
      std::unique_ptr<reference::Interpreter> &interpreter;
      bool hasStarted() const { return interpreter && interpreter->hasStarted(); }
    } started{interpreter};
    return run(started, [&](runtime::ExecutionContext &context) {
      interpreter = std::make_unique<reference::Interpreter>(*module_, context);
      interpreter->run();
    });
  }

  template <typename Runner, typename Body> int run(const Runner &runner, Body body) {
    if (line_.memoryBytes > 0)
      runtime::BufferPool::instance().setMemoryBudget(line_.memoryBytes);
    runtime::Scheduler scheduler(line_.threads);
    runtime::ExecutionContext context;
    context.output = &std::cout;
    context.scheduler = &scheduler;
    context.seed = line_.seed;
    std::optional<runtime::Profile> profile;
    if (line_.statistics != Statistics::None || !line_.trace.empty())
      context.profile = &profile.emplace(line_.trace.empty() ? runtime::Profile::Events::Dropped
                                                             : runtime::Profile::Events::Kept);
    auto begin = std::chrono::steady_clock::now();
    try {
      body(context);
      std::cout.flush();
      if (profile)
        reportRun(*profile, begin, scheduler.threads());
      return Success;
    } catch (const Error &error) {
      std::cout.flush();
      if (error.kind() == ErrorKind::Interrupted)
        return reportInterrupt(error);
      return reportError(error, runner.hasStarted());
    }
  }

  void reportRun(const runtime::Profile &profile, std::chrono::steady_clock::time_point begin,
                 int threads) {
    auto nanoseconds = [](auto duration) {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
    };
    RunReport report{&profile, counts_, nanoseconds(begin - start_),
                     nanoseconds(std::chrono::steady_clock::now() - begin), threads};
    if (line_.statistics == Statistics::Text)
      writeText(report, std::cerr);
    if (line_.statistics == Statistics::Json)
      writeJson(report, std::cerr);
    if (line_.trace.empty())
      return;
    std::ofstream file(line_.trace);
    profile.writeTrace(file);
    file.close();
    if (!file)
      throw Error(fmt::format("can't write the trace to '{}'", line_.trace));
  }

  int reportDiagnostics(int status) {
    std::string text;
    llvm::raw_string_ostream out(text);
    diagnostics_.render(out, line_.color);
    std::cerr << out.str();
    return status;
  }

  int reportInterrupt(const Error &error) {
    const SourcePlace &place = error.place();
    std::cerr << (place.isKnown() ? fmt::format("tokamak: interrupted at {}:{}:{}\n", place.file,
                                                place.line, place.column)
                                  : "tokamak: interrupted\n");
    return Interrupted;
  }

  int reportError(const Error &error, bool started) {
    support::Diagnostic diagnostic;
    const SourcePlace &place = error.place();
    diagnostic.file = place.isKnown() ? place.file : line_.file;
    diagnostic.line = place.line;
    diagnostic.column = place.column;
    diagnostic.message = error.message();
    bool internal = error.kind() == ErrorKind::Internal;
    if (internal)
      diagnostic.message = "internal error: " + diagnostic.message;
    for (const std::string &note : error.notes())
      diagnostic.note(note);
    for (const SourcePlace &caller : error.callStack())
      diagnostic.notes.push_back(
          {"called from here", caller.file, uint32_t(caller.line), uint32_t(caller.column)});
    std::string text;
    llvm::raw_string_ostream out(text);
    diagnostics_.render(diagnostic, out, line_.color);
    std::cerr << out.str();
    if (internal) {
      writeReproducer(line_, error.message());
      return InternalFailure;
    }
    return started || error.kind() == ErrorKind::Stop ? RunFailed : Rejected;
  }

  const CommandLine &line_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  exec::RunCounts counts_; // of the run that has ended
  mlir::MLIRContext context_;
  frontend::SourceManager sources_;
  support::DiagnosticEngine diagnostics_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

} // namespace

int tokamak::scriptCommand(const CommandLine &line) {
  CommandLine local = line;
  if (line.command == Command::Explain) {
    local.program.explain.program = local.program.explain.image = true;
    local.program.explanations = &std::cout;
  }
  return Script(local).execute();
}

void tokamak::writeReproducer(const CommandLine &line, const std::string &message) {
  std::string path = fmt::format("tokamak-reproducer-{}.txt", getpid());
  std::ofstream file(path);
  file << "internal error: " << message << "\nversion: " TOKAMAK_VERSION "\nfile: " << line.file
       << '\n';
  for (const auto &[name, value] : line.arguments)
    file << "argument: " << name << '=' << value << '\n';
  if (auto text = readText(line.file))
    file << "\n" << *text;
  file.close();
  if (file)
    std::cerr << "This is a bug in Tokamak, not in your program. " << path
              << " has what is needed to repeat it; please report it.\n";
}
