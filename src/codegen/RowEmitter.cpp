// Kernels over rows x columns, computed in blocks of eight rows. Wide rows are read in vectors of
// eight columns, narrow ones in vectors of eight rows (RowValues.h), in the passes of
// RowSchedule.h. The rows after the last block of eight are blocks of one row, emitted by the same
// code. If column aggregates stay in registers, all blocks have one row.
#include "codegen/CellEmission.h"
#include "codegen/KernelEmitter.h"
#include "codegen/PanelProducts.h"
#include "codegen/RowSchedule.h"
#include "codegen/RowValues.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

constexpr int64_t lanes = VectorBuilder::lanes;
// The order in which sums add up depends on these four, so they are the same on every machine.
// Bodies with more instructions per vector than this are not replicated for eight rows: one row has
// enough independent instructions, and compiling the copies takes longer than they save.
constexpr int instructionsWorthEightRows = 24;
// Loops over narrow columns are unrolled until they have about this many instructions.
constexpr int instructionsOfColumns = 192;
// Unroll factor of loops over the columns of one row, in passes that go row by row.
constexpr int64_t chunksRowByRow = 4;
// Number of independent accumulators of a full aggregate.
constexpr unsigned accumulatorsOfFull = 4;

class RowEmitter {
public:
  explicit RowEmitter(KernelContext &kernel)
      : kernel_(kernel), body_(kernel.body), vectors_(kernel.vectors),
        schedule_(scheduleRows(kernel.body)), values_(kernel, schedule_),
        products_(kernel, values_) {}
  ScratchSize emit();

private:
  // Blocks of rows, and passes over them.
  void emitBlock(Value row, int rows, State &state);
  void openAggregates(const RowPass &pass, State &state, bool firstIsAssigned);
  void finishPerRow(const Root &root, State &state);
  // `total` is an aggregate or product of each row of the block.
  void setAggregate(plan::ReduceOp op, Value total);

  // Passes over wide rows.
  void emitWidePass(const RowPass &pass, State &state);
  void overColumns(State &state, int64_t chunksTogether,
                   llvm::function_ref<void(const Chunk &, State &)> body);
  void emitChunk(const RowPass &pass, State &state, size_t passState);
  void accumulateRows(plan::ReduceOp op, State &state, size_t &slot);
  void accumulateColumns(const Root &root, State &state);
  // The chunk's mask; null if the lanes beyond the last column add only zeros.
  Value maskFor(Value aggregated, AggregateKind kind) const;
  Contribution wideContribution(Value value, AggregateKind kind, int row);

  // Passes over narrow rows.
  void emitNarrowPass(const RowPass &pass, State &state);
  int64_t unrollingOf(const RowPass &pass) const;
  void emitColumn(const RowPass &pass, Value column, int64_t copy, State &state, size_t passState);
  void storePanel(const Root &root);
  // In a block of one row all lanes hold that row, so only the first is counted.
  Value countedLanes() { return values_.rows() == 1 ? vectors_.maskBelow(1) : Value(); }

  // Accumulators that live as long as the tile.
  void openState(State &state);
  void closeState(State &state);
  Value columnAccumulator(const Root &root, Value column);
  int64_t chunksOfRow() const { return (*body_.constantColumns() + lanes - 1) / lanes; }
  bool hasBlocks() const {
    return !schedule_.isInRegisters &&
           (schedule_.wideInstructions <= instructionsWorthEightRows || schedule_.hasPanels);
  }

  KernelContext &kernel_;
  const KernelBody &body_;
  VectorBuilder &vectors_;
  RowSchedule schedule_;
  RowValues values_;
  PanelProducts products_;
  int firstRow_ = 0, endRow_ = 0;                      // rows of the block that a wide pass emits
  llvm::DenseMap<const Root *, unsigned> slots_;       // first accumulator in the state
  llvm::DenseMap<const Root *, Value> columnPartials_; // addresses of column aggregates
};

Reduction reductionOf(plan::ReduceOp op) { return {op.getKind(), cellsOf(op.getOperand())}; }

} // namespace

//===- tile ----------------------------------------------------------------------------------===//

