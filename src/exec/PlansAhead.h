// Plans the blocks of a program before it has run, for a program that runs without a compiler.
//
//   std::vector<runtime::PlannedBlock> plans = planAhead(blocks, sessionOptions, kernels);
//   runtime::PlannedProgram program{image, plans};
//
// A block has first a plan for the sizes that its inputs are expected to have (tok::expectedSizesAttributeName): fused as the
// selector chooses; sizes that are not known are symbols. Behind it comes a plan for all inputs, in which each operation is a
// block of its own; those have kernels of single operators for every way in which the sizes of their operands may agree.
#ifndef TOKAMAK_EXEC_PLANSAHEAD_H
#define TOKAMAK_EXEC_PLANSAHEAD_H

#include "pipeline/CompileSession.h"
#include "runtime/image/PlannedProgram.h"

namespace tokamak::exec {

// Blocks that are split off are added to `blocks`. Throws Error.
std::vector<runtime::PlannedBlock> planAhead(pipeline::FrozenBlocks &blocks,
                                             const pipeline::SessionOptions &options,
                                             codegen::KernelCompiler &kernels);

} // namespace tokamak::exec
#endif
