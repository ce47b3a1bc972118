// The reference semantics of operations that construct matrices from scalars or count keys.
//
//   seq(0.0, 1.0, 0.25)             // five rows
//   table(keys, 1.0, Value(), Value(), Value())
#ifndef TOKAMAK_REFERENCE_CONSTRUCTIONMEANING_H
#define TOKAMAK_REFERENCE_CONSTRUCTIONMEANING_H

#include "runtime/values/Value.h"

namespace tokamak::reference {

// A rows x columns matrix with the same number in every cell; a string is parsed as by parseMatrix.
runtime::Value fill(const runtime::Value &value, const runtime::Value &rows,
                    const runtime::Value &columns);

// Parses numbers separated by blanks, in row-major order; there must be one for every cell.
runtime::Value parseMatrix(const runtime::Value &text, const runtime::Value &rows,
                           const runtime::Value &columns);

// The column vector from, from+by, ... (each the previous value plus `by`), of 1 + floor(to/by -
// from/by) values, and one more if that is still within `to`. A missing `by` is 1, or -1 if from >
// to; a `by` of the wrong sign is an error.
runtime::Value seq(const runtime::Value &from, const runtime::Value &to, const runtime::Value &by);

// F[a_k, b_k] += w_k for k in order. Keys are truncated to integers and must be at least 1; pairs
// with a NaN key are skipped. Column keys and weights may be scalars; missing weights are 1. A
// missing size is the largest key; with a given size, larger keys are skipped.
runtime::Value table(const runtime::Value &rowKeys, const runtime::Value &columnKeys,
                     const runtime::Value &weights, const runtime::Value &rows,
                     const runtime::Value &columns);

} // namespace tokamak::reference
#endif
