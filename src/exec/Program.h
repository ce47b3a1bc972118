// A compiled program: the static phase has run; blocks are planned when execution reaches them.
//
//   std::unique_ptr<Program> program = Program::compile(module, options);   // null on failure
//   ExecutionContext context{.output = &std::cout, .scheduler = &scheduler};
//   program->run(context);                                                  // throws Error
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
  std::ostream *explanations = nullptr; // destination; required if any is requested
  // Receives warnings that do not stop the program; may be empty.
  std::function<void(const std::string &)> warn;
  std::string machineModel;                   // file; empty: the model measured on this machine
  codegen::KernelCompiler *kernels = nullptr; // may be shared by programs; null: an own one
  ZeroRule zeroRule = ZeroRule::Sparse;
  // Folder for the files with which the program runs again without a compiler (AheadOfTime.h);
  // empty: not wanted. Requires `kernels` to be null.
  std::string aheadOfTime;
};

// Counts of one run, for tests and --stats; times in nanoseconds.
struct RunCounts {
  int64_t specializations = 0;
  int64_t specializationTime = 0; // includes kernelTime
  int64_t kernelsCompiled = 0;
  int64_t kernelsReused = 0; // found in the cache
  int64_t kernelTime = 0;
  int64_t materializedArrays = 0;
  std::vector<rewrite::RuleRun> rules; // summed over all blocks
  // "file:line" of operators that compute zero for a sparse matrix's zero times any number.
  std::set<std::string> zeroRuleUses;
  double memoryBytesPerNanosecond = 0; // read by one core, by the machine model; 0: not requested
};

class Program {
public:
  // Runs the static phase on the module and freezes it. Null after diagnostics.
  static std::unique_ptr<Program> compile(mlir::ModuleOp module, const ProgramOptions &options);
  // Runs the program once. `results`: receives the results of main, if it has any. Throws Error.
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
