// Error propagation through cell operators: error bounds of the result from those of the operands.
//
//   CellErrors errors = binaryErrors(model, BinaryOperator::Mul, {x, ex}, {y, ey}, product);
#ifndef TOKAMAK_ORACLE_CELLRULES_H
#define TOKAMAK_ORACLE_CELLRULES_H

#include "base/CellOperators.h"
#include "oracle/CellErrors.h"

namespace tokamak::oracle {

// `result` is the reference's result for the operands' values.
CellErrors unaryErrors(const ErrorModel &model, UnaryOperator op, Tracked x,
                       const runtime::Value &result);
CellErrors binaryErrors(const ErrorModel &model, BinaryOperator op, Tracked x, Tracked y,
                        const runtime::Value &result);
CellErrors ifElseErrors(const ErrorModel &model, Tracked condition, Tracked then, Tracked otherwise,
                        const runtime::Value &result);
CellErrors replaceErrors(Tracked x, double pattern, const runtime::Value &result);

// Whether a cell with an error bound is certainly zero or certainly non-zero.
enum class Truth : uint8_t { Zero, NotZero, Unknown };
Truth truthOf(double cell, double error);

} // namespace tokamak::oracle
#endif
