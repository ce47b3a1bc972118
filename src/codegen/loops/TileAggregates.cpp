#include "codegen/loops/TileAggregates.h"

#include "codegen/LaunchSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cstddef>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr int64_t lanes = VectorBuilder::lanes;

// The cells of the result that the aggregate becomes.
static Size cellsOf(const LoopBody &body, plan::ReduceOp reduce) {
  Size cells = Size::constant(1);
  for (unsigned axis : body.schedule().innerAxes(reduce.getCell()))
    cells = cells * body.axes()[axis];
  return cells;
}

// Partial results are merged in the widest type.
static Reduction asMerged(const Reduction &reduction) { return {reduction.kind, reduction.cells}; }

static SmallVector<plan::ReduceOp> inOrderOfResults(const LoopBody &body) {
  SmallVector<plan::ReduceOp> aggregates;
  for (plan::WriteOp write : body.block().getOps<plan::WriteOp>())
    if (body.isTileAggregate(write))
      aggregates.push_back(write.getCell().getDefiningOp<plan::ReduceOp>());
  return aggregates;
}

TileAggregates::TileAggregates(const LoopBody &body, VectorBuilder &vectors,
                               const TileArguments &tile, LoopValues &values)
    : body_(body), vectors_(vectors), values_(values) {
  Value next = tile.partials;
  for (plan::ReduceOp reduce : inOrderOfResults(body)) {
    aggregates_.push_back(layOut(reduce, next));
    next = vectors.offset(next, aggregates_.back().partialCells);
  }
}

TileAggregates::Aggregate TileAggregates::layOut(plan::ReduceOp reduce, Value partial) {
  Reduction reduction = reductionOf(reduce);
  Aggregate aggregate{reduce, reduction, vectors_.registerType(reduction.accumulator)};
  aggregate.partial = partial;
  int64_t width = vectors_.width();
  SmallVector<unsigned> axes = body_.schedule().innerAxes(reduce.getCell());
  if (axes.size() == 2)
    aggregate.vector = body_.vectorOf(reduce);
  else if (axes.size() == 1 && !body_.isOverEntries(axes.front()))
    aggregate.vector = body_.loopsOver(axes).vector;
  for (unsigned axis : axes)
    if (axis != aggregate.vector)
      aggregate.lines = axis;
  aggregate.variables = variablesOf(reduce, aggregate.vector);
  if (aggregate.variables > 0) {
    aggregate.accumulators = values_.variable(aggregate.variables);
  } else if (!aggregate.lines || body_.isOverEntries(*aggregate.lines)) {
    aggregate.accumulators = partial;
    if (aggregate.vector)
      aggregate.length = body_.axes()[*aggregate.vector];
  } else {
    aggregate.length = aggregate.vector ? roundedUp(body_.axes()[*aggregate.vector], width)
                                        : Size::constant(width);
    aggregate.accumulators = values_.scratch(body_.axes()[*aggregate.lines] * aggregate.length);
  }
  aggregate.partialCells = values_.roundedUp(cellsOf(body_, reduce));
  return aggregate;
}

// As many accumulators of one cell as there are neighbouring vectors or places, up to four. Of cells
// along an axis one for each vector, if their number is a constant and one step of the loop.
int64_t TileAggregates::variablesOf(plan::ReduceOp reduce, std::optional<unsigned> vector) const {
  constexpr int64_t mostOfOneCell = 4;
  const schedule::Schedule &schedule = body_.schedule();
  SmallVector<unsigned> axes = schedule.innerAxes(reduce.getCell());
  if (axes.empty())
    return std::min(mostOfOneCell, std::max(schedule.unroll, schedule.block));
  if (axes.size() > 1 || !vector || !body_.axes()[*vector].isConstant() || schedule.block > 1)
    return 0;
  int64_t length = body_.axes()[*vector].constantValue(), width = vectors_.width();
  return length / width == schedule.unroll || length < width ? (length + width - 1) / width : 0;
}

Value TileAggregates::load(const Aggregate &aggregate, Value pointer, Value mask) {
  return vectors_.load(pointer, mask, aggregate.cells);
}

// The accumulator that lies so many behind the one at `pointer`.
Value TileAggregates::behind(const Aggregate &aggregate, Value pointer, Value count) {
  return vectors_.offset(pointer, count, aggregate.cells);
}

