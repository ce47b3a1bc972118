#include "codegen/loops/RowProduct.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

// Loops over at most so many columns are unrolled, and their sums lie in registers.
static constexpr int64_t mostUnrolledColumns = 16;

RowProduct::RowProduct(const LoopBody &body, VectorBuilder &vectors, LoopValues &values,
                       plan::ReduceOp product)
    : body_(body), vectors_(vectors), values_(values), product_(product),
      column_(body.schedule().innerAxes(product.getCell()).front()),
      reduced_(product.getOver().front()),
      accumulator_(vectors.registerType(reductionOf(product).accumulator)) {
  std::tie(rows_, factor_) = *body.rowFactors(product);
  const Size &columns = body.axes()[column_];
  areVariables_ = columns.isConstant() && columns.constantValue() <= mostUnrolledColumns;
  sums_ = areVariables_ ? values.variable(columns.constantValue())
                        : values.scratch(columns * Size::constant(vectors.width()));
}

void RowProduct::forEachColumn(llvm::function_ref<void(Value)> visit) {
  constexpr int64_t columnsTogether = 4;
  int64_t together = areVariables_ ? mostUnrolledColumns : columnsTogether;
  values_.forAxis(column_, together, [&](int64_t) {
    Value at = vectors_.multiply(values_.index(column_), vectors_.integer(vectors_.width()));
    visit(vectors_.offset(sums_, at, accumulator_));
  });
}

void RowProduct::open() {
  if (!values_.hasWholeBlock())
    return;
  Value zero = vectors_.number(0, accumulator_);
  forEachColumn([&](Value sum) { vectors_.store(zero, sum, {}); });
}

void RowProduct::addColumns(ArrayRef<Value> columns, Value first) {
  SmallVector<Value> rows;
  for (Value column : columns)
    rows.push_back(vectors_.round(column, accumulator_));
  forEachColumn([&](Value address) {
    Value sum = vectors_.load(address, {}, accumulator_);
    for (auto [number, row] : llvm::enumerate(rows)) {
      Value at = vectors_.add(first, vectors_.integer(static_cast<int64_t>(number)));
      Value cell = values_.at(reduced_, at, factor_);
      sum = vectors_.fma(row, vectors_.round(cell, accumulator_), sum);
    }
    vectors_.store(sum, address, {});
  });
}

// In a pass whose vectors run along the rows, the chunk's columns; in one across rows, a column.
void RowProduct::add() {
  if (!values_.hasWholeBlock())
    return;
  if (values_.isAcross())
    return addColumns({values_.get(rows_, 0, 0)}, values_.index(reduced_));
  for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
    State rows;
    for (unsigned place = 0; place < values_.places(); ++place)
      rows.push_back(values_.get(rows_, place, chunk));
    State columns = vectors_.transpose(rows);
    Value begin = values_.indexOf(reduced_, 0, chunk);
    bool isMasked = values_.mask(chunk) != nullptr;
    if (!isMasked || body_.axes()[reduced_].isConstant()) {
      columns.resize(isMasked ? values_.rowsOfChunk(chunk) : vectors_.width());
      addColumns(columns, begin);
      continue;
    }
    // Their number is known at run time only, and rows of B behind the last one must not be read:
    // the columns are stored and added one by one.
    Value staged = values_.variable(vectors_.width());
    ElementType cells = plan::cellsOf(rows_);
    auto place = [&](Value number) {
      return vectors_.multiply(number, vectors_.integer(vectors_.width()));
    };
    for (auto [number, column] : llvm::enumerate(columns))
      vectors_.storeCells(column, staged, place(vectors_.integer(static_cast<int64_t>(number))), {},
                          cells);
    Value left = vectors_.subtract(values_.axisSize(reduced_), begin);
    vectors_.forLoop(vectors_.integer(0), left, 1, [&](Value number) {
      addColumns({vectors_.loadCells(staged, place(number), {}, cells)},
                 vectors_.add(begin, number));
    });
  }
}

// Places that are computed one by one have sums of their own.
void RowProduct::close() {
  Value cell = product_.getCell();
  if (!values_.hasWholeBlock())
    return values_.withComplete(
        rows_, [&] { values_.forAxes({column_}, [&] { values_.keep(cell, 0, 0); }); });
  values_.acrossPlaces([&] {
    forEachColumn([&](Value address) {
      Value sum = vectors_.load(address, {}, accumulator_);
      values_.set(cell, 0, 0, values_.finish(product_, {{sum, {}}}, /*isOverLanes=*/false));
      values_.keep(cell, 0, 0);
    });
  });
}
