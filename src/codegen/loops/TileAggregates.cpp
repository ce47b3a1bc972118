#include "codegen/loops/TileAggregates.h"

#include "base/Error.h"
#include "codegen/LaunchSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

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
    : body_(body), vectors_(vectors), tile_(tile), values_(values) {
  Value next = tile.partials;
  for (plan::ReduceOp reduce : inOrderOfResults(body)) {
    Aggregate aggregate = layOut(reduce);
    aggregate.partial = next;
    aggregate.partialCells = values_.roundedUp(cellsOf(body, reduce));
    next = vectors.offset(next, aggregate.partialCells);
    aggregates_.push_back(std::move(aggregate));
  }
}

TileAggregates::Aggregate TileAggregates::layOut(plan::ReduceOp reduce) {
  Reduction reduction = reductionOf(reduce);
  Aggregate aggregate{reduce, reduction, {}, Storage::Registers, {}, {}, {}, {}, {}, {}};
  aggregate.cells = vectors_.registerType(reduction.accumulator);
  SmallVector<unsigned> axes = body_.schedule().innerAxes(reduce.getCell());
  if (body_.entries() && llvm::is_contained(axes, body_.entries()->column)) {
    aggregate.storage = Storage::Entries;
    if (axes.size() == 2)
      aggregate.vector = body_.vectorOf(reduce);
    return aggregate;
  }
  if (axes.size() == 2) {
    aggregate.storage = Storage::Lines;
    aggregate.vector = body_.vectorOf(reduce);
    aggregate.other = axes[0] == aggregate.vector ? axes[1] : axes[0];
    aggregate.memory =
        values_.scratch(body_.axes()[*aggregate.other] *
                        roundedUp(body_.axes()[*aggregate.vector], vectors_.width()));
    return aggregate;
  }
  if (axes.size() == 1) {
    aggregate.other = axes.front();
    std::optional<unsigned> vector = body_.loopsOver(axes).vector;
    aggregate.storage = vector ? Storage::Partials : Storage::Lanes;
    if (!vector)
      aggregate.memory =
          values_.scratch(Size::constant(vectors_.width()) * body_.axes()[axes.front()]);
    aggregate.vector = vector;
  }
  for (int64_t number = 0, count = registersOf(reduce, aggregate.vector); number < count;
       ++number) {
    aggregate.storage = Storage::Registers;
    aggregate.registers.push_back(values_.variable());
  }
  return aggregate;
}

// As many accumulators of one cell as there are neighbouring vectors or places, up to four. Of cells
// along an axis one for each vector, if their number is a constant and one step of the loop.
int64_t TileAggregates::registersOf(plan::ReduceOp reduce, std::optional<unsigned> vector) const {
  constexpr int64_t mostOfOneCell = 4;
  const schedule::Schedule &schedule = body_.schedule();
  if (schedule.innerAxes(reduce.getCell()).empty())
    return std::min(mostOfOneCell, std::max(schedule.unroll, schedule.block));
  if (!vector || !body_.axes()[*vector].isConstant() || schedule.block > 1)
    return 0;
  int64_t length = body_.axes()[*vector].constantValue(), width = vectors_.width();
  return length / width == schedule.unroll || length < width ? (length + width - 1) / width : 0;
}

Value TileAggregates::load(const Aggregate &aggregate, Value pointer) {
  return vectors_.load(pointer, {}, aggregate.cells);
}

// The accumulator that lies so many behind the one at `pointer`.
Value TileAggregates::behind(const Aggregate &aggregate, Value pointer, Value count) {
  return vectors_.offset(pointer, count, aggregate.cells);
}

