// The reference semantics of lists: L[i], L["name"], L[i:j], assignment to these, and construction.
//
//   Value operands[] = {"a,b", 1.0, "two"};      // names, then elements
//   Value l = list(operands);
//   sliceList(l, "b", Value())                   // a list of one element
#ifndef TOKAMAK_REFERENCE_LISTMEANING_H
#define TOKAMAK_REFERENCE_LISTMEANING_H

#include "runtime/values/Value.h"

#include <span>

namespace tokamak::reference {

// operands[0] holds the names joined by commas, or nothing; the other operands are the elements.
runtime::Value list(std::span<const runtime::Value> operands);

// Positions count from 1 or are names. Without `to` selects the single element at `from`. The
// result is always a list.
runtime::Value sliceList(const runtime::Value &list, const runtime::Value &from,
                         const runtime::Value &to);

// A copy with the element at `from` replaced by the value, unconverted; with `to`, the range
// replaced by the elements of a list of the same length.
runtime::Value insertIntoList(const runtime::Value &list, const runtime::Value &value,
                              const runtime::Value &from, const runtime::Value &to);

// A list of the inputs in order, where the elements of the first list are spliced in, and those of
// other lists if they have a single element.
runtime::Value appendToList(std::span<const runtime::Value> inputs);

} // namespace tokamak::reference
#endif
