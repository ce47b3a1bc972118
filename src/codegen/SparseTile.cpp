// The loops of a kernel over entries: over rows, passes, vectors of eight entries; and the results
// that these compute.
#include "codegen/SparseTile.h"

#include "codegen/CellEmission.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr int64_t lanes = VectorBuilder::lanes;
// The order in which sums add up depends on these two, so they are the same on every machine.
// Bodies with more instructions per eight entries than this get only a loop of masked vectors, none
// for whole vectors: they have enough work to hide the mask's cost, and compiling a second copy
// takes longer than it saves.
static constexpr int instructionsWorthTwoLoops = 40;
// Narrow products with at most this many vectors per row use two sets of accumulators in turn,
// which halves the dependency chain.
static constexpr int64_t vectorsWorthHalves = 2;

//===- tile ----------------------------------------------------------------------------------===//

void SparseTile::emit(abi::KernelPlan &plan) {
  layOutScratch(plan);
  emitUniformValues();
  for (plan::ReadOp other : schedule_.lookups)
    samePattern_[other] = samePattern(vectors_, input(other).pattern(), driver().pattern());
  lastEntry_ = vectors_.subtract(loadOffset(vectors_, driver().offsets, arguments_.end),
                                 vectors_.integer(1));
  fetchingEnd_ = endOfFetching();
  State state;
  openState(state);
  if (schedule_.isFlat) {
    begin_ = loadOffset(vectors_, driver().offsets, arguments_.begin);
    end_ = loadOffset(vectors_, driver().offsets, arguments_.end);
    for (const EntryPass &pass : schedule_.passes)
      emitPass(pass, state);
  } else {
    vectors_.forLoop(arguments_.begin, arguments_.end, 1, state,
                     [&](Value row, State &current) { emitRow(row, current); });
  }
  closeState(state);
}

int SparseTile::copies() const {
  if (!schedule_.isFlat)
    return 1;
  int instructions = schedule_.passes.front().instructions;
  return instructions <= 20 ? 4 : instructions <= instructionsWorthTwoLoops ? 2 : 1;
}

void SparseTile::openState(State &state) {
  for (const SparseRoot &root : body_.roots()) {
    if (root.kind == SparseRoot::Kind::Array)
      continue;
    Value neutral = neutralElement(vectors_, root.aggregate);
    if (root.kind == SparseRoot::Kind::FullAggregate) {
      slots_[&root] = state.size();
      state.append(copies(), neutral);
      continue;
    }
    Value partial = partials_[&root] = partialPointer(root);
    Value size = sparsePartialSize(vectors_, body_, root,
                                   [&](const Size &dimension) { return valueOf(dimension); });
    vectors_.forLoop(vectors_.integer(0), size, lanes,
                     [&](Value i) { vectors_.store(neutral, vectors_.offset(partial, i), {}); });
  }
}

// Whether `rows` rows with `entries` entries have cells without an entry.
Value SparseTile::hasAbsentCells(Value entries, Value rows) {
  return vectors_.less(entries, vectors_.multiply(rows, driver().columns));
}

void SparseTile::closeState(State &state) {
  for (const SparseRoot &root : body_.roots()) {
    if (root.kind != SparseRoot::Kind::FullAggregate)
      continue;
    Value *slot = state.begin() + slots_[&root];
    for (int distance = copies() / 2; distance > 0; distance /= 2)
      for (int i = 0; i < distance; ++i)
        slot[i] = combine(vectors_, root.aggregate, slot[i], slot[i + distance]);
    Value total = reduceOne(vectors_, root.aggregate, {slot[0], {}});
    if (root.aggregate != AggregateKind::Sum && body_.kindOf(root.value) == SparseKind::Wide) {
      Value entries = vectors_.subtract(loadOffset(vectors_, driver().offsets, arguments_.end),
                                        loadOffset(vectors_, driver().offsets, arguments_.begin));
      Value absent = hasAbsentCells(entries, vectors_.subtract(arguments_.end, arguments_.begin));
      total = vectors_.select(absent, combine(vectors_, root.aggregate, total, vectors_.number(0)),
                              total);
    }
    vectors_.store(total, partialPointer(root), {});
  }
}

//===- rows and passes -----------------------------------------------------------------------===//

