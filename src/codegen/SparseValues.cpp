// The values of a kernel over entries: at eight entries, per row, and along eight columns of a
// narrow row.
#include "codegen/SparseTile.h"

#include "codegen/CellEmission.h"
#include "codegen/Prefetching.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr int64_t lanes = VectorBuilder::lanes;
// The order in which sums add up depends on these three, so they are the same on every machine.
// A row of a sampled product's left factor stays in registers if it has at most this constant
// number of columns.
static constexpr int64_t sampledInRegisters = 128;
// Rows of the right factor with at most this constant number of columns are read eight at once.
static constexpr int64_t sampledTogether = 32;
static constexpr int64_t sampledAccumulators = 4;

void SparseTile::emitUniformValues() {
  for (Operation &operation : body_.block()) {
    auto read = dyn_cast<plan::ReadOp>(operation);
    if ((!read && !isCell(&operation)) ||
        body_.kindOf(operation.getResult(0)) != SparseKind::Uniform)
      continue;
    Value &uniform = uniform_[operation.getResult(0)];
    if (read) {
      uniform =
          tok::isArray(read.getOperand().getType())
              ? vectors_.splat(vectors_.loadScalar(input(read).data, input(read).cells))
              : emitScalar(vectors_, arguments_.scalars, body_.inputIndex(read), cellsOf(read));
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : operation.getOperands())
      operands.push_back(uniform_.lookup(operand));
    uniform_[operation.getResult(0)] = emitCell(vectors_, &operation, operands);
  }
}

// A sum of products uses fused multiply-adds, unless the product is kept in scratch memory.
Contribution SparseTile::contribution(Value value, AggregateKind kind,
                                      llvm::function_ref<Value(Value)> valueOf) {
  plan::BinaryOp product = productInSum(kind, value);
  if (product && !(pass_ && (pass_->kept.contains(value) || pass_->loaded.contains(value))))
    return {valueOf(product.getLhs()), valueOf(product.getRhs())};
  return {valueOf(value), {}};
}

//===- at the entries ------------------------------------------------------------------------===//

Value SparseTile::wide(Value value) {
  SparseKind kind = body_.kindOf(value);
  if (kind == SparseKind::Uniform)
    return uniform_.lookup(value);
  if (kind == SparseKind::PerRow)
    return perRow(value);
  if (Value known = wide_.lookup(value))
    return known;
  Value result;
  Type cells = cellType(vectors_, value);
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast<plan::ReadOp>(op)) {
    result = wideInput(read);
  } else if (pass_->loaded.contains(value)) {
    result = vectors_.round(vectors_.load(keptPointer(value), {}), cells);
  } else {
    if (auto product = dyn_cast<plan::ReduceOp>(op)) {
      result = sampledProduct(product);
    } else {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(wide(operand));
      result = emitCell(vectors_, op, operands);
    }
    if (pass_->kept.contains(value))
      vectors_.store(vectors_.extend(result), keptPointer(value), {});
  }
  return wide_[value] = result;
}

Value SparseTile::wideInput(plan::ReadOp read) {
  const SparseInput &from = input(read);
  if (body_.kindOf(read) == SparseKind::PerColumn)
    return atColumns(from);
  if (body_.hasEntriesOfDriver(read)) {
    if (!isFollowed())
      fetchEntries(from.data, from.cells);
    return vectors_.load(vectors_.offset(from.data, chunk_->position, from.cells), chunk_->mask,
                         from.cells);
  }
  if (body_.isSparse(read))
    return lookUp(read);
  return gather(vectors_, rowOf(read), columnIndices(), chunk_->mask, from.cells);
}

// Only the first pass prefetches: later passes over the row find its entries in the cache.
void SparseTile::fetchEntries(Value pointer, Type cells) {
  if (pass_ == &schedule_.passes.front())
    vectors_.prefetch(pointer,
                      vectors_.add(chunk_->position, vectors_.integer(prefetching::entriesAhead)),
                      cells);
}

// In a flat loop over whole vectors the hardware prefetcher keeps track (unless cells are
// prefetched in between: fetchCells then prefetches the entries, too).
bool SparseTile::isFollowed() const { return schedule_.isFlat && !chunk_->mask; }

