#include "codegen/loops/TileAggregates.h"

#include "codegen/loops/SymmetricSums.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

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

static SmallVector<plan::ReduceOp> inOrderOfResults(const LoopBody &body) {
  SmallVector<plan::ReduceOp> aggregates;
  for (plan::WriteOp write : body.block().getOps<plan::WriteOp>())
    if (body.schedule().isOfTiles(write))
      aggregates.push_back(write.getCell().getDefiningOp<plan::ReduceOp>());
  return aggregates;
}

// An aggregate, and where its accumulators are: vectors along an axis of the result, or else one
// cell or lanes of one, in a line for each place along another axis.
class codegen::TileAggregate {
public:
  TileAggregate(const LoopBody &body, VectorBuilder &vectors, LoopValues &values,
                plan::ReduceOp reduce, Value partial)
      : body_(body), vectors_(vectors), values_(values), reduce_(reduce),
        reduction_(reductionOf(reduce)), cells_(vectors.registerType(reduction_.accumulator)),
        partial_(partial) {
    int64_t width = vectors.width();
    SmallVector<unsigned> axes = body.schedule().innerAxes(reduce.getCell());
    if (axes.size() == 2)
      vector_ = body.vectorOf(reduce);
    else if (axes.size() == 1 && !body.isOverEntries(axes.front()))
      vector_ = body.loopsOver(axes).vector;
    for (unsigned axis : axes)
      if (axis != vector_)
        line_ = axis;
    isSymmetric_ = vector_ && line_ && !body.isOverEntries(*line_) &&
                   !body.isOverEntries(*vector_) &&
                   body.axes()[*line_].provedEqual(body.axes()[*vector_]) &&
                   isSymmetric(reduce, *line_, *vector_);
    variables_ = countVariables();
    if (variables_ > 0) {
      accumulators_ = values.variable(variables_);
    } else if (!line_ || body.isOverEntries(*line_)) {
      accumulators_ = partial;
      length_ = vector_ ? body.axes()[*vector_] : Size::constant(1);
    } else {
      length_ = vector_ ? roundedUp(body.axes()[*vector_], width) : Size::constant(width);
      accumulators_ = values.scratch(body.axes()[*line_] * length_);
    }
    partialCells_ = values.size(roundedUp(cellsOf(body, reduce), lanes));
  }

  plan::ReduceOp reduce() const { return reduce_; }
  Value endOfPartial() { return vectors_.offset(partial_, partialCells_); }

  void open() {
    for (int64_t number = 0; number < variables_; ++number)
      vectors_.store(neutralElement(vectors_, reduction_), vectorBehind(accumulators_, number), {});
    if (isOfPartial())
      fill(reduction_, partial_, partialCells_);
    else if (line_)
      fill(reduction_, accumulators_,
           vectors_.multiply(values_.axisSize(*line_), values_.size(length_)));
  }

  void add() {
    if (vector_ && line_)
      addToLines();
    else if (vector_)
      addToLine(accumulators_);
    else if (isOfPartial())
      addToEntries();
    else
      addToCell();
  }

  void close() {
    if (isOfPartial())
      widenPartial();
    else if (line_)
      closeLines();
    else if (vector_)
      closeVectors();
    else
      closeCell();
  }

private:
  bool isOfPartial() const { return accumulators_ == partial_; }
  Value load(Value pointer, Value mask = {}) { return vectors_.load(pointer, mask, cells_); }
  Value behind(Value pointer, Value count) { return vectors_.offset(pointer, count, cells_); }
  Value vectorBehind(Value pointer, int64_t number) {
    return behind(pointer, vectors_.integer(number * vectors_.width()));
  }
  Value lineAt(Value number) {
    return behind(accumulators_, vectors_.multiply(number, values_.size(length_)));
  }
  Value toPartial(Value accumulators) {
    return vectors_.convert(accumulators, reduction_.accumulator, reduction_.widened().accumulator);
  }

  // As many accumulators of one cell as there are neighbouring vectors or places, up to four. Of
  // cells along an axis one for each vector, if their number is a constant and one step of the
  // loop.
  int64_t countVariables() const {
    constexpr int64_t mostOfOneCell = 4;
    const schedule::Schedule &schedule = body_.schedule();
    if (!vector_ && !line_)
      return std::min(mostOfOneCell, std::max(schedule.unroll, schedule.block));
    if (line_ || !body_.axes()[*vector_].isConstant() || schedule.block > 1)
      return 0;
    int64_t length = body_.axes()[*vector_].constantValue(), width = vectors_.width();
    return length / width == schedule.unroll || length < width ? (length + width - 1) / width : 0;
  }

