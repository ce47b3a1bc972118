// Kernels over rows x columns: blocks of eight rows, in vectors of eight columns. A value per row
// is one vector, a row in each lane; what is aggregated over columns stays in registers where the
// columns are few and constant. The rows that remain after the last block of eight are done one by
// one by the same code, made for one row.
#include "codegen/CellEmission.h"
#include "codegen/KernelEmitter.h"
#include "codegen/RowSchedule.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

constexpr int64_t lanes = VectorBuilder::lanes;
// Up to so many columns, if constant, the loop over columns is unrolled and column aggregates are
// kept in registers.
constexpr int64_t unrolledColumns = 16;
// Bodies with more instructions than this for a vector of cells are not repeated for eight rows:
// they have work enough in one row, and compiling the copies would take longer than they save.
constexpr int instructionsWorthEightRows = 24;
// How far ahead blocks are fetched, in doubles, or a block if it is longer; not at all where a
// block fills the cache.
constexpr int64_t prefetchDistance = 1024;
constexpr int64_t prefetchedColumns = 512;
// Independent accumulators of a full aggregate.
constexpr unsigned accumulatorsOfFull = 4;

// Eight columns in emission; masked where they are not all there.
struct Chunk {
  Value column;
  Value mask;         // null: all
  int64_t number = 0; // of unrolled chunks
};

class RowEmitter {
public:
  explicit RowEmitter(KernelContext &kernel)
      : kernel_(kernel), body_(kernel.body), vectors_(kernel.vectors),
        schedule_(scheduleRows(kernel.body)) {}
  int64_t emit();

private:
  // Blocks of rows, and passes over them.
  void emitBlock(Value row, int rows, State &state);
  void emitPass(const RowPass &pass, State &state);
  void overColumns(State &state, llvm::function_ref<void(const Chunk &, State &)> body);
  void emitChunk(const RowPass &pass, const Chunk &chunk, State &state, size_t passState);
  void accumulateColumns(const Root &root, const Chunk &chunk, State &state);
  void finishPerRow(const Root &root, State &state);

  // Values in the block, the chunk.
  Value perRow(Value value);
  Value ofRow(Value perRowValue, int row); // one row's value in all lanes
  Value wide(Value value, int row);
  Value wideOperand(Value value, int row);
  Value shared(Value value);
  Value productVector(Value value);
  // The chunk's mask, null where the lanes beyond the last column contribute nothing anyway.
  Value maskFor(Value aggregated, AggregateKind kind) const;
  Contribution wideContribution(Value value, Value factor, AggregateKind kind, int row);

  // Memory.
  Value cellPointer(Value array, int row);
  Value scratchPointer(Value kept, int row);
  void prefetch(Value input);
  Value inputArray(Value value) {
    return kernel_.tile.inputs[body_.arrayIndex(cast<BlockArgument>(value))];
  }

  // Accumulators that live as long as the tile.
  void loadEntryVectors();
  void openState(State &state);
  void closeState(State &state);
  bool inRegisters(const Root &root) const {
    return root.kind == Root::Kind::ColumnAggregate && isUnrolled();
  }
  bool isUnrolled() const {
    return body_.constantColumns() && *body_.constantColumns() <= unrolledColumns;
  }
  bool hasBlocks() const { return schedule_.wideInstructions <= instructionsWorthEightRows; }
  int64_t unrolledChunks() const { return (*body_.constantColumns() + lanes - 1) / lanes; }

  KernelContext &kernel_;
  const KernelBody &body_;
  VectorBuilder &vectors_;
  RowSchedule schedule_;
  llvm::DenseMap<const Root *, unsigned> slots_;       // first accumulator in the state
  llvm::DenseMap<const Root *, Value> columnPartials_; // where column aggregates lie
  SmallVector<Value> rowDistance_;                     // i * columns
  Value paddedColumns_;
  Value prefetches_, prefetchDistance_; // in loops over columns

