#include "schedule/Schedule.h"

using namespace mlir;
using namespace tokamak;

// Whether two axes, with axes of size 1 between them, can be walked as one. Aggregates of what runs over
// both or neither are over both or neither.
static bool areOne(plan::OperatorOp op, unsigned first, unsigned second) {
  auto dependsOn = [&](AffineExpr place) {
    return place.isFunctionOfDim(first) || place.isFunctionOfDim(second);
  };
  // Neither axis appears, or each is the place in one dimension, with none but dimensions of size 1
  // between them, and the second dimension is as long as its axis.
  auto isWalked = [&](AffineMap map, ArrayRef<Size> sizes) {
    ArrayRef<AffineExpr> places = map.getResults();
    auto dimensionOf = [&](unsigned axis) -> size_t {
      return llvm::find(places, getAffineDimExpr(axis, map.getContext())) - places.begin();
    };
    int64_t uses = llvm::count_if(places, dependsOn);
    size_t from = dimensionOf(first), to = dimensionOf(second);
    return uses == 0 || (uses == 2 && from < to && to < places.size() &&
                         sizes[to].provedEqual(op.axisSizes()[second]) &&
                         llvm::all_of(
                             sizes.slice(from + 1, to - from - 1),
                             [](const Size &size) { return size.isConstant(1); }));
  };
  auto isScanned = [&](unsigned axis) { return op.axisKind(axis) == plan::AxisKind::Scanned; };
  if (isScanned(first) || isScanned(second))
    return false;
  return llvm::all_of(op.getBody().front(), [&](Operation &operation) {
    if (auto write = dyn_cast<plan::WriteOp>(operation))
      return isWalked(write.getMap(), op.resultSizes()[write.getNumber()]);
    auto cell = cast<plan::CellType>(operation.getResult(0).getType());
    if (cell.runsOver(first) != cell.runsOver(second))
      return false;
    if (auto read = dyn_cast<plan::ReadOp>(operation))
      return isWalked(read.getMap(), op.operandSizes()[read.getNumber()]);
    // What runs over these axes is read at the same places of them.
    if (auto reindex = dyn_cast<plan::ReindexOp>(operation))
      for (auto [axis, place] :
           llvm::zip(reindex.getOperand().getType().getAxes(), reindex.getMap().getResults()))
        if (AffineExpr own = getAffineDimExpr(axis, op.getContext());
            place != own && (dependsOn(own) || dependsOn(place)))
          return false;
    return true;
  });
}

llvm::BitVector schedule::mergedAxes(plan::OperatorOp op) {
  SmallVector<Size> sizes = op.axisSizes();
  llvm::BitVector merged(sizes.size());
  std::optional<unsigned> next;
  for (unsigned axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis].isConstant(1))
      continue;
    merged[axis] = next && areOne(op, axis, *next);
    next = axis;
  }
  return merged;
}