ScratchSize RowEmitter::emit() {
  values_.beginTile();
  State state;
  openState(state);
  Value begin = kernel_.tile.begin, end = kernel_.tile.end;
  if (hasBlocks()) {
    Value wholeEnd = vectors_.add(begin, vectors_.roundDownToLanes(vectors_.subtract(end, begin)));
    vectors_.forLoop(begin, wholeEnd, lanes, state,
                     [&](Value row, State &current) { emitBlock(row, lanes, current); });
    begin = wholeEnd;
  }
  vectors_.forLoop(begin, end, 1, state,
                   [&](Value row, State &current) { emitBlock(row, 1, current); });
  closeState(state);
  // Lines are rounded up to whole vectors.
  return {schedule_.scratch.lines,
          schedule_.scratch.constantDoubles + schedule_.scratch.lines * lanes};
}

Value RowEmitter::columnAccumulator(const Root &root, Value column) {
  Value start = values_.scratchPointer(schedule_.scratch.accumulators.lookup(&root));
  return vectors_.offset(start, vectors_.multiply(column, vectors_.integer(lanes)));
}

void RowEmitter::openState(State &state) {
  for (const Root &root : body_.roots()) {
    if (root.kind == Root::Kind::Array)
      continue;
    if (root.kind == Root::Kind::TransposedProduct) {
      products_.open(root);
      continue;
    }
    Value neutral = neutralElement(vectors_, reductionOf(root));
    if (root.kind == Root::Kind::FullAggregate) {
      slots_[&root] = state.size();
      state.append(body_.extentOf(root.value) != Extent::PerRow ? accumulatorsOfFull : 1, neutral);
    } else if (body_.extentOf(root.value) == Extent::Narrow) {
      values_.forEachColumn(body_.narrowColumns(root.value), [&](Value column) {
        vectors_.store(neutral, columnAccumulator(root, column), {});
      });
    } else if (schedule_.isInRegisters) {
      slots_[&root] = state.size();
      state.append(chunksOfRow(), neutral);
    } else {
      Value partial = columnPartials_[&root] = kernel_.partialPointer(root);
      vectors_.forLoop(vectors_.integer(0), values_.paddedColumns(), lanes, [&](Value column) {
        vectors_.store(neutral, vectors_.offset(partial, column), {});
      });
    }
  }
}

void RowEmitter::closeState(State &state) {
  for (const Root &root : body_.roots()) {
    if (root.kind == Root::Kind::Array || columnPartials_.contains(&root))
      continue;
    if (root.kind == Root::Kind::TransposedProduct) {
      products_.close(root);
      continue;
    }
    Value partial = kernel_.partialPointer(root);
    if (root.kind == Root::Kind::ColumnAggregate && schedule_.isInRegisters) {
      for (int64_t chunk = 0; chunk < chunksOfRow(); ++chunk)
        vectors_.store(state[slots_[&root] + chunk],
                       vectors_.offset(partial, vectors_.integer(chunk * lanes)), {});
      continue;
    }
    if (root.kind == Root::Kind::ColumnAggregate) {
      int64_t width = body_.narrowColumns(root.value);
      for (int64_t first = 0; first < width; first += lanes) {
        SmallVector<Accumulator> columns;
        for (int64_t column = first; column < first + lanes; ++column)
          columns.push_back(
              column < width
                  ? Accumulator{loadPartials(vectors_, reductionOf(root),
                                             columnAccumulator(root, vectors_.integer(column))),
                                {}}
                  : neutralAccumulator(vectors_, reductionOf(root)));
        vectors_.store(reduceEight(vectors_, reductionOf(root), columns),
                       vectors_.offset(partial, vectors_.integer(first)), {});
      }
      continue;
    }
    Value *slot = state.begin() + slots_[&root];
    Value total = slot[0];
    if (body_.extentOf(root.value) != Extent::PerRow) {
      Value left = combine(vectors_, reductionOf(root), slot[0], slot[1]);
      total = combine(vectors_, reductionOf(root), left,
                      combine(vectors_, reductionOf(root), slot[2], slot[3]));
    }
    vectors_.store(reduceOne(vectors_, reductionOf(root), {total, {}}), partial, {});
  }
}

