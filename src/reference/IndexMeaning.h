// The reference semantics of sizes, of X[r1:r2, c1:c2] and of assignment to it. Indices are 1-based
// and inclusive.
//
//   slice(x, {1, 2, 1, 1})       // the first two rows of the first column
#ifndef TOKAMAK_REFERENCE_INDEXMEANING_H
#define TOKAMAK_REFERENCE_INDEXMEANING_H

#include "runtime/values/Value.h"

#include <cstdint>

namespace tokamak::reference {

struct IndexRange {
  int64_t rowBegin, rowEnd, columnBegin, columnEnd;
};

// nrow, ncol, length. A list has as many rows as elements and one column.
runtime::Value rows(const runtime::Value &operand);
runtime::Value columns(const runtime::Value &operand);
runtime::Value length(const runtime::Value &operand);

// The result is always a matrix, even for a single cell. The range must lie within the matrix and
// not be empty, except for the whole of an empty dimension (1:0).
runtime::Value slice(const runtime::Value &operand, IndexRange range);

// A copy of `into` with the range replaced by a matrix of the same size, or, for a range of one
// cell, by a scalar.
runtime::Value insert(const runtime::Value &into, const runtime::Value &value, IndexRange range);

} // namespace tokamak::reference
#endif