  void fill(const Reduction &reduction, Value pointer, Value count) {
    auto width = vectors_.withWidth(lanes);
    Type cells = vectors_.registerType(reduction.accumulator);
    Value neutral = neutralElement(vectors_, reduction);
    vectors_.forLoop(vectors_.integer(0), count, lanes, [&](Value at) {
      vectors_.store(neutral, vectors_.offset(pointer, at, cells), {});
    });
  }

  //===- blocks ------------------------------------------------------------------------------===//

  // One cell, or one of those whose lanes are the places of a block.
  void addToCell() {
    Value first = line_ ? lineAt(values_.index(*line_)) : accumulators_;
    State sums;
    for (int64_t number = 0; number < std::max<int64_t>(1, variables_); ++number)
      sums.push_back(load(vectorBehind(first, number)));
    for (unsigned place = 0; place < values_.placesOf(reduce_.getOperand()); ++place)
      for (unsigned chunk = 0; chunk < values_.chunksOf(reduce_.getOperand()); ++chunk) {
        Value &sum = sums[(place + chunk) % sums.size()];
        sum =
            values_.accumulate(reduce_, {sum, {}}, place, chunk, values_.countedLanes(chunk)).value;
      }
    for (auto [number, sum] : llvm::enumerate(sums))
      vectors_.store(sum, vectorBehind(first, static_cast<int64_t>(number)), {});
  }