//===- blocks --------------------------------------------------------------------------------===//

void RowEmitter::emitBlock(Value row, int rows, State &state) {
  values_.beginBlock(row, rows);
  for (const RowPass &pass : schedule_.passes) {
    values_.beginPass(pass);
    for (plan::ReduceOp product : pass.products)
      products_.open(product);
    if (pass.isWide)
      emitWidePass(pass, state);
    else
      emitNarrowPass(pass, state);
  }
  for (const Root *root : schedule_.perRowRoots)
    finishPerRow(*root, state);
}

// Appends the pass's accumulators to `state`. With `firstIsAssigned` the first contribution
// initialises the accumulator, so no neutral element is needed.
void RowEmitter::openAggregates(const RowPass &pass, State &state, bool firstIsAssigned) {
  for (plan::ReduceOp op : pass.rowAggregates) {
    Accumulator neutral = neutralAccumulator(vectors_, reductionOf(op));
    for (int row = 0; row < (pass.isWide ? values_.rows() : 1); ++row) {
      state.push_back(firstIsAssigned && !neutral.index ? Value() : neutral.value);
      if (neutral.index)
        state.push_back(neutral.index);
    }
  }
}

void RowEmitter::setAggregate(plan::ReduceOp op, Value total) {
  Reduction reduction = reductionOf(op);
  ElementType type = isIndex(reduction.kind) ? ElementType::F64 : reduction.accumulator();
  values_.setPerRow(op.getCell(), vectors_.convert(total, type, cellsOf(op.getCell())));
}

void RowEmitter::finishPerRow(const Root &root, State &state) {
  if (root.kind == Root::Kind::Array) {
    ElementType cells = cellsOf(root.value);
    Value array = kernel_.tile.outputs[kernel_.outputIndex(root)];
    Value result = values_.perRow(root.value);
    if (values_.rows() == 1)
      vectors_.storeCell(result, array, values_.row(), cells);
    else
      vectors_.storeCells(result, array, values_.row(), {}, cells);
    return;
  }
  Value &total = state[slots_[&root]];
  Contribution contribution = kernel_.contribution(
      root.value, root.aggregate, [&](Value value) { return values_.perRow(value); });
  total = accumulate(vectors_, reductionOf(root), total, contribution, countedLanes());
}

//===- passes over wide rows -----------------------------------------------------------------===//

void RowEmitter::emitWidePass(const RowPass &pass, State &state) {
  size_t passState = state.size();
  openAggregates(pass, state, /*firstIsAssigned=*/false);
  bool isRowByRow = values_.rows() > 1 && schedule_.isRowByRow(pass);
  int step = isRowByRow ? 1 : values_.rows();
  for (firstRow_ = 0; firstRow_ < values_.rows(); firstRow_ += step) {
    endRow_ = firstRow_ + step;
    overColumns(state, isRowByRow ? chunksRowByRow : 1, [&](const Chunk &chunk, State &current) {
      values_.beginChunk(chunk);
      emitChunk(pass, current, passState);
    });
  }
  size_t slot = passState;
  for (plan::ReduceOp op : pass.rowAggregates) {
    Reduction reduction = reductionOf(op);
    SmallVector<Accumulator> accumulators;
    for (int row = 0; row < values_.rows(); ++row) {
      Accumulator accumulator{state[slot++], {}};
      if (isIndex(reduction.kind))
        accumulator.index = state[slot++];
      accumulators.push_back(accumulator);
    }
    Value result = values_.rows() == 1 ? reduceOne(vectors_, reduction, accumulators[0])
                                       : reduceEight(vectors_, reduction, accumulators);
    setAggregate(op, result);
  }
  state.resize(passState);
}