void SparseTile::emitRow(Value row, State &state) {
  row_ = row;
  perRow_.clear();
  narrowRegisters_.clear();
  sampledLeft_.clear();
  narrowReady_.clear();
  begin_ = loadOffset(vectors_, driver().offsets, row);
  end_ = loadOffset(vectors_, driver().offsets, vectors_.add(row, vectors_.integer(1)));
  fillLookups();
  for (const EntryPass &pass : schedule_.passes)
    emitPass(pass, state);
  for (const SparseRoot *root : schedule_.rowRoots)
    finishRow(*root, state);
}

// Expands the current row of each other sparse operand into its buffer: first zeros at the columns of
// the driver's entries, then the operand's entries. Other cells of the buffer are never read.
void SparseTile::fillLookups() {
  for (plan::ReadOp other : schedule_.lookups) {
    Value buffer = lookupBuffers_[other];
    const SparseInput &from = input(other);
    State none;
    vectors_.ifThen(negate(vectors_, samePattern_[other]), none, [&](State &) {
      Value zero = vectors_.lane(vectors_.number(0), 0);
      vectors_.forLoop(begin_, end_, 1, [&](Value p) {
        Value column = loadIndex(vectors_, driver().indices, p);
        vectors_.storeScalar(zero, vectors_.offset(buffer, column));
      });
      Value last = vectors_.add(row_, vectors_.integer(1));
      vectors_.forLoop(
          loadOffset(vectors_, from.offsets, row_), loadOffset(vectors_, from.offsets, last), 1,
          [&](Value p) {
            Value cell = vectors_.loadScalar(vectors_.offset(from.data, p, from.cells), from.cells);
            Value column = loadIndex(vectors_, from.indices, p);
            vectors_.storeScalar(vectors_.extend(cell), vectors_.offset(buffer, column));
          });
    });
  }
}

void SparseTile::emitPass(const EntryPass &pass, State &state) {
  pass_ = &pass;
  // Emit the values per row before the loop over entries, so that they dominate all uses.
  for (Value value : pass.perRowOperands)
    perRow(value);
  for (Value value : pass.narrowOperands)
    prepareNarrow(value);
  for (plan::ReduceOp product : pass.sampled)
    prepareSampled(*body_.productOf(product));
  size_t passState = state.size();
  for (plan::ReduceOp op : pass.rowOperations)
    openRowOperation(op, state);
  overEntries(pass, state, [&](const Chunk &chunk, State &current) {
    emitChunk(pass, chunk, current, passState);
  });
  size_t slot = passState;
  for (plan::ReduceOp op : pass.rowOperations)
    closeRowOperation(op, state, slot);
  state.resize(passState);
}

void SparseTile::overEntries(const EntryPass &pass, State &state,
                             llvm::function_ref<void(const Chunk &, State &)> body) {
  auto masked = [&](Value position, State &current) {
    body({position, vectors_.maskBelow(vectors_.subtract(end_, position))}, current);
  };
  if (pass.instructions > instructionsWorthTwoLoops) {
    vectors_.forLoop(begin_, end_, lanes, state, masked);
    return;
  }
  int64_t step = lanes * copies();
  Value whole = vectors_.builder().create<arith::AndIOp>(
      vectors_.builder().getUnknownLoc(), vectors_.subtract(end_, begin_), vectors_.integer(-step));
  Value wholeEnd = vectors_.add(begin_, whole);
  vectors_.forLoop(begin_, wholeEnd, step, state, [&](Value position, State &current) {
    for (int copy = 0; copy < copies(); ++copy)
      body({vectors_.add(position, vectors_.integer(copy * lanes)), {}, copy}, current);
  });
  if (copies() > 1)
    vectors_.forLoop(wholeEnd, end_, lanes, state, masked);
  else
    vectors_.ifThen(vectors_.less(wholeEnd, end_), state,
                    [&](State &current) { masked(wholeEnd, current); });
}

void SparseTile::emitChunk(const EntryPass &pass, const Chunk &chunk, State &state,
                           size_t passState) {
  chunk_ = &chunk;
  columnIndices_ = {};
  laneColumns_.assign(lanes, {});
  wide_.clear();
  size_t slot = passState;
  for (plan::ReduceOp op : pass.rowOperations)
    addToRowOperation(op, state, slot);
  for (const SparseRoot *root : pass.roots) {
    switch (root->kind) {
    case SparseRoot::Kind::Array: {
      Value cells = vectors_.round(wide(root->value), outputCells(*root));
      vectors_.store(cells, outputPointer(*root, chunk.position), chunk.mask);
      break;
    }
    case SparseRoot::Kind::FullAggregate: {
      Value &total = state[slots_[root] + chunk.copy];
      total = accumulate(
          vectors_, root->aggregate, total,
          contribution(root->value, root->aggregate, [&](Value value) { return wide(value); }),
          chunk.mask);
      break;
    }
    case SparseRoot::Kind::ColumnAggregate:
      addToColumns(*root);
      break;
    case SparseRoot::Kind::OuterProduct:
      addOuterProduct(*root);
      break;
    }
  }
}