  // Lanes behind the last cell are padding, so that no mask is needed, but where they are the first
  // of the next line. Without lines, even and odd places are added separately, which halves the
  // length of the chain of dependent instructions.
  void addToLine(Value line) {
    for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
      Value pointer = behind(line, values_.indexOf(*vector_, 0, chunk));
      bool isPadded = !isOfPartial() || (!line_ && vectors_.width() == lanes);
      Value mask = isPadded ? Value() : values_.mask(chunk);
      Value even = load(pointer, mask), odd;
      for (unsigned place = 0; place < values_.placesOf(reduce_.getOperand()); ++place) {
        Value &sum = place % 2 == 0 || line_ ? even : odd;
        sum = values_.accumulate(reduce_, {sum, {}}, place, chunk, {}).value;
      }
      if (odd)
        even = combine(vectors_, reduction_, even, odd);
      vectors_.store(even, pointer, mask);
    }
  }

  // Short loops are unrolled.
  int64_t linesTogether() const {
    constexpr int64_t mostUnrolled = 16, otherwise = 4;
    const Size &length = body_.axes()[*line_];
    if (body_.isOverEntries(*line_))
      return LoopValues::entriesTogether;
    if (!values_.hasWholeBlock() || !length.isConstant())
      return 1;
    return length.constantValue() <= mostUnrolled ? mostUnrolled : otherwise;
  }

  void addToLines() {
    values_.hoist(reduce_.getOperand(), {*line_});
    values_.forAxis(
        *line_, linesTogether(),
        [&](int64_t) {
          addToLine(lineAt(body_.isOverEntries(*line_) ? values_.columnBehind(0, 0)
                                                       : values_.index(*line_)));
        },
        isSymmetric_ ? endOfUpperLines() : Value());
  }

  // The first line all of whose cells, among those of the vectors, are left of the diagonal: each is another cell's
  // mirror image.
  Value endOfUpperLines() {
    Value begin = values_.index(*vector_), lines = values_.axisSize(*line_);
    int64_t cells = values_.chunks() * vectors_.width();
    std::optional<int64_t> first = getConstantIntValue(begin), count = getConstantIntValue(lines);
    if (first && count)
      return vectors_.integer(std::min(*first + cells, *count));
    return vectors_.minimum(vectors_.add(begin, vectors_.integer(cells)), lines);
  }

  // Adds one lane after the other. Of the entries that fill no vector there is a loop if all rows
  // seem to have equally many, so that it ends as predicted.
  void addToEntries() {
    for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
      Value mask = values_.mask(chunk);
      if (!mask || !isOfEntries()) {
        addLanes(chunk, mask);
        continue;
      }
      values_.contribution(reduce_, 0, chunk); // what it needs, before the branches
      vectors_.ifElse(
          values_.hasEqualRows(), [&] { addEach(chunk); }, [&] { addLanes(chunk, mask); });
    }
  }

  // Without branching on the number of entries: lanes behind the last entry add 0 to the columns of
  // the entries that follow.
  void addLanes(unsigned chunk, Value mask) {
    Contribution parts = values_.contribution(reduce_, 0, chunk);
    auto counted = [&](Value cells) {
      cells = vectors_.round(cells, cells_);
      return mask ? vectors_.select(mask, cells, vectors_.number(0, cells_)) : cells;
    };
    Value cells = counted(parts.value), factors = parts.factor ? counted(parts.factor) : Value();
    for (int64_t lane = 0; lane < lanes; ++lane)
      addToEntry(values_.columnBehind(chunk, lane), vectors_.lane(cells, lane),
                 factors ? vectors_.lane(factors, lane) : Value());
  }

  // Whether only cells of entries and values of rows are multiplied, which can be had one by one.
  bool isOfEntries() {
    unsigned column = body_.entries()->column;
    plan::BinaryOp product = plan::productIn(reduce_);
    auto isRead = [&](Value value) {
      auto read = value.getDefiningOp<plan::ReadOp>();
      return !schedule::runsOver(value, column) || (read && body_.isDriver(read));
    };
    return product ? llvm::all_of(product.getOperands(), isRead) : isRead(reduce_.getOperand());
  }

  void addEach(unsigned chunk) {
    auto [first, end] = values_.entriesOf(chunk);
    vectors_.forLoop(first, end, 1, [&](Value position) {
      values_.atEntry(position, [&] {
        Contribution parts = values_.contribution(reduce_, 0, 0);
        auto cell = [&](Value cells) { return vectors_.lane(vectors_.round(cells, cells_), 0); };
        addToEntry(values_.columnBehind(0, 0), cell(parts.value),
                   parts.factor ? cell(parts.factor) : Value());
      });
    });
  }

  void addToEntry(Value column, Value cell, Value factor) {
    Value target = behind(accumulators_, column), total = vectors_.loadScalar(target, cells_);
    total =
        factor ? vectors_.fma(cell, factor, total) : vectors_.create<arith::AddFOp>(total, cell);
    vectors_.storeScalar(total, target);
  }

  //===- the end of a tile -------------------------------------------------------------------===//

  // In a tree: 0 with 2 and 1 with 3, then these two.
  void closeCell() {
    SmallVector<Value> sums;
    for (int64_t number = 0; number < variables_; ++number)
      sums.push_back(load(vectorBehind(accumulators_, number)));
    for (size_t count = sums.size(); count > 1; count = (count + 1) / 2)
      for (size_t number = 0, half = (count + 1) / 2; number + half < count; ++number)
        sums[number] = combine(vectors_, reduction_, sums[number], sums[number + half]);
    Value total = reduceOne(vectors_, reduction_, {sums.front(), {}});
    total = values_.withAbsentCells(reduce_, total);
    if (vectors_.width() != lanes)
      total = vectors_.half(total, 0);
    vectors_.store(toPartial(total), partial_, {});
  }

  void closeVectors() {
    int64_t width = vectors_.width();
    if (width != lanes)
      fill(reduction_.widened(), partial_, partialCells_);
    for (int64_t number = 0; number < variables_; ++number) {
      Value sum = load(vectorBehind(accumulators_, number));
      Value at = vectors_.integer(number * width);
      Value left = vectors_.subtract(values_.axisSize(*vector_), at);
      vectors_.store(toPartial(sum), vectors_.offset(partial_, at),
                     width == lanes ? Value() : vectors_.maskBelow(left));
    }
  }

  // A line has the cells along the vectors, in the order of the result's own dimensions, or lanes
  // of one cell.
  void closeLines() {
    fill(reduction_.widened(), partial_, partialCells_);
    auto write = cast<plan::WriteOp>(*reduce_->getUsers().begin());
    const LinearFunction &cell = body_.accessOf(write).cell;
    Value down = values_.size(cell.factors[*line_]);
    vectors_.forLoop(vectors_.integer(0), values_.axisSize(*line_), 1, [&](Value number) {
      Value line = lineAt(number),
            start = vectors_.offset(partial_, vectors_.multiply(number, down));
      if (!vector_) {
        Value total = vectors_.lane(reduceOne(vectors_, reduction_, {load(line), {}}), 0);
        return vectors_.storeScalar(toPartial(total), start);
      }
      Value across = values_.size(cell.factors[*vector_]);
      vectors_.forLoop(vectors_.integer(0), values_.axisSize(*vector_), 1, [&](Value at) {
        Value cell = isSymmetric_ ? behind(lineAt(vectors_.minimum(number, at)),
                                           vectors_.maximum(number, at))
                                  : behind(line, at);
        Value total = vectors_.loadScalar(cell, cells_);
        vectors_.storeScalar(toPartial(total),
                             vectors_.offset(start, vectors_.multiply(at, across)));
      });
    });
  }

  // Accumulators that are narrower than partial results lie in the first part of the same memory:
  // from the last one on, each becomes a double at its place.
  void widenPartial() {
    if (reduction_.accumulator == reduction_.widened().accumulator)
      return;
    auto width = vectors_.withWidth(lanes);
    vectors_.forLoop(vectors_.integer(0), partialCells_, lanes, [&](Value done) {
      Value at = vectors_.subtract(vectors_.subtract(partialCells_, done), vectors_.integer(lanes));
      vectors_.store(toPartial(load(behind(partial_, at))), vectors_.offset(partial_, at), {});
    });
  }

  const LoopBody &body_;
  VectorBuilder &vectors_;
  LoopValues &values_;
  plan::ReduceOp reduce_;
  Reduction reduction_;
  Type cells_;                            // of accumulators
  std::optional<unsigned> vector_, line_; // axes of the result
  bool isSymmetric_ = false;              // lines end at the vectors that the diagonal goes through
  Size length_;                           // of a line
  int64_t variables_ = 0;                 // vectors on the stack, each of which is a register
  Value accumulators_;                    // in variables, scratch memory or the partial result
  Value partial_, partialCells_;
};