Value SparseTile::atColumns(const SparseInput &vector) {
  fetchCells(vector);
  return gather(vectors_, vector.data, columnIndices(), chunk_->mask, vector.cells);
}

void SparseTile::fetchCells(const SparseInput &vector) {
  State none;
  vectors_.ifThen(vectors_.less(chunk_->position, fetchingEnd_), none, [&](State &) {
    if (isFollowed()) {
      fetchEntries(driver().indices, vectors_.builder().getI32Type());
      fetchEntries(driver().data, driver().cells);
    }
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value later =
          vectors_.add(chunk_->position, vectors_.integer(prefetching::cellsAhead + lane));
      Value column = loadIndex(vectors_, driver().indices, later);
      vectors_.prefetch(vectors_.offset(vector.data, column, vector.cells));
    }
  });
}

Value SparseTile::endOfFetching() {
  Value isLarge = vectors_.less(vectors_.integer(prefetching::cellsInCache), driver().columns);
  Value end = vectors_.subtract(lastEntry_, vectors_.integer(prefetching::cellsAhead + lanes - 1));
  return vectors_.select(isLarge, end, vectors_.integer(0));
}

// The cells of another sparse operand at the chunk's entries, as doubles: read from its values if it
// has the driver's entries (tested at run time), else gathered from the buffer with its expanded
// row.
Value SparseTile::lookUp(plan::ReadOp read) {
  const SparseInput &from = input(read);
  Value columns = columnIndices(), same = samePattern_[read];
  State found{vectors_.number(0)};
  vectors_.ifThen(same, found, [&](State &current) {
    current[0] = vectors_.extend(vectors_.load(
        vectors_.offset(from.data, chunk_->position, from.cells), chunk_->mask, from.cells));
  });
  vectors_.ifThen(negate(vectors_, same), found, [&](State &current) {
    current[0] =
        gather(vectors_, lookupBuffers_[read], columns, chunk_->mask, vectors_.doubleType());
  });
  return found[0];
}

void SparseTile::prepareSampled(const EntryProduct &product) {
  auto read = product.left.getDefiningOp<plan::ReadOp>();
  const SparseInput &left = input(read);
  const Size &inner = body_.columnsOf(read);
  Value row = rowOf(read);
  if (!inner.isConstant() || inner.constantValue() > sampledInRegisters)
    return;
  int64_t count = inner.constantValue();
  for (int64_t first = 0; first < count; first += lanes) {
    Value mask = count - first < lanes ? vectors_.maskBelow(count - first) : Value();
    sampledLeft_[{product.left, static_cast<int>(first / lanes)}] = vectors_.extend(
        vectors_.load(vectors_.offset(row, vectors_.integer(first), left.cells), mask, left.cells));
  }
}

Value SparseTile::sampledRow(const SparseInput &from, Value column) {
  return vectors_.offset(from.data, vectors_.multiply(column, from.columns), from.cells);
}

// For short rows: adds the products of eight entries at once, so that additions are independent.
void SparseTile::sampleTogether(const EntryProduct &product, State &totals) {
  const SparseInput &from = input(product.right);
  int64_t count = body_.columnsOf(product.left).constantValue();
  for (int lane = 0; lane < lanes; ++lane) {
    Value row = sampledRow(from, columnOf(lane));
    Value ahead = sampledRow(from, columnAhead(prefetching::factorRowsAhead + lane));
    for (int64_t first = 0; first < count; first += lanes) {
      Value mask = count - first < lanes ? vectors_.maskBelow(count - first) : Value();
      vectors_.prefetch(vectors_.offset(ahead, vectors_.integer(first), from.cells));
      Value cells = vectors_.extend(vectors_.load(
          vectors_.offset(row, vectors_.integer(first), from.cells), mask, from.cells));
      totals[lane] =
          vectors_.fma(sampledLeft_.lookup({product.left, static_cast<int>(first / lanes)}), cells,
                       totals[lane]);
    }
  }
}