//===- what a pass completes per row ---------------------------------------------------------===//

void SparseTile::openRowOperation(plan::ReduceOp op, State &state) {
  Value result = op.getCell();
  if (body_.kindOf(result) != SparseKind::Narrow) {
    state.push_back(neutralElement(vectors_, op.getKind()));
  } else if (inRegisters(result)) {
    int64_t registers = registersOf(result);
    state.append(registers <= vectorsWorthHalves ? 2 * registers : registers, vectors_.number(0));
  } else {
    State none;
    overColumns(result, none, [&](const Columns &columns, State &) {
      vectors_.store(vectors_.number(0), vectors_.offset(narrowBuffers_[result], columns.first),
                     columns.mask);
    });
  }
}

void SparseTile::addToRowOperation(plan::ReduceOp op, State &state, size_t &slot) {
  const EntryProduct *product = body_.productOf(op);
  if (!product) {
    Contribution parts =
        contribution(op.getOperand(), op.getKind(), [&](Value value) { return wide(value); });
    state[slot] = accumulate(vectors_, op.getKind(), state[slot], parts, chunk_->mask);
    ++slot;
    return;
  }
  Value result = op.getCell();
  const SparseInput &factor = input(product->right);
  size_t first = slot;
  int64_t registers = inRegisters(result) ? registersOf(result) : 0;
  int64_t halves = registers > 0 && registers <= vectorsWorthHalves ? 2 : 1;
  int half = 0;
  slot += registers * halves;
  overLanes(product->left, state, [&](Value lane, Value column, State &current) {
    Value row =
        vectors_.offset(factor.data, vectors_.multiply(column, factor.columns), factor.cells);
    overColumns(result, current, [&](const Columns &columns, State &inner) {
      Value cells = vectors_.extend(vectors_.load(vectors_.offset(row, columns.first, factor.cells),
                                                  columns.mask, factor.cells));
      if (registers > 0) {
        Value &total = inner[first + half * registers + columns.number];
        total = vectors_.fma(lane, cells, total);
      } else {
        Value pointer = vectors_.offset(narrowBuffers_[result], columns.first);
        vectors_.store(vectors_.fma(lane, cells, vectors_.load(pointer, columns.mask)), pointer,
                       columns.mask);
      }
    });
    half = (half + 1) % halves;
  });
}

void SparseTile::closeRowOperation(plan::ReduceOp op, State &state, size_t &slot) {
  Value result = op.getCell();
  Type cells = cellType(vectors_, result);
  if (body_.kindOf(result) != SparseKind::Narrow) {
    AggregateKind kind = op.getKind();
    Value total = reduceOne(vectors_, kind, {state[slot++], {}});
    if (kind != AggregateKind::Sum)
      total = vectors_.select(hasAbsentCells(vectors_.subtract(end_, begin_), vectors_.integer(1)),
                              combine(vectors_, kind, total, vectors_.number(0)), total);
    perRow_[result] = vectors_.round(total, cells);
  } else if (inRegisters(result)) {
    int64_t registers = registersOf(result);
    for (int64_t i = 0; i < registers; ++i) {
      Value total = state[slot + i];
      if (registers <= vectorsWorthHalves)
        total = combine(vectors_, AggregateKind::Sum, total, state[slot + registers + i]);
      narrowRegisters_[{result, static_cast<int>(i)}] = vectors_.round(total, cells);
    }
    slot += registers <= vectorsWorthHalves ? 2 * registers : registers;
  }
}

//===- results of a chunk --------------------------------------------------------------------===//