  // Of the block in emission.
  int rows_ = 1;
  Value row_;
  const RowPass *pass_ = nullptr;
  llvm::DenseMap<Value, Value> perRow_, rowPointers_;
  llvm::DenseMap<std::pair<Value, int>, Value> ofRow_, cellPointers_;
  // Of the chunk in emission.
  const Chunk *chunk_ = nullptr;
  llvm::DenseMap<std::pair<Value, int>, Value> wide_;
  llvm::DenseMap<Value, Value> shared_, productVectors_;
  // By chunk, of the tile: where columns are few, vectors along them stay in registers.
  llvm::DenseMap<std::pair<Value, int>, Value> entryVectors_;
};

} // namespace

//===- tile
//---------------------------------------------------------------------------------------===//

int64_t RowEmitter::emit() {
  Value columns = kernel_.tile.columns;
  paddedColumns_ = vectors_.roundDownToLanes(vectors_.add(columns, vectors_.integer(lanes - 1)));
  for (int row = 0; row < lanes; ++row)
    rowDistance_.push_back(body_.constantColumns()
                               ? vectors_.integer(row * *body_.constantColumns())
                               : vectors_.multiply(columns, vectors_.integer(row)));
  if (isUnrolled())
    loadEntryVectors();
  prefetches_ = vectors_.less(columns, vectors_.integer(prefetchedColumns));
  prefetchDistance_ = vectors_.maximum(rowDistance_.back(), vectors_.integer(prefetchDistance));
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
  return schedule_.scratchSlots.size();
}

void RowEmitter::loadEntryVectors() {
  Block &body = body_.op().getBody().front();
  auto load = [&](Value value) {
    for (int64_t chunk = 0; chunk < unrolledChunks(); ++chunk) {
      Value &vector = entryVectors_[{value, static_cast<int>(chunk)}];
      int64_t left = *body_.constantColumns() - chunk * lanes;
      if (!vector)
        vector = vectors_.load(vectors_.offset(inputArray(value), vectors_.integer(chunk * lanes)),
                               left < lanes ? vectors_.maskBelow(left) : Value());
    }
  };
  for (BlockArgument argument : body.getArguments())
    if (body_.extentOf(argument) == Extent::Shared && !argument.use_empty())
      load(argument);
  for (auto product : body.getOps<tok::MatmulOp>())
    if (isRowProduct(product) && body_.extentOf(rowAggregated(product)) == Extent::Wide)
      load(product.getRhs());
}

void RowEmitter::openState(State &state) {
  for (const Root &root : body_.roots()) {
    if (root.kind == Root::Kind::Array)
      continue;
    Value neutral = vectors_.number(neutralElement(root.aggregate));
    slots_[&root] = state.size();
    if (root.kind == Root::Kind::FullAggregate) {
      state.append(body_.extentOf(root.value) == Extent::Wide ? accumulatorsOfFull : 1, neutral);
    } else if (inRegisters(root)) {
      state.append(unrolledChunks(), neutral);
    } else {
      Value partial = columnPartials_[&root] = kernel_.partialPointer(root);
      State none;
      vectors_.forLoop(vectors_.integer(0), paddedColumns_, lanes, none,
                       [&](Value column, State &) {
                         vectors_.store(neutral, vectors_.offset(partial, column), {});
                       });
    }
  }
}

void RowEmitter::closeState(State &state) {
  for (const Root &root : body_.roots()) {
    if (root.kind == Root::Kind::Array || columnPartials_.contains(&root))
      continue;
    Value *slot = state.begin() + slots_[&root];
    Value partial = kernel_.partialPointer(root);
    if (inRegisters(root)) {
      for (int64_t chunk = 0; chunk < unrolledChunks(); ++chunk)
        vectors_.store(slot[chunk], vectors_.offset(partial, vectors_.integer(chunk * lanes)), {});
      continue;
    }
    Value total = slot[0];
    if (body_.extentOf(root.value) == Extent::Wide) {
      Value left = combine(vectors_, root.aggregate, slot[0], slot[1]);
      total = combine(vectors_, root.aggregate, left,
                      combine(vectors_, root.aggregate, slot[2], slot[3]));
    }
    vectors_.store(reduceOne(vectors_, root.aggregate, {total, {}}), partial, {});
  }
}

