#include "codegen/RowValues.h"

#include "codegen/Prefetching.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr int64_t lanes = VectorBuilder::lanes;
// Loops over at most this many columns are unrolled. The same on every machine, so that sums add up
// in the same order.
static constexpr int64_t unrolledColumns = 16;

RowValues::RowValues(KernelContext &kernel, const RowSchedule &schedule)
    : kernel_(kernel), body_(kernel.body), vectors_(kernel.vectors), schedule_(schedule) {}

void RowValues::beginTile() {
  Value columns = kernel_.tile.columns;
  paddedColumns_ = vectors_.roundDownToLanes(vectors_.add(columns, vectors_.integer(lanes - 1)));
  for (int row = 0; row < lanes; ++row)
    rowDistance_.push_back(body_.constantColumns()
                               ? vectors_.integer(row * *body_.constantColumns())
                               : vectors_.multiply(columns, vectors_.integer(row)));
  prefetches_ = vectors_.less(columns, vectors_.integer(prefetching::longRowCells));
  prefetchDistance_ =
      vectors_.maximum(rowDistance_.back(), vectors_.integer(prefetching::blockCellsAhead));
  scratchLines_ = scratchPointer(schedule_.scratch.constantDoubles);
}

void RowValues::beginBlock(Value row, int rows) {
  rows_ = rows;
  row_ = row;
  perRow_.clear();
  rowPointers_.clear();
  ofRow_.clear();
  cellPointers_.clear();
  loadPanels();
}

void RowValues::beginPass(const RowPass &pass) {
  pass_ = &pass;
  // Emit the per-row operands before the loops over columns, so that they dominate all uses.
  for (Value value : pass.perRowOperands) {
    perRow(value);
    if (pass.isWide)
      for (int row = 0; row < rows_; ++row)
        ofRow(value, row);
  }
}

void RowValues::beginChunk(const Chunk &chunk) {
  chunk_ = &chunk;
  wide_.clear();
  shared_.clear();
}

void RowValues::beginColumn(Value column) {
  column_ = column;
  narrow_.clear();
  shared_.clear();
}

//===- values per row ------------------------------------------------------------------------===//

Value RowValues::perRow(Value value) {
  if (body_.extentOf(value) == Extent::Uniform)
    return kernel_.uniform.lookup(value);
  if (Value known = perRow_.lookup(value))
    return known;
  Value result;
  Operation *op = value.getDefiningOp();
  if (isRead(value)) {
    ElementType cells = cellsOf(value);
    Value array = inputArray(value);
    result = rows_ == 1 ? vectors_.splat(vectors_.loadCell(array, row_, cells))
                        : vectors_.loadCells(array, row_, {}, cells);
  } else { // aggregates are set at the end of their pass
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(perRow(operand));
    result = emitCell(vectors_, op, operands);
  }
  return perRow_[value] = result;
}

Value RowValues::ofRow(Value value, int row) {
  if (rows_ == 1)
    return perRow(value);
  if (Value known = ofRow_.lookup({value, row}))
    return known;
  return ofRow_[{value, row}] = vectors_.splatLane(perRow(value), row);
}

//===- values along columns ------------------------------------------------------------------===//

Value RowValues::wide(Value value, int row) {
  switch (body_.extentOf(value)) {
  case Extent::Wide:
    return wideValue(value, row);
  case Extent::PerRow:
    return ofRow(value, row);
  case Extent::Shared:
    return shared(value);
  case Extent::Uniform:
    return kernel_.uniform.lookup(value);
  default:
    llvm_unreachable("values of another width are not operands");
  }
}

