// How long operators on cells take, in the unit of MachineModel::flopsPerNanosecond: an addition of
// doubles in vector code. A vector register holds twice as many f32 as f64, whatever its width, so an
// addition of f32 counts half. Functions are measured on each machine.
//
//   cost::CellCosts costs;                                           // of the fixed model
//   cost::additionsOf(ElementType::F32)                              // 0.5
//   cost::additionsOf(UnaryOperator::Exp, ElementType::F32, costs)   // 6: half of CellOperators.def
#ifndef TOKAMAK_COST_CELLCOST_H
#define TOKAMAK_COST_CELLCOST_H

#include "base/CellOperators.h"
#include "base/ElementType.h"

#include <array>
#include <span>
#include <string_view>

namespace tokamak::cost {

// What an operator on cells takes, of doubles and of f32, in additions of doubles.
struct CellCost {
  double f64 = 0, f32 = 0;
  bool operator==(const CellCost &) const = default;
};

inline constexpr size_t unaryOperators = 0
#define TOKAMAK_UNARY(...) +1
#include "base/CellOperators.def"
    ;
inline constexpr size_t binaryOperators = 0
#define TOKAMAK_BINARY(...) +1
#include "base/CellOperators.def"
    ;

// By operator. By default as CellOperators.def says.
struct CellCosts {
  CellCosts();
  std::array<CellCost, unaryOperators> unary;
  std::array<CellCost, binaryOperators> binary;
  bool operator==(const CellCosts &) const = default;
};

// The operators that are more than one instruction, and so are measured.
std::span<const UnaryOperator> measuredUnaryOperators();
std::span<const BinaryOperator> measuredBinaryOperators();

// Of an operator that is one instruction, such as an addition or a selection.
double additionsOf(ElementType cells);
double additionsOf(UnaryOperator op, ElementType cells, const CellCosts &costs);
double additionsOf(BinaryOperator op, ElementType cells, const CellCosts &costs);
// Of adding a cell to an aggregate, which holds an f64 or an integer of 64 bits, or the least or
// largest f32.
double additionsOfAggregating(AggregateKind kind, ElementType cells);

} // namespace tokamak::cost
#endif
