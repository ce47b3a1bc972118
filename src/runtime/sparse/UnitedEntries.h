// Gives several CSR matrices the same entries, so that a kernel can walk them side by side.
//
//   ArrayReference *matrices[] = {&first, &second};
//   uniteEntries(context, matrices);   // {(0,1): 5} and {(0,1): 2, (3,3): 7} become
//                                      // {(0,1): 5, (3,3): 0} and {(0,1): 2, (3,3): 7}
#ifndef TOKAMAK_RUNTIME_SPARSE_UNITEDENTRIES_H
#define TOKAMAK_RUNTIME_SPARSE_UNITEDENTRIES_H

#include "runtime/natives/Native.h"

#include <span>

namespace tokamak::runtime {

// All are CSR matrices of the same size, each f64 or f32. Afterwards each has the union of all
// entries (with zeros for those that it lacked), and all share row offsets and column indices. Does
// nothing if they share them already.
void uniteEntries(ExecutionContext &context, std::span<ArrayReference *const> matrices);

} // namespace tokamak::runtime
#endif
