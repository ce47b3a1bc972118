#include "schedule/MergedAxes.h"

using namespace mlir;
using namespace tokamak;

namespace {

// Whether two axes, with axes of size 1 between them, can be walked as one.
class Neighbours {
public:
  Neighbours(plan::OperatorOp op, unsigned first, unsigned second)
      : op_(op), first_(first), second_(second), axes_(op.axisSizes()) {}

  // Aggregates of what runs over both axes or neither are over both or neither.
  bool areOne() {
    auto isScanned = [&](unsigned axis) { return op_.axisKind(axis) == plan::AxisKind::Scanned; };
    if (isScanned(first_) || isScanned(second_))
      return false;
    return llvm::all_of(op_.getBody().front(), [&](Operation &operation) {
      if (auto write = dyn_cast<plan::WriteOp>(operation))
        return isWalked(write.getMap(), op_.resultSizes()[write.getNumber()]);
      if (!areTogether(cast<plan::CellType>(operation.getResult(0).getType())))
        return false;
      if (auto read = dyn_cast<plan::ReadOp>(operation))
        return isWalked(read.getMap(), sizesOf(read));
      auto reindex = dyn_cast<plan::ReindexOp>(operation);
      return !reindex || isHere(reindex);
    });
  }

private:
  SmallVector<Size> sizesOf(plan::ReadOp read) {
    return op_.operandSizes()[cast<BlockArgument>(read.getOperand()).getArgNumber()];
  }

  bool areTogether(plan::CellType cell) const {
    return cell.runsOver(first_) == cell.runsOver(second_);
  }

  bool dependsOn(AffineExpr place) const {
    return place.isFunctionOfDim(first_) || place.isFunctionOfDim(second_);
  }

  // Neither axis appears, or each is the place in one dimension, with none but dimensions of size 1
  // between them, and the second dimension is as long as its axis.
  bool isWalked(AffineMap map, ArrayRef<Size> sizes) const {
    ArrayRef<AffineExpr> places = map.getResults();
    auto dimensionOf = [&](unsigned axis) -> size_t {
      return llvm::find(places, getAffineDimExpr(axis, map.getContext())) - places.begin();
    };
    int64_t uses = llvm::count_if(places, [&](AffineExpr place) { return dependsOn(place); });
    size_t from = dimensionOf(first_), to = dimensionOf(second_);
    return uses == 0 ||
           (uses == 2 && from < to && to < places.size() && sizes[to].provedEqual(axes_[second_]) &&
            llvm::all_of(
                sizes.slice(from + 1, to - from - 1),
                [](const Size &size) { return size.isConstant(1); }));
  }

  // Whether what runs over these axes is read at the same places of them.
  bool isHere(plan::ReindexOp reindex) const {
    ArrayRef<unsigned> own = reindex.getOperand().getType().getAxes();
    return llvm::all_of(llvm::zip(own, reindex.getMap().getResults()), [&](auto pair) {
      AffineExpr from = getAffineDimExpr(std::get<0>(pair), op_.getContext());
      AffineExpr place = std::get<1>(pair);
      return place == from || !(dependsOn(from) || dependsOn(place));
    });
  }

  mutable plan::OperatorOp op_; // an operation's accessors are not const
  unsigned first_, second_;
  SmallVector<Size> axes_;
};

} // namespace

llvm::BitVector schedule::mergedAxes(plan::OperatorOp op) {
  SmallVector<Size> sizes = op.axisSizes();
  llvm::BitVector merged(sizes.size());
  std::optional<unsigned> next;
  for (unsigned axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis].isConstant(1))
      continue;
    merged[axis] = next && Neighbours(op, axis, *next).areOne();
    next = axis;
  }
  return merged;
}
