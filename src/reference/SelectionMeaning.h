// What it means to drop or sort rows by what they hold.
//
//   order(x, int64_t{2}, false, false)      // the rows of x by ascending second column
#ifndef TOKAMAK_REFERENCE_SELECTIONMEANING_H
#define TOKAMAK_REFERENCE_SELECTIONMEANING_H

#include "runtime/Value.h"

namespace tokamak::reference {

// Drops the rows ("rows") or columns ("cols") that hold only zeros, or where `select` is zero. If
// nothing is left: one row (column) of zeros, or none if not `emptyReturn`.
runtime::Value removeEmpty(const runtime::Value &operand, const runtime::Value &margin,
                           const runtime::Value &select, const runtime::Value &emptyReturn);

// The rows sorted by a column, or by the columns of a vector `by` in turn; or the numbers of the
// rows in that order. Stable; NaN comes last, descending first.
runtime::Value order(const runtime::Value &operand, const runtime::Value &by,
                     const runtime::Value &decreasing, const runtime::Value &indexReturn);

} // namespace tokamak::reference
#endif
