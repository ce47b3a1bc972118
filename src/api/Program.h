// What can be called from outside: the functions of a script (Script.h), or a model (Model.h).
//
//   Function &scale = program.function("scale");
//   std::vector<Argument> arguments{{"", matrix}, {"factor", 0.5}};
//   std::shared_ptr<const runtime::List> results = scale.call(arguments); // by name; throws Error or Rejected
//
// Several threads may call at the same time.
#ifndef TOKAMAK_API_PROGRAM_H
#define TOKAMAK_API_PROGRAM_H

#include "api/OutputStream.h"
#include "api/ScriptOptions.h"
#include "exec/RunCounts.h"
#include "runtime/natives/LateFunctions.h"
#include "runtime/parallel/TileScheduler.h"
#include "runtime/values/Value.h"

#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>

namespace tokamak::api {

enum class Precision : uint8_t {
  Automatic, // of a call: single if it is given arrays of f32 and none of f64
  Double,
  Single
};

struct RunOptions {
  int threads = 0;                            // 0: all cores
  Precision precision = Precision::Automatic; // of scripts; models say theirs
  int64_t seed = -1;                          // of each call; -1: a fresh one
  std::vector<std::string> libraries;         // folders with more DML builtins, searched first
  std::string cacheFolder;                    // empty: the user's; "off": none
  llvm::StringSet<> disabled;                 // passes and rules by name
  // Receives what scripts print. May be called by several threads at the same time.
  std::function<void(std::string_view)> output;
  std::function<void(const std::string &)> warn; // receives warnings
};

// A program or a call that can't be compiled: the text is what the command line shows, with excerpts.
class Rejected : public Error {
public:
  Rejected(const std::string &firstMessage, std::string text)
      : Error(firstMessage), text_(std::move(text)) {}
  const std::string &text() const { return text_; }

private:
  std::string text_;
};

struct Argument {
  std::string_view name; // empty: by position, before all that have names
  runtime::Value value;
};

struct Signature {
  struct Parameter {
    std::string name, type; // "matrix[double]", "int"; of models "float [?, 3, 224, 224]"
    std::optional<std::string> defaultText =
        {}; // as written; nothing if the argument must be given
  };
  std::string name;
  std::vector<Parameter> parameters, results;
  std::string comment; // above the function
  // "f(X: matrix[double], k: int = 10) -> (C: matrix[double])"
  std::string text() const;
  // The parameter that an argument at this position is for, which is `given` then. Throws Error, also if it was before.
  size_t take(const Argument &argument, size_t position, std::vector<bool> &given) const;
  // Throws Error if a parameter without default is not among those given.
  void checkComplete(const std::vector<bool> &given) const;

private:
  size_t placeOf(const Argument &argument, size_t position) const;
};

class Function {
public:
  explicit Function(Signature signature) : signature_(std::move(signature)) {}
  virtual ~Function() = default;
  Function(const Function &) = delete;
  Function &operator=(const Function &) = delete;

  const Signature &signature() const { return signature_; }
  // All results, by name. The first call with values of new kinds compiles.
  virtual std::shared_ptr<const runtime::List> call(std::span<Argument> arguments) = 0;
  // The same, compiled anew with these explanations, which it returns.
  virtual std::string explain(std::span<Argument> arguments, const exec::Explanations &explain) = 0;
  virtual exec::RunCounts counts() = 0;

private:
  const Signature signature_;
};

class Program {
public:
  // The script or, by its ending, the model in a file. Throws Error or Rejected.
  static std::unique_ptr<Program> open(const std::string &path, RunOptions options);

  virtual ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  // Its own, in its order. They live as long as it.
  virtual std::vector<Function *> functions() = 0;
  // One of them or of the library. Throws Error with near names if there is none.
  virtual Function &function(const std::string &name) = 0;
  // Runs a script's statements with these `$` arguments. Throws Error or Rejected.
  virtual void run(const std::map<std::string, std::string> &arguments) = 0;
  // What an error looks like on the command line: place, excerpt, notes.
  virtual std::string describe(const Error &error) = 0;
  virtual exec::RunCounts counts() = 0; // summed over all functions

  // Binds the arguments of a call: nothing has run, what is thrown is the caller's mistake.
  template <typename Action> auto orRejected(const Action &bind) {
    try {
      return bind();
    } catch (const Error &error) {
      throw Rejected(error.message(), describe(error));
    }
  }
  // How functions are compiled, with explanations.
  exec::ProgramOptions explaining(const exec::Explanations &explain, std::ostream &text) const;

  // What a call runs in.
  class Run {
  public:
    Run(Program &program, runtime::LateFunctions *functions);
    ~Run();
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;
    runtime::ExecutionContext context;

  private:
    Program &program_;
    std::unique_ptr<OutputStream> output_;
  };

protected:
  Program(const std::string &path, RunOptions options);

  const RunOptions options_;
  ScriptOptions compileOptions_;

private:
  runtime::Scheduler scheduler_;
  std::mutex mutex_; // guards what follows
  std::vector<std::unique_ptr<OutputStream>>
      idleOutputs_; // making one takes as long as a small call
};

// What find() gives or, if that is null, make() under the lock, with which find() is asked again.
template <typename Find, typename Make>
auto &findOrMake(std::shared_mutex &mutex, const Find &find, const Make &make) {
  {
    std::shared_lock lock(mutex);
    if (auto *known = find())
      return *known;
  }
  std::lock_guard lock(mutex);
  if (auto *known = find())
    return *known;
  return *make();
}

// Adds the counts of one function to those of a program.
void addCounts(const exec::RunCounts &counts, exec::RunCounts &sum);

} // namespace tokamak::api
#endif
