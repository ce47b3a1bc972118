// The values of a kernel over entries: at eight entries, of a row, along eight columns of a narrow
// row.
#include "codegen/SparseTile.h"

#include "codegen/CellEmission.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr int64_t lanes = VectorBuilder::lanes;
// The row of a sampled product's left factor stays in registers up to so many columns, if constant.
static constexpr int64_t sampledInRegisters = 128;
// The rows of its right factor are fetched so many entries ahead: they are read in no order that
// the hardware could follow.
static constexpr int64_t sampledAhead = 8;

void SparseTile::emitUniformValues() {
  Block &body = body_.op().getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    if (body_.kindOf(argument) != SparseKind::Uniform)
      continue;
    Value scalar;
    if (tok::isArray(argument.getType()))
      scalar = vectors_.loadScalar(input(argument).data, input(argument).cells);
    else
      scalar = vectors_.loadScalar(
          vectors_.offset(arguments_.scalars, vectors_.integer(body_.scalarIndex(argument))));
    uniform_[argument] = vectors_.splat(scalar);
  }
  for (Operation &operation : body) {
    if (!isCell(&operation) || body_.kindOf(operation.getResult(0)) != SparseKind::Uniform)
      continue;
    SmallVector<Value> operands;
    for (Value operand : operation.getOperands())
      operands.push_back(uniform_.lookup(withoutCasts(operand)));
    uniform_[operation.getResult(0)] = emitCell(vectors_, &operation, operands);
  }
}

// A sum of products multiplies and adds at once.
Contribution SparseTile::contribution(Value value, Value factor, AggregateKind kind,
                                      llvm::function_ref<Value(Value)> valueOf) {
  if (factor)
    return {valueOf(value), valueOf(factor)};
  auto product = value.getDefiningOp<tok::BinaryOp>();
  if (kind == AggregateKind::Sum && product && product.getKind() == BinaryOperator::Mul &&
      !(pass_ && (pass_->kept.contains(value) || pass_->loaded.contains(value))))
    return {valueOf(withoutCasts(product.getLhs())), valueOf(withoutCasts(product.getRhs()))};
  return {valueOf(value), {}};
}

//===- at the entries
//-----------------------------------------------------------------------------===//

Value SparseTile::wide(Value value) {
  SparseKind kind = body_.kindOf(value);
  if (kind == SparseKind::Uniform)
    return uniform_.lookup(value);
  if (kind == SparseKind::PerRow)
    return perRow(value);
  if (Value known = wide_.lookup(value))
    return known;
  Value result;
  Type cells = cellType(vectors_, value.getType());
  Operation *op = value.getDefiningOp();
  if (!op) {
    result = wideInput(cast<BlockArgument>(value));
  } else if (pass_->loaded.contains(value)) {
    result = vectors_.round(vectors_.load(keptPointer(value), {}), cells);
  } else {
    if (auto product = dyn_cast<tok::MatmulOp>(op)) {
      result = sampledProduct(product);
    } else {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(wide(withoutCasts(operand)));
      result = emitCell(vectors_, op, operands);
    }
    if (pass_->kept.contains(value))
      vectors_.store(vectors_.extend(result), keptPointer(value), {});
  }
  return wide_[value] = result;
}

Value SparseTile::wideInput(BlockArgument argument) {
  const SparseInput &from = input(argument);
  if (argument == body_.driver())
    return vectors_.load(vectors_.offset(from.data, chunk_->position, from.cells), chunk_->mask,
                         from.cells);
  if (body_.isCsr(argument))
    return lookUp(argument);
  Value row = body_.kindOf(argument) == SparseKind::PerColumn ? from.data : rowOf(argument);
  return gather(vectors_, row, columnIndices(), chunk_->mask, from.cells);
}

// The entries of another CSR operand, as doubles: its own where it has the driver's entries, else
// from the buffer with its row.
Value SparseTile::lookUp(BlockArgument argument) {
  const SparseInput &from = input(argument);
  Value columns = columnIndices(), same = samePattern_[argument];
  State found{vectors_.number(0)};
  vectors_.ifThen(same, found, [&](State &current) {
    current[0] = vectors_.extend(vectors_.load(
        vectors_.offset(from.data, chunk_->position, from.cells), chunk_->mask, from.cells));
  });
  vectors_.ifThen(negate(vectors_, same), found, [&](State &current) {
    current[0] =
        gather(vectors_, lookupBuffers_[argument], columns, chunk_->mask, vectors_.doubleType());
  });
  return found[0];
}