// In accumulators.
Value TileAggregates::paddedLine(const Aggregate &aggregate) {
  return values_.roundedUp(body_.axes()[*aggregate.vector], vectors_.width());
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

// Partial results as they are merged.
void TileAggregates::fillPartial(const Aggregate &aggregate) {
  fill(asMerged(aggregate.reduction), aggregate.partial, aggregate.partialCells);
}

Value TileAggregates::toPartial(const Aggregate &aggregate, Value accumulators) {
  return vectors_.convert(accumulators, aggregate.reduction.accumulator,
                          asMerged(aggregate.reduction).accumulator);
}

void TileAggregates::open() {
  for (Aggregate &aggregate : aggregates_) {
    Value width = vectors_.integer(vectors_.width());
    for (Value variable : aggregate.registers)
      vectors_.store(neutralElement(vectors_, aggregate.reduction), variable, {});
    if (aggregate.storage == Storage::Partials || aggregate.storage == Storage::Entries)
      fill(aggregate.reduction, aggregate.partial, aggregate.partialCells);
    else if (aggregate.storage == Storage::Lanes)
      fill(aggregate.reduction, aggregate.memory,
           vectors_.multiply(values_.axisSize(*aggregate.other), width));
    else if (aggregate.storage == Storage::Lines)
      fill(aggregate.reduction, aggregate.memory,
           vectors_.multiply(values_.axisSize(*aggregate.other), paddedLine(aggregate)));
  }
}

//===- blocks --------------------------------------------------------------------------------===//

// What is written to several results has accumulators for each of them.
void TileAggregates::add(plan::ReduceOp reduce) {
  for (Aggregate &aggregate : aggregates_) {
    if (aggregate.reduce != reduce)
      continue;
    switch (aggregate.storage) {
    case Storage::Registers:
      addToRegisters(aggregate);
      break;
    case Storage::Partials:
      addToPartials(aggregate);
      break;
    case Storage::Lanes:
      addToLanes(aggregate);
      break;
    case Storage::Lines:
      addToLines(aggregate);
      break;
    case Storage::Entries:
      if (aggregate.vector)
        addToRowsOfEntries(aggregate);
      else
        addToEntries(aggregate);
      break;
    }
  }
}

// Where the lanes are neither places nor cells along an axis, all of them hold the same, and one
// counts.
Value TileAggregates::countedLanes(unsigned chunk) const {
  return values_.hasVectors() ? values_.mask(chunk) : vectors_.maskBelow(1);
}

// Lanes behind the last cell of an axis are padding of the partial result, so that cells along an axis
// need no mask.
void TileAggregates::addToRegisters(Aggregate &aggregate) {
  plan::ReduceOp reduce = aggregate.reduce;
  auto count = static_cast<int64_t>(aggregate.registers.size());
  bool isAlongAxis = aggregate.vector.has_value();
  // The number of the first chunk's vector along the axis.
  int64_t first = 0;
  if (isAlongAxis) {
    APInt index;
    if (!matchPattern(values_.index(*aggregate.vector), m_ConstantInt(&index)))
      internalError("vectors whose sums stay in registers are computed in a loop");
    first = index.getSExtValue() / vectors_.width();
  }
  for (unsigned place = 0; place < values_.placesOf(reduce.getOperand()); ++place)
    for (unsigned chunk = 0; chunk < values_.chunksOf(reduce.getOperand()); ++chunk) {
      Value mask = isAlongAxis ? Value() : countedLanes(chunk);
      int64_t number = isAlongAxis ? first + chunk : (place + chunk) % count;
      Value variable = aggregate.registers[number];
      Accumulator next =
          values_.accumulate(reduce, {load(aggregate, variable), {}}, place, chunk, mask);
      vectors_.store(next.value, variable, {});
    }
}

// Even and odd places are added separately, which halves the length of the chain of dependent
// instructions. Cells beyond the last place are padding of the partial result.
void TileAggregates::addPlaces(Aggregate &aggregate, Value pointer, unsigned chunk, Value mask) {
  plan::ReduceOp reduce = aggregate.reduce;
  Value even = load(aggregate, pointer), odd;
  for (unsigned place = 0; place < values_.placesOf(reduce.getOperand()); ++place) {
    bool isEven = place % 2 == 0 || aggregate.storage == Storage::Lines;
    Value &sum = isEven ? even : odd;
    sum = values_.accumulate(reduce, {sum, {}}, place, chunk, mask).value;
  }
  if (odd)
    even = combine(vectors_, aggregate.reduction, even, odd);
  vectors_.store(even, pointer, mask);
}

void TileAggregates::addToPartials(Aggregate &aggregate) {
  for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
    Value at = values_.indexOf(*aggregate.vector, 0, chunk);
    bool isPadded = vectors_.width() == lanes;
    addPlaces(aggregate, behind(aggregate, aggregate.partial, at), chunk,
              isPadded ? Value() : values_.mask(chunk));
  }
}

void TileAggregates::addToLanes(Aggregate &aggregate) {
  Value at = vectors_.multiply(values_.index(*aggregate.other), vectors_.integer(vectors_.width()));
  Value pointer = behind(aggregate, aggregate.memory, at);
  plan::ReduceOp reduce = aggregate.reduce;
  Value sum = load(aggregate, pointer);
  for (unsigned place = 0; place < values_.placesOf(reduce.getOperand()); ++place)
    for (unsigned chunk = 0; chunk < values_.chunksOf(reduce.getOperand()); ++chunk)
      sum = values_.accumulate(reduce, {sum, {}}, place, chunk, countedLanes(chunk)).value;
  vectors_.store(sum, pointer, {});
}

// Short loops are unrolled.
int64_t TileAggregates::unrollingOf(unsigned axis) const {
  constexpr int64_t mostUnrolled = 16, otherwise = 4;
  const Size &length = body_.axes()[axis];
  if (!values_.hasWholeBlock() || !length.isConstant())
    return 1;
  return length.constantValue() <= mostUnrolled ? mostUnrolled : otherwise;
}