void RowEmitter::overColumns(State &state, int64_t chunksTogether,
                             llvm::function_ref<void(const Chunk &, State &)> body) {
  std::optional<int64_t> constant = body_.constantColumns();
  Value columns = kernel_.tile.columns;
  auto masked = [&](Value column, State &current) {
    Value left = vectors_.subtract(columns, column);
    body(Chunk{column, vectors_.maskBelow(left), left, {}}, current);
  };
  if (schedule_.isInRegisters) {
    for (int64_t first = 0, number = 0; first < *constant; first += lanes, ++number) {
      int64_t count = std::min(lanes, *constant - first);
      bool isWhole = count == lanes;
      body(Chunk{vectors_.integer(first),
                 isWhole ? Value() : vectors_.maskBelow(count),
                 {},
                 isWhole ? std::nullopt : std::optional(count),
                 number},
           state);
    }
    return;
  }
  if (values_.rows() == 1 && hasBlocks() && !constant) {
    // Only the last, at most seven rows of a tile run this, so compile time
    // matters more than run time.
    vectors_.forLoop(vectors_.integer(0), columns, lanes, state, [&](Value column, State &current) {
      Value left = vectors_.minimum(vectors_.subtract(columns, column), vectors_.integer(lanes));
      body(Chunk{column, vectors_.maskBelow(left), left, {}}, current);
    });
    return;
  }
  Value wholeEnd =
      constant ? vectors_.integer(*constant & -lanes) : vectors_.roundDownToLanes(columns);
  auto whole = [&](Value column, State &current) { body(Chunk{column, {}, {}, {}}, current); };
  Value begin = vectors_.integer(0);
  if (chunksTogether > 1) {
    OpBuilder &builder = vectors_.builder();
    int64_t step = chunksTogether * lanes;
    Value end =
        builder.create<arith::AndIOp>(builder.getUnknownLoc(), columns, vectors_.integer(-step));
    vectors_.forLoop(begin, end, step, state, [&](Value column, State &current) {
      for (int64_t first = 0; first < step; first += lanes)
        whole(vectors_.add(column, vectors_.integer(first)), current);
    });
    begin = end;
  }
  vectors_.forLoop(begin, wholeEnd, lanes, state, whole);
  if (!constant)
    vectors_.ifThen(vectors_.less(wholeEnd, columns), state,
                    [&](State &current) { masked(wholeEnd, current); });
  else if (int64_t rest = *constant % lanes)
    body(Chunk{wholeEnd, vectors_.maskBelow(rest), {}, rest}, state);
}

void RowEmitter::emitChunk(const RowPass &pass, State &state, size_t passState) {
  const Chunk &chunk = values_.chunk();
  size_t slot = passState;
  for (plan::ReduceOp op : pass.rowAggregates)
    accumulateRows(op, state, slot);
  for (plan::ReduceOp product : pass.products)
    products_.addChunk(product);
  for (const Root *root : pass.roots) {
    if (root->kind == Root::Kind::ColumnAggregate) {
      accumulateColumns(*root, state);
    } else if (root->kind == Root::Kind::TransposedProduct) {
      products_.addChunk(*root);
    } else if (root->kind == Root::Kind::Array) {
      ElementType cells = cellsOf(root->value);
      Value array = kernel_.tile.outputs[kernel_.outputIndex(*root)];
      for (int row = 0; row < values_.rows(); ++row) {
        Value pointer = values_.cellPointer(array, root->value, row, cells);
        vectors_.storeCells(values_.wide(root->value, row), pointer, chunk.column, chunk.mask,
                            cells);
      }
    } else {
      for (int row = 0; row < values_.rows(); ++row) {
        Value &total = state[slots_[root] + row % accumulatorsOfFull];
        total = accumulate(vectors_, reductionOf(*root), total,
                           wideContribution(root->value, root->aggregate, row),
                           maskFor(root->value, root->aggregate));
      }
    }
  }
  for (Value value : pass.kept)
    for (int row = 0; row < values_.rows(); ++row)
      values_.wide(value, row);
}

