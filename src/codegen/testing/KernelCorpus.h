// The kernels that the tests of code generation compile and launch, written to files so that they can
// run on another target. ./dev test --target NAME sets the variables that say so, as text:
//
//   TOKAMAK_KERNEL_CORPUS=FOLDER    record into this folder, which exists and is empty
//   TOKAMAK_KERNEL_TARGET=aarch64   compile for this target: aarch64, x86-64 or host
//   TOKAMAK_KERNEL_PASSES=all       of the passes of LLVM that the target leaves out, put all back, or
//                                   the one of this name
//
// The folder gets KERNEL.o for each kernel, kernels.def with their names, and `launches`
// (LaunchRecord.h) with the inputs and the results that the kernels of this machine gave. In C++:
//
//   CorpusCompiler compiler;
//   llvm::FailureOr<abi::KernelPlan> plan = compiler.compile(op);
#ifndef TOKAMAK_CODEGEN_TESTING_KERNELCORPUS_H
#define TOKAMAK_CODEGEN_TESTING_KERNELCORPUS_H

#include "codegen/KernelCompiler.h"
#include "codegen/testing/LaunchRecord.h"

#include <vector>

namespace tokamak::codegen {

// What tests compile kernels with: a KernelCompiler whose kernels are also compiled for the corpus
// if one is recorded.
class CorpusCompiler {
public:
  llvm::FailureOr<abi::KernelPlan> compile(plan::OperatorOp op,
                                           std::optional<std::string> schedule = std::nullopt);
  KernelCompilerStatistics statistics() const { return compiler_.statistics(); }

private:
  KernelCompiler compiler_{{}};
};

// To be called after a launch on one thread. `partialCells`: the cells of each result that is
// aggregated over tiles. `partials`: slot 0.
void recordLaunch(const abi::KernelPlan &plan, const TokArguments &arguments, int64_t scalars,
                  int64_t scratchDoubles, const std::vector<int64_t> &partialCells,
                  const std::vector<StepRecord> &steps, const double *partials);

} // namespace tokamak::codegen
#endif
