// Values and places as a reader of a DML script would write them, for explanations and labels.
//
//   notation(value)        "sum(out * Y * Xd)"
//   placeOf(location)      "l2svm.dml:61:13"
#ifndef TOKAMAK_FUSION_EXPLORE_NOTATION_H
#define TOKAMAK_FUSION_EXPLORE_NOTATION_H

#include "fusion/explore/BlockFacts.h"

#include <string>

namespace tokamak::fusion {

// The variable the value was assigned to, "" where its location names none.
std::string variableOf(mlir::Value value);

// The variable, or an expression; never the whole program: what is nested deeply is written "...".
std::string notation(mlir::Value value);

// "S", "S and T": the arrays whose entries make the pattern.
std::string notation(const EntryPattern &pattern);

// The expression of the operation that defines `value`, even where a variable holds it; operands
// are variables if they can.
std::string expression(mlir::Value value);

// "file:line:column", or "" where the location is not known; of a call site the callee's place.
std::string placeOf(mlir::Location location);

} // namespace tokamak::fusion
#endif