Value TileAggregates::vectorBehind(const Aggregate &aggregate, Value pointer, int64_t number) {
  return behind(aggregate, pointer, vectors_.integer(number * vectors_.width()));
}

Value TileAggregates::lineAt(const Aggregate &aggregate, Value number) {
  return behind(aggregate, aggregate.accumulators,
                vectors_.multiply(number, values_.size(aggregate.length)));
}

void TileAggregates::fill(const Reduction &reduction, Value pointer, Value count) {
  int64_t width = vectors_.width();
  Type cells = vectors_.registerType(reduction.accumulator);
  vectors_.setWidth(lanes);
  Value neutral = neutralElement(vectors_, reduction);
  vectors_.forLoop(vectors_.integer(0), count, lanes, [&](Value at) {
    vectors_.store(neutral, vectors_.offset(pointer, at, cells), {});
  });
  vectors_.setWidth(width);
}

Value TileAggregates::toPartial(const Aggregate &aggregate, Value accumulators) {
  return vectors_.convert(accumulators, aggregate.reduction.accumulator,
                          asMerged(aggregate.reduction).accumulator);
}

void TileAggregates::open() {
  for (const Aggregate &aggregate : aggregates_) {
    for (int64_t number = 0; number < aggregate.variables; ++number)
      vectors_.store(neutralElement(vectors_, aggregate.reduction),
                     vectorBehind(aggregate, aggregate.accumulators, number), {});
    if (aggregate.isOfPartial())
      fill(aggregate.reduction, aggregate.partial, aggregate.partialCells);
    else if (aggregate.lines)
      fill(aggregate.reduction, aggregate.accumulators,
           vectors_.multiply(values_.axisSize(*aggregate.lines), values_.size(aggregate.length)));
  }
}

//===- blocks --------------------------------------------------------------------------------===//

// What is written to several results has accumulators for each of them.
void TileAggregates::add(plan::ReduceOp reduce) {
  for (const Aggregate &aggregate : aggregates_) {
    if (aggregate.reduce != reduce)
      continue;
    if (aggregate.vector && aggregate.lines)
      addToLines(aggregate);
    else if (aggregate.vector)
      addToLine(aggregate, aggregate.accumulators);
    else if (aggregate.isOfPartial())
      addToEntries(aggregate);
    else
      addToCell(aggregate);
  }
}

// One cell, or one of those whose lanes are the places of a block.
void TileAggregates::addToCell(const Aggregate &aggregate) {
  plan::ReduceOp reduce = aggregate.reduce;
  Value first =
      aggregate.lines ? lineAt(aggregate, values_.index(*aggregate.lines)) : aggregate.accumulators;
  State sums;
  for (int64_t number = 0; number < std::max<int64_t>(1, aggregate.variables); ++number)
    sums.push_back(load(aggregate, vectorBehind(aggregate, first, number)));
  for (unsigned place = 0; place < values_.placesOf(reduce.getOperand()); ++place)
    for (unsigned chunk = 0; chunk < values_.chunksOf(reduce.getOperand()); ++chunk) {
      Value &sum = sums[(place + chunk) % sums.size()];
      sum = values_.accumulate(reduce, {sum, {}}, place, chunk, values_.countedLanes(chunk)).value;
    }
  for (auto [number, sum] : llvm::enumerate(sums))
    vectors_.store(sum, vectorBehind(aggregate, first, number), {});
}

// Lanes behind the last cell are padding, so that no mask is needed, but where they are the first of
// the next line. Without lines, even and odd places are added separately, which halves the length of the
// chain of dependent instructions.
void TileAggregates::addToLine(const Aggregate &aggregate, Value line) {
  plan::ReduceOp reduce = aggregate.reduce;
  for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
    Value pointer = behind(aggregate, line, values_.indexOf(*aggregate.vector, 0, chunk));
    bool isPadded = !aggregate.isOfPartial() || (!aggregate.lines && vectors_.width() == lanes);
    Value mask = isPadded ? Value() : values_.mask(chunk);
    Value even = load(aggregate, pointer, mask), odd;
    for (unsigned place = 0; place < values_.placesOf(reduce.getOperand()); ++place) {
      Value &sum = place % 2 == 0 || aggregate.lines ? even : odd;
      sum = values_.accumulate(reduce, {sum, {}}, place, chunk, {}).value;
    }
    if (odd)
      even = combine(vectors_, aggregate.reduction, even, odd);
    vectors_.store(even, pointer, mask);
  }
}

