#include "codegen/LaunchSizes.h"

#include "base/Error.h"
#include "ir/tok/ElementTypes.h"

using namespace mlir;
using namespace tokamak;

Size codegen::sizeAtLaunch(plan::OperatorOp op, const Size &size) {
  SmallVector<SmallVector<Size>> arrays = op.operandSizes();
  llvm::erase_if(arrays, [](ArrayRef<Size> sizes) { return sizes.empty(); });
  // Unknown if `wanted` is no size of an operand.
  auto find = [&](const Size &wanted) {
    if (wanted.isConstant())
      return wanted;
    for (auto [array, sizes] : llvm::enumerate(arrays))
      for (auto [dimension, own] : llvm::enumerate(sizes))
        if (own.provedEqual(wanted))
          return abi::sizeOfInput(array, dimension);
    return Size::unknown();
  };
  Size found = find(size);
  if (found.isUnknown())
    found = size.substitute([&](int64_t id) { return find(Size::symbol(id)); });
  if (found.isUnknown())
    internalError("the size " + size.text() + " is not computed from sizes of operands");
  return found;
}

abi::KernelPlan codegen::describeArrays(plan::OperatorOp op) {
  abi::KernelPlan plan;
  for (auto [number, operand] : llvm::enumerate(op.getInputs())) {
    ElementType cells = *tok::elementTypeOf(plan::cellsOfOperand(operand.getType()));
    if (!tok::isArray(operand.getType())) {
      plan.integerScalars.push_back(cells == ElementType::I64);
      continue;
    }
    if (op.hasDrivers() && op.getDrivers().front() == static_cast<int64_t>(number))
      plan.driver = static_cast<int32_t>(plan.inputs.size());
    plan.inputs.push_back({cells, op.isSparseOperand(number) ? TOK_CSR : TOK_DENSE,
                           op.isDriver(number) && op.getDrivers().size() > 1});
  }
  for (auto [number, type, sizes] : llvm::enumerate(op.getResultTypes(), op.resultSizes())) {
    abi::KernelOutput output{tok::isArray(type) ? abi::KernelOutput::Kind::PartialArray
                                                : abi::KernelOutput::Kind::PartialScalar};
    if (tok::isArray(type)) {
      for (const Size &size : sizes)
        output.sizes.push_back(sizeAtLaunch(op, size));
      output.elementType = *tok::elementTypeOf(plan::cellsOfOperand(type));
      if (op.isSparseResult(number))
        output.layout = TOK_CSR;
    }
    plan.outputs.push_back(output);
  }
  return plan;
}
