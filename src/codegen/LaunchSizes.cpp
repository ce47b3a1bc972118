#include "codegen/LaunchSizes.h"

#include "base/Error.h"

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
