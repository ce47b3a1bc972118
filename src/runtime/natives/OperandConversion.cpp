#include "runtime/natives/OperandConversion.h"

#include "runtime/sparse/SparseMatrix.h"

#include <algorithm>

namespace tokamak::runtime {

// The element type to which a native's operand is converted.
static ElementType acceptedType(NativeAccess accepted, std::span<const Value> operands,
                                ElementType own, ElementType result) {
  auto areAll = [&](auto suits) {
    return std::all_of(operands.begin(), operands.end(), [&](const Value &operand) {
      return !operand.isArray() || suits(operand.array()->elementType());
    });
  };
  auto mayBeSingle = [](ElementType type) { return isFloat(type) && type != ElementType::F64; };
  switch (accepted) {
  case NativeAccess::DenseCells:
  case NativeAccess::AnyCells:
  case NativeAccess::Any:
    return own;
  case NativeAccess::Products:
    if (!isFloat(own))
      return result;
    return areAll(mayBeSingle) ? ElementType::F32 : ElementType::F64;
  case NativeAccess::DenseDoubles:
  case NativeAccess::Doubles:
    break;
  }
  return ElementType::F64;
}

void convertOperands(const NativeRow &native, std::span<Value> operands, ElementType result) {
  if (native.kind != NativeKind::View)
    alignArrays(operands);
  NativeAccess accepted = native.access;
  if (accepted == NativeAccess::Any)
    return;
  if ((accepted == NativeAccess::Products || accepted == NativeAccess::AnyCells) &&
      hasSparse(operands))
    accepted = NativeAccess::Doubles;
  for (Value &operand : operands) {
    if (!operand.isArray())
      continue;
    ArrayReference &array = operand.array();
    ElementType type = acceptedType(accepted, operands, array->elementType(), result);
    if (array->elementType() != type)
      array = Array::withElementType(array, type);
    if (array->isRepeated() || (array->isSparse() && accepted != NativeAccess::Doubles))
      array = Array::asDense(array);
  }
}

void convertResults(std::span<Value> results, ElementType declared) {
  for (Value &result : results)
    if (result.isArray() && result.array()->elementType() != declared)
      result = Array::withElementType(result.array(), declared);
}

} // namespace tokamak::runtime
