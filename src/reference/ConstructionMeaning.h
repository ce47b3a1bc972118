// What it means to make a matrix out of scalars, and to count into one.
//
//   seq(0.0, 1.0, 0.25)             // five rows
//   table(keys, 1.0, Value(), Value(), Value())
#ifndef TOKAMAK_REFERENCE_CONSTRUCTIONMEANING_H
#define TOKAMAK_REFERENCE_CONSTRUCTIONMEANING_H

#include "runtime/Value.h"

namespace tokamak::reference {

// rows x columns of the same number; a text is parsed as by parseMatrix.
runtime::Value fill(const runtime::Value &value, const runtime::Value &rows,
                    const runtime::Value &columns);

// Numbers separated by blanks, by rows; exactly as many as cells.
runtime::Value parseMatrix(const runtime::Value &text, const runtime::Value &rows,
                           const runtime::Value &columns);

// A column from, from+by, ... (each the one before plus `by`), as many as 1 + floor(to/by -
// from/by), and one more where that is still within `to`. Without `by` it is 1, or -1 if from > to;
// a `by` that leads away is an error.
runtime::Value seq(const runtime::Value &from, const runtime::Value &to, const runtime::Value &by);

// F[a_k, b_k] += w_k for k in order. Keys are truncated to integers and must be at least 1; pairs
// with a NaN key are passed over. Column keys and weights may be scalars; without weights each
// counts 1. Without a size it is the largest key, with one, larger keys are passed over.
runtime::Value table(const runtime::Value &rowKeys, const runtime::Value &columnKeys,
                     const runtime::Value &weights, const runtime::Value &rows,
                     const runtime::Value &columns);

} // namespace tokamak::reference
#endif