void SparseTile::prepareSampled(tok::MatmulOp product) {
  const SparseInput &left = input(product.getLhs());
  tok::Dimension inner = body_.columnsOf(product.getLhs());
  Value row = rowOf(product.getLhs());
  if (!inner.isConstant() || inner.constantValue() > sampledInRegisters)
    return;
  int64_t count = inner.constantValue();
  for (int64_t first = 0; first < count; first += lanes) {
    Value mask = count - first < lanes ? vectors_.maskBelow(count - first) : Value();
    sampledRow_[{product, static_cast<int>(first / lanes)}] = vectors_.extend(
        vectors_.load(vectors_.offset(row, vectors_.integer(first), left.cells), mask, left.cells));
  }
}

// Fetches the rows of a sampled product's right factor that as many entries later need. In a loop
// of its own: with those that are read now there would be more pointers than registers.
void SparseTile::fetchAhead(const SparseInput &from, int count) {
  SmallVector<Value, 8> rows;
  for (int lane = 0; lane < count; ++lane)
    rows.push_back(vectors_.offset(
        from.data, vectors_.multiply(columnAhead(sampledAhead + lane), from.columns), from.cells));
  constexpr int64_t line = 64;
  int64_t cells = line / (from.cells.isF32() ? sizeof(float) : sizeof(double));
  vectors_.forLoop(vectors_.integer(0), from.columns, cells, [&](Value first) {
    for (Value row : rows)
      vectors_.prefetch(vectors_.offset(row, first, from.cells));
  });
}

// Adds the products of the left factor's row with rows of the right one to the totals, so many at
// once that additions don't wait for one another.
void SparseTile::addSampled(tok::MatmulOp product, ArrayRef<Value> columns, State &totals) {
  const SparseInput &left = input(product.getLhs());
  const SparseInput &from = input(product.getRhs().getDefiningOp<tok::TransposeOp>().getOperand());
  fetchAhead(from, static_cast<int>(columns.size()));
  SmallVector<Value, 8> rows;
  for (Value column : columns)
    rows.push_back(vectors_.offset(from.data, vectors_.multiply(column, from.columns), from.cells));
  auto add = [&](Value factor, Value first, Value mask, State &current) {
    for (auto [row, total] : llvm::zip(rows, current)) {
      Value cells =
          vectors_.extend(vectors_.load(vectors_.offset(row, first, from.cells), mask, from.cells));
      total = vectors_.fma(factor, cells, total);
    }
  };
  if (sampledRow_.lookup({product, 0})) {
    int64_t count = body_.columnsOf(product.getLhs()).constantValue();
    for (int64_t first = 0; first < count; first += lanes)
      add(sampledRow_.lookup({product, static_cast<int>(first / lanes)}), vectors_.integer(first),
          count - first < lanes ? vectors_.maskBelow(count - first) : Value(), totals);
    return;
  }
  Value row = rowOf(product.getLhs()), wholeEnd = vectors_.roundDownToLanes(left.columns);
  auto addLoaded = [&](Value first, Value mask, State &current) {
    Value factor =
        vectors_.extend(vectors_.load(vectors_.offset(row, first, left.cells), mask, left.cells));
    add(factor, first, mask, current);
  };
  vectors_.forLoop(vectors_.integer(0), wholeEnd, lanes, totals,
                   [&](Value first, State &current) { addLoaded(first, {}, current); });
  vectors_.ifThen(vectors_.less(wholeEnd, left.columns), totals, [&](State &current) {
    addLoaded(wholeEnd, vectors_.maskBelow(vectors_.subtract(left.columns, wholeEnd)), current);
  });
}

