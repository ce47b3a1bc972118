#include "codegen/LaunchSizes.h"

#include "base/Error.h"

using namespace mlir;
using namespace tokamak;

Size codegen::sizeAtLaunch(plan::OperatorOp op, const Size &size) {
  SmallVector<Size> sizes = op.operandSizes();
  // Unknown if `wanted` is no size of an operand.
  auto find = [&](const Size &wanted) {
    if (wanted.isConstant())
      return wanted;
    int64_t array = 0;
    for (auto [index, operand] : llvm::enumerate(op.getInputs())) {
      if (!tok::isArray(operand.getType()))
        continue;
      if (sizes[2 * index].provedEqual(wanted))
        return abi::rowsOfInput(array);
      if (sizes[2 * index + 1].provedEqual(wanted))
        return abi::columnsOfInput(array);
      ++array;
    }
    return Size::unknown();
  };
  Size found = find(size);
  if (found.isUnknown())
    found = size.substitute([&](int64_t id) { return find(Size::symbol(id)); });
  if (found.isUnknown())
    internalError("the size " + size.text() + " is not computed from sizes of operands");
  return found;
}