TileAggregates::TileAggregates(const LoopBody &body, VectorBuilder &vectors,
                               const TileArguments &tile, LoopValues &values) {
  Value next = tile.partials;
  for (plan::ReduceOp reduce : inOrderOfResults(body))
    next = aggregates_.emplace_back(body, vectors, values, reduce, next).endOfPartial();
  for (TileAggregate &aggregate : aggregates_)
    aggregate.open();
}

TileAggregates::~TileAggregates() = default;

void TileAggregates::add(plan::ReduceOp reduce) {
  for (TileAggregate &aggregate : aggregates_)
    if (aggregate.reduce() == reduce)
      aggregate.add();
}

void TileAggregates::close() {
  for (TileAggregate &aggregate : aggregates_)
    aggregate.close();
}

//===- merging -------------------------------------------------------------------------------===//

void codegen::emitMergeFunction(const LoopBody &body, VectorBuilder &vectors, StringRef name,
                                abi::KernelPlan &plan) {
  OpBuilder &builder = vectors.builder();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> pointers(3, vectors.pointerType());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), pointers);
  auto function = vectors.create<LLVM::LLVMFuncOp>((name + "_merge").str(), type);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value into = entry->getArgument(1), from = entry->getArgument(2);
  Value sizes = vectors.pointerMember(entry->getArgument(0), offsetof(TokArguments, sizes));
  for (plan::ReduceOp reduce : inOrderOfResults(body)) {
    Value doubles = loadSize(vectors, plan, sizes, roundedUp(cellsOf(body, reduce), lanes));
    Reduction reduction = reductionOf(reduce).widened();
    Type cells = vectors.registerType(reduction.accumulator);
    vectors.forLoop(vectors.integer(0), doubles, lanes, [&](Value at) {
      Value target = vectors.offset(into, at);
      Value merged = combine(vectors, reduction, vectors.load(target, {}, cells),
                             vectors.load(vectors.offset(from, at), {}, cells));
      vectors.store(merged, target, {});
    });
    into = vectors.offset(into, doubles);
    from = vectors.offset(from, doubles);
  }
  vectors.create<LLVM::ReturnOp>(ValueRange());
}
