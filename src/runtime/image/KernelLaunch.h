// Launches a generated kernel: evaluates its sizes, allocates outputs from the pool, runs
// the tiles on the scheduler and merges partial results in a fixed tree. Tile boundaries
// depend on the extents, the driver's entries and the plan alone, so results do not depend
// on the number of threads.
//
//   Value operands[] = {x, 2.0}, results[1];
//   launchKernel(plan, &scheduler, operands, results);
#ifndef TOKAMAK_RUNTIME_IMAGE_KERNELLAUNCH_H
#define TOKAMAK_RUNTIME_IMAGE_KERNELLAUNCH_H

#include "abi/KernelPlan.h"
#include "runtime/values/Value.h"

#include <span>

namespace tokamak::runtime {

using abi::KernelPlan;

class Scheduler;

// The arrays among the operands become the kernel's inputs, the scalars its scalars, in order. If
// `scheduler` is null, the calling thread runs all tiles. Throws Error if memory runs out or the
// kernel reports a failing cell.
void launchKernel(const KernelPlan &plan, Scheduler *scheduler, std::span<Value> operands,
                  std::span<Value> results);

// The units of the first extent in a tile, a multiple of 8. `partialDoubles`: size of the partial
// results of one tile.
int64_t tileLength(const KernelPlan &plan, int64_t rows, int64_t columns, int64_t partialDoubles);

} // namespace tokamak::runtime
#endif