// Short loops are unrolled.
int64_t TileAggregates::unrollingOf(unsigned axis) const {
  constexpr int64_t mostUnrolled = 16, otherwise = 4;
  const Size &length = body_.axes()[axis];
  if (body_.isOverEntries(axis))
    return LoopValues::entriesTogether;
  if (!values_.hasWholeBlock() || !length.isConstant())
    return 1;
  return length.constantValue() <= mostUnrolled ? mostUnrolled : otherwise;
}

void TileAggregates::addToLines(const Aggregate &aggregate) {
  unsigned axis = *aggregate.lines;
  values_.hoist(aggregate.reduce.getOperand(), {axis});
  State none;
  values_.forAxis(axis, unrollingOf(axis), none, [&](int64_t, State &) {
    Value number = body_.isOverEntries(axis) ? values_.columnOfLane(0, 0) : values_.index(axis);
    addToLine(aggregate, lineAt(aggregate, number));
  });
}

// Adds one lane after the other, without branching on the number of entries: lanes behind the last
// entry add 0 to the columns of the entries that follow.
void TileAggregates::addToEntries(const Aggregate &aggregate) {
  for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
    Contribution parts = values_.contribution(aggregate.reduce, 0, chunk);
    Value mask = values_.mask(chunk);
    auto counted = [&](Value cells) {
      cells = vectors_.round(cells, aggregate.cells);
      return mask ? vectors_.select(mask, cells, vectors_.number(0, aggregate.cells)) : cells;
    };
    Value cells = counted(parts.value), factors = parts.factor ? counted(parts.factor) : Value();
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value column =
          mask && lane > 0 ? values_.columnBehind(chunk, lane) : values_.columnOfLane(chunk, lane);
      Value target = behind(aggregate, aggregate.accumulators, column);
      Value total = vectors_.loadScalar(target, aggregate.cells), cell = vectors_.lane(cells, lane);
      total = factors ? vectors_.fma(cell, vectors_.lane(factors, lane), total)
                      : vectors_.create<arith::AddFOp>(total, cell);
      vectors_.storeScalar(total, target);
    }
  }
}

//===- the end of a tile ---------------------------------------------------------------------===//

void TileAggregates::close() {
  for (const Aggregate &aggregate : aggregates_) {
    if (aggregate.isOfPartial())
      widenPartial(aggregate);
    else if (aggregate.lines)
      closeLines(aggregate);
    else if (aggregate.vector)
      closeVectors(aggregate);
    else
      closeCell(aggregate);
  }
}

void TileAggregates::closeVectors(const Aggregate &aggregate) {
  int64_t width = vectors_.width();
  if (width != lanes)
    fill(asMerged(aggregate.reduction), aggregate.partial, aggregate.partialCells);
  for (int64_t number = 0; number < aggregate.variables; ++number) {
    Value sum = load(aggregate, vectorBehind(aggregate, aggregate.accumulators, number));
    Value at = vectors_.integer(number * width);
    Value left = vectors_.subtract(values_.axisSize(*aggregate.vector), at);
    vectors_.store(toPartial(aggregate, sum), vectors_.offset(aggregate.partial, at),
                   width == lanes ? Value() : vectors_.maskBelow(left));
  }
}

// In a tree: 0 with 2 and 1 with 3, then these two.
void TileAggregates::closeCell(const Aggregate &aggregate) {
  SmallVector<Value> sums;
  for (int64_t number = 0; number < aggregate.variables; ++number)
    sums.push_back(load(aggregate, vectorBehind(aggregate, aggregate.accumulators, number)));
  for (size_t count = sums.size(); count > 1; count = (count + 1) / 2)
    for (size_t number = 0, half = (count + 1) / 2; number + half < count; ++number)
      sums[number] = combine(vectors_, aggregate.reduction, sums[number], sums[number + half]);
  Value total = reduceOne(vectors_, aggregate.reduction, {sums.front(), {}});
  if (values_.hasAbsentCells(aggregate.reduce))
    total = values_.withAbsentCells(aggregate.reduce, total);
  int64_t width = vectors_.width();
  vectors_.setWidth(lanes);
  if (width != lanes)
    total = vectors_.splatLane(total, 0);
  vectors_.store(toPartial(aggregate, total), aggregate.partial, {});
  vectors_.setWidth(width);
}

