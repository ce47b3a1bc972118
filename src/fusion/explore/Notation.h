// Values and source positions in the notation of DML scripts, for explanations and labels.
//
//   notation(value)     // "sum(out * Y * Xd)"
//   placeOf(location)   // "l2svm.dml:61:13"
#ifndef TOKAMAK_FUSION_EXPLORE_NOTATION_H
#define TOKAMAK_FUSION_EXPLORE_NOTATION_H

#include "fusion/explore/BlockFacts.h"

#include <string>

namespace tokamak::fusion {

// The variable that the value was assigned to; "" if its location names none.
std::string variableOf(mlir::Value value);

// The variable, or an expression, in which deeply nested operands are written as "...".
std::string notation(mlir::Value value);

// The arrays of the pattern: "S", "S and T".
std::string notation(const EntryPattern &pattern);

// The operation that has the result `value`, with the variable that holds it:
// "g = sum(out * Y * Xd)".
std::string definition(mlir::Value value);

// As placeText says it, or "" if the location is unknown; for a call site, that in the callee.
std::string placeOf(mlir::Location location);

} // namespace tokamak::fusion
#endif
