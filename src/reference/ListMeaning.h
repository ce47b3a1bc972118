// What lists mean: L[i], L["name"], L[i:j], their assignment and construction.
//
//   Value l = list({"a,b", 1.0, "two"});        // names, then elements
//   sliceList(l, "b", Value())                   // a list of one
#ifndef TOKAMAK_REFERENCE_LISTMEANING_H
#define TOKAMAK_REFERENCE_LISTMEANING_H

#include "runtime/Value.h"

#include <span>

namespace tokamak::reference {

// operands[0]: the names joined by commas, or nothing; the others are the elements.
runtime::Value list(std::span<const runtime::Value> operands);

// Positions count from 1 and may be names. Without `to` it is the element at `from`. Always a list.
runtime::Value sliceList(const runtime::Value &list, const runtime::Value &from,
                         const runtime::Value &to);

// A copy with the element at `from` replaced by the value as it is; with `to`, the range by the
// elements of a list of its length.
runtime::Value insertIntoList(const runtime::Value &list, const runtime::Value &value,
                              const runtime::Value &from, const runtime::Value &to);

// What a list of one element holds.
runtime::Value elementOfList(const runtime::Value &list);

// The elements of lists and the other values, in order.
runtime::Value appendToList(std::span<const runtime::Value> inputs);

} // namespace tokamak::reference
#endif
