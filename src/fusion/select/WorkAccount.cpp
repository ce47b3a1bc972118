#include "fusion/select/WorkAccount.h"

#include "fusion/select/ArrayBytes.h"
#include "fusion/select/CellWork.h"
#include "ir/tok/ElementTypes.h"

#include <cmath>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// Of each row of a sparse array: the offset of its first entry.
static constexpr double bytesPerRowOffset = 8;
// Finding another sparse array's cell at an entry takes so many times as long as finding the next entry.
static constexpr double entriesPerMatch = 3;
// A native dense product packs both factors first and goes over the result several times, which dominates
// if one of the three is narrow. Transposed products of many rows are not packed
// (runtime/natives/TransposedProduct.h), but computed in tiles of the result, of t(X) %*% X in those of one half.
// A product of two sparse arrays takes `flopsPerSparseProduct` per multiplication.
static constexpr double fewestRowsUnpacked = 64, fewestColumnsUnpacked = 8;
static constexpr double sideOfTile = 8; // where vectors have 64 bytes
static constexpr double flopsPerSparseProduct = 8;
static constexpr double rowsOfPanel = 8;   // as kernels compute them, on every machine
static constexpr double vectorsAtOnce = 4; // of a wide row, without a mask
// Sums of the columns of narrow rows wait for each other, too.
static constexpr double additionsOfNarrowSum = 2;

double fusion::pointsOf(const BlockFacts &facts, const Frame &frame, Axes axes,
                        const Shape &shape) {
  double all = frame.driver ? facts.entriesOf(frame.driver) : facts.cells(frame.space);
  if (frame.loops == Loops::AnyAxes)
    return facts.cells(shape);
  if (frame.loops == Loops::Cells || has(axes, Axes::Rows | Axes::Columns))
    return all;
  if (has(axes, Axes::Rows))
    return has(axes, Axes::Other) ? facts.cells(shape) : facts.estimate(frame.space.rows);
  return frame.driver ? all : all / rowsOfPanel; // values along columns are computed once per panel
}

void WorkAccount::addMember(const Node &node, double additions, const Verdict &verdict,
                            bool isRowRead) {
  bool isAtEntries = frame_.driver && has(verdict.over, Axes::Rows | Axes::Columns);
  if (frame_.isNative) {
    addNative(node, additions);
  } else if (isa<tok::MatmulOp>(node.operation)) {
    if (isAtEntries)
      addProductAtEntries(node, verdict, isRowRead);
    else
      addProduct(node, additions);
  } else if (node.kind == NodeKind::Convolution) {
    work.flops +=
        additions * multiplicationsOfConvolution(node.operation, facts_) * slownessOfWindows(node);
  } else {
    bool isAggregate = node.kind == NodeKind::Aggregate;
    const Shape &shape = facts_.shapeOf(isAggregate ? node.operands[0] : node.result());
    // In rows or not, it is one loop.
    if (isAggregate && isCompact_ && verdict.reduced == verdict.over)
      additions = std::max(additions, waitingFor(node.aggregation()));
    // The number of a row stays while a loop goes along it.
    work.flops += node.kind == NodeKind::Sequence
                      ? facts_.estimate(frame_.space.rows)
                      : additions * slownessOf(verdict.over, node, shape) *
                            pointsOf(facts_, frame_, verdict.over, shape);
    // The column index of an entry selects the sum that it is added to.
    if (isAtEntries && verdict.reduced == Axes::Rows)
      work.gathering += gatheringOf(entries_, denseBytesOf(facts_, node.result())) +
                        machine_.scatterNanoseconds * entries_;
  }
}