void SparseTile::overLanes(Value value, State &state,
                           llvm::function_ref<void(Value, Value, State &)> body) {
  Value cells = vectors_.extend(wide(value));
  if (!chunk_->mask) {
    for (int lane = 0; lane < lanes; ++lane)
      body(vectors_.splatLane(cells, lane), columnOf(lane), state);
    return;
  }
  vectors_.store(cells, laneBuffer_, {});
  Value position = chunk_->position;
  Value count = minimum(vectors_, vectors_.subtract(end_, position), vectors_.integer(lanes));
  vectors_.forLoop(vectors_.integer(0), count, 1, state, [&](Value lane, State &current) {
    Value column = loadIndex(vectors_, driver().indices, vectors_.add(position, lane));
    body(vectors_.splat(vectors_.loadScalar(vectors_.offset(laneBuffer_, lane))), column, current);
  });
}

// Adds one lane after the other, without branching on the number of entries: lanes beyond the row's
// last entry add 0 to the columns of the entries that follow.
void SparseTile::addToColumns(const SparseRoot &root) {
  Contribution parts =
      contribution(root.value, root.aggregate, [&](Value value) { return wide(value); });
  Value cells = vectors_.extend(parts.value);
  Value factor = parts.factor ? vectors_.extend(parts.factor) : Value();
  if (chunk_->mask) {
    if (factor)
      cells = emitBinary(vectors_, BinaryOperator::Mul, cells, factor);
    cells = vectors_.select(chunk_->mask, cells, vectors_.number(0));
    factor = {};
  }
  OpBuilder &builder = vectors_.builder();
  for (int lane = 0; lane < lanes; ++lane) {
    Value column = chunk_->mask && lane > 0 ? columnAhead(lane) : columnOf(lane);
    Value target = vectors_.offset(partials_[&root], column);
    Value total = vectors_.loadScalar(target), cell = vectors_.lane(cells, lane);
    total = factor ? vectors_.fma(cell, vectors_.lane(factor, lane), total)
                   : builder.create<arith::AddFOp>(builder.getUnknownLoc(), total, cell);
    vectors_.storeScalar(total, target);
  }
}

void SparseTile::addOuterProduct(const SparseRoot &root) {
  State none;
  overLanes(root.value, none, [&](Value lane, Value column, State &current) {
    Value width = valueOf(body_.columnsOf(root.factor));
    Value row = vectors_.offset(partials_[&root], vectors_.multiply(column, width));
    overColumns(root.factor, current, [&](const Columns &columns, State &) {
      Value pointer = vectors_.offset(row, columns.first);
      Value factor = vectors_.extend(narrow(root.factor, columns));
      vectors_.store(vectors_.fma(lane, factor, vectors_.load(pointer, columns.mask)), pointer,
                     columns.mask);
    });
  });
}

//===- results of a row ----------------------------------------------------------------------===//

void SparseTile::finishRow(const SparseRoot &root, State &state) {
  if (body_.kindOf(root.value) == SparseKind::Narrow) {
    finishNarrow(root, state);
    return;
  }
  if (root.kind == SparseRoot::Kind::Array) {
    Value cell = vectors_.lane(vectors_.round(perRow(root.value), outputCells(root)), 0);
    vectors_.storeScalar(cell, outputPointer(root, row_));
    return;
  }
  // All lanes hold the row's value, so only the first is counted.
  Value &total = state[slots_[&root]];
  total = accumulate(
      vectors_, root.aggregate, total,
      contribution(root.value, root.aggregate, [&](Value value) { return perRow(value); }),
      vectors_.maskBelow(1));
}

void SparseTile::finishNarrow(const SparseRoot &root, State &state) {
  preparePerRow(root.value);
  Value width = valueOf(body_.columnsOf(root.value));
  overColumns(root.value, state, [&](const Columns &columns, State &current) {
    auto operand = [&](Value value) { return narrow(value, columns); };
    if (root.kind == SparseRoot::Kind::Array) {
      Value offset = vectors_.add(vectors_.multiply(row_, width), columns.first);
      vectors_.store(vectors_.round(operand(root.value), outputCells(root)),
                     outputPointer(root, offset), columns.mask);
      return;
    }
    Contribution parts = contribution(root.value, root.aggregate, operand);
    if (root.kind == SparseRoot::Kind::FullAggregate) {
      Value &total = current[slots_[&root]];
      total = accumulate(vectors_, root.aggregate, total, parts, columns.mask);
      return;
    }
    Value pointer = vectors_.offset(partials_[&root], columns.first);
    Value total =
        accumulate(vectors_, root.aggregate, vectors_.load(pointer, {}), parts, columns.mask);
    vectors_.store(total, pointer, {});
  });
}
