#include "schedule/MergedAxes.h"

using namespace mlir;
using namespace tokamak;

namespace {

// Whether two axes, with axes of size 1 between them, can be walked as one.
class Neighbours {
public:
  Neighbours(plan::OperatorOp op, unsigned first, unsigned second)
      : op_(op), first_(first), second_(second), axes_(op.axisSizes()) {}

  bool areOne() {
    auto isScanned = [&](unsigned axis) { return op_.axisKind(axis) == plan::AxisKind::Scanned; };
    if (isScanned(first_) || isScanned(second_))
      return false;
    return llvm::all_of(op_.getBody().front(), [&](Operation &operation) {
      if (auto read = dyn_cast<plan::ReadOp>(operation))
        return isWalked(read.getMap(), sizesOf(read)) && areTogether(read.getType());
      if (auto write = dyn_cast<plan::WriteOp>(operation))
        return isWalked(write.getMap(), op_.resultSizes()[write.getNumber()]);
      if (auto reindex = dyn_cast<plan::ReindexOp>(operation))
        return isHere(reindex) && areTogether(reindex.getType());
      if (auto reduce = dyn_cast<plan::ReduceOp>(operation))
        return isReducedTogether(reduce) && areTogether(reduce.getType());
      return areTogether(cast<plan::CellType>(operation.getResult(0).getType()));
    });
  }

private:
  SmallVector<Size> sizesOf(plan::ReadOp read) {
    return op_.operandSizes()[cast<BlockArgument>(read.getOperand()).getArgNumber()];
  }

  bool areTogether(plan::CellType cell) const {
    return cell.runsOver(first_) == cell.runsOver(second_);
  }

  bool isReducedTogether(plan::ReduceOp reduce) {
    return llvm::is_contained(reduce.getOver(), first_) ==
           llvm::is_contained(reduce.getOver(), second_);
  }

  // Neither axis appears, or both do, in dimensions with none but those of size 1 between them, of
  // which the second is as long as its axis.
  bool isWalked(AffineMap map, ArrayRef<Size> sizes) const {
    bool isFirst = map.isFunctionOfDim(first_), isSecond = map.isFunctionOfDim(second_);
    if (!isFirst && !isSecond)
      return true;
    unsigned dimension = 0, count = map.getNumResults();
    auto isAxis = [&](unsigned axis) {
      return dimension < count &&
             map.getResult(dimension) == getAffineDimExpr(axis, map.getContext());
    };
    while (dimension < count && !isAxis(first_))
      ++dimension;
    ++dimension;
    while (dimension < count && !isAxis(second_) && sizes[dimension].isConstant(1))
      ++dimension;
    return isAxis(second_) && sizes[dimension].provedEqual(axes_[second_]) &&
           appearsOnce(map, first_) && appearsOnce(map, second_);
  }

  static bool appearsOnce(AffineMap map, unsigned axis) {
    return llvm::count_if(map.getResults(),
                          [&](AffineExpr place) { return place.isFunctionOfDim(axis); }) == 1;
  }

  // Whether what runs over these axes is read at the same places of them.
  bool isHere(plan::ReindexOp reindex) const {
    ArrayRef<unsigned> own = reindex.getOperand().getType().getAxes();
    for (unsigned axis : {first_, second_})
      for (auto [from, place] : llvm::zip(own, reindex.getMap().getResults()))
        if ((from == axis || place.isFunctionOfDim(axis)) &&
            (from != axis || place != getAffineDimExpr(axis, op_.getContext())))
          return false;
    return true;
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
