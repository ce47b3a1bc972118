#include "reference/BodyMeaning.h"

#include "ir/plan/BodyMeaning.h"
#include "ir/tok/ElementTypes.h"

#include "mlir/IR/TypeUtilities.h"

namespace tokamak::reference {

using plan::CellArray;
using runtime::Array;
using runtime::Value;

static CellArray cellsOf(const Value &value, ElementType type) {
  CellArray result;
  if (!value.isArray()) {
    if (isFloat(type))
      result.cells = {value.asDouble()};
    else
      result.integers = {value.asInteger()};
    return result;
  }
  const Array &array = *value.array();
  result.sizes.assign(array.shape().sizes().begin(), array.shape().sizes().end());
  withCellType(array.elementType(), [&]<typename Cell>() {
    const Cell *cells = array.cellsAs<Cell>();
    if (isFloat(type))
      std::transform(cells, cells + array.cells(), std::back_inserter(result.cells),
                     convertCell<double, Cell>);
    else
      std::transform(cells, cells + array.cells(), std::back_inserter(result.integers),
                     convertCell<int64_t, Cell>);
  });
  return result;
}

static Value valueOf(const CellArray &result, mlir::Type type) {
  ElementType element = *tok::elementTypeOf(mlir::getElementTypeOrSelf(type));
  if (!tok::isArray(type))
    return isFloat(element) ? Value(result.cells.front()) : Value(result.integers.front());
  runtime::ArrayPointer array = Array::create(runtime::Shape(std::span(result.sizes)),
                                              isFloat(element) ? ElementType::F64 : element);
  if (isFloat(element))
    std::copy(result.cells.begin(), result.cells.end(), array->mutableData());
  else
    withCellType(element, [&]<typename Cell>() {
      std::transform(result.integers.begin(), result.integers.end(), array->mutableCellsAs<Cell>(),
                     convertCell<Cell, int64_t>);
    });
  return array;
}

std::vector<Value> meaningOfBody(plan::OperatorOp op, std::span<const Value> operands) {
  std::vector<CellArray> cells;
  for (auto [value, type] : llvm::zip(operands, op.getInputs().getTypes()))
    cells.push_back(cellsOf(value, *tok::elementTypeOf(plan::cellsOfOperand(type))));
  std::vector<Value> results;
  for (auto [result, type] : llvm::zip(plan::meaningOf(op, std::move(cells)), op.getResultTypes()))
    results.push_back(valueOf(result, type));
  return results;
}

} // namespace tokamak::reference
