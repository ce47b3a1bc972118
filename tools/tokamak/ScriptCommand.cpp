// run, explain, check: import a script, compile it, run it. Every failure becomes a message and an
// exit status.
#include "tokamak/Commands.h"
#include "tokamak/CompareCommand.h"
#include "tokamak/ExhaustedMemory.h"
#include "tokamak/ExplainPage.h"
#include "tokamak/GivenSchedules.h"
#include "tokamak/ProgramFiles.h"
#include "tokamak/Reproducer.h"
#include "tokamak/RunReport.h"
#include "tokamak/StandardStreams.h"

#include "api/EmbeddedKernels.h"
#include "api/ErrorDiagnostics.h"
#include "api/ScriptFunctions.h"
#include "base/MemoryErrors.h"
#include "base/NeedsMemory.h"
#include "base/PlaceText.h"
#include "base/RunInputs.h"
#include "frontend/dml/Import.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/Precision.h"
#include "ir/tok/RunnableProgram.h"
#include "reference/Interpreter.h"
#include "runtime/image/DeepStack.h"
#include "runtime/image/Profile.h"
#include "runtime/io/FileWriter.h"
#include "runtime/memory/BufferPool.h"
#include "runtime/parallel/TileScheduler.h"
#include "support/SourceText.h"

#include "mlir/Parser/Parser.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <new>
#include <sstream>
#include <tuple>
#include <unistd.h>

using namespace tokamak;

namespace {

frontend::ImportOptions importOptions(const CommandLine &line) {
  frontend::ImportOptions options = api::importOptions(line.libraries);
  options.arguments = line.arguments;
  options.call = line.call;
  return options;
}

api::ScriptOptions scriptOptions(const CommandLine &line) {
  return {line.file, importOptions(line), line.program, line.singlePrecision,
          line.engine == Engine::Reference};
}

bool takesOutput(int descriptor) {
  int mode = fcntl(descriptor, F_GETFL);
  return mode >= 0 && (mode & O_ACCMODE) != O_RDONLY;
}

// The seed for random numbers without a seed of their own: drawn here and recorded, so that a
// failed run can be repeated.
int64_t seedOfRun() {
  uint64_t random = 0;
  if (getentropy(&random, sizeof random) != 0)
    random = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return static_cast<int64_t>(random >> 1);
}

// One script from import to run, with the reporting of its failures.
class Script {
public:
  explicit Script(const CommandLine &line) : line_(line), functions_(scriptOptions(line), text_) {
    api::addLibrarySources(diagnostics_);
  }

  int execute() {
    try {
      refuseWhatIsForModels();
      text_ = support::readSourceText(line_.file);
      const std::string &text = text_;
      noteInputText(line_.file, text);
      exec::CompiledFiles files(line_.program.cacheFolder);
      ProgramFiles programs(files, line_, text);
      if (std::unique_ptr<exec::Program> program = programs.find(diagnostics_))
        return run(*program);
      context_.emplace(mlir::MLIRContext::Threading::DISABLED);
      context_->loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
      context_->printOpOnDiagnostic(false); // users know only the script, not operations
      if (!import(text, programs.watched(importOptions(line_))))
        return reportDiagnostics(Rejected);
      if (!line_.quiet)
        reportDiagnostics(Success);
      bool hasWarnings = !diagnostics_.sorted().empty();
      if (line_.compare)
        return compareEngines(*module_, line_, &functions_, diagnostics_);
      return line_.engine == Engine::Reference ? interpret()
                                               : compileAndRun(hasWarnings ? nullptr : &programs);
    } catch (const Error &error) {
      return reportError(error, Rejected);
    } catch (const std::bad_alloc &) {
      return reportError(refusedMemory(), Rejected);
    }
  }

private:
  void refuseWhatIsForModels() const {
    constexpr const char *arguments = "arguments of scripts stand behind -nvargs",
                         *files = "scripts write files by write", *timed = "--stats times scripts";
    const std::tuple<bool, const char *, const char *> given[] = {
        {!line_.inputs.empty(), "--input", arguments},
        {!line_.shapes.empty(), "--shape", arguments},
        {!line_.outputs.empty(), "--output", files},
        {line_.repetitions > 0, "--repeat", timed}};
    for (auto [isGiven, option, instead] : given)
      if (isGiven)
        throw Error(fmt::format("{} is for models (.onnx); {}", option, instead));
  }

