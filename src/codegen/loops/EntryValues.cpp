// What LoopValues does at the entries of a driver: where they are, which columns they have, cells
// of other operands at these columns, and what is prefetched.
#include "codegen/Prefetching.h"
#include "codegen/loops/LoopValues.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr int64_t lanes = VectorBuilder::lanes;

const SparsePattern &LoopValues::patternOf(plan::ReadOp read) const {
  return tile_.patterns.at(inputNumber(read));
}

Value LoopValues::positionOfRow(plan::ReadOp read, Value row) {
  Type integer = vectors_.builder().getI64Type();
  return vectors_.loadScalar(vectors_.offset(patternOf(read).offsets, row, integer), integer);
}

Value LoopValues::columnAt(plan::ReadOp read, Value position) {
  return vectors_.convert(vectors_.loadCell(patternOf(read).indices, position, ElementType::U32),
                          ElementType::U32, ElementType::I64);
}

static Value negate(VectorBuilder &vectors, Value condition) {
  Value always = vectors.create<arith::ConstantOp>(vectors.builder().getBoolAttr(true));
  return vectors.create<arith::XOrIOp>(condition, always);
}

//===- tiles and rows ------------------------------------------------------------------------===//

void LoopValues::beginEntriesOfTile() {
  auto equal = [&](Value a, Value b) {
    return vectors_.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::eq, a, b);
  };
  const SparsePattern &own = patternOf(level().driver);
  for (plan::ReadOp read : lookedUp_)
    samePattern_[read] = both(equal(patternOf(read).offsets, own.offsets),
                              equal(patternOf(read).indices, own.indices));
  Value one = vectors_.integer(1), end = positionOfRow(level().driver, tile_.end);
  lastEntry_ = vectors_.subtract(end, one);
  // Whether the first row has the mean number.
  Value begin = positionOfRow(level().driver, tile_.begin),
        next = vectors_.minimum(vectors_.add(tile_.begin, one), tile_.end),
        first = vectors_.subtract(positionOfRow(level().driver, next), begin),
        rows = vectors_.subtract(tile_.end, tile_.begin);
  hasEqualRows_ = equal(vectors_.multiply(first, rows), vectors_.subtract(end, begin));
  Value isLarge =
      vectors_.less(vectors_.integer(prefetching::cellsInCache), axisSize(level().column));
  Value lastToFetch =
      vectors_.subtract(lastEntry_, vectors_.integer(prefetching::cellsAhead + lanes - 1));
  endOfFetching_ = vectors_.select(isLarge, lastToFetch, vectors_.integer(0));
}

void LoopValues::beginEntries(Value firstRow, Value endRow) {
  entries_ = {positionOfRow(level().driver, firstRow), positionOfRow(level().driver, endRow)};
  for (plan::ReadOp read : lookedUp_)
    expandRow(read, firstRow, endRow);
}

// Expands a row of another sparse operand: first zeros at the columns of the driver's entries, then
// its own entries. Other cells are never read.
void LoopValues::expandRow(plan::ReadOp read, Value row, Value nextRow) {
  Value buffer = panels_[read.getCell()].base;
  ElementType cells = plan::cellsOf(read.getCell());
  State none;
  vectors_.ifThen(negate(vectors_, samePattern_.lookup(read)), none, [&](State &) {
    Value zero = vectors_.number(0, vectors_.registerType(cells));
    vectors_.forLoop(entries_.first, entries_.second, 1, [&](Value position) {
      Value column = columnAt(level().driver, position);
      vectors_.storeCell(zero, buffer, column, cells);
    });
    vectors_.forLoop(
        positionOfRow(read, row), positionOfRow(read, nextRow), 1, [&](Value position) {
          Value cell = vectors_.loadCell(arrayOf(read).base, position, cells);
          vectors_.storeCell(vectors_.splat(cell), buffer, columnAt(read, position), cells);
        });
  });
}

Value LoopValues::withAbsentCells(plan::ReduceOp reduce, Value total) {
  if (!body_.entries() || reduce.getKind() == AggregateKind::Sum ||
      !llvm::is_contained(reduce.getOver(), level().column))
    return total;
  auto [begin, end] = entries_;
  Value cells = axisSize(level().column);
  if (body_.schedule().isOfTiles(reduce)) {
    begin = positionOfRow(level().driver, tile_.begin);
    end = positionOfRow(level().driver, tile_.end);
    cells = vectors_.multiply(vectors_.subtract(tile_.end, tile_.begin), cells);
  }
  Value entries = vectors_.subtract(end, begin);
  Reduction reduction = reductionOf(reduce);
  Value zero = vectors_.number(0, vectors_.registerType(reduction.accumulator));
  return vectors_.select(vectors_.less(entries, cells), combine(vectors_, reduction, total, zero),
                         total);
}

//===- columns -------------------------------------------------------------------------------===//

// The columns of a chunk's entries; 0 in lanes behind the last one.
Value LoopValues::columnsOf(unsigned chunk) {
  constexpr unsigned columns = ~1u; // distinguishes them from the driver's cells
  Value driver = level().driver.getCell();
  if (Value known = find(driver, columns, chunk))
    return known;
  Value indices = patternOf(level().driver).indices;
  if (!isFollowed(chunk))
    prefetchEntries(indices, ElementType::U32, chunk);
  Value loaded =
      vectors_.loadCells(indices, indexOf(level().column, 0, chunk), mask(chunk), ElementType::U32);
  Value found = vectors_.convert(loaded, ElementType::U32, ElementType::I64);
  set(driver, columns, chunk, found);
  return found;
}