//===- blocks and passes
//--------------------------------------------------------------------------===//

void RowEmitter::emitBlock(Value row, int rows, State &state) {
  rows_ = rows;
  row_ = row;
  perRow_.clear();
  rowPointers_.clear();
  ofRow_.clear();
  cellPointers_.clear();
  for (const RowPass &pass : schedule_.passes)
    emitPass(pass, state);
  for (const Root *root : schedule_.perRowRoots)
    finishPerRow(*root, state);
}

void RowEmitter::emitPass(const RowPass &pass, State &state) {
  pass_ = &pass;
  // What the loop over columns uses of the block must stand before it.
  for (Value value : pass.perRowOperands)
    for (int row = 0; row < rows_; ++row)
      ofRow(value, row);
  size_t passState = state.size();
  for (Operation *op : pass.rowAggregates) {
    auto aggregate = dyn_cast<tok::AggregateOp>(op);
    AggregateKind kind = aggregate ? aggregate.getKind() : AggregateKind::Sum;
    for (int row = 0; row < rows_; ++row) {
      Accumulator neutral = neutralAccumulator(vectors_, kind);
      // Without a loop the first contribution needs nothing to be added to.
      state.push_back(isUnrolled() && !neutral.index && unrolledChunks() > 0 ? Value()
                                                                             : neutral.value);
      if (neutral.index)
        state.push_back(neutral.index);
    }
  }
  overColumns(state, [&](const Chunk &chunk, State &current) {
    emitChunk(pass, chunk, current, passState);
  });
  size_t slot = passState;
  for (Operation *op : pass.rowAggregates) {
    auto aggregate = dyn_cast<tok::AggregateOp>(op);
    AggregateKind kind = aggregate ? aggregate.getKind() : AggregateKind::Sum;
    SmallVector<Accumulator> accumulators;
    for (int row = 0; row < rows_; ++row) {
      Accumulator accumulator{state[slot++], {}};
      if (isIndex(kind))
        accumulator.index = state[slot++];
      accumulators.push_back(accumulator);
    }
    perRow_[op->getResult(0)] = rows_ == 1 ? reduceOne(vectors_, kind, accumulators[0])
                                           : reduceEight(vectors_, kind, accumulators);
  }
  state.resize(passState);
}

void RowEmitter::overColumns(State &state, llvm::function_ref<void(const Chunk &, State &)> body) {
  std::optional<int64_t> constant = body_.constantColumns();
  auto chunk = [&](Value column, Value mask, int64_t number, State &current) {
    body(Chunk{column, mask, number}, current);
  };
  if (isUnrolled()) {
    for (int64_t column = 0; column < *constant; column += lanes) {
      int64_t left = *constant - column;
      chunk(vectors_.integer(column), left < lanes ? vectors_.maskBelow(left) : Value(),
            column / lanes, state);
    }
    return;
  }
  Value columns = kernel_.tile.columns;
  if (rows_ == 1 && hasBlocks()) {
    // At most seven rows of a tile: little code is worth more than quick code.
    vectors_.forLoop(vectors_.integer(0), columns, lanes, state, [&](Value column, State &current) {
      chunk(column, vectors_.maskBelow(vectors_.subtract(columns, column)), 0, current);
    });
    return;
  }
  Value wholeEnd =
      constant ? vectors_.integer(*constant & -lanes) : vectors_.roundDownToLanes(columns);
  vectors_.forLoop(vectors_.integer(0), wholeEnd, lanes, state,
                   [&](Value column, State &current) { chunk(column, {}, 0, current); });
  if (constant && *constant % lanes != 0)
    chunk(wholeEnd, vectors_.maskBelow(*constant % lanes), 0, state);
  if (!constant)
    vectors_.ifThen(vectors_.less(wholeEnd, columns), state, [&](State &current) {
      chunk(wholeEnd, vectors_.maskBelow(vectors_.subtract(columns, wholeEnd)), 0, current);
    });
}

