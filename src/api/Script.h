// A script whose functions are called with values, each compiled for the types of its arguments when it is called first.
//
//   Script script("script.dml", text, {});                  // throws Rejected
//   Script::Function &scale = script.function("scale");      // or one of the library
//   std::vector<Script::Argument> arguments{{"", matrix}, {"factor", 0.5}};
//   std::shared_ptr<const runtime::List> results = scale.call(arguments);    // by name; throws Error or Rejected
//
// Several threads may call at the same time.
#ifndef TOKAMAK_API_SCRIPT_H
#define TOKAMAK_API_SCRIPT_H

#include "api/CompiledFunction.h"
#include "api/OutputStream.h"
#include "api/ScriptFunctions.h"

#include "frontend/dml/FunctionSignatures.h"
#include "runtime/parallel/TileScheduler.h"

#include <deque>
#include <shared_mutex>

namespace tokamak::api {

enum class Precision : uint8_t {
  Automatic, // of a call: single if it is given arrays of f32 and none of f64
  Double,
  Single
};

struct RunOptions {
  int threads = 0; // 0: all cores
  Precision precision = Precision::Automatic;
  int64_t seed = -1;                  // of each call; -1: a fresh one
  std::vector<std::string> libraries; // folders with more DML builtins, searched first
  std::string cacheFolder;            // empty: the user's; "off": none
  llvm::StringSet<> disabled;         // passes and rules by name
  // Receives what the script prints. May be called by several threads at the same time.
  std::function<void(std::string_view)> output;
  std::function<void(const std::string &)> warn; // receives warnings
};

// A script or a call that can't be compiled: the message is what the command line shows, with excerpts.
class Rejected : public Error {
public:
  Rejected(const std::string &firstMessage, std::string text)
      : Error(firstMessage), text_(std::move(text)) {}
  const std::string &text() const { return text_; }

private:
  std::string text_;
};

class Script {
public:
  struct Argument {
    std::string_view name; // empty: by position, before all that have names
    runtime::Value value;
  };

  class Function {
  public:
    Function(Script &script, frontend::FunctionSignature signature)
        : script_(script), signature_(std::move(signature)) {}
    const frontend::FunctionSignature &signature() const { return signature_; }
    // All results, by name. Arrays are converted: those of one dimension are columns, cells become f64 or f32.
    std::shared_ptr<const runtime::List> call(std::span<Argument> arguments);
    // The same, compiled anew with these explanations, which it returns.
    std::string explain(std::span<Argument> arguments, const exec::Explanations &explain);

  private:
    friend class Script;
    using Kind = frontend::LateCall::Kind;
    // Arguments by position of their parameters; Nothing: not given.
    struct Bound {
      std::vector<runtime::Value> values;
      std::string key; // kinds of the arguments, and the precision
      bool singlePrecision = false;
    };
    Bound bind(std::span<Argument> arguments) const;
    Bound boundOrRejected(std::span<Argument> arguments) const;
    size_t placeOf(const Argument &argument, size_t position) const;
    runtime::Value converted(runtime::Value value,
                             const frontend::FunctionSignature::Parameter &parameter,
                             ElementType type) const;
    std::unique_ptr<CompiledFunction> compile(const Bound &bound,
                                              exec::ProgramOptions program) const;
    CompiledFunction &compiled(const Bound &bound);
    std::shared_ptr<const runtime::List> run(CompiledFunction &compiled, Bound bound) const;

    Script &script_;
    const frontend::FunctionSignature signature_;
    std::shared_mutex mutex_; // guards what follows; it is compiled under it
    std::vector<std::pair<std::string, std::unique_ptr<CompiledFunction>>> compiled_;
  };

  Script(std::string path, std::string text, RunOptions options);
  ~Script();

  // Those that the script defines, in its order.
  const std::deque<Function> &functions() const { return functions_; }
  // One of them or of the library. Throws Error with near names if there is none. It lives as long as the script.
  Function &function(const std::string &name);
  // Runs the script's statements with these `$` arguments. Throws Error or Rejected.
  void run(const std::map<std::string, std::string> &arguments);

  // What an error looks like on the command line: place, excerpt, notes.
  std::string describe(const Error &error);
  exec::RunCounts counts(); // summed over all functions that were called

private:
  // The stream of a call, which flushes it at its end. Making one takes as long as a small call.
  class Output {
  public:
    explicit Output(Script &script);
    ~Output();
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;
    std::ostream &operator*() const { return *stream_; }

  private:
    Script &script_;
    std::unique_ptr<OutputStream> stream_;
  };
  runtime::ExecutionContext context(std::ostream &output);
  [[noreturn]] static void reject(support::DiagnosticEngine &diagnostics);

  const std::string path_, text_;
  const RunOptions options_;
  ScriptOptions compileOptions_;
  runtime::Scheduler scheduler_;
  ScriptFunctions named_;
  std::mutex mutex_; // guards what follows
  std::deque<Function> functions_, ofLibrary_;
  std::vector<std::unique_ptr<OutputStream>> idleOutputs_;
};

} // namespace tokamak::api
#endif
