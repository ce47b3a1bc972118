// What an operator over the entries of several CSR matrices reads: the same matrices with the same
// entries, so that a kernel walks them side by side.
//
//   uniteEntries(context, matrices);         // {(0,1): 5} and {(0,1): 2, (3,3): 7} become
//   matrices[0]->columnIndices() == matrices[1]->columnIndices()    // {(0,1): 5, (3,3): 0} and
//                                                                   // {(0,1): 2, (3,3): 7}
#ifndef TOKAMAK_RUNTIME_UNITEDENTRIES_H
#define TOKAMAK_RUNTIME_UNITEDENTRIES_H

#include "runtime/Native.h"

#include <span>

namespace tokamak::runtime {

// CSR matrices of one size, each f64 or f32: afterwards all have an entry wherever one of them had
// one, zeros where they had none themselves, and share offsets and indices. Matrices that share
// them already stay as they are.
void uniteEntries(ExecutionContext &context, std::span<ArrayReference *const> matrices);

} // namespace tokamak::runtime
#endif