// Eight at a time, which share the horizontal sums. Four do where there are no more entries in the
// row: rows of very sparse matrices have few.
Value SparseTile::sampledProduct(tok::MatmulOp product) {
  tok::Dimension inner = body_.columnsOf(product.getLhs());
  Type cells = cellType(vectors_, product.getType());
  if (inner.isConstant(0))
    return vectors_.number(0, cells);
  if (inner.isConstant(1)) {
    const SparseInput &from =
        input(product.getRhs().getDefiningOp<tok::TransposeOp>().getOperand());
    Value factor = vectors_.splatLane(sampledRow_.lookup({product, 0}), 0);
    Value others = gather(vectors_, from.data, columnIndices(), chunk_->mask, from.cells);
    return vectors_.round(
        emitBinary(vectors_, BinaryOperator::Mul, factor, vectors_.extend(others)), cells);
  }
  SmallVector<Value, 8> columns;
  for (int lane = 0; lane < lanes; ++lane)
    columns.push_back(columnOf(lane));
  State totals(lanes, vectors_.number(0));
  if (!chunk_->mask) {
    addSampled(product, columns, totals);
  } else {
    constexpr int64_t few = 4;
    Value hasMore = vectors_.less(vectors_.add(chunk_->position, vectors_.integer(few)), end_);
    vectors_.ifThen(negate(vectors_, hasMore), totals, [&](State &current) {
      addSampled(product, ArrayRef(columns).take_front(few), current);
    });
    vectors_.ifThen(hasMore, totals,
                    [&](State &current) { addSampled(product, columns, current); });
  }
  SmallVector<Accumulator> accumulators;
  for (Value total : totals)
    accumulators.push_back({total, {}});
  return vectors_.round(reduceEight(vectors_, AggregateKind::Sum, accumulators), cells);
}

//===- of a row
//-----------------------------------------------------------------------------------===//

// A value per row, in all lanes.
Value SparseTile::perRow(Value value) {
  if (body_.kindOf(value) == SparseKind::Uniform)
    return uniform_.lookup(value);
  if (Value known = perRow_.lookup(value))
    return known;
  Value result;
  Operation *op = value.getDefiningOp();
  if (!op) {
    const SparseInput &from = input(value);
    result = vectors_.splat(
        vectors_.loadScalar(vectors_.offset(from.data, row_, from.cells), from.cells));
  } else if (auto aggregate = dyn_cast<tok::AggregateOp>(op)) {
    // Those over entries are in perRow_ since the end of their pass.
    Value operand = withoutCasts(aggregate.getOperand());
    result = body_.kindOf(operand) == SparseKind::Narrow
                 ? narrowAggregate(aggregate)
                 : vectors_.round(perRow(operand), cellType(vectors_, value.getType()));
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(perRow(withoutCasts(operand)));
    result = emitCell(vectors_, op, operands);
  }
  return perRow_[value] = result;
}

Value SparseTile::narrowAggregate(tok::AggregateOp aggregate) {
  Value operand = withoutCasts(aggregate.getOperand());
  AggregateKind kind = aggregate.getKind();
  preparePerRow(operand);
  State total{vectors_.number(neutralElement(kind))};
  overColumns(operand, total, [&](const Columns &columns, State &current) {
    current[0] = accumulate(
        vectors_, kind, current[0],
        contribution(operand, {}, kind, [&](Value value) { return narrow(value, columns); }),
        columns.mask);
  });
  return vectors_.round(reduceOne(vectors_, kind, {total[0], {}}),
                        cellType(vectors_, aggregate.getType()));
}

//===- of a narrow row
//----------------------------------------------------------------------------===//

void SparseTile::preparePerRow(Value value) {
  if (body_.kindOf(value) == SparseKind::PerRow)
    perRow(value);
  else if (Operation *op = value.getDefiningOp(); op && isCell(op))
    for (Value operand : op->getOperands())
      preparePerRow(withoutCasts(operand));
}

// Before the loop over entries: in registers, or in its buffer where there are too many columns.
void SparseTile::prepareNarrow(Value value) {
  preparePerRow(value);
  if (isa<BlockArgument>(value) && !inRegisters(value))
    return;
  bool isProduct = value.getDefiningOp<tok::MatmulOp>() != nullptr;
  if (isProduct && !inRegisters(value))
    return; // added up in its buffer
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
  bool isProduct = isa_and_nonnull<tok::MatmulOp>(op);
  if (isProduct || narrowReady_.contains(value)) {
    Value pointer = vectors_.offset(narrowBuffers_.lookup(value), columns.first);
    result =
        vectors_.round(vectors_.load(pointer, columns.mask), cellType(vectors_, value.getType()));
  } else if (!op) {
    const SparseInput &from = input(value);
    Value row = kind == SparseKind::PerNarrowColumn ? from.data : rowOf(value);
    result =
        vectors_.load(vectors_.offset(row, columns.first, from.cells), columns.mask, from.cells);
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(narrow(withoutCasts(operand), columns));
    result = emitCell(vectors_, op, operands);
  }
  return (columns.number >= 0 ? narrowRegisters_[{value, columns.number}] : narrowColumns_[value]) =
             result;
}