// Adds the chunk to a row aggregate or to a product with one column.
void RowEmitter::accumulateRows(plan::ReduceOp op, State &state, size_t &slot) {
  Value value = op.getOperand();
  Reduction reduction = reductionOf(op);
  AggregateKind kind = reduction.kind;
  size_t slotsOfRow = isIndex(kind) ? 2 : 1, next = slot + slotsOfRow * values_.rows();
  slot += slotsOfRow * firstRow_;
  for (int row = firstRow_; row < endRow_; ++row) {
    if (isIndex(kind)) {
      // Columns count from 1 and are exact as doubles.
      OpBuilder &builder = vectors_.builder();
      Value first = builder.create<arith::SIToFPOp>(builder.getUnknownLoc(), builder.getF64Type(),
                                                    values_.chunk().column);
      Value columns = emitBinary(
          vectors_, BinaryOperator::Add, vectors_.splat(first),
          emitBinary(vectors_, BinaryOperator::Add, vectors_.laneNumbers(), vectors_.number(1)));
      Accumulator next = accumulateIndex(vectors_, reduction, {state[slot], state[slot + 1]},
                                         values_.wide(value, row), columns, values_.chunk().mask);
      state[slot++] = next.value;
      state[slot++] = next.index;
    } else {
      state[slot] = accumulate(vectors_, reduction, state[slot], wideContribution(value, kind, row),
                               maskFor(value, kind));
      ++slot;
    }
  }
  slot = next;
}

// Adds the rows of the block to the accumulator of these columns. Even and odd rows are added
// separately, which halves the length of the dependency chain. Lanes beyond the last column are
// padding of the partial array; their contents are undefined.
void RowEmitter::accumulateColumns(const Root &root, State &state) {
  auto contribution = [&](int row) { return wideContribution(root.value, root.aggregate, row); };
  if (schedule_.isInRegisters) {
    Value &sum = state[slots_[&root] + values_.chunk().number];
    sum = accumulate(vectors_, reductionOf(root), sum, contribution(0), {});
    return;
  }
  Value pointer = vectors_.offset(columnPartials_[&root], values_.chunk().column);
  Value total = loadPartials(vectors_, reductionOf(root), pointer), odd;
  for (int row = 0; row < values_.rows(); ++row) {
    Value &sum = row % 2 == 0 ? total : odd;
    sum = accumulate(vectors_, reductionOf(root), sum, contribution(row), {});
  }
  if (odd)
    total = combine(vectors_, reductionOf(root), total, odd);
  vectors_.store(total, pointer, {});
}

Contribution RowEmitter::wideContribution(Value value, AggregateKind kind, int row) {
  return kernel_.contribution(value, kind,
                              [&](Value operand) { return values_.wide(operand, row); });
}

// Masked loads give 0 in lanes that are not loaded.
static bool isZeroBeyondColumns(const KernelBody &body, Value value) {
  value = withoutCopies(value);
  if (isRead(value))
    return body.extentOf(value) == Extent::Wide || body.extentOf(value) == Extent::Shared;
  auto product = value.getDefiningOp<plan::BinaryOp>();
  return product && product.getKind() == BinaryOperator::Mul &&
         isZeroBeyondColumns(body, product.getLhs()) && isZeroBeyondColumns(body, product.getRhs());
}

Value RowEmitter::maskFor(Value aggregated, AggregateKind kind) const {
  return kind == AggregateKind::Sum && isZeroBeyondColumns(body_, aggregated)
             ? Value()
             : values_.chunk().mask;
}

//===- passes over narrow rows ---------------------------------------------------------------===//

int64_t RowEmitter::unrollingOf(const RowPass &pass) const {
  if (values_.rows() == 1)
    return 1;
  llvm::DenseSet<Value> counted;
  int instructions = 1;
  auto count = [&](auto &self, Value value) -> void {
    Operation *op = value.getDefiningOp();
    if (!counted.insert(value).second || body_.extentOf(value) != Extent::Narrow ||
        pass.loaded.contains(value) || !isCell(op))
      return;
    instructions += instructionsOf(op);
    for (Value operand : op->getOperands())
      self(self, operand);
  };
  for (Value value : pass.kept)
    count(count, value);
  for (plan::ReduceOp op : pass.rowAggregates)
    count(count, op.getOperand());
  for (const Root *root : pass.roots)
    if (root->kind != Root::Kind::TransposedProduct)
      count(count, root->value);
  return std::clamp<int64_t>(instructionsOfColumns / instructions, 1, mostNarrowMainColumns);
}