// Accumulators that are narrower than partial results lie in the first part of the same memory: from the
// last one on, each becomes a double at its place.
void TileAggregates::widenPartial(const Aggregate &aggregate) {
  if (aggregate.reduction.accumulator == asMerged(aggregate.reduction).accumulator)
    return;
  int64_t width = vectors_.width();
  vectors_.setWidth(lanes);
  vectors_.forLoop(vectors_.integer(0), aggregate.partialCells, lanes, [&](Value done) {
    Value at =
        vectors_.subtract(vectors_.subtract(aggregate.partialCells, done), vectors_.integer(lanes));
    Value accumulators = load(aggregate, behind(aggregate, aggregate.partial, at));
    vectors_.store(toPartial(aggregate, accumulators), vectors_.offset(aggregate.partial, at), {});
  });
  vectors_.setWidth(width);
}

// A line has the cells along the vectors, in the order of the result's own dimensions, or lanes of one
// cell.
void TileAggregates::closeLines(const Aggregate &aggregate) {
  fill(asMerged(aggregate.reduction), aggregate.partial, aggregate.partialCells);
  auto write = cast<plan::WriteOp>(*aggregate.reduce->getUsers().begin());
  const LinearFunction &cell = body_.accessOf(write).cell;
  Value down = values_.size(cell.factors[*aggregate.lines]);
  vectors_.forLoop(vectors_.integer(0), values_.axisSize(*aggregate.lines), 1, [&](Value number) {
    Value line = lineAt(aggregate, number);
    Value start = vectors_.offset(aggregate.partial, vectors_.multiply(number, down));
    if (!aggregate.vector) {
      Value total = reduceOne(vectors_, aggregate.reduction, {load(aggregate, line), {}});
      return vectors_.storeScalar(toPartial(aggregate, vectors_.lane(total, 0)), start);
    }
    Value across = values_.size(cell.factors[*aggregate.vector]);
    vectors_.forLoop(vectors_.integer(0), values_.axisSize(*aggregate.vector), 1, [&](Value at) {
      Value total = vectors_.loadScalar(behind(aggregate, line, at), aggregate.cells);
      vectors_.storeScalar(toPartial(aggregate, total),
                           vectors_.offset(start, vectors_.multiply(at, across)));
    });
  });
}

//===- merging -------------------------------------------------------------------------------===//

void codegen::emitMergeFunction(const LoopBody &body, VectorBuilder &vectors, StringRef name,
                                abi::KernelPlan &plan) {
  OpBuilder &builder = vectors.builder();
  Location location = builder.getUnknownLoc();
  Type pointer = vectors.pointerType();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                          {pointer, pointer, pointer});
  auto function = builder.create<LLVM::LLVMFuncOp>(location, (name + "_merge").str(), type);
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value into = entry->getArgument(1), from = entry->getArgument(2);
  Value sizes = vectors.pointerMember(entry->getArgument(0), offsetof(TokArguments, sizes));
  for (plan::ReduceOp reduce : inOrderOfResults(body)) {
    Size cells = cellsOf(body, reduce);
    Value count;
    if (cells.isConstant()) {
      count = vectors.integer(cells.constantValue());
    } else {
      auto number = static_cast<int64_t>(plan.sizes.size());
      plan.sizes.push_back(cells);
      count = vectors.integerMember(sizes, number * static_cast<int64_t>(sizeof(int64_t)));
    }
    Value doubles = vectors.roundDown(vectors.add(count, vectors.integer(lanes - 1)), lanes);
    Reduction reduction = asMerged(reductionOf(reduce));
    vectors.forLoop(vectors.integer(0), doubles, lanes, [&](Value at) {
      Value target = vectors.offset(into, at);
      Value merged = combine(vectors, reduction, loadPartials(vectors, reduction, target),
                             loadPartials(vectors, reduction, vectors.offset(from, at)));
      vectors.store(merged, target, {});
    });
    into = vectors.offset(into, doubles);
    from = vectors.offset(from, doubles);
  }
  builder.create<LLVM::ReturnOp>(location, ValueRange());
}