void RowEmitter::emitChunk(const RowPass &pass, const Chunk &chunk, State &state,
                           size_t passState) {
  chunk_ = &chunk;
  wide_.clear();
  shared_.clear();
  productVectors_.clear();
  size_t slot = passState;
  for (Operation *op : pass.rowAggregates) {
    Value value = rowAggregated(op);
    auto aggregate = dyn_cast<tok::AggregateOp>(op);
    for (int row = 0; row < rows_; ++row) {
      if (!aggregate) {
        Contribution product{wide(value, row), productVector(op->getOperand(1))};
        state[slot] = accumulate(vectors_, AggregateKind::Sum, state[slot], product,
                                 maskFor(value, AggregateKind::Sum));
        ++slot;
      } else if (isIndex(aggregate.getKind())) {
        // Columns count from 1 and are exact as doubles.
        OpBuilder &builder = vectors_.builder();
        Value first = builder.create<arith::SIToFPOp>(builder.getUnknownLoc(), builder.getF64Type(),
                                                      chunk.column);
        Value columns = emitBinary(
            vectors_, BinaryOperator::Add, vectors_.splat(first),
            emitBinary(vectors_, BinaryOperator::Add, vectors_.laneNumbers(), vectors_.number(1)));
        Accumulator next =
            accumulateIndex(vectors_, aggregate.getKind(), {state[slot], state[slot + 1]},
                            wide(value, row), columns, chunk.mask);
        state[slot++] = next.value;
        state[slot++] = next.index;
      } else {
        AggregateKind kind = aggregate.getKind();
        state[slot] = accumulate(vectors_, kind, state[slot],
                                 wideContribution(value, {}, kind, row), maskFor(value, kind));
        ++slot;
      }
    }
  }
  for (const Root *root : pass.roots) {
    if (root->kind == Root::Kind::ColumnAggregate) {
      accumulateColumns(*root, chunk, state);
      continue;
    }
    for (int row = 0; row < rows_; ++row) {
      if (root->kind == Root::Kind::Array) {
        Value pointer = cellPointer(kernel_.tile.outputs[kernel_.outputIndex(*root)], row);
        vectors_.store(wide(root->value, row), vectors_.offset(pointer, chunk.column), chunk.mask);
      } else {
        Value &total = state[slots_[root] + row % accumulatorsOfFull];
        total = accumulate(vectors_, root->aggregate, total,
                           wideContribution(root->value, root->factor, root->aggregate, row),
                           maskFor(root->value, root->aggregate));
      }
    }
  }
}

// The rows of the block into the accumulator of these columns: even and odd rows apart, so that
// half as many additions wait for one another. Lanes beyond the last column hold anything: they are
// the partial array's padding.
void RowEmitter::accumulateColumns(const Root &root, const Chunk &chunk, State &state) {
  auto contribution = [&](int row) {
    return wideContribution(root.value, root.factor, root.aggregate, row);
  };
  Value pointer, total;
  if (inRegisters(root)) {
    total = state[slots_[&root] + chunk.number];
  } else {
    pointer = vectors_.offset(columnPartials_[&root], chunk.column);
    total = vectors_.load(pointer, {});
  }
  Value odd;
  for (int row = 0; row < rows_; ++row) {
    if (row % 2 == 0) {
      total = accumulate(vectors_, root.aggregate, total, contribution(row), {});
    } else if (!odd) {
      Contribution first = contribution(row);
      odd = first.factor ? emitBinary(vectors_, BinaryOperator::Mul, first.value, first.factor)
                         : first.value;
    } else {
      odd = accumulate(vectors_, root.aggregate, odd, contribution(row), {});
    }
  }
  if (odd)
    total = combine(vectors_, root.aggregate, total, odd);
  if (pointer)
    vectors_.store(total, pointer, {});
  else
    state[slots_[&root] + chunk.number] = total;
}

