// Launches a generated kernel: sizes, outputs from the pool, tiles over the scheduler, partial
// results merged in a fixed tree. Tile boundaries come from the extents and the plan alone, so
// results do not depend on threads.
//
//   Value operands[] = {x, 2.0}, results[1];
//   launchKernel(plan, &scheduler, operands, results);
#ifndef TOKAMAK_RUNTIME_KERNELLAUNCH_H
#define TOKAMAK_RUNTIME_KERNELLAUNCH_H

#include "abi/KernelPlan.h"
#include "runtime/Value.h"

#include <span>

namespace tokamak::runtime {

using abi::KernelPlan;

class Scheduler;

// Arrays among the operands become the kernel's inputs, scalars its scalars, each in order.
// `scheduler` may be null: then the calling thread runs all tiles. Throws Error if memory runs out
// or the kernel reports a failing cell.
void launchKernel(const KernelPlan &plan, Scheduler *scheduler, std::span<Value> operands,
                  std::span<Value> results);

// Units of the first extent in a tile, a multiple of 8. `partialDoubles`: partial results of one
// tile.
int64_t tileLength(const KernelPlan &plan, int64_t rows, int64_t columns, int64_t partialDoubles);

} // namespace tokamak::runtime
#endif