void TileAggregates::addToLines(Aggregate &aggregate) {
  unsigned other = *aggregate.other;
  plan::ReduceOp reduce = aggregate.reduce;
  values_.hoist(reduce.getOperand(), {other});
  State none;
  values_.forAxis(other, unrollingOf(other), none, [&](State &) {
    Value line = behind(aggregate, aggregate.memory,
                        vectors_.multiply(values_.index(other), paddedLine(aggregate)));
    for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
      Value at = values_.indexOf(*aggregate.vector, 0, chunk);
      addPlaces(aggregate, behind(aggregate, line, at), chunk, {});
    }
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
      Value target = behind(aggregate, aggregate.partial, column);
      Value total = vectors_.loadScalar(target, aggregate.cells), cell = vectors_.lane(cells, lane);
      total = factors ? vectors_.fma(cell, vectors_.lane(factors, lane), total)
                      : vectors_.create<arith::AddFOp>(total, cell);
      vectors_.storeScalar(total, target);
    }
  }
}

// Each entry adds a dense row to that of its column.
void TileAggregates::addToRowsOfEntries(const Aggregate &aggregate) {
  plan::ReduceOp reduce = aggregate.reduce;
  values_.hoist(reduce.getOperand(), {body_.entries()->column});
  State none;
  values_.forEntries(none, [&](int64_t, State &) {
    Value row = vectors_.multiply(values_.columnOfLane(0, 0), values_.axisSize(*aggregate.vector));
    for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
      Value at = values_.indexOf(*aggregate.vector, 0, chunk);
      Value pointer = behind(aggregate, aggregate.partial, vectors_.add(row, at));
      Value mask = values_.mask(chunk), sum = vectors_.load(pointer, mask, aggregate.cells);
      vectors_.store(values_.accumulate(reduce, {sum, {}}, 0, chunk, {}).value, pointer, mask);
    }
  });
}

//===- the end of a tile ---------------------------------------------------------------------===//

void TileAggregates::close() {
  for (Aggregate &aggregate : aggregates_) {
    if (aggregate.storage == Storage::Lanes)
      closeLanes(aggregate);
    if (aggregate.storage == Storage::Lines)
      closeLines(aggregate);
    if (aggregate.storage == Storage::Partials || aggregate.storage == Storage::Entries)
      widenPartial(aggregate);
    if (aggregate.storage != Storage::Registers)
      continue;
    SmallVector<Value> sums;
    for (Value variable : aggregate.registers)
      sums.push_back(load(aggregate, variable));
    if (aggregate.vector) {
      if (vectors_.width() != lanes)
        fillPartial(aggregate);
      for (auto [number, sum] : llvm::enumerate(sums)) {
        Value at = vectors_.integer(static_cast<int64_t>(number) * vectors_.width());
        Value left = vectors_.subtract(values_.axisSize(*aggregate.vector), at);
        vectors_.store(toPartial(aggregate, sum), vectors_.offset(aggregate.partial, at),
                       vectors_.width() == lanes ? Value() : vectors_.maskBelow(left));
      }
      continue;
    }
    // In a tree: 0 with 2 and 1 with 3, then these two.
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

// Eight cells at a time.
void TileAggregates::closeLanes(const Aggregate &aggregate) {
  int64_t width = vectors_.width();
  Value cells = values_.axisSize(*aggregate.other), distance = vectors_.integer(width);
  fillPartial(aggregate);
  vectors_.forLoop(vectors_.integer(0), cells, 1, [&](Value at) {
    Value sum =
        load(aggregate, behind(aggregate, aggregate.memory, vectors_.multiply(at, distance)));
    Value total = vectors_.lane(reduceOne(vectors_, aggregate.reduction, {sum, {}}), 0);
    vectors_.storeScalar(toPartial(aggregate, total), vectors_.offset(aggregate.partial, at));
  });
}

// Line `other`, cell `vector` is a cell of the result, in the order of its own dimensions.
void TileAggregates::closeLines(const Aggregate &aggregate) {
  fillPartial(aggregate);
  plan::WriteOp write;
  for (Operation *user : aggregate.reduce->getUsers())
    write = cast<plan::WriteOp>(user);
  const Access &access = body_.accessOf(write);
  Value across = values_.size(access.factor(*aggregate.vector)),
        down = values_.size(access.factor(*aggregate.other)),
        length = values_.axisSize(*aggregate.vector);
  vectors_.forLoop(vectors_.integer(0), values_.axisSize(*aggregate.other), 1, [&](Value number) {
    Value line =
        behind(aggregate, aggregate.memory, vectors_.multiply(number, paddedLine(aggregate)));
    Value start = vectors_.offset(aggregate.partial, vectors_.multiply(number, down));
    vectors_.forLoop(vectors_.integer(0), length, 1, [&](Value at) {
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