Value RowValues::wideValue(Value value, int row) {
  if (Value known = wide_.lookup({value, row}))
    return known;
  Operation *op = value.getDefiningOp();
  if (isRead(value)) {
    ElementType cells = cellsOf(value);
    Value pointer = cellPointer(inputArray(value), value, row, cells);
    Value result = vectors_.loadCells(pointer, chunk_->column, chunk_->mask, cells);
    if (rows_ == lanes || schedule_.isInRegisters)
      prefetch(value, row);
    return wide_[{value, row}] = result;
  }
  if (hasProductPanel(body_, value)) {
    State all = rowsOfPanel(value, chunk_->column, chunk_->constantCount.value_or(lanes));
    for (int i = 0; i < rows_; ++i)
      wide_[{value, i}] = all[i];
    return all[row];
  }
  Type cells = cellType(vectors_, value);
  if (pass_->loaded.contains(value)) {
    Value line = vectors_.offset(wideLine(value, row), chunk_->column, cells);
    return wide_[{value, row}] = vectors_.load(line, {}, cells);
  }
  plan::ReduceOp product = productDefining(body_, value);
  if (product) {
    emitInPlace(product);
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(wide(operand, row));
    wide_[{value, row}] = emitCell(vectors_, op, operands);
  }
  if (pass_->kept.contains(value))
    for (int i = product ? 0 : row; i < (product ? rows_ : row + 1); ++i)
      vectors_.store(wide_[{value, i}], vectors_.offset(wideLine(value, i), chunk_->column, cells),
                     {});
  return wide_[{value, row}];
}

// Computes all rows of the chunk, adding one row of the right operand at a time.
void RowValues::emitInPlace(plan::ReduceOp product) {
  auto [left, right, isTransposed] = *body_.productOf(product);
  Value result = product.getCell();
  ElementType rightCells = cellsOf(right);
  Value start = vectors_.offsetCells(inputArray(right), chunk_->column, rightCells);
  auto rightRow = [&](Value number) {
    Value place = vectors_.multiply(number, kernel_.tile.columns);
    return vectors_.extend(vectors_.loadCells(start, place, chunk_->mask, rightCells));
  };
  State sums(rows_, vectors_.number(0));
  SmallVector<RowCells> cells;
  for (int row = 0; row < rows_; ++row)
    cells.push_back(rowCells(left, row));
  int64_t width = body_.narrowColumns(left);
  forEachColumn(width, width <= unrolledColumns ? width : 4, sums,
                [&](Value column, int64_t, State &current) {
                  Value factor = rightRow(column);
                  for (int row = 0; row < rows_; ++row) {
                    auto [pointer, distance, type] = cells[row];
                    Value place = vectors_.multiply(column, vectors_.integer(distance));
                    Value cell = vectors_.loadCell(pointer, place, type);
                    current[row] =
                        vectors_.fma(vectors_.splat(vectors_.extend(cell)), factor, current[row]);
                  }
                });
  for (int row = 0; row < rows_; ++row)
    wide_[{result, row}] = vectors_.round(sums[row], cellType(vectors_, result));
}

Value RowValues::shared(Value value) {
  if (body_.extentOf(value) == Extent::Uniform)
    return kernel_.uniform.lookup(value);
  if (Value known = shared_.lookup(value))
    return known;
  if (isRead(value))
    return shared_[value] =
               vectors_.loadCells(inputArray(value), chunk_->column, chunk_->mask, cellsOf(value));
  SmallVector<Value> operands;
  for (Value operand : value.getDefiningOp()->getOperands())
    operands.push_back(shared(operand));
  return shared_[value] = emitCell(vectors_, value.getDefiningOp(), operands);
}

//===- values across rows --------------------------------------------------------------------===//

Value RowValues::narrow(Value value) {
  switch (body_.extentOf(value)) {
  case Extent::Narrow:
    return narrowValue(value);
  case Extent::PerRow:
    return perRow(value);
  case Extent::SharedNarrow:
    return sharedNarrow(value);
  case Extent::Uniform:
    return kernel_.uniform.lookup(value);
  default:
    llvm_unreachable("values of another width are not operands");
  }
}