void WorkAccount::addOperand(const Node &node, Value operand) {
  const Shape &shape = facts_.shapeOf(operand);
  double dense = denseBytesOf(facts_, operand), stored = bytesOf(facts_, operand);
  bool isSparse = facts_.isSparse(operand);
  if (node.kind == NodeKind::Slice) { // of each row at least one cache line
    const Shape &part = facts_.shapeOf(node.result());
    double rowBytes = bytesPerCell(operand) * facts_.estimate(part.columns);
    work.readBytes +=
        std::min(dense, facts_.estimate(part.rows) * std::max(rowBytes, machine_.cacheLineBytes));
  } else if (frame_.isNative) {
    work.readBytes += stored;
  } else if (frame_.driver.contains(operand)) {
    work.readBytes +=
        bytesPerEntry(operand) * entries_ + bytesPerRowOffset * facts_.estimate(shape.rows);
    work.flops +=
        machine_.entryAdditions * entries_ + machine_.entryRowAdditions * rowsWithEntries();
    if (frame_.driver.arrays.size() > 1) { // its values are copied to the united entries
      work.readBytes += 2 * stored;
      work.writtenBytes += bytesPerEntry(operand) * entries_;
      work.flops +=
          entriesPerMatch * machine_.entryAdditions * (entries_ + facts_.entriesOf(operand));
    }
  } else if (frame_.driver && shape == frame_.space) {
    if (isSparse) {
      work.readBytes += stored;
      work.flops +=
          entriesPerMatch * machine_.entryAdditions * (entries_ + facts_.entriesOf(operand));
    } else {
      work.readBytes += std::min(dense, machine_.cacheLineBytes * entries_);
      work.gathering += gatheringInVectors(dense);
    }
  } else {
    work.readBytes += bytesAtEntries(operand);
    if (frame_.driver && shape.rows.isConstant(1)) // a cell of each entry's column
      work.gathering += gatheringInVectors(dense);
    if (isSparse) // it is converted before
      addConversion({.readBytes = stored, .writtenBytes = dense});
    // Loops over narrow rows transpose blocks of them into lanes.
    if (isNarrow_ && !hasRowsAlone() && shape.rows == frame_.space.rows && !shape.hasOneColumn())
      work.flops += cost::additionsOf(*tok::elementTypeOf(operand.getType())) * facts_.cells(shape);
    // Loops over cells go along rows only where something is repeated.
    if (frame_.loops == Loops::Cells && shape != frame_.space)
      addEndsOfRows(operand);
  }
}

void WorkAccount::addResult(Value result) {
  double dense = denseBytesOf(facts_, result);
  if (frame_.driver && facts_.shapeOf(result) == frame_.space) {
    work.writtenBytes += bytesPerCell(result) * entries_; // column indices are the driver's
    return;
  }
  work.writtenBytes += dense;
  const Shape &shape = facts_.shapeOf(result);
  if (isNarrow_ && !hasRowsAlone() && shape.rows == frame_.space.rows && !shape.hasOneColumn())
    work.flops += machine_.narrowWriteAdditions * facts_.cells(shape) *
                  cost::additionsOf(*tok::elementTypeOf(result.getType()));
  if (frame_.loops == Loops::Rows && shape == frame_.space)
    addEndsOfRows(result);
  if (facts_.isSparse(result) && !frame_.isNative) // it is converted after the operator
    addConversion({.readBytes = dense, .writtenBytes = bytesOf(facts_, result)});
}

void WorkAccount::addConversion(const cost::Work &pass) {
  work.waiting += cost::partsOf(machine_, pass).total();
}

double WorkAccount::multiplications(const Node &node) const {
  return cells(node.operands[0]) * facts_.estimate(facts_.shapeOf(node.operands[1]).columns);
}

double WorkAccount::waitingFor(AggregateKind kind) const {
  return kind == AggregateKind::Sum || kind == AggregateKind::Prod
             ? machine_.compactSumAdditions
             : machine_.compactExtremeAdditions;
}

void WorkAccount::addEndsOfRows(Value value) {
  const Size &columns = frame_.space.columns;
  if (frame_.driver || frame_.isNative || isNarrow_ || columns.isConstant(1))
    return;
  double lanes = bytesPerCell(value) == 8 ? rowsOfPanel : 2 * rowsOfPanel;
  double masked = std::ceil(std::fmod(facts_.estimate(columns), vectorsAtOnce * lanes) / lanes);
  work.flops += masked * machine_.maskedVectorNanoseconds * machine_.flopsPerNanosecond *
                facts_.estimate(frame_.space.rows);
}

