#include "fusion/select/NativePrice.h"

#include "base/Natives.h"
#include "fusion/select/ArrayBytes.h"
#include "fusion/select/CellWork.h"

#include <cmath>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// Whether the result shares the operand's memory: whole rows, or the same cells in another shape, as those of a
// transposed vector.
static bool isView(Operation *operation, NativeKind kind, const BlockFacts &facts) {
  if (kind == NativeKind::View || kind == NativeKind::Reshape)
    return true;
  if (isa<tok::TransposeOp>(operation)) {
    const Shape &shape = facts.shapeOf(operation->getResult(0));
    return shape.rows.isConstant(1) || shape.columns.isConstant(1);
  }
  return kind == NativeKind::Slice && facts.shapeOf(operation->getResult(0)).columns ==
                                          facts.shapeOf(operation->getOperand(0)).columns;
}

std::optional<cost::Work> fusion::workOfNative(Operation *operation, const BlockFacts &facts,
                                               const cost::MachineModel &machine) {
  auto native = dyn_cast<tok::NativeOpInterface>(operation);
  const NativeRow *row = native ? findNativeRow(native.getNativeName()) : nullptr;
  // Products that kernels may compute are priced by OperatorCost, others by nobody.
  bool isProduct =
      row && (row->shape == NativeShape::Product || row->shape == NativeShape::TransposedLeft ||
              row->shape == NativeShape::TransposedRight);
  if (!row || isProduct || row->effect == NativeEffect::Visible ||
      (row->effect == NativeEffect::Ordered && row->kind != NativeKind::Rand))
    return std::nullopt;
  cost::Work work;
  double cells = 0, cellsRead = 0, rows = 1, columns = 1;
  auto touch = [&](ValueRange values, double cost::Work::*bytes) {
    for (Value value : values) {
      if (!tok::isArray(value.getType()))
        continue;
      const Shape &shape = facts.shapeOf(value);
      work.overhead += machine.arrayNanoseconds;
      cells += facts.entriesOf(value);
      rows = std::max(rows, facts.estimate(shape.rows));
      columns = std::max(columns, facts.estimate(shape.columns));
      work.*bytes += bytesOf(facts, value);
    }
  };
  bool isPart = row->kind == NativeKind::Slice;
  if (!isPart)
    touch(operation->getOperands(), &cost::Work::foundBytes);
  cellsRead = cells;
  touch(operation->getResults(), &cost::Work::writtenBytes);
  if (work.overhead == 0 && cells == 0)
    return std::nullopt;
  if (isView(operation, row->kind, facts))
    return cost::Work();
  work.waiting += cost::firstTouchNanoseconds(machine, work.writtenBytes);
  if (isPart) {
    work.foundBytes = work.writtenBytes;
    cells *= 2;
  }
  switch (row->per) {
  case NativeCost::Call:
    work.flops = row->flops;
    break;
  case NativeCost::Cell:
    work.flops = row->flops * cells * machine.nativeCellSlowness;
    // Each entry is counted for its column, and moved to the next place of its column.
    if (isa<tok::TransposeOp>(operation) && facts.isSparse(operation->getResult(0)))
      work.gathering = cellsRead * (2 * cost::gatherNanoseconds(machine, 8 * rows) +
                                    cost::gatherNanoseconds(machine, work.writtenBytes));
    break;
  case NativeCost::ReadCell: {
    // What is counted in a sparse result is sorted, where its rows don't come in order anyway.
    constexpr double timesSorted = 8, timesInOrder = 3;
    bool isSparse =
        llvm::any_of(operation->getResults(), [&](Value result) { return facts.isSparse(result); });
    bool isInOrder = isa_and_nonnull<tok::SeqOp>(operation->getOperand(0).getDefiningOp());
    work.flops = row->flops * cellsRead * machine.nativeCellSlowness *
                 (!isSparse   ? 1
                  : isInOrder ? timesInOrder
                              : timesSorted);
    break;
  }
  case NativeCost::SortedCell:
    work.flops = row->flops * cells * std::log2(std::max(cells, 2.0)) * machine.nativeSortSlowness;
    break;
  case NativeCost::Multiplication:
    work.flops =
        row->kind == NativeKind::Convolve
            ? flopsOfNativeConvolution(
                  operation, *tok::elementTypeOf(operation->getResult(0).getType()), facts, machine)
            : row->flops * machine.nativeSolveSlowness * rows * columns * columns;
    break;
  }
  return work;
}

double fusion::bytesOfUnknownSize(Operation *native, const BlockFacts &facts) {
  SmallVector<Value> touched(native->getResults());
  double times = 1;
  if (isa<tok::SliceOp>(native))
    times = 2; // it reads as much as it writes
  else
    touched.append(native->operand_begin(), native->operand_end());
  return times * bytesOfUnknownSize(touched, facts);
}
