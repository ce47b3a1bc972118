// The number of a constant scalar.
//
//   std::optional<double> number = numberOf(constant);   // 1 of TRUE; nullopt of a text
#ifndef TOKAMAK_IR_TOK_SCALARCONSTANT_H
#define TOKAMAK_IR_TOK_SCALARCONSTANT_H

#include "mlir/IR/Attributes.h"

#include <optional>

namespace tokamak::tok {

// Booleans count as 0 and 1. Nullopt for null and for what is no number.
std::optional<double> numberOf(mlir::Attribute constant);

} // namespace tokamak::tok
#endif