// For long rows: reads the rows one after the other in the order of memory, with several
// accumulators each, and only those of existing entries.
void SparseTile::sampleOneByOne(const EntryProduct &product, State &totals) {
  auto read = product.left.getDefiningOp<plan::ReadOp>();
  const SparseInput &from = input(product.right), &left = input(read);
  Value count =
      minimum(vectors_, vectors_.subtract(end_, chunk_->position), vectors_.integer(lanes));
  vectors_.forLoop(vectors_.integer(0), count, 1, [&](Value lane) {
    Value position = vectors_.add(chunk_->position, lane);
    Value row = sampledRow(from, loadIndex(vectors_, driver().indices, position));
    Value later =
        minimum(vectors_, vectors_.add(position, vectors_.integer(prefetching::factorRowsAhead)),
                lastEntry_);
    Value ahead = sampledRow(from, loadIndex(vectors_, driver().indices, later));
    State sums(sampledAccumulators, vectors_.number(0));
    auto add = [&](Value factor, Value first, Value mask, Value &sum) {
      vectors_.prefetch(vectors_.offset(ahead, first, from.cells));
      Value cells =
          vectors_.extend(vectors_.load(vectors_.offset(row, first, from.cells), mask, from.cells));
      sum = vectors_.fma(factor, cells, sum);
    };
    if (sampledLeft_.contains({product.left, 0})) {
      int64_t columns = body_.columnsOf(product.left).constantValue();
      for (int64_t first = 0; first < columns; first += lanes)
        add(sampledLeft_.lookup({product.left, static_cast<int>(first / lanes)}),
            vectors_.integer(first),
            columns - first < lanes ? vectors_.maskBelow(columns - first) : Value(),
            sums[first / lanes % sampledAccumulators]);
    } else {
      Value leftRow = rowOf(read);
      auto addLoaded = [&](Value first, Value mask, Value &sum) {
        add(vectors_.extend(
                vectors_.load(vectors_.offset(leftRow, first, left.cells), mask, left.cells)),
            first, mask, sum);
      };
      constexpr int64_t step = sampledAccumulators * lanes;
      Value columns = left.columns, wholeEnd = vectors_.roundDownToLanes(columns);
      Value steps = vectors_.builder().create<arith::AndIOp>(vectors_.builder().getUnknownLoc(),
                                                             columns, vectors_.integer(-step));
      vectors_.forLoop(vectors_.integer(0), steps, step, sums, [&](Value first, State &current) {
        for (int64_t i = 0; i < sampledAccumulators; ++i)
          addLoaded(vectors_.add(first, vectors_.integer(i * lanes)), {}, current[i]);
      });
      vectors_.forLoop(steps, wholeEnd, lanes, sums,
                       [&](Value first, State &current) { addLoaded(first, {}, current[0]); });
      vectors_.ifThen(vectors_.less(wholeEnd, columns), sums, [&](State &current) {
        addLoaded(wholeEnd, vectors_.maskBelow(vectors_.subtract(columns, wholeEnd)), current[1]);
      });
    }
    for (int64_t distance = sampledAccumulators / 2; distance > 0; distance /= 2)
      for (int64_t i = 0; i < distance; ++i)
        sums[i] = combine(vectors_, AggregateKind::Sum, sums[i], sums[i + distance]);
    vectors_.store(
        sums[0], vectors_.offset(sampledBuffer_, vectors_.multiply(lane, vectors_.integer(lanes))),
        {});
  });
  for (int64_t lane = 0; lane < lanes; ++lane)
    totals[lane] =
        vectors_.load(vectors_.offset(sampledBuffer_, vectors_.integer(lane * lanes)), {});
}

// The sums over the lanes of eight products are computed together, by reduceEight.
Value SparseTile::sampledProduct(plan::ReduceOp reduce) {
  const EntryProduct &product = *body_.productOf(reduce);
  const Size &inner = body_.columnsOf(product.left);
  Type cells = cellType(vectors_, reduce.getCell());
  if (inner.isConstant(0))
    return vectors_.number(0, cells);
  State totals(lanes, vectors_.number(0));
  if (inner.isConstant() && inner.constantValue() <= sampledTogether)
    sampleTogether(product, totals);
  else
    sampleOneByOne(product, totals);
  SmallVector<Accumulator> accumulators;
  for (Value total : totals)
    accumulators.push_back({total, {}});
  return vectors_.round(reduceEight(vectors_, AggregateKind::Sum, accumulators), cells);
}