void RowEmitter::finishPerRow(const Root &root, State &state) {
  if (root.kind == Root::Kind::Array) {
    Value pointer = vectors_.offset(kernel_.tile.outputs[kernel_.outputIndex(root)], row_);
    if (rows_ == 1)
      vectors_.storeScalar(vectors_.lane(perRow(root.value), 0), pointer);
    else
      vectors_.store(perRow(root.value), pointer, {});
    return;
  }
  // A single row is in all lanes; it counts in the first.
  Value mask = rows_ == 1 ? vectors_.maskBelow(1) : Value();
  Value &total = state[slots_[&root]];
  Contribution contribution = kernel_.contribution(root.value, root.factor, root.aggregate,
                                                   [&](Value value) { return perRow(value); });
  total = accumulate(vectors_, root.aggregate, total, contribution, mask);
}

//===- values
//-------------------------------------------------------------------------------------===//

Value RowEmitter::perRow(Value value) {
  if (body_.extentOf(value) == Extent::Uniform)
    return kernel_.uniform.lookup(value);
  if (Value known = perRow_.lookup(value))
    return known;
  Value result;
  Operation *op = value.getDefiningOp();
  if (!op) {
    Value pointer = vectors_.offset(inputArray(value), row_);
    result = rows_ == 1 ? vectors_.splat(vectors_.loadScalar(pointer)) : vectors_.load(pointer, {});
  } else if (auto product = dyn_cast<tok::MatmulOp>(op)) {
    // Rows of one column; longer ones are in perRow_ since the end of their pass.
    Value factor = vectors_.splat(vectors_.loadScalar(inputArray(product.getRhs())));
    result = emitBinary(vectors_, BinaryOperator::Mul, perRow(rowAggregated(op)), factor);
  } else if (auto aggregate = dyn_cast<tok::AggregateOp>(op)) {
    result = isIndex(aggregate.getKind()) ? vectors_.number(1) : perRow(rowAggregated(op));
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(perRow(withoutCasts(operand)));
    result = emitCell(vectors_, op, operands);
  }
  return perRow_[value] = result;
}

Value RowEmitter::ofRow(Value value, int row) {
  if (rows_ == 1)
    return perRow(value);
  if (Value known = ofRow_.lookup({value, row}))
    return known;
  return ofRow_[{value, row}] = vectors_.splatLane(perRow(value), row);
}

Value RowEmitter::wideOperand(Value value, int row) {
  switch (body_.extentOf(value)) {
  case Extent::Wide:
    return wide(value, row);
  case Extent::PerRow:
    return ofRow(value, row);
  case Extent::Shared:
    return shared(value);
  case Extent::Uniform:
    return kernel_.uniform.lookup(value);
  }
  llvm_unreachable("all extents are listed");
}

Value RowEmitter::wide(Value value, int row) {
  if (Value known = wide_.lookup({value, row}))
    return known;
  Value result;
  Operation *op = value.getDefiningOp();
  if (!op) {
    result = vectors_.load(vectors_.offset(cellPointer(inputArray(value), row), chunk_->column),
                           chunk_->mask);
    if (row == 0 && rows_ == lanes && pass_ == schedule_.passes.begin())
      prefetch(value);
  } else if (pass_->loaded.contains(value)) {
    result = vectors_.load(scratchPointer(value, row), {});
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(wideOperand(withoutCasts(operand), row));
    result = emitCell(vectors_, op, operands);
    if (pass_->kept.contains(value))
      vectors_.store(result, scratchPointer(value, row), {});
  }
  return wide_[{value, row}] = result;
}

