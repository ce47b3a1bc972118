#include "codegen/loops/Access.h"

#include "abi/KernelPlan.h"
#include "base/Error.h"

#include "mlir/IR/AffineExprVisitor.h"

#include <functional>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

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
  // A sum of sizes of operands, such as that of columns side by side, of which no size alone may be known.
  std::function<Size(const Size &, int)> findSum = [&](const Size &wanted, int most) {
    Size found = find(wanted);
    if (found.isUnknown())
      found = wanted.substitute([&](int64_t id) { return find(Size::symbol(id)); });
    if (!found.isUnknown() || most == 1)
      return found;
    for (auto [array, sizes] : llvm::enumerate(arrays))
      for (auto [dimension, own] : llvm::enumerate(sizes)) {
        if (own.isUnknown() || own.isConstant())
          continue;
        if (Size rest = findSum(wanted - own, most - 1); !rest.isUnknown())
          return abi::sizeOfInput(array, dimension) + rest;
      }
    return Size::unknown();
  };
  constexpr int mostSummands = 3;
  Size found = findSum(size, mostSummands);
  if (found.isUnknown())
    internalError("the size " + size.text() + " is not computed from sizes of operands");
  return found;
}

void LinearFunction::goToEntries(unsigned row) {
  factors[row] = Size::constant(0);
  isAtEntries = true;
}

bool Access::dependsOn(unsigned axis) const {
  return cell.dependsOn(axis) || llvm::any_of(checks(), [&](const Dimension &checked) {
           return checked.place.dependsOn(axis);
         });
}

void Access::forEachFunction(llvm::function_ref<void(LinearFunction &)> visit) {
  visit(cell);
  for (Dimension &dimension : dimensions)
    visit(dimension.place);
}

// A place in one dimension, in the operator's sizes; fails if it is not linear in the axes.
static FailureOr<LinearFunction> placeOf(AffineExpr expression, size_t axisCount,
                                         ValueRange indices) {
  SimpleAffineExprFlattener flattener(axisCount, indices.size());
  if (failed(flattener.walkPostOrder(expression)) || flattener.numLocals != 0)
    return failure();
  ArrayRef<int64_t> numbers = flattener.operandExprStack.back();
  LinearFunction place(axisCount);
  place.constant = Size::constant(numbers.back());
  for (size_t axis = 0; axis < axisCount; ++axis)
    place.factors[axis] = Size::constant(numbers[axis]);
  for (auto [index, factor] : llvm::zip(indices, numbers.drop_front(axisCount)))
    if (auto size = index.getDefiningOp<plan::SizeOp>())
      place.constant = place.constant + factor * *Size::parse(size.getSize().str());
    else if (factor != 0)
      place.indices.push_back({index, Size::constant(factor)});
  return place;
}

// Axes without places have no cells, so that nothing is read or written there.
static bool isInside(const LinearFunction &place, const Size &size, ArrayRef<Size> axes) {
  if (!place.indices.empty())
    return false;
  Size least = place.constant, most = place.constant;
  for (auto [factor, axis] : llvm::zip(place.factors, axes))
    if (!factor.isConstant(0)) {
      Size &end = factor.constantValue() < 0 ? least : most;
      end = end + factor * (axis - 1);
    }
  return Size::constant(0).provedAtMost(least) && (most + 1).provedAtMost(size);
}

FailureOr<Access> codegen::accessOf(plan::OperatorOp op, Operation *readOrWrite) {
  auto read = dyn_cast<plan::ReadOp>(readOrWrite);
  auto write = dyn_cast<plan::WriteOp>(readOrWrite);
  AffineMap map = read ? read.getMap() : write.getMap();
  ValueRange indices = read ? read.getIndices() : write.getIndices();
  SmallVector<Size> axes = op.axisSizes();
  SmallVector<Size> sizes =
      read ? op.operandSizes()[cast<BlockArgument>(read.getOperand()).getArgNumber()]
           : op.resultSizes()[write.getNumber()];
  SmallVector<Size> strides(sizes.size(), Size::constant(1));
  for (size_t dimension = sizes.size(); dimension-- > 1;)
    strides[dimension - 1] = strides[dimension] * sizeAtLaunch(op, sizes[dimension]);
  Access access{LinearFunction(axes.size()), {}};
  for (auto [expression, size, stride] : llvm::zip(map.getResults(), sizes, strides)) {
    FailureOr<LinearFunction> place = placeOf(expression, axes.size(), indices);
    if (failed(place))
      return readOrWrite->emitOpError("there is no code for places that are not linear in the "
                                      "axes");
    bool isAlwaysInside = isInside(*place, size, axes);
    place->constant = sizeAtLaunch(op, place->constant);
    access.cell.constant = access.cell.constant + stride * place->constant;
    for (auto [total, factor] : llvm::zip(access.cell.factors, place->factors))
      if (!factor.isConstant(0))
        total = total + stride * factor;
    for (const auto &[index, factor] : place->indices)
      access.cell.indices.push_back({index, stride * factor});
    access.dimensions.push_back(
        {std::move(*place), sizeAtLaunch(op, size), stride, !isAlwaysInside});
  }
  if (access.hasChecks() && write)
    return write.emitOpError("may write places outside of the result");
  if (access.hasChecks() && !read.getOutside())
    return read.emitOpError("may read places outside of the array, and there is no value for them");
  return access;
}
