// Which expressions are zero wherever one of their operands is: they need to be evaluated at the
// entries of a sparse matrix only. The proof is evaluation: a cell is followed through the
// operators with the operand at zero, constants at their values and everything else unknown.
//
//   CellFact x = 0.0, y = std::nullopt;                       // x * abs(y) where x is zero:
//   factAt(BinaryOperator::Mul, x, factAt(UnaryOperator::Abs, y)) == 0.0     // proved
//   factAt(BinaryOperator::Add, x, y) == std::nullopt                        // not zero everywhere
//
// Zero absorbs a factor, and a divisor (a division is a product with the reciprocal), also where it
// is not finite: there a dense evaluation gives NaN. Otherwise facts hold for every value of the
// unknown operands; the sign of a zero is not kept.
#ifndef TOKAMAK_BASE_SPARSESAFETY_H
#define TOKAMAK_BASE_SPARSESAFETY_H

#include "base/CellOperators.h"

#include <optional>

namespace tokamak {

// What is known of a value in a cell: its value, or nothing.
using CellFact = std::optional<double>;

// The same as a cell of single precision holds it, which is what operators see of a number there.
inline CellFact inSinglePrecision(CellFact fact) {
  return fact ? CellFact(static_cast<float>(*fact)) : fact;
}

CellFact factAt(UnaryOperator op, CellFact operand);
CellFact factAt(BinaryOperator op, CellFact left, CellFact right);
CellFact factAtIfElse(CellFact condition, CellFact then, CellFact otherwise);

inline bool isZero(CellFact fact) { return fact && *fact == 0; }

// Whether op(0, y) is 0 for every y (or op(x, 0) for every x, where `left` is false), found by
// evaluating the operator at representative values.
bool absorbsZero(BinaryOperator op, bool left);

} // namespace tokamak
#endif
