#include "codegen/LaunchSizes.h"

#include "base/Error.h"
#include "ir/plan/IterationSpace.h"

using namespace mlir;
using namespace tokamak;

Size codegen::sizeAtLaunch(plan::OperatorOp op, const Size &size) {
  SmallVector<plan::Shape> shapes;
  for (const SmallVector<Size> &sizes : op.operandSizes())
    if (!sizes.empty())
      shapes.push_back(plan::Shape::of(sizes));
  // Unknown if `wanted` is no size of an operand.
  auto find = [&](const Size &wanted) {
    if (wanted.isConstant())
      return wanted;
    for (auto [array, shape] : llvm::enumerate(shapes)) {
      if (shape.rows.provedEqual(wanted))
        return abi::rowsOfInput(array);
      if (shape.columns.provedEqual(wanted))
        return abi::columnsOfInput(array);
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