void LoopValues::atEntry(Value position, llvm::function_ref<void()> inside, Value mask) {
  llvm::SaveAndRestore extent(extent_, Extent{places(), {}, 1, mask});
  inLoop(level().column, position, inside);
}

void LoopValues::atOnlyEntry(llvm::function_ref<void()> inside,
                             llvm::function_ref<void()> vectors) {
  Value count = vectors_.subtract(entries_.second, entries_.first),
        isAlone =
            vectors_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, vectors_.integer(1));
  auto alone = [&] { atEntry(entries_.first, inside, vectors_.maskBelow(1)); };
  vectors_.ifElse(both(hasEqualRows_, isAlone), alone, vectors);
}

Value LoopValues::columnBehind(unsigned chunk, int64_t distance) {
  Value position = vectors_.add(indexOf(level().column, 0, chunk), vectors_.integer(distance));
  bool isOfChunk = distance == 0 || !mask(chunk);
  return columnAt(level().driver, isOfChunk ? position : vectors_.minimum(position, lastEntry_));
}

// Near the end of the tile they are copied, with the last one again behind it.
Value LoopValues::columnsBehind(unsigned chunk, int64_t count) {
  Value indices = patternOf(level().driver).indices, first = indexOf(level().column, 0, chunk),
        last = vectors_.add(first, vectors_.integer(count - 1));
  State columns{vectors_.offsetCells(indices, first, ElementType::U32)};
  vectors_.ifThen(vectors_.less(lastEntry_, last), columns, [&](State &copied) {
    constexpr int64_t columnsOfVector = 16;
    Value copies = variable((count + columnsOfVector - 1) / columnsOfVector);
    vectors_.forLoop(vectors_.integer(0), vectors_.integer(count), 1, [&](Value number) {
      Value position = vectors_.minimum(vectors_.add(first, number), lastEntry_),
            column = vectors_.loadCell(indices, position, ElementType::U32);
      vectors_.storeCell(vectors_.splat(column), copies, number, ElementType::U32);
    });
    copied = {copies};
  });
  return columns.front();
}

// Along the driver's columns an index is a position, and there are cells at its column, unless they
// belong to the entries themselves.
Value LoopValues::indexIn(const LinearFunction &sum, unsigned axis, unsigned place,
                          unsigned chunk) {
  Value index = indexOf(axis, place, chunk);
  return body_.isOverEntries(axis) && !sum.isAtEntries ? columnAt(level().driver, index) : index;
}

bool LoopValues::hasColumnsOfLanes(const LinearFunction &sum) const {
  return extent_.axis && body_.isOverEntries(*extent_.axis) && !sum.isAtEntries;
}

// The cells of another sparse operand: its values if it has the driver's entries (tested at run
// time), else those of its expanded row.
Value LoopValues::lookUp(plan::ReadOp read, unsigned place, unsigned chunk) {
  Memory own = arrayOf(read), row = own;
  own.access.cell.goToEntries(level().row);
  row.access.cell.factors = own.access.cell.factors;
  row.base = panels_[read.getCell()].base;
  if (hasColumnsOfLanes(row.access.cell))
    columnsOf(chunk); // before the branches
  Value same = samePattern_.lookup(read);
  State found{vectors_.number(0, vectors_.registerType(own.cells))};
  vectors_.ifThen(same, found, [&](State &current) { current[0] = load(own, place, chunk); });
  vectors_.ifThen(negate(vectors_, same), found,
                  [&](State &current) { current[0] = load(row, place, chunk); });
  return found[0];
}

//===- prefetching ---------------------------------------------------------------------------===//

// In a flat loop over whole vectors the hardware prefetcher keeps track (unless cells are
// prefetched in between: then the entries are prefetched, too).
bool LoopValues::isFollowed(unsigned chunk) const { return level().isFlat && !mask(chunk); }

// Only the first pass prefetches: later passes over the row find its entries in the cache.
void LoopValues::prefetchEntries(Value array, ElementType cells, unsigned chunk) {
  if (pass_ != 0)
    return;
  Value later =
      vectors_.add(indexOf(level().column, 0, chunk), vectors_.integer(prefetching::entriesAhead));
  vectors_.prefetch(vectors_.offsetCells(array, later, cells));
}

void LoopValues::prefetchAtEntries(plan::ReadOp read, unsigned chunk) {
  const LinearFunction &cell = body_.accessOf(read).cell;
  if (extent_.axis != level().column)
    return;
  Memory array = arrayOf(read);
  if (cell.isAtEntries && !isFollowed(chunk))
    prefetchEntries(array.base, array.cells, chunk);
  if (cell.isAtEntries || cell.dependsOn(level().row) ||
      !cell.factors[level().column].isConstant(1))
    return;
  Value position = indexOf(level().column, 0, chunk);
  State none;
  vectors_.ifThen(vectors_.less(position, endOfFetching_), none, [&](State &) {
    if (isFollowed(chunk)) {
      prefetchEntries(patternOf(level().driver).indices, ElementType::U32, chunk);
      Memory entries = arrayOf(level().driver);
      prefetchEntries(entries.base, entries.cells, chunk);
    }
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value later = vectors_.add(position, vectors_.integer(prefetching::cellsAhead + lane));
      vectors_.prefetch(
          vectors_.offsetCells(array.base, columnAt(level().driver, later), array.cells));
    }
  });
}
