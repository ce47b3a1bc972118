// A compiled program: the static phase has run, blocks are planned when they are reached.
//
//   auto program = Program::compile(module, options);        // diagnostics on failure
//   ExecutionContext context{&std::cout, &scheduler, seed};
//   (*program)->run(context);                                  // throws Error
#ifndef TOKAMAK_EXEC_PROGRAM_H
#define TOKAMAK_EXEC_PROGRAM_H

#include "exec/LateBinding.h"
#include "runtime/Executor.h"

#include "mlir/IR/BuiltinOps.h"

#include <iosfwd>
#include <set>

namespace tokamak::exec {

// What --explain shows; any combination.
struct Explanations {
  bool program = false, image = false, fusion = false, loops = false, llvm = false,
       assembly = false, recompile = false;
};

struct ProgramOptions {
  fusion::Selector selector = fusion::Selector::Cost;
  llvm::StringSet<> disabled; // passes and rules by name
  Explanations explain;
  std::ostream *explanations = nullptr; // where they go; required if any is asked for
  // Takes what the user should know although the program runs; may be empty.
  std::function<void(const std::string &)> warn;
  std::string machineModel;                   // file; empty: the model measured on this machine
  codegen::KernelCompiler *kernels = nullptr; // shared by many programs; null: one of its own
  ZeroRule zeroRule = ZeroRule::Sparse;
  // Folder for what the program needs to run again without a compiler (AheadOfTime.h); empty: not
  // wanted. The kernels must be its own.
  std::string aheadOfTime;
};

// Counts of one run, for tests and --stats; times in nanoseconds.
struct RunCounts {
  int64_t specializations = 0;
  int64_t specializationTime = 0; // that of kernels included
  int64_t kernelsCompiled = 0;
  int64_t kernelsReused = 0; // equal ones, from the cache
  int64_t kernelTime = 0;
  int64_t materializedArrays = 0;
  std::vector<rewrite::RuleRun> rules; // summed over all blocks
  // "file:line" of operators that take a zero of a sparse matrix times anything for zero.
  std::set<std::string> zeroRuleUses;
  double memoryBytesPerNanosecond = 0; // one core reads, by the machine model; 0: not asked for
};

class Program {
public:
  // Takes the module through the static phase and freezes it. Null after diagnostics.
  static std::unique_ptr<Program> compile(mlir::ModuleOp module, const ProgramOptions &options);
  // Runs the program once. Throws Error.
  // `results`: what main returns, if it does.
  void run(runtime::ExecutionContext &context, std::span<runtime::Value> results = {});
  const RunCounts &counts() const { return counts_; }
  const runtime::Image &image() const { return image_; }

private:
  explicit Program(const ProgramOptions &options) : options_(options) {}
  void tell(const SpecializationEvent &event);

  const ProgramOptions &options_;
  runtime::Image image_;
  pipeline::FrozenBlocks blocks_;
  RunCounts counts_;
};

// Every name that --disable accepts.
std::vector<std::string> disableNames();

} // namespace tokamak::exec
#endif
