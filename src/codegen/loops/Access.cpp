#include "codegen/loops/Access.h"

#include "codegen/LaunchSizes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

Size Access::factor(unsigned axis) const {
  Size sum = Size::constant(0);
  for (auto [place, stride] : llvm::zip(places, strides))
    sum = sum + Size::constant(place.factors[axis]) * stride;
  return sum;
}

Size Access::constant() const {
  Size sum = Size::constant(0);
  for (auto [place, stride] : llvm::zip(places, strides))
    sum = sum + place.constant * stride;
  return sum;
}

bool Access::runsOver(unsigned axis) const {
  return llvm::any_of(places, [&](const LinearPlace &place) { return place.dependsOn(axis); });
}

bool Access::hasIndices() const {
  return llvm::any_of(places, [](const LinearPlace &place) { return !place.indices.empty(); });
}

bool Access::isAlwaysInside() const {
  return llvm::all_of(places, [](const LinearPlace &place) { return place.isInside; });
}

void Access::addAxis(unsigned axis, size_t axisCount, const Size &stride) {
  LinearPlace &along = places.emplace_back();
  along.factors.assign(axisCount, 0);
  along.factors[axis] = 1;
  along.isInside = true;
  strides.push_back(stride);
}

void Access::goToEntries(unsigned row) {
  for (LinearPlace &along : places)
    along.factors[row] = 0;
  isAtEntries = true;
}

namespace {

class AccessBuilder {
public:
  AccessBuilder(plan::OperatorOp op, Operation *user, AffineMap map, ValueRange indices)
      : op_(op), user_(user), axes_(op.axisSizes()), map_(map), indices_(indices) {}

  FailureOr<Access> build(ArrayRef<Size> sizes) {
    Access access;
    for (auto [expression, size] : llvm::zip(map_.getResults(), sizes)) {
      LinearPlace place;
      place.factors.assign(axes_.size(), 0);
      if (!add(expression, 1, place))
        return user_->emitOpError("there is no code for places that are not linear in the axes");
      place.isInside = isInside(place, size);
      place.constant = atLaunch(place.constant);
      access.places.push_back(std::move(place));
      access.sizes.push_back(atLaunch(size));
    }
    access.strides.assign(sizes.size(), Size::constant(1));
    for (size_t dimension = sizes.size(); dimension-- > 1;)
      access.strides[dimension - 1] = access.strides[dimension] * access.sizes[dimension];
    return access;
  }

private:
  Size atLaunch(const Size &size) const { return sizeAtLaunch(op_, size); }

  bool add(AffineExpr expression, int64_t factor, LinearPlace &place) {
    if (auto axis = dyn_cast<AffineDimExpr>(expression)) {
      place.factors[axis.getPosition()] += factor;
      return true;
    }
    if (auto constant = dyn_cast<AffineConstantExpr>(expression)) {
      place.constant = place.constant + factor * constant.getValue();
      return true;
    }
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expression)) {
      Value index = indices_[symbol.getPosition()];
      if (auto size = index.getDefiningOp<plan::SizeOp>())
        place.constant = place.constant + factor * *Size::parse(size.getSize().str());
      else
        place.indices.push_back({index, factor});
      return true;
    }
    auto binary = cast<AffineBinaryOpExpr>(expression);
    if (binary.getKind() == AffineExprKind::Add)
      return add(binary.getLHS(), factor, place) && add(binary.getRHS(), factor, place);
    auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
    return binary.getKind() == AffineExprKind::Mul && number &&
           add(binary.getLHS(), factor * number.getValue(), place);
  }

  // Axes without places have no cells, so that nothing is read or written there.
  bool isInside(const LinearPlace &place, const Size &size) const {
    if (!place.indices.empty())
      return false;
    Size least = place.constant, most = place.constant;
    for (auto [factor, axis] : llvm::zip(place.factors, axes_)) {
      Size last = Size::constant(factor) * (axis - 1);
      if (factor > 0)
        most = most + last;
      else if (factor < 0)
        least = least + last;
    }
    return Size::constant(0).provedAtMost(least) && (most + 1).provedAtMost(size);
  }

  plan::OperatorOp op_;
  Operation *user_;
  SmallVector<Size> axes_;
  AffineMap map_;
  ValueRange indices_;
};

} // namespace

FailureOr<Access> codegen::accessOf(plan::OperatorOp op, plan::ReadOp read) {
  unsigned number = cast<BlockArgument>(read.getOperand()).getArgNumber();
  FailureOr<Access> access =
      AccessBuilder(op, read, read.getMap(), read.getIndices()).build(op.operandSizes()[number]);
  if (succeeded(access) && !access->isAlwaysInside() && !read.getOutside())
    return read.emitOpError("may read places outside of the array, and there is no value for them");
  return access;
}

FailureOr<Access> codegen::accessOf(plan::OperatorOp op, plan::WriteOp write) {
  FailureOr<Access> access = AccessBuilder(op, write, write.getMap(), write.getIndices())
                                 .build(op.resultSizes()[write.getNumber()]);
  if (succeeded(access) && !access->isAlwaysInside())
    return write.emitOpError("may write places outside of the result");
  return access;
}
