// The reference semantics of operations that drop or sort rows by their contents.
//
//   order(x, int64_t{2}, false, false)      // the rows of x by ascending second column
#ifndef TOKAMAK_REFERENCE_SELECTIONMEANING_H
#define TOKAMAK_REFERENCE_SELECTIONMEANING_H

#include "runtime/values/Value.h"

namespace tokamak::reference {

// Drops the rows ("rows") or columns ("cols") in which all cells are zero or, with `select`, those
// where it is zero. If all are dropped, the result has one row (column) of zeros, or none if not
// `emptyReturn`.
runtime::Value removeEmpty(const runtime::Value &operand, const runtime::Value &margin,
                           const runtime::Value &select, const runtime::Value &emptyReturn);

// The rows sorted by a column, or by several columns given as a vector `by`; with `indexReturn`,
// the row numbers in that order. The sort is stable; NaN comes last, in descending order first.
runtime::Value order(const runtime::Value &operand, const runtime::Value &by,
                     const runtime::Value &decreasing, const runtime::Value &indexReturn);

} // namespace tokamak::reference
#endif
