#include "cost/CellCost.h"

#include <algorithm>

namespace tokamak::cost {
namespace {

// Cells of 16 bits are computed as f32: converted from and to memory's form by one instruction each
// way, of bf16 by two and, to round, eight.
constexpr double f16Conversions = 2, bf16Conversions = 10;
// No vector instruction divides integers: each division is a scalar one, of about as many cycles as
// vector instructions of one cell each.
constexpr double additionsPerDivision = 24;
// Of a step of an integer power: two products, a test, a selection and a shift for each bit.
constexpr double additionsPerBitOfPower = 5;

// Of an instruction for each of the cells as registers hold them. Kernels compute at most sixteen
// cells at a time, so integers of fewer than 32 bits are no faster than those of 32.
double additionsInRegisters(ElementType cells) {
  return isHalf(cells) ? 0.5 : static_cast<double>(std::max<int64_t>(byteSize(cells), 4)) / 8;
}

double conversionsOf(ElementType cells) {
  return cells == ElementType::F16    ? f16Conversions
         : cells == ElementType::BF16 ? bf16Conversions
                                      : 0;
}

template <typename Operator> double additionsOfFloats(Operator op, ElementType cells) {
  // f32 cells of some functions are widened: computed in doubles, with a conversion each way.
  if (cells != ElementType::F64 && singlePrecisionOf(op) == SinglePrecision::Widened)
    return flopsOf(op) + 2 + conversionsOf(cells) * additionsInRegisters(cells);
  return (flopsOf(op) + conversionsOf(cells)) * additionsInRegisters(cells);
}

} // namespace

double additionsOf(ElementType cells) {
  return (1 + conversionsOf(cells)) * additionsInRegisters(cells);
}

double additionsOf(UnaryOperator op, ElementType cells) {
  return isFloat(cells) ? additionsOfFloats(op, cells) : flopsOf(op) * additionsInRegisters(cells);
}

double additionsOf(BinaryOperator op, ElementType cells) {
  if (isFloat(cells))
    return additionsOfFloats(op, cells);
  switch (op) {
  case BinaryOperator::Div:
  case BinaryOperator::IntDiv:
  case BinaryOperator::Mod:
    return additionsPerDivision;
  case BinaryOperator::Pow:
    return additionsPerBitOfPower * 8 * static_cast<double>(byteSize(cells)) *
           additionsInRegisters(cells);
  default:
    return flopsOf(op) * additionsInRegisters(cells);
  }
}

double additionsOfAggregating(AggregateKind kind, ElementType cells) {
  bool isExtreme = kind == AggregateKind::Min || kind == AggregateKind::Max;
  if (byteSize(cells) == 8)
    return 1;
  return isExtreme && cells == ElementType::F32 ? additionsInRegisters(cells) : 2;
}

} // namespace tokamak::cost
