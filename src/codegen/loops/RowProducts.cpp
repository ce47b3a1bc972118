#include "codegen/loops/RowProducts.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

// Loops over at most so many columns are unrolled, and their sums lie in registers.
static constexpr int64_t mostUnrolledColumns = 16;

RowProducts::RowProducts(const LoopBody &body, VectorBuilder &vectors, LoopValues &values)
    : body_(body), vectors_(vectors), values_(values) {
  for (const LoopPass &pass : body.passes())
    for (plan::ReduceOp reduce : pass.products) {
      auto [rows, factor] = *body.rowFactors(reduce);
      unsigned column = body.panelAxes(reduce.getCell()).front();
      const Size &columns = body.axes()[column];
      bool areFew = columns.isConstant() && columns.constantValue() <= mostUnrolledColumns;
      Value sums = areFew ? values.variable(columns.constantValue())
                          : values.scratch(columns * Size::constant(vectors.width()));
      auto reduced = static_cast<unsigned>(reduce.getOver().front());
      products_[reduce] = {column, reduced, accumulatorOf(reduce), rows, factor, sums, areFew};
    }
}

void RowProducts::forEachColumn(const Product &product, llvm::function_ref<void(Value)> visit) {
  constexpr int64_t columnsTogether = 4;
  State none;
  int64_t together = product.areVariables ? mostUnrolledColumns : columnsTogether;
  values_.forAxis(product.column, together, none, [&](int64_t, State &) {
    Value column = values_.index(product.column);
    visit(vectors_.offset(product.sums,
                          vectors_.multiply(column, vectors_.integer(vectors_.width())),
                          vectors_.registerType(product.accumulator)));
  });
}

void RowProducts::open(plan::ReduceOp reduce) {
  if (!values_.hasWholeBlock())
    return;
  const Product &product = products_[reduce];
  Value zero = vectors_.number(0, vectors_.registerType(product.accumulator));
  forEachColumn(product, [&](Value sum) { vectors_.store(zero, sum, {}); });
}

void RowProducts::addColumns(const Product &product, ArrayRef<Value> columns, Value first) {
  Type accumulator = vectors_.registerType(product.accumulator);
  SmallVector<Value> rows;
  for (Value column : columns)
    rows.push_back(vectors_.round(column, accumulator));
  forEachColumn(product, [&](Value address) {
    Value sum = vectors_.load(address, {}, accumulator);
    for (auto [number, row] : llvm::enumerate(rows)) {
      Value at = vectors_.add(first, vectors_.integer(static_cast<int64_t>(number)));
      Value cell = values_.at(product.reduced, at, product.factor);
      sum = vectors_.fma(row, vectors_.round(cell, accumulator), sum);
    }
    vectors_.store(sum, address, {});
  });
}

// In a pass whose vectors run along the rows, the chunk's columns; in one across rows, a column.
void RowProducts::add(plan::ReduceOp reduce) {
  if (!values_.hasWholeBlock())
    return;
  const Product &product = products_[reduce];
  int64_t lanes = vectors_.width();
  Value first = values_.index(product.reduced);
  if (values_.isAcross())
    return addColumns(product, {values_.get(product.rows, 0, 0)}, first);
  for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
    State rows;
    for (unsigned place = 0; place < values_.places(); ++place)
      rows.push_back(values_.get(product.rows, place, chunk));
    State columns = vectors_.transpose(rows);
    Value begin = values_.indexOf(product.reduced, 0, chunk);
    bool isMasked = values_.mask(chunk) != nullptr;
    if (!isMasked || body_.axes()[product.reduced].isConstant()) {
      columns.resize(isMasked ? values_.rowsOfChunk(chunk) : lanes);
      addColumns(product, columns, begin);
      continue;
    }
    // Their number is known at run time only, and rows of B behind the last one must not be read: the
    // columns are stored and added one by one.
    Value staged = values_.variable(lanes);
    ElementType cells = plan::cellsOf(product.rows);
    auto place = [&](Value number) { return vectors_.multiply(number, vectors_.integer(lanes)); };
    for (auto [number, column] : llvm::enumerate(columns))
      vectors_.storeCells(column, staged, place(vectors_.integer(static_cast<int64_t>(number))), {},
                          cells);
    Value left = vectors_.subtract(values_.axisSize(product.reduced), begin);
    vectors_.forLoop(vectors_.integer(0), left, 1, [&](Value number) {
      addColumns(product, {vectors_.loadCells(staged, place(number), {}, cells)},
                 vectors_.add(begin, number));
    });
  }
}

// Places that are computed one by one have sums of their own.
void RowProducts::close(plan::ReduceOp reduce) {
  const Product &product = products_[reduce];
  Value cell = reduce.getCell();
  State none;
  if (!values_.hasWholeBlock())
    return values_.forAxes({product.column}, none, [&](State &) { values_.keep(cell, 0, 0); });
  values_.acrossPlaces([&] {
    forEachColumn(product, [&](Value address) {
      Value sum = vectors_.load(address, {}, vectors_.registerType(product.accumulator));
      values_.set(cell, 0, 0, vectors_.convert(sum, product.accumulator, plan::cellsOf(cell)));
      values_.keep(cell, 0, 0);
    });
  });
}
