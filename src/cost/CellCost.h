// How long operators on cells take, in the unit of MachineModel::flopsPerNanosecond: an addition of
// doubles in vector code. A vector register holds twice as many f32 as f64, whatever its width, so an
// addition of f32 counts half.
//
//   cost::additionsOf(ElementType::F32)                       // 0.5
//   cost::additionsOf(UnaryOperator::Exp, ElementType::F32)   // 6: half of what CellOperators.def says
#ifndef TOKAMAK_COST_CELLCOST_H
#define TOKAMAK_COST_CELLCOST_H

#include "base/CellOperators.h"
#include "base/ElementType.h"

namespace tokamak::cost {

// Of an operator that is one instruction, such as an addition or a selection.
double additionsOf(ElementType cells);
double additionsOf(UnaryOperator op, ElementType cells);
double additionsOf(BinaryOperator op, ElementType cells);
// Of adding a cell to an aggregate, which holds an f64 or an integer of 64 bits, or the least or
// largest f32.
double additionsOfAggregating(AggregateKind kind, ElementType cells);

} // namespace tokamak::cost
#endif
