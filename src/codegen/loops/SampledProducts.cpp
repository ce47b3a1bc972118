// Sums of products at the entries (i, j) of a driver: of row i of one factor and row j of another
// one. The rows are read as vectors, for eight entries together.
#include "codegen/Prefetching.h"
#include "codegen/loops/LoopValues.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr int64_t lanes = VectorBuilder::lanes;
// The order in which sums add up depends on these three, so they are the same on every machine.
// A row of the left factor stays in registers if it has at most this constant number of columns.
static constexpr int64_t columnsInRegisters = 128;
// Rows of the right factor with at most this constant number of columns are read eight at once.
static constexpr int64_t columnsTogether = 32;
static constexpr int64_t mostAccumulators = 4;

static bool isAtMost(const Size &length, int64_t most) {
  return length.isConstant() && length.constantValue() <= most;
}

// Conversions to the accumulator's type are left out.
static plan::ReadOp readOf(Value factor) {
  auto cast = factor.getDefiningOp<plan::CastOp>();
  if (cast && plan::cellsOf(factor) == ElementType::F64 &&
      plan::cellsOf(cast.getOperand()) == ElementType::F32)
    factor = cast.getOperand();
  return factor.getDefiningOp<plan::ReadOp>();
}

std::optional<SampledProduct> LoopBody::sampledProduct(plan::ReduceOp reduce) const {
  plan::BinaryOp product = plan::productIn(reduce);
  if (!entries_ || !product || reduce.getOver().size() != 1 ||
      !isFloat(plan::cellsOf(product.getResult())))
    return {};
  auto axis = static_cast<unsigned>(reduce.getOver().front());
  // Along the axis and that of rows, or of columns; the latter along its own rows.
  auto isFactor = [&](plan::ReadOp read, unsigned other) {
    return read && read.getType().getAxes().size() == 2 && read.getType().runsOver(other) &&
           accessOf(read).cell.factors[axis].isConstant(1);
  };
  plan::ReadOp left = readOf(product.getLhs()), right = readOf(product.getRhs());
  if (!isFactor(left, entries_->row))
    std::swap(left, right);
  if (axis == entries_->column || !isFactor(left, entries_->row) ||
      !isFactor(right, entries_->column))
    return {};
  return SampledProduct{left, right, axis, plan::cellsOf(product.getResult())};
}

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
static void forVectorsOfRow(VectorBuilder &vectors, int64_t length,
                            llvm::function_ref<void(int64_t, Value first, Value mask)> inside) {
  for (int64_t first = 0; first < length; first += lanes)
    inside(first / lanes, vectors.integer(first),
           length - first < lanes ? vectors.maskBelow(length - first) : Value());
}

// Reads the row of the left factor before the loop over entries.
void LoopValues::beginSampledProduct(const SampledProduct &product) {
  const Size &length = body_.axes()[product.axis];
  if (!isAtMost(length, columnsInRegisters))
    return;
  unsigned row = level().row;
  Value left = rowOfFactor(product.left, row, index(row));
  SmallVector<Value> &known = leftRows_[product.left];
  known.clear();
  forVectorsOfRow(vectors_, length.constantValue(), [&](int64_t, Value first, Value mask) {
    known.push_back(cellsOfRow(product, product.left, left, first, mask));
  });
}

// The products of the row of the left factor and one of the right factor, added up in so many
// vectors and these in a tree. Rows are read in the order of memory; that at `ahead` will be.
Value LoopValues::sampleRow(const SampledProduct &product, Value row, Value ahead,
                            int64_t accumulators) {
  ElementType cells = plan::cellsOf(product.right.getCell());
  const Size &length = body_.axes()[product.axis];
  State sums(accumulators, vectors_.number(0, vectors_.registerType(product.accumulator)));
  auto add = [&](Value factor, Value first, Value mask, Value &sum) {
    vectors_.prefetch(vectors_.offsetCells(ahead, first, cells));
    sum = vectors_.fma(factor, cellsOfRow(product, product.right, row, first, mask), sum);
  };
  if (isAtMost(length, columnsInRegisters)) {
    forVectorsOfRow(vectors_, length.constantValue(), [&](int64_t number, Value first, Value mask) {
      add(leftRows_[product.left][number], first, mask, sums[number % accumulators]);
    });
  } else {
    Value left = rowOfFactor(product.left, level().row, index(level().row));
    auto addLoaded = [&](Value first, Value mask, Value &sum) {
      add(cellsOfRow(product, product.left, left, first, mask), first, mask, sum);
    };
    int64_t step = accumulators * lanes;
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
  Reduction sum{AggregateKind::Sum, product.accumulator, product.accumulator};
  for (int64_t distance = accumulators / 2; distance > 0; distance /= 2)
    for (int64_t i = 0; i < distance; ++i)
      sums[i] = combine(vectors_, sum, sums[i], sums[i + distance]);
  return sums[0];
}

// Short rows are added up for eight entries at once, so that additions are independent; long ones
// one after the other, and only those of existing entries. The sums over the lanes of eight
// products are computed together.
Value LoopValues::sample(const SampledProduct &product, unsigned chunk) {
  const Size &length = body_.axes()[product.axis];
  Type type = vectors_.registerType(product.accumulator);
  if (length.isConstant(0))
    return vectors_.number(0, type);
  auto rowAt = [&](Value column) { return rowOfFactor(product.right, level().column, column); };
  SmallVector<Accumulator> totals(lanes);
  if (isAtMost(length, columnsTogether)) {
    Value columns = columnsBehind(chunk, prefetching::factorRowsAhead + lanes);
    auto rowBehind = [&](int64_t distance) {
      Value column = vectors_.loadCell(columns, vectors_.integer(distance), ElementType::U32);
      return rowAt(vectors_.convert(column, ElementType::U32, ElementType::I64));
    };
    for (auto [lane, total] : llvm::enumerate(totals)) {
      Value row = rowBehind(lane), ahead = rowBehind(prefetching::factorRowsAhead + lane);
      total.value = sampleRow(product, row, ahead, /*accumulators=*/1);
    }
  } else {
    Value start = indexOf(level().column, 0, chunk);
    Value count =
        vectors_.minimum(vectors_.subtract(entries_.second, start), vectors_.integer(lanes));
    Value rows = variable(lanes);
    auto totalAt = [&](Value lane) {
      return vectors_.offset(rows, vectors_.multiply(lane, vectors_.integer(lanes)), type);
    };
    vectors_.forLoop(vectors_.integer(0), count, 1, [&](Value lane) {
      Value position = vectors_.add(start, lane);
      Value later = vectors_.add(position, vectors_.integer(prefetching::factorRowsAhead));
      Value row = rowAt(columnAt(level().driver, position)),
            ahead = rowAt(columnAt(level().driver, vectors_.minimum(later, lastEntry_)));
      vectors_.store(sampleRow(product, row, ahead, mostAccumulators), totalAt(lane), {});
    });
    for (auto [lane, total] : llvm::enumerate(totals))
      total.value = vectors_.load(totalAt(vectors_.integer(static_cast<int64_t>(lane))), {}, type);
  }
  return reduceEach(vectors_, {AggregateKind::Sum, product.accumulator, product.accumulator},
                    totals);
}