bool WorkAccount::hasRowsAlone() const {
  return isCompact_ && isNarrow_ &&
         (facts_.estimate(frame_.space.rows) <= plan::mostCompactRows || !hasExpensive_);
}

double WorkAccount::slownessOf(Axes over, const Node &node, const Shape &shape) const {
  if (frame_.loops == Loops::AnyAxes && has(over, Axes::Other))
    return slownessOfRows(shape.columns, lanesOf(node));
  if (frame_.loops != Loops::Rows || frame_.driver || !has(over, Axes::Columns))
    return 1;
  if (isNarrow_)
    return hasRowsAlone() ? machine_.compactRowSlowness : 1;
  return slownessOfRows(frame_.space.columns, lanesOf(node));
}

double WorkAccount::slownessOfWindows(const Node &node) const {
  constexpr double linesOfFirstLevel = 512; // 32 KiB
  constexpr double slownessOfSteps = 2;
  const Size &columns = facts_.shapeOf(node.result()).columns;
  if (hasFiltersOfOneChannel(node, facts_))
    return slownessOfRows(columns, rowsOfPanel);
  double slowness = slownessOfRows(columns, lanesOf(node));
  double rows = 1; // of a window, in all channels
  for (const Size &size : facts_.sizesOf(node.operands[1]).drop_front().drop_back())
    rows *= facts_.estimate(size);
  slowness *= 1 + std::min(1.0, rows / linesOfFirstLevel);
  return node.windows.back().step > 1 ? slownessOfSteps * slowness : slowness;
}

double WorkAccount::lanesOf(const Node &node) {
  return byteSize(node.cells) == 8 ? rowsOfPanel : 2 * rowsOfPanel;
}

double WorkAccount::slownessOfRows(const Size &columns, double lanes) const {
  double cells = std::max(1.0, facts_.estimate(columns));
  return std::ceil(cells / lanes) * lanes / cells;
}

double WorkAccount::gatheringOf(double accesses, double arrayBytes) const {
  return accesses * cost::gatherNanoseconds(machine_, arrayBytes);
}

// Each row has one entry.
bool WorkAccount::areIndicators() const {
  constexpr double roundingError = 1e-6;
  double rows = facts_.estimate(frame_.space.rows);
  return std::abs(entries_ - rows) <= roundingError * rows;
}

// Entries lie as if they were drawn, unless they are indicators.
double WorkAccount::rowsWithEntries() const {
  double rows = facts_.estimate(frame_.space.rows);
  return areIndicators() ? rows : -rows * std::expm1(-entries_ / std::max(rows, 1.0));
}

// Of an operand with a row or a cell for each row, or for each column, of a driver: what lies where it has entries. Operators read
// what a transpose in front of them transposes.
double WorkAccount::bytesAtEntries(Value operand) const {
  auto transpose = operand.getDefiningOp<tok::TransposeOp>();
  const Shape &shape = facts_.shapeOf(transpose ? transpose.getOperand() : operand);
  double dense = denseBytesOf(facts_, operand), moved = machine_.cacheLineBytes;
  bool isOfColumns = shape.rows == frame_.space.columns || shape.rows.isConstant(1),
       isOfRows = shape.rows == frame_.space.rows && !areIndicators();
  if (!frame_.driver || !(isOfRows || isOfColumns))
    return dense;
  if (!shape.rows.isConstant(1))
    moved = std::max(moved, bytesPerCell(operand) * facts_.estimate(shape.columns));
  return dense == 0 ? 0 : -dense * std::expm1(-entries_ * moved / dense);
}

// The last vector of a row isn't full; a single entry needs none.
double WorkAccount::gatheringInVectors(double arrayBytes) const {
  constexpr double lanes = 8, meanRest = 3.5;
  double rows = rowsWithEntries(), nearest = machine_.nearestGatherNanoseconds;
  double behind = areIndicators() ? 0 : std::max(lanes * rows - entries_, meanRest * rows);
  return nearest * behind +
         entries_ * std::max(nearest, cost::gatherNanoseconds(machine_, arrayBytes));
}

