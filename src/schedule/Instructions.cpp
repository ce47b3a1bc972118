#include "schedule/Instructions.h"

using namespace mlir;
using namespace tokamak;

bool schedule::isCell(Operation *operation) {
  return isa<plan::UnaryOp, plan::BinaryOp, plan::IfElseOp, plan::CastOp, plan::ConstantOp,
             plan::NumberOp>(operation);
}

bool schedule::isSquare(plan::BinaryOp operation) {
  auto constant = operation.getRhs().getDefiningOp<plan::ConstantOp>();
  if (operation.getKind() != BinaryOperator::Pow || !constant)
    return false;
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return number.getValueAsDouble() == 2.0;
  return cast<IntegerAttr>(constant.getValue()).getValue() == 2;
}

// Products and sums extend f32 to doubles anyway.
static bool isExtension(Operation *operation) {
  auto cast = dyn_cast<plan::CastOp>(operation);
  return cast && plan::cellsOf(cast.getCell()) == ElementType::F64 &&
         plan::cellsOf(cast.getOperand()) == ElementType::F32;
}

int schedule::instructionsOf(Operation *operation) {
  if (auto unary = dyn_cast<plan::UnaryOp>(operation))
    return tokamak::instructionsOf(unary.getKind());
  if (auto binary = dyn_cast<plan::BinaryOp>(operation))
    return isSquare(binary) ? 1 : tokamak::instructionsOf(binary.getKind());
  return isa<plan::ReadOp, plan::WriteOp, plan::ReindexOp>(operation) || isExtension(operation) ? 0
                                                                                                : 1;
}

bool schedule::isExpensive(Operation *operation) {
  if (auto unary = dyn_cast<plan::UnaryOp>(operation))
    return flopsOf(unary.getKind()) >= 6;
  auto binary = dyn_cast<plan::BinaryOp>(operation);
  return binary && flopsOf(binary.getKind()) >= 6 && !isSquare(binary);
}
