// The reference semantics of operations that find places in arrays, and of those that write cells to places.
// Places count from 1.
//
//   topPlaces(x, int64_t{2}, true)      // of each row of x, where its two largest cells are
#ifndef TOKAMAK_REFERENCE_PLACEMEANING_H
#define TOKAMAK_REFERENCE_PLACEMEANING_H

#include "runtime/values/Value.h"

namespace tokamak::reference {

// The operand, in which the parts that `indices` number along the first dimension are replaced by those of
// `updates`, in this order: of several updates of one part the last one stays. An index is a cell of
// `indices`; an update has the sizes of a part, behind the dimensions of `indices`.
runtime::Value scatter(const runtime::Value &operand, const runtime::Value &updates,
                       const runtime::Value &indices);
// The same, but each update is combined with what is there: `reduction` is add, mul, min or max.
runtime::Value scatterReduce(const runtime::Value &operand, const runtime::Value &updates,
                             const runtime::Value &indices, const runtime::Value &reduction);

// Along the last dimension, where the `count` least cells are, from the least one on, or the largest ones if
// `decreasing`; of equal cells the first one comes first. NaN is larger than every number.
runtime::Value topPlaces(const runtime::Value &operand, const runtime::Value &count,
                         const runtime::Value &decreasing);
// The numbers of the cells that are not 0, in row-major order; an array of one dimension.
runtime::Value nonzeroPlaces(const runtime::Value &operand);
// For each row of a matrix, the how-manieth of its different rows it is when these are sorted by their first
// cells, then by their second ones, and so on.
runtime::Value rowRanks(const runtime::Value &operand);
// For each cell, the place in a sorted vector where it goes: before cells that equal it, or behind them.
runtime::Value sortedPlaces(const runtime::Value &operand, const runtime::Value &sorted,
                            const runtime::Value &behind);

// The indices of a dimension of `size` places, from 0; if `isFromEnd`, negative ones are counted from its end and
// become the same places from 0. Any other index is an error.
runtime::Value checkedIndices(const runtime::Value &operand, const runtime::Value &size,
                              const runtime::Value &isFromEnd);

} // namespace tokamak::reference
#endif