double WorkAccount::gatheringOfRows(double accesses, Value array, const Size &columns) const {
  return accesses * cost::gatherRowNanoseconds(machine_, denseBytesOf(facts_, array),
                                               bytesPerCell(array) * facts_.estimate(columns));
}

double WorkAccount::additionsOfMultiplying(const Node &node, double additionsInTiles) const {
  double addition = cost::additionsOf(node.cells);
  const Size &columns = facts_.shapeOf(node.operands[1]).columns;
  bool isTransposed = node.kind == NodeKind::TransposedProduct;
  if (hasRowsAlone())
    return addition * machine_.compactRowSlowness;
  if (columns.isConstant(1) && frame_.loops != Loops::Rows)
    return addition;
  if (columns.isConstant(1)) // narrow rows wait for the sums
    return addition * (!isNarrow_     ? slownessOfRows(frame_.space.columns, lanesOf(node))
                       : isTransposed ? additionsOfNarrowSum
                                      : 1);
  bool isAlongResult = frame_.loops != Loops::Rows || (isNarrow_ && !isTransposed);
  return additionsInTiles *
         slownessOfRows(isAlongResult ? columns : frame_.space.columns, lanesOf(node));
}

double WorkAccount::upperShare(double n, double lanes) {
  double whole = std::ceil(n / lanes) - 1; // vectors, before the last one
  return (n + lanes * whole * (whole + 1) / 2) / (n * (whole + 1));
}

void WorkAccount::addProduct(const Node &node, double additionsInTiles) {
  if (frame_.loops == Loops::Rows && !frame_.driver && isSymmetricProduct(node, facts_))
    additionsInTiles *= upperShare(
        std::max(1.0, facts_.estimate(facts_.shapeOf(node.result()).columns)), lanesOf(node));
  work.flops += additionsOfMultiplying(node, additionsInTiles) * multiplications(node);
  if (!facts_.shapeOf(node.operands[1]).columns.isConstant(1))
    work.flops += machine_.productResultNanoseconds * machine_.flopsPerNanosecond *
                  cost::additionsOf(node.cells) * cells(node.result());
  if (frame_.loops == Loops::AnyAxes)
    addFactor(node);
}

void WorkAccount::addFactor(const Node &node) {
  constexpr double rowsOfCopy = 256, longRow = 64; // abi::KernelPlan::rowsPerCopy, axisOfPacking
  Value factor = node.operands[1];
  double factorCells = std::max(1.0, cells(factor)),
         rows =
             multiplications(node) / factorCells, // that one matrix of a stack is multiplied with
      bytes = bytesPerCell(factor) * factorCells,
         reading = bytes / machine_.sharedReadBytesPerNanosecond;
  double stacked =
      std::max(1.0, facts_.estimate(facts_.shapeOf(node.operands[0]).rows) / std::max(1.0, rows));
  double nanoseconds =
      rows / rowsOfPanel * reading * cost::shareBeyond(machine_.privateCacheBytes, bytes / stacked);
  const Size &columns = facts_.shapeOf(factor).columns;
  bool isByColumns = factor.getDefiningOp<tok::TransposeOp>() != nullptr;
  if (isByColumns || !(columns.isConstant() && columns.constantValue() <= longRow))
    nanoseconds +=
        std::ceil(rows / rowsOfCopy) * (reading + bytes / machine_.privateWriteBytesPerNanosecond);
  work.flops += nanoseconds * machine_.flopsPerNanosecond;
}