Value RowValues::narrowValue(Value value) {
  if (Value known = narrow_.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (isRead(value) || hasProductPanel(body_, value) || pass_->loaded.contains(value))
    return narrow_[value] = panelVector(value, column_);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(narrow(operand));
  Value result = emitCell(vectors_, op, operands);
  if (pass_->kept.contains(value))
    vectors_.store(result, panelPointer(value, column_), {});
  return narrow_[value] = result;
}

Value RowValues::sharedNarrow(Value value) {
  if (body_.extentOf(value) == Extent::Uniform)
    return kernel_.uniform.lookup(value);
  if (Value known = shared_.lookup(value))
    return known;
  if (isRead(value))
    return shared_[value] =
               vectors_.splat(vectors_.loadCell(inputArray(value), column_, cellsOf(value)));
  SmallVector<Value> operands;
  for (Value operand : value.getDefiningOp()->getOperands())
    operands.push_back(sharedNarrow(operand));
  return shared_[value] = emitCell(vectors_, value.getDefiningOp(), operands);
}

//===- panels --------------------------------------------------------------------------------===//

State RowValues::acrossRows(ArrayRef<Value> rows) {
  if (rows_ == lanes)
    return vectors_.transpose(rows);
  State columns;
  for (int lane = 0; lane < lanes; ++lane)
    columns.push_back(vectors_.splatLane(rows[0], lane));
  return columns;
}

// Transposes narrow inputs that are read across rows to panels, eight columns at a time.
void RowValues::loadPanels() {
  for (Value input : schedule_.panelInputs) {
    ElementType cells = cellsOf(input);
    int64_t width = body_.narrowColumns(input);
    if (rows_ == lanes && width <= unrolledColumns)
      prefetchPanel(input);
    auto load = [&](Value first, int64_t count) {
      Value mask = count < lanes ? vectors_.maskBelow(count) : Value();
      State rows;
      for (int row = 0; row < rows_; ++row) {
        Value pointer = cellPointer(inputArray(input), input, row, cells);
        rows.push_back(vectors_.loadCells(pointer, first, mask, cells));
      }
      State columns = acrossRows(rows);
      for (int64_t column = 0; column < count; ++column)
        vectors_.store(columns[column],
                       panelPointer(input, vectors_.add(first, vectors_.integer(column))), {});
    };
    int64_t whole = width / lanes * lanes;
    if (width <= unrolledColumns)
      for (int64_t first = 0; first < whole; first += lanes)
        load(vectors_.integer(first), lanes);
    else
      vectors_.forLoop(vectors_.integer(0), vectors_.integer(whole), lanes,
                       [&](Value first) { load(first, lanes); });
    if (whole < width)
      load(vectors_.integer(whole), width - whole);
  }
}

Value RowValues::panelPointer(Value value, Value column) {
  Value panel = scratchPointer(schedule_.scratch.panels.lookup(value));
  return vectors_.offset(panel, vectors_.multiply(column, vectors_.integer(lanes)));
}

// Products are stored as doubles, the type of their accumulators, whatever their cell type.
Value RowValues::panelVector(Value value, Value column) {
  Type cells = cellType(vectors_, value);
  Value pointer = panelPointer(value, column);
  if (hasProductPanel(body_, value))
    return vectors_.round(vectors_.load(pointer, {}), cells);
  return vectors_.load(pointer, {}, cells);
}

State RowValues::rowsOfPanel(Value value, Value first, int64_t count) {
  State columns;
  for (int64_t column = 0; column < lanes; ++column)
    columns.push_back(column < count
                          ? panelVector(value, vectors_.add(first, vectors_.integer(column)))
                          : vectors_.number(0, cellType(vectors_, value)));
  return vectors_.transpose(columns);
}

void RowValues::forEachColumn(int64_t count, int64_t unrolling, State &state, ColumnBody body) {
  int64_t whole = unrolling > 0 ? count / unrolling * unrolling : 0;
  if (whole > unrolling)
    vectors_.forLoop(vectors_.integer(0), vectors_.integer(whole), unrolling, state,
                     [&](Value column, State &current) {
                       for (int64_t copy = 0; copy < unrolling; ++copy)
                         body(vectors_.add(column, vectors_.integer(copy)), copy, current);
                     });
  for (int64_t column = whole > unrolling ? whole : 0; column < count; ++column)
    body(vectors_.integer(column), column, state);
}

void RowValues::forEachColumn(int64_t count, llvm::function_ref<void(Value)> body) {
  State none;
  forEachColumn(count,
                rows_ == 1                 ? 1
                : count <= unrolledColumns ? count
                                           : 4,
                none, [&](Value column, int64_t, State &) { body(column); });
}

//===- memory --------------------------------------------------------------------------------===//

Value RowValues::inputArray(Value value) const {
  return kernel_.tile.inputs[body_.inputIndex(value.getDefiningOp<plan::ReadOp>())];
}

Value RowValues::cellPointer(Value array, Value value, int row, ElementType cells) {
  if (Value known = cellPointers_.lookup({array, row}))
    return known;
  OpBuilder::InsertionGuard guard(vectors_.builder());
  // Emit in the block's scope, before any loop over columns.
  vectors_.builder().setInsertionPointAfterValue(row_);
  bool isWide = body_.extentOf(value) == Extent::Wide;
  Value &first = rowPointers_[array];
  if (!first) {
    Value columns = isWide ? kernel_.tile.columns : vectors_.integer(body_.narrowColumns(value));
    first = vectors_.offsetCells(array, vectors_.multiply(row_, columns), cells);
  } else {
    vectors_.builder().setInsertionPointAfterValue(first);
  }
  Value distance = isWide ? rowDistance_[row] : vectors_.integer(row * body_.narrowColumns(value));
  return cellPointers_[{array, row}] = vectors_.offsetCells(first, distance, cells);
}

RowCells RowValues::rowCells(Value value, int row) {
  ElementType cells = cellsOf(value);
  if (isRead(value))
    return {cellPointer(inputArray(value), value, row, cells), 1, cells};
  if (auto line = schedule_.scratch.wideLines.find(value);
      line != schedule_.scratch.wideLines.end())
    return {wideLine(value, row), 1, cells};
  if (hasProductPanel(body_, value))
    cells = ElementType::F64;
  // Vectors of a panel are eight doubles apart, also if their cells are f32.
  Value pointer =
      vectors_.offsetCells(panelPointer(value, vectors_.integer(0)), vectors_.integer(row), cells);
  return {pointer, lanes * byteSize(ElementType::F64) / byteSize(cells), cells};
}

Value RowValues::scratchPointer(int64_t doubles) {
  return vectors_.offset(kernel_.tile.scratch, vectors_.integer(doubles));
}

Value RowValues::scratchLine(int64_t line) {
  return vectors_.offset(scratchLines_, vectors_.multiply(paddedColumns_, vectors_.integer(line)));
}

Value RowValues::wideLine(Value value, int row) {
  return scratchLine(schedule_.scratch.wideLines.lookup(value) + row);
}

// The passes over a block prefetch the input of a later block in the order of memory: eight rows at
// once are too many streams for the hardware prefetcher. A pass that goes row by row prefetches one
// cache line for each line that it reads. Otherwise each chunk of eight columns prefetches its
// share of the block (eight lines of 64 bytes, four for f32), which the first two passes that read
// the input split between them, so that memory is busy all the time.
void RowValues::prefetch(Value input, int row) {
  ElementType cells = cellsOf(input);
  auto reads = [&](const RowPass &pass) { return pass.wideInputs.contains(input); };
  auto behind = schedule_.passes.end();
  auto first = std::find_if(schedule_.passes.begin(), behind, reads);
  auto second = first == behind ? behind : std::find_if(first + 1, behind, reads);
  Value pointer = cellPointer(inputArray(input), input, row, cells);
  if (schedule_.isInRegisters || schedule_.isRowByRow(*first)) {
    Value position = vectors_.add(chunk_->column, vectors_.integer(prefetching::blockCellsAhead));
    if (pass_ == first)
      vectors_.prefetch(vectors_.offsetCells(pointer, position, cells));
    return;
  }
  if (row > 0 || (pass_ != first && pass_ != second))
    return;
  int64_t lineCells = prefetching::bytesPerLine / byteSize(cells),
          lines = lanes * lanes / lineCells;
  int64_t half = second == behind ? lines : lines / 2;
  int64_t begin = pass_ == first ? 0 : half, end = pass_ == first ? half : lines;
  State none;
  vectors_.ifThen(prefetches_, none, [&](State &) {
    Value position =
        vectors_.add(vectors_.multiply(chunk_->column, vectors_.integer(lanes)), prefetchDistance_);
    for (int64_t line = begin; line < end; ++line)
      vectors_.prefetch(vectors_.offsetCells(
          pointer, vectors_.add(position, vectors_.integer(line * lineCells)), cells));
  });
}

void RowValues::prefetchPanel(Value input) {
  ElementType cells = cellsOf(input);
  Value first = cellPointer(inputArray(input), input, 0, cells);
  int64_t lineCells = prefetching::bytesPerLine / byteSize(cells);
  for (int64_t cell = 0; cell < body_.narrowColumns(input) * lanes; cell += lineCells)
    vectors_.prefetch(
        vectors_.offsetCells(first, vectors_.integer(prefetching::blockCellsAhead + cell), cells));
}
