// How much work the operations of a body are: decides how far loops are unrolled and what is kept.
//
//   int instructions = instructionsOf(op);      // of one evaluation, roughly
//   if (isExpensive(op)) ...                      // cheaper to store than to compute twice
#ifndef TOKAMAK_SCHEDULE_INSTRUCTIONS_H
#define TOKAMAK_SCHEDULE_INSTRUCTIONS_H

#include "ir/plan/PlanDialect.h"

namespace tokamak::schedule {

// Bodies with more instructions per vector are not limited by memory. The order in which sums add up
// depends on it, so it is the same on every machine.
inline constexpr int mostInstructionsForMemory = 4;

// Unary, binary, ifelse, cast, constant and number.
bool isCell(mlir::Operation *operation);
int instructionsOf(mlir::Operation *operation);
bool isExpensive(mlir::Operation *operation);
// A square is computed as a product.
bool isSquare(plan::BinaryOp operation);

} // namespace tokamak::schedule
#endif