//===- of a row ------------------------------------------------------------------------------===//

// A value per row, in all lanes of a vector.
Value SparseTile::perRow(Value value) {
  if (body_.kindOf(value) == SparseKind::Uniform)
    return uniform_.lookup(value);
  if (Value known = perRow_.lookup(value))
    return known;
  Value result;
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast<plan::ReadOp>(op)) {
    const SparseInput &from = input(read);
    result = vectors_.splat(
        vectors_.loadScalar(vectors_.offset(from.data, row_, from.cells), from.cells));
  } else if (auto aggregate = dyn_cast<plan::ReduceOp>(op)) {
    // Aggregates over entries don't get here: the end of their pass put them into perRow_.
    result = narrowAggregate(aggregate);
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(perRow(operand));
    result = emitCell(vectors_, op, operands);
  }
  return perRow_[value] = result;
}

Value SparseTile::narrowAggregate(plan::ReduceOp aggregate) {
  Value operand = aggregate.getOperand();
  AggregateKind kind = aggregate.getKind();
  preparePerRow(operand);
  State total{neutralElement(vectors_, kind)};
  overColumns(operand, total, [&](const Columns &columns, State &current) {
    current[0] =
        accumulate(vectors_, kind, current[0],
                   contribution(operand, kind, [&](Value value) { return narrow(value, columns); }),
                   columns.mask);
  });
  return vectors_.round(reduceOne(vectors_, kind, {total[0], {}}),
                        cellType(vectors_, aggregate.getCell()));
}

//===- of a narrow row -----------------------------------------------------------------------===//

void SparseTile::preparePerRow(Value value) {
  if (body_.kindOf(value) == SparseKind::PerRow)
    perRow(value);
  else if (Operation *op = value.getDefiningOp(); op && isCell(op))
    for (Value operand : op->getOperands())
      preparePerRow(operand);
}

// Computes a narrow value before the loop over entries: in registers, or in its buffer if it has
// too many columns.
void SparseTile::prepareNarrow(Value value) {
  preparePerRow(value);
  if (isRead(value) && !inRegisters(value))
    return;
  bool isProduct = value.getDefiningOp<plan::ReduceOp>() != nullptr;
  if (isProduct && !inRegisters(value))
    return; // accumulated in its buffer already
  Value buffer = narrowBuffers_.lookup(value);
  State none;
  overColumns(value, none, [&](const Columns &columns, State &) {
    Value cells = narrow(value, columns);
    if (buffer)
      vectors_.store(vectors_.extend(cells), vectors_.offset(buffer, columns.first), columns.mask);
  });
  if (buffer)
    narrowReady_.insert(value);
}

Value SparseTile::narrow(Value value, const Columns &columns) {
  SparseKind kind = body_.kindOf(value);
  if (kind == SparseKind::Uniform)
    return uniform_.lookup(value);
  if (kind == SparseKind::PerRow)
    return perRow(value);
  Value known = columns.number >= 0 ? narrowRegisters_.lookup({value, columns.number})
                                    : narrowColumns_.lookup(value);
  if (known)
    return known;
  Value result;
  Operation *op = value.getDefiningOp();
  bool isProduct = isa<plan::ReduceOp>(op);
  if (isProduct || narrowReady_.contains(value)) {
    Value pointer = vectors_.offset(narrowBuffers_.lookup(value), columns.first);
    result = vectors_.round(vectors_.load(pointer, columns.mask), cellType(vectors_, value));
  } else if (auto read = dyn_cast<plan::ReadOp>(op)) {
    const SparseInput &from = input(read);
    Value row = kind == SparseKind::PerNarrowColumn ? from.data : rowOf(read);
    result =
        vectors_.load(vectors_.offset(row, columns.first, from.cells), columns.mask, from.cells);
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(narrow(operand, columns));
    result = emitCell(vectors_, op, operands);
  }
  return (columns.number >= 0 ? narrowRegisters_[{value, columns.number}] : narrowColumns_[value]) =
             result;
}
