// Sums of products at the entries (i, j) of a driver: of row i of one factor and row j of another one.
// The rows are read as vectors, for eight entries together.
#include "codegen/Prefetching.h"
#include "codegen/loops/LoopValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr int64_t lanes = VectorBuilder::lanes;
// The order in which sums add up depends on these three, so they are the same on every machine.
// A row of the left factor stays in registers if it has at most this constant number of columns.
static constexpr int64_t columnsInRegisters = 128;
// Rows of the right factor with at most this constant number of columns are read eight at once.
static constexpr int64_t columnsTogether = 32;
static constexpr int64_t accumulators = 4;

// The cells of a factor's row from `first` on, in the type of the product's accumulators.
Value LoopValues::cellsOfRow(const SampledProduct &product, plan::ReadOp factor, Value row,
                             Value first, Value mask) {
  ElementType cells = plan::cellsOf(factor.getCell());
  return vectors_.convert(vectors_.loadCells(row, first, mask, cells), cells, product.accumulator);
}

Value LoopValues::rowOfFactor(plan::ReadOp factor, unsigned axis, Value index) {
  const LinearFunction &cell = body_.accessOf(factor).cell;
  Value offset =
      vectors_.add(size(cell.constant), vectors_.multiply(index, size(cell.factors[axis])));
  return vectors_.offsetCells(arrayOf(factor).base, offset, plan::cellsOf(factor.getCell()));
}

// Visits the vectors of a row of constant length: the number of each, and the mask of the last one.
static void
forVectorsOfRow(VectorBuilder &vectors, int64_t length,
                llvm::function_ref<void(int64_t number, Value first, Value mask)> inside) {
  for (int64_t first = 0; first < length; first += lanes)
    inside(first / lanes, vectors.integer(first),
           length - first < lanes ? vectors.maskBelow(length - first) : Value());
}

// Reads the row of the left factor before the loop over entries.
void LoopValues::beginSampledProduct(const SampledProduct &product) {
  const Size &length = body_.axes()[product.axis];
  if (!length.isConstant() || length.constantValue() > columnsInRegisters)
    return;
  unsigned row = body_.entries()->row;
  Value left = rowOfFactor(product.left, row, index(row));
  SmallVector<Value> &known = leftRows_[product.left];
  known.clear();
  forVectorsOfRow(vectors_, length.constantValue(), [&](int64_t, Value first, Value mask) {
    known.push_back(cellsOfRow(product, product.left, left, first, mask));
  });
}

// For short rows: adds the products of eight entries at once, so that additions are independent.
void LoopValues::sampleTogether(const SampledProduct &product, unsigned chunk, State &totals) {
  ElementType cells = plan::cellsOf(product.right.getCell());
  unsigned column = body_.entries()->column;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value row = rowOfFactor(product.right, column, columnOfLane(chunk, lane));
    Value ahead = rowOfFactor(product.right, column,
                              columnBehind(chunk, prefetching::factorRowsAhead + lane));
    forVectorsOfRow(vectors_, body_.axes()[product.axis].constantValue(),
                    [&](int64_t number, Value first, Value mask) {
                      vectors_.prefetch(vectors_.offsetCells(ahead, first, cells));
                      totals[lane] = vectors_.fma(
                          leftRows_[product.left][number],
                          cellsOfRow(product, product.right, row, first, mask), totals[lane]);
                    });
  }
}

// For long rows: reads the rows one after the other in the order of memory, with several accumulators
// each, and only those of existing entries.
void LoopValues::sampleOneByOne(const SampledProduct &product, unsigned chunk, State &totals) {
  const schedule::EntryLevel &level = *body_.entries();
  ElementType cells = plan::cellsOf(product.right.getCell());
  Type type = vectors_.registerType(product.accumulator);
  const Size &length = body_.axes()[product.axis];
  bool isInRegisters = length.isConstant() && length.constantValue() <= columnsInRegisters;
  Value start = indexOf(level.column, 0, chunk);
  Value count =
      vectors_.minimum(vectors_.subtract(entries_.second, start), vectors_.integer(lanes));
  vectors_.forLoop(vectors_.integer(0), count, 1, [&](Value lane) {
    Value position = vectors_.add(start, lane);
    auto rowAt = [&](Value at) {
      return rowOfFactor(product.right, level.column, columnAt(level.driver, at));
    };
    Value row = rowAt(position);
    Value ahead = rowAt(vectors_.minimum(
        vectors_.add(position, vectors_.integer(prefetching::factorRowsAhead)), lastEntry_));
    State sums(accumulators, vectors_.number(0, type));
    auto add = [&](Value factor, Value first, Value mask, Value &sum) {
      vectors_.prefetch(vectors_.offsetCells(ahead, first, cells));
      sum = vectors_.fma(factor, cellsOfRow(product, product.right, row, first, mask), sum);
    };
    if (isInRegisters) {
      forVectorsOfRow(
          vectors_, length.constantValue(), [&](int64_t number, Value first, Value mask) {
            add(leftRows_[product.left][number], first, mask, sums[number % accumulators]);
          });
    } else {
      Value left = rowOfFactor(product.left, level.row, index(level.row));
      auto addLoaded = [&](Value first, Value mask, Value &sum) {
        add(cellsOfRow(product, product.left, left, first, mask), first, mask, sum);
      };
      constexpr int64_t step = accumulators * lanes;
      Value columns = size(length), wholeEnd = vectors_.roundDown(columns, lanes),
            steps = vectors_.roundDown(columns, step);
      vectors_.forLoop(vectors_.integer(0), steps, step, sums, [&](Value first, State &current) {
        for (int64_t i = 0; i < accumulators; ++i)
          addLoaded(vectors_.add(first, vectors_.integer(i * lanes)), {}, current[i]);
      });
      vectors_.forLoop(steps, wholeEnd, lanes, sums,
                       [&](Value first, State &current) { addLoaded(first, {}, current[0]); });
      vectors_.ifThen(vectors_.less(wholeEnd, columns), sums, [&](State &current) {
        addLoaded(wholeEnd, vectors_.maskBelow(vectors_.subtract(columns, wholeEnd)), current[1]);
      });
    }
    for (int64_t distance = accumulators / 2; distance > 0; distance /= 2)
      for (int64_t i = 0; i < distance; ++i)
        sums[i] = combine(vectors_, AggregateKind::Sum, sums[i], sums[i + distance]);
    vectors_.store(
        sums[0],
        vectors_.offset(sampledRows_, vectors_.multiply(lane, vectors_.integer(lanes)), type), {});
  });
  for (int64_t lane = 0; lane < lanes; ++lane)
    totals[lane] = vectors_.load(
        vectors_.offset(sampledRows_, vectors_.integer(lane * lanes), type), {}, type);
}

// The sums over the lanes of eight products are computed together.
Value LoopValues::sample(const SampledProduct &product, unsigned chunk) {
  const Size &length = body_.axes()[product.axis];
  Value zero = vectors_.number(0, vectors_.registerType(product.accumulator));
  if (length.isConstant(0))
    return zero;
  State totals(lanes, zero);
  if (length.isConstant() && length.constantValue() <= columnsTogether)
    sampleTogether(product, chunk, totals);
  else
    sampleOneByOne(product, chunk, totals);
  SmallVector<Accumulator> sums;
  for (Value total : totals)
    sums.push_back({total, {}});
  return reduceEach(vectors_, {AggregateKind::Sum, product.accumulator, product.accumulator}, sums);
}