Value RowEmitter::shared(Value value) {
  if (body_.extentOf(value) == Extent::Uniform)
    return kernel_.uniform.lookup(value);
  if (Value known = shared_.lookup(value))
    return known;
  Value result;
  if (!value.getDefiningOp()) {
    result = productVector(value);
  } else {
    SmallVector<Value> operands;
    for (Value operand : value.getDefiningOp()->getOperands())
      operands.push_back(shared(withoutCasts(operand)));
    result = emitCell(vectors_, value.getDefiningOp(), operands);
  }
  return shared_[value] = result;
}

// The chunk's part of an input that is a vector along the columns, 1×n or n×1.
Value RowEmitter::productVector(Value value) {
  if (isUnrolled())
    return entryVectors_.lookup({value, static_cast<int>(chunk_->number)});
  if (Value known = productVectors_.lookup(value))
    return known;
  return productVectors_[value] =
             vectors_.load(vectors_.offset(inputArray(value), chunk_->column), chunk_->mask);
}

Contribution RowEmitter::wideContribution(Value value, Value factor, AggregateKind kind, int row) {
  return kernel_.contribution(value, factor, kind,
                              [&](Value operand) { return wideOperand(operand, row); });
}

// Masked loads give 0 in lanes that are not loaded.
static bool isZeroBeyondColumns(const KernelBody &body, Value value) {
  if (isa<BlockArgument>(value))
    return body.extentOf(value) == Extent::Wide || body.extentOf(value) == Extent::Shared;
  auto product = value.getDefiningOp<tok::BinaryOp>();
  return product && product.getKind() == BinaryOperator::Mul &&
         isZeroBeyondColumns(body, product.getLhs()) && isZeroBeyondColumns(body, product.getRhs());
}

Value RowEmitter::maskFor(Value aggregated, AggregateKind kind) const {
  return kind == AggregateKind::Sum && isZeroBeyondColumns(body_, aggregated) ? Value()
                                                                              : chunk_->mask;
}

//===- memory
//-------------------------------------------------------------------------------------===//

Value RowEmitter::cellPointer(Value array, int row) {
  if (Value known = cellPointers_.lookup({array, row}))
    return known;
  OpBuilder::InsertionGuard guard(vectors_.builder());
  // In the block's scope, before any loop over columns.
  vectors_.builder().setInsertionPointAfterValue(row_);
  Value &first = rowPointers_[array];
  if (!first)
    first = vectors_.offset(array, vectors_.multiply(row_, kernel_.tile.columns));
  else
    vectors_.builder().setInsertionPointAfterValue(first);
  return cellPointers_[{array, row}] = vectors_.offset(first, rowDistance_[row]);
}

// The first pass over a block fetches what a later block will read, line by line in the order of
// memory: eight rows at a time are too many streams for the hardware to follow. A block is as many
// lines of 64 bytes as it has columns.
void RowEmitter::prefetch(Value input) {
  Value first = cellPointer(inputArray(input), 0);
  auto fetch = [&](Value distance, int64_t lines) {
    Value position =
        vectors_.add(vectors_.multiply(chunk_->column, vectors_.integer(lanes)), distance);
    for (int64_t line = 0; line < lines; ++line)
      vectors_.prefetch(
          vectors_.offset(first, vectors_.add(position, vectors_.integer(line * lanes))));
  };
  if (isUnrolled()) {
    fetch(vectors_.integer(prefetchDistance),
          std::min(lanes, *body_.constantColumns() - chunk_->number * lanes));
    return;
  }
  State none;
  vectors_.ifThen(prefetches_, none, [&](State &) { fetch(prefetchDistance_, lanes); });
}

Value RowEmitter::scratchPointer(Value kept, int row) {
  int64_t number = schedule_.scratchSlots.lookup(kept) * lanes + row;
  Value line = vectors_.offset(kernel_.tile.scratch,
                               vectors_.multiply(paddedColumns_, vectors_.integer(number)));
  return vectors_.offset(line, chunk_->column);
}

int64_t codegen::emitRowTile(KernelContext &kernel) { return RowEmitter(kernel).emit(); }