  bool import(const std::string &text, const frontend::ImportOptions &options) {
    if (llvm::StringRef(line_.file).ends_with(".mlir")) {
      if (!line_.call.empty())
        throw Error("--call calls functions of DML scripts");
      NeedsMemory section(wholeScript_);
      diagnostics_.addSource(line_.file, text);
      {
        // Exit at the first parse error: when MLIR 19 abandons parsing, it frees values that other
        // operations still use if they were used before their definition, which would damage the
        // heap.
        auto onError = [this] { _exit(reportDiagnostics(Rejected)); };
        support::MlirDiagnosticForwarder forwarder(&*context_, diagnostics_, onError);
        module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &*context_, line_.file);
      }
      support::MlirDiagnosticForwarder forwarder(&*context_, diagnostics_);
      if (module_ && failed(tok::verifyRunnable(*module_)))
        return false;
    } else {
      // Generating a call generates the callee, so recursion is as deep as the chain of calls.
      runtime::runOnDeepStack([&] {
        NeedsMemory section(wholeScript_);
        module_ = frontend::importDml(sources_, line_.file, text, options, *context_, diagnostics_);
      });
    }
    if (module_ && line_.singlePrecision)
      tok::useSinglePrecision(*module_);
    return bool(module_);
  }

  // `programs`: where the program is kept for later runs; may be null.
  int compileAndRun(const ProgramFiles *programs) {
    std::unique_ptr<exec::Program> program;
    {
      NeedsMemory section(wholeScript_);
      diagnostics_.clear();
      support::MlirDiagnosticForwarder forwarder(&*context_, diagnostics_);
      exec::ProgramOptions options = programs ? programs->options() : line_.program;
      options.record = line_.page.empty() ? nullptr : &record_;
      options.schedules = readGivenSchedules(options.scheduleFile, diagnostics_);
      program = exec::Program::compile(*module_, options);
    }
    if (!program)
      return reportDiagnostics(Rejected);
    if (line_.command == Command::Check) {
      if (!line_.quiet)
        reportDiagnostics(Success);
      std::cout << line_.file << ": no errors\n";
    }
    if (line_.command != Command::Run && line_.page.empty())
      return Success;
    if (programs)
      programs->keep(*program, sources_);
    return run(*program);
  }

  int run(exec::Program &program) {
    return run([&](runtime::ExecutionContext &context) {
      program.run(context);
      counts_ = program.counts();
    });
  }

  int interpret() {
    if (line_.command != Command::Run)
      return Success;
    return run([&](runtime::ExecutionContext &context) {
      reference::Interpreter(*module_, context).run();
    });
  }

