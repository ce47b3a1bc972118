#include "cost/CellCost.h"

#include <algorithm>
#include <vector>

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

// f32 cells of some functions are widened: computed in doubles, with a conversion each way.
template <typename Operator> CellCost fixedCostOf(Operator op) {
  double flops = flopsOf(op);
  return {flops, singlePrecisionOf(op) == SinglePrecision::Widened
                     ? flops + 2
                     : flops * additionsInRegisters(ElementType::F32)};
}

double additionsOfFloats(const CellCost &cost, ElementType cells) {
  return cells == ElementType::F64 ? cost.f64
                                   : cost.f32 + conversionsOf(cells) * additionsInRegisters(cells);
}

template <typename Operator> std::vector<Operator> withSeveralInstructions(size_t count) {
  std::vector<Operator> found;
  for (size_t i = 0; i < count; ++i)
    if (auto op = static_cast<Operator>(i); flopsOf(op) > 1 && takes(op, ElementType::F64))
      found.push_back(op);
  return found;
}

} // namespace

CellCosts::CellCosts() {
  for (size_t i = 0; i < unary.size(); ++i)
    unary[i] = fixedCostOf(static_cast<UnaryOperator>(i));
  for (size_t i = 0; i < binary.size(); ++i)
    binary[i] = fixedCostOf(static_cast<BinaryOperator>(i));
}

std::span<const UnaryOperator> measuredUnaryOperators() {
  static const auto found = withSeveralInstructions<UnaryOperator>(unaryOperators);
  return found;
}

std::span<const BinaryOperator> measuredBinaryOperators() {
  static const auto found = withSeveralInstructions<BinaryOperator>(binaryOperators);
  return found;
}

double additionsOf(ElementType cells) {
  return (1 + conversionsOf(cells)) * additionsInRegisters(cells);
}

double additionsOf(UnaryOperator op, ElementType cells, const CellCosts &costs) {
  return isFloat(cells) ? additionsOfFloats(costs.unary[static_cast<size_t>(op)], cells)
                        : flopsOf(op) * additionsInRegisters(cells);
}

double additionsOf(BinaryOperator op, ElementType cells, const CellCosts &costs) {
  if (isFloat(cells))
    return additionsOfFloats(costs.binary[static_cast<size_t>(op)], cells);
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