void WorkAccount::addProductAtEntries(const Node &node, const Verdict &verdict, bool isRowRead) {
  Value right = node.operands[1];
  const Shape &shape = facts_.shapeOf(right);
  bool isProduct = node.kind == NodeKind::Product;
  const Size &columns = verdict.isSampled ? shape.rows
                        : !isProduct && shape == frame_.space
                            ? facts_.shapeOf(node.operands[0]).columns
                            : shape.columns;
  work.flops += entries_ * facts_.estimate(columns);
  if (!isRowRead)
    work.gathering += isProduct && columns.isConstant(1)
                          ? gatheringInVectors(denseBytesOf(facts_, right))
                          : gatheringOfRows(entries_, isProduct ? right : node.result(), columns);
  if (node.kind == NodeKind::TransposedProduct) // adds to a row of the result
    work.gathering += machine_.scatterNanoseconds * entries_;
  if (!verdict.isSampled || right.getDefiningOp<tok::TransposeOp>())
    return; // the kernel reads the operand of the transpose
  bool isMadeAnyway =
      llvm::any_of(right.getUsers(), [](Operation *user) { return isa<tok::TransposeOp>(user); });
  if (!isMadeAnyway)
    addConversion(
        {.readBytes = bytesOf(facts_, right), .writtenBytes = denseBytesOf(facts_, right)});
}

bool WorkAccount::isUnpacked(const Node &node) const {
  return node.kind == NodeKind::TransposedProduct &&
         llvm::all_of(node.operands, [&](Value operand) {
           const Shape &shape = facts_.shapeOf(operand);
           return facts_.estimate(shape.rows) >= fewestRowsUnpacked &&
                  facts_.estimate(shape.columns) >= fewestColumnsUnpacked;
         });
}

double WorkAccount::cellsInTiles(Value left, Value right) const {
  auto tiles = [&](Value factor) {
    return std::ceil(facts_.estimate(facts_.shapeOf(factor).columns) / sideOfTile);
  };
  double count = left == right ? tiles(left) * (tiles(left) + 1) / 2 : tiles(left) * tiles(right);
  return count * sideOfTile * sideOfTile;
}

void WorkAccount::addNative(const Node &node, double additions) {
  if (node.kind == NodeKind::Convolution) {
    if (hasFiltersOfOneChannel(node, facts_)) // goes over rows once for each place
      work.flops += 2 * multiplicationsOfConvolution(node.operation, facts_) * additions;
    else
      work.flops += flopsOfNativeConvolution(node.operation, node.cells, facts_, machine_);
    return;
  }
  if (node.kind >= NodeKind::Slice) { // others than scans only copy rows
    work.flops += node.kind == NodeKind::Scan ? cells(node.result()) : 0;
    return;
  }
  Value left = node.operands[0], right = node.operands[1];
  bool leftSparse = facts_.isSparse(left), rightSparse = facts_.isSparse(right);
  double dense = nativeProduct(node, multiplications(node));
  if (leftSparse && rightSparse) {
    double products = multiplications(node) * facts_.densityOf(left) * facts_.densityOf(right);
    work.flops += flopsPerSparseProduct * products;
    work.gathering += gatheringOf(products, denseBytesOf(facts_, right));
  } else if (leftSparse || rightSparse) {
    Value sparse = leftSparse ? left : right, other = leftSparse ? right : left;
    work.flops +=
        multiplications(node) * facts_.densityOf(sparse) +
        machine_.nativeEntryNanoseconds * machine_.flopsPerNanosecond * facts_.entriesOf(sparse);
    work.gathering +=
        gatheringOfRows(facts_.entriesOf(sparse), other, facts_.shapeOf(other).columns);
  } else if (isUnpacked(node)) {
    work.flops +=
        nativeProduct(node, cellsInTiles(left, right) * facts_.estimate(facts_.shapeOf(left).rows));
  } else {
    work.flops += dense + packing(node, cells(left) + cells(right) + cells(node.result()));
  }
}

double WorkAccount::nativeProduct(const Node &node, double multiplications) const {
  return machine_.flopsPerNanosecond * multiplications /
         (node.cells == ElementType::F32 ? machine_.singleNativeProductsPerNanosecond
                                         : machine_.nativeProductsPerNanosecond);
}

double WorkAccount::packing(const Node &node, double cells) const {
  double nanoseconds = node.cells == ElementType::F32
                           ? machine_.singlePackedCellNanoseconds
                           : machine_.packedCellNanoseconds * cost::additionsOf(node.cells);
  return nanoseconds * machine_.flopsPerNanosecond * cells;
}