  // Failures within `body` count as failures of the running program, even before any side effect;
  // failures while preparing the run do not.
  template <typename Body> int run(Body body) {
    if (line_.memoryBytes > 0)
      runtime::BufferPool::instance().setMemoryBudget(line_.memoryBytes);
    runtime::Scheduler scheduler(line_.threads, line_.program.warn);
    runtime::ExecutionContext context;
    context.output = &std::cout;
    context.scheduler = &scheduler;
    context.functions = &functions_;
    context.seed = line_.seed >= 0 ? line_.seed : seedOfRun();
    noteInputText("seed of the run, for --seed", std::to_string(context.seed));
    context.randomNumbers = line_.randomNumbers;
    context.zeroRule = line_.program.zeroRule;
    std::optional<runtime::Profile> profile;
    if (line_.statistics != Statistics::None || !line_.trace.empty() || !line_.page.empty())
      context.profile = &profile.emplace(line_.trace.empty() ? runtime::Profile::Events::Dropped
                                                             : runtime::Profile::Events::Kept);
    std::optional<runtime::FileWriter> trace, page;
    if (!line_.trace.empty())
      trace.emplace(line_.trace);
    if (!line_.page.empty())
      page.emplace(line_.page);
    if (line_.statistics != Statistics::None && !takesOutput(STDERR_FILENO))
      throw Error("the report of --stats goes to stderr, which is not open for writing");
    auto begin = std::chrono::steady_clock::now();
    programBegins();
    try {
      body(context);
      flushOutput();
      if (profile)
        reportRun(*profile, begin, scheduler.threads(), page ? &*page : nullptr);
      if (trace)
        writeTrace(*profile, *trace);
      return Success;
    } catch (const Error &error) {
      std::cout.flush();
      if (error.kind() == ErrorKind::Interrupted)
        return reportInterrupt(error);
      return reportError(error, RunFailed);
    } catch (const std::bad_alloc &) {
      std::cout.flush();
      return reportError(refusedMemory(), RunFailed);
    }
  }

  // `page`: the file of explain --html, or null.
  void reportRun(const runtime::Profile &profile, std::chrono::steady_clock::time_point begin,
                 int threads, runtime::FileWriter *page) {
    auto nanoseconds = [](auto duration) {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
    };
    RunReport report{&profile, counts_, nanoseconds(begin - start_),
                     nanoseconds(std::chrono::steady_clock::now() - begin), threads};
    if (line_.statistics == Statistics::Text)
      writeText(report, std::cerr);
    if (line_.statistics == Statistics::Json)
      writeJson(report, std::cerr);
    if (page) {
      page->write(explainPage(line_.file, report, record_));
      page->commit();
    }
    if (!std::cerr)
      throw Error("the report of --stats can't be written to stderr");
  }

  static void writeTrace(const runtime::Profile &profile, runtime::FileWriter &file) {
    std::ostringstream text;
    profile.writeTrace(text);
    file.write(text.view());
    file.commit();
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
    std::cerr << (place.isKnown() ? fmt::format("tokamak: interrupted at {}\n", placeText(place))
                                  : "tokamak: interrupted\n");
    return Interrupted;
  }

  // `status` is the exit status for a user error at this stage.
  int reportError(const Error &error, ExitStatus status) {
    support::Diagnostic diagnostic = api::diagnosticOf(error);
    if (!error.place().isKnown())
      diagnostic.file = line_.file;
    std::string text;
    llvm::raw_string_ostream out(text);
    diagnostics_.render(diagnostic, out, line_.color);
    std::cerr << out.str();
    if (error.kind() != ErrorKind::Internal)
      return status;
    writeReproducer(error.what());
    return InternalFailure;
  }

  const CommandLine &line_;
  std::string text_; // of the script
  api::ScriptFunctions functions_;
  const SourcePlace wholeScript_{.file = line_.file};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  exec::RunCounts counts_;                   // of the finished run
  exec::PlanRecord record_;                  // of the finished run, if a page is to be written
  std::optional<mlir::MLIRContext> context_; // where the script is imported
  frontend::SourceManager sources_;
  support::DiagnosticEngine diagnostics_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

} // namespace

int tokamak::scriptCommand(const CommandLine &line) {
  CommandLine local = line;
  local.program.threads = line.threads > 0 ? line.threads : runtime::usableThreads();
  local.program.builtInKernels = &api::embeddedKernels();
  local.program.warn = [quiet = line.quiet](const std::string &text) {
    if (!quiet)
      std::cerr << fmt::format("tokamak: warning: {}\n", text);
  };
  if (line.command == Command::Explain)
    local.program.explanations = &std::cout;
  if (llvm::StringRef(line.file).ends_with(".onnx"))
    return modelCommand(local);
  return Script(local).execute();
}