void RowEmitter::emitNarrowPass(const RowPass &pass, State &state) {
  size_t passState = state.size();
  int64_t unrolling = unrollingOf(pass);
  openAggregates(pass, state, pass.width > 0 && pass.width < 2 * unrolling);
  values_.forEachColumn(pass.width, unrolling, state,
                        [&](Value column, int64_t copy, State &current) {
                          values_.beginColumn(column);
                          emitColumn(pass, column, copy, current, passState);
                        });
  size_t slot = passState;
  for (plan::ReduceOp op : pass.rowAggregates) {
    Value result = state[slot++];
    if (isIndex(op.getKind()))
      result = emitBinary(vectors_, BinaryOperator::Max, state[slot++], vectors_.number(1));
    setAggregate(op, result);
  }
  state.resize(passState);
  for (plan::ReduceOp product : pass.products)
    products_.addPanel(product);
  for (const Root *root : pass.roots) {
    if (root->kind == Root::Kind::TransposedProduct)
      products_.addPanel(*root);
    else if (root->kind == Root::Kind::Array)
      storePanel(*root);
  }
}

void RowEmitter::emitColumn(const RowPass &pass, Value column, int64_t copy, State &state,
                            size_t passState) {
  auto narrow = [&](Value value) { return values_.narrow(value); };
  size_t slot = passState;
  for (plan::ReduceOp op : pass.rowAggregates) {
    Reduction reduction = reductionOf(op);
    AggregateKind kind = reduction.kind;
    Value value = op.getOperand();
    if (isIndex(kind)) {
      OpBuilder &builder = vectors_.builder();
      Value number = builder.create<arith::SIToFPOp>(builder.getUnknownLoc(), builder.getF64Type(),
                                                     vectors_.add(column, vectors_.integer(1)));
      Accumulator next = accumulateIndex(vectors_, reduction, {state[slot], state[slot + 1]},
                                         narrow(value), vectors_.splat(number), {});
      state[slot++] = next.value;
      state[slot++] = next.index;
      continue;
    }
    Contribution contribution = kernel_.contribution(value, kind, narrow);
    state[slot] = accumulate(vectors_, reduction, state[slot], contribution, {});
    ++slot;
  }
  for (const Root *root : pass.roots) {
    if (root->kind == Root::Kind::Array || root->kind == Root::Kind::TransposedProduct)
      continue;
    Contribution contribution = kernel_.contribution(root->value, root->aggregate, narrow);
    if (root->kind == Root::Kind::FullAggregate) {
      Value &total = state[slots_[root] + copy % accumulatorsOfFull];
      total = accumulate(vectors_, reductionOf(*root), total, contribution, countedLanes());
    } else {
      Value pointer = columnAccumulator(*root, column);
      Value total = accumulate(vectors_, reductionOf(*root),
                               loadPartials(vectors_, reductionOf(*root), pointer), contribution,
                               countedLanes());
      vectors_.store(total, pointer, {});
    }
  }
  for (Value value : pass.kept)
    narrow(value);
}

// Stores a narrow result from its panel to the rows of its array.
void RowEmitter::storePanel(const Root &root) {
  ElementType cells = cellsOf(root.value);
  Value array = kernel_.tile.outputs[kernel_.outputIndex(root)];
  int64_t width = body_.narrowColumns(root.value), whole = width / lanes * lanes;
  auto store = [&](Value first, int64_t count) {
    State rows = values_.rowsOfPanel(root.value, first, count);
    Value mask = count < lanes ? vectors_.maskBelow(count) : Value();
    for (int row = 0; row < values_.rows(); ++row) {
      Value pointer = values_.cellPointer(array, root.value, row, cells);
      vectors_.storeCells(rows[row], pointer, first, mask, cells);
    }
  };
  vectors_.forLoop(vectors_.integer(0), vectors_.integer(whole), lanes,
                   [&](Value first) { store(first, lanes); });
  if (whole < width)
    store(vectors_.integer(whole), width - whole);
}

ScratchSize codegen::emitRowTile(KernelContext &kernel) { return RowEmitter(kernel).emit(); }
