// A compiled program: the static phase has run; blocks are planned when execution reaches them. It is
// compiled once and called any number of times, from several threads at the same time: its plans and
// kernels are kept as long as it lives.
//
//   std::unique_ptr<Program> program = Program::compile(module, options);   // null on failure
//   runtime::ExecutionContext context{.output = &std::cout, .scheduler = &scheduler};
//   program->run(context);                                                  // throws Error
//   std::vector<runtime::Value> results = program->call("scale", {matrix, 0.5}, context);
#ifndef TOKAMAK_EXEC_PROGRAM_H
#define TOKAMAK_EXEC_PROGRAM_H

#include "exec/ProgramOptions.h"
#include "exec/RunCounts.h"
#include "runtime/natives/Native.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace tokamak::runtime {
class ByteReader;
class ByteWriter;
struct Image;
struct PlannedProgram;
} // namespace tokamak::runtime

namespace tokamak::exec {

// A function that can be called.
struct Entry {
  struct Parameter {
    enum class Kind : uint8_t { Array, Integer, Double, Boolean, String, Any } kind;
    // Of an array.
    int rank = 0;
    ElementType elementType = ElementType::F64;
  };
  std::string name;
  size_t function = 0; // of the image
  std::vector<Parameter> parameters;
};

class Program {
public:
  ~Program();
  // Runs the static phase on the module and freezes it. The public functions are entries. Null after
  // diagnostics.
  static std::unique_ptr<Program> compile(mlir::ModuleOp module, const ProgramOptions &options);

  // The program as it was before its first run, and back: what read() gives is as if it were compiled
  // with these options, of which `disabled` must be the same. Reading throws Error if the bytes are
  // damaged.
  void write(runtime::ByteWriter &writer) const;
  static std::unique_ptr<Program> read(runtime::ByteReader &reader, const ProgramOptions &options);

  // Runs `main`. `results`: receives its results, if it has any. Throws Error.
  void run(runtime::ExecutionContext &context, std::span<runtime::Value> results = {});
  // The last arguments of `main` in all calls that follow, which are not given to them. What `main` computes
  // from them alone is computed now (pipeline/PrepareWeights.h). They need not be aligned: those that
  // calls read are copied then. Required, before any call, of a module with tok::weightsAttributeName.
  // Throws Error.
  void holdWeights(std::vector<runtime::Value> weights, runtime::ExecutionContext &context);
  // Calls an entry and returns its results. Throws Error, for an unknown name and for arguments of
  // other types, too. Several threads may call at the same time, each with a context of its own.
  std::vector<runtime::Value> call(std::string_view entry, std::vector<runtime::Value> arguments,
                                   runtime::ExecutionContext &context);

  // The program as it runs without a compiler: with plans for the sizes that its inputs are expected to have
  // (tok::expectedSizesAttributeName), and slower ones for all others (PlansAhead.h). Throws Error.
  runtime::PlannedProgram planAhead();

  const std::vector<Entry> &entries() const;
  RunCounts counts() const;
  const runtime::Image &image() const;

private:
  class State;
  explicit Program(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Names of the passes of the static phase and of the rewrite rules: of those that a program can't do
// without, or of those that --disable accepts.
enum class Required : uint8_t { No, Yes };
std::vector<std::string> transformationNames(Required required);

} // namespace tokamak::exec
#endif
