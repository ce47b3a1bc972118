#include "codegen/loops/RowProducts.h"

#include "base/Error.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

// Loops over at most so many columns are unrolled, and their sums lie in registers.
static constexpr int64_t mostUnrolledColumns = 16;

RowProducts::RowProducts(const LoopBody &body, VectorBuilder &vectors, LoopValues &values)
    : body_(body), vectors_(vectors), values_(values) {
  for (const LoopPass &pass : body.passes())
    for (plan::ReduceOp product : pass.products) {
      auto [rows, factor] = *body.rowFactors(product);
      Sums sums{body.panelAxes(product.getCell()).front(),
                static_cast<unsigned>(product.getOver().front()),
                accumulatorOf(product),
                rows,
                factor,
                {},
                {}};
      const Size &columns = body.axes()[sums.column];
      if (columns.isConstant() && columns.constantValue() <= mostUnrolledColumns)
        for (int64_t column = 0; column < columns.constantValue(); ++column)
          sums.registers.push_back(values.variable());
      else
        sums.memory = values.scratch(columns * Size::constant(vectors.width()));
      sums_.try_emplace(product, std::move(sums));
    }
}

Value RowProducts::addressOf(const Sums &sums, Value column) {
  APInt number;
  if (sums.memory)
    return vectors_.offset(sums.memory,
                           vectors_.multiply(column, vectors_.integer(vectors_.width())),
                           vectors_.registerType(sums.accumulator));
  if (!matchPattern(column, m_ConstantInt(&number)))
    internalError("columns of a product in registers are computed in a loop");
  return sums.registers[number.getZExtValue()];
}

void RowProducts::forEachColumn(const Sums &sums, llvm::function_ref<void(Value)> visit) {
  constexpr int64_t columnsTogether = 4;
  State none;
  int64_t unrolling = sums.memory ? columnsTogether : mostUnrolledColumns;
  values_.forAxis(sums.column, unrolling, none,
                  [&](State &) { visit(addressOf(sums, values_.index(sums.column))); });
}

void RowProducts::open(plan::ReduceOp product) {
  if (!values_.hasWholeBlock())
    return;
  const Sums &sums = sums_[product];
  Value zero = vectors_.number(0, vectors_.registerType(sums.accumulator));
  forEachColumn(sums, [&](Value address) { vectors_.store(zero, address, {}); });
}

void RowProducts::addColumns(const Sums &sums, ArrayRef<Value> columns, Value first) {
  Type accumulator = vectors_.registerType(sums.accumulator);
  SmallVector<Value> rows;
  for (Value column : columns)
    rows.push_back(vectors_.round(column, accumulator));
  forEachColumn(sums, [&](Value address) {
    Value sum = vectors_.load(address, {}, accumulator);
    for (auto [number, row] : llvm::enumerate(rows)) {
      Value at = vectors_.add(first, vectors_.integer(static_cast<int64_t>(number)));
      Value cell = values_.at(sums.reduced, at, sums.factor);
      sum = vectors_.fma(row, vectors_.round(cell, accumulator), sum);
    }
    vectors_.store(sum, address, {});
  });
}

// In a pass whose vectors run along the rows, the chunk's columns; in one across rows, a column.
void RowProducts::add(plan::ReduceOp product) {
  if (!values_.hasWholeBlock())
    return;
  const Sums &sums = sums_[product];
  int64_t lanes = vectors_.width();
  Value first = values_.index(sums.reduced);
  if (values_.isAcross())
    return addColumns(sums, {values_.get(sums.rows, 0, 0)}, first);
  for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
    State rows;
    for (unsigned place = 0; place < values_.places(); ++place)
      rows.push_back(values_.get(sums.rows, place, chunk));
    State columns = vectors_.transpose(rows);
    Value begin = values_.indexOf(sums.reduced, 0, chunk);
    bool isMasked = values_.mask(chunk) != nullptr;
    if (!isMasked || body_.axes()[sums.reduced].isConstant()) {
      columns.resize(isMasked ? values_.rowsOfChunk(chunk) : lanes);
      addColumns(sums, columns, begin);
      continue;
    }
    // Their number is known at run time only, and rows of B behind the last one must not be read: the
    // columns are stored and added one by one.
    Value staged = values_.staging();
    ElementType cells = plan::cellsOf(sums.rows);
    auto place = [&](Value number) { return vectors_.multiply(number, vectors_.integer(lanes)); };
    for (auto [number, column] : llvm::enumerate(columns))
      vectors_.storeCells(column, staged, place(vectors_.integer(static_cast<int64_t>(number))), {},
                          cells);
    Value left = vectors_.subtract(values_.axisSize(sums.reduced), begin);
    vectors_.forLoop(vectors_.integer(0), left, 1, [&](Value number) {
      addColumns(sums, {vectors_.loadCells(staged, place(number), {}, cells)},
                 vectors_.add(begin, number));
    });
  }
}

// Places that are computed one by one have sums of their own.
void RowProducts::close(plan::ReduceOp product) {
  const Sums &sums = sums_[product];
  State none;
  if (!values_.hasWholeBlock())
    return values_.forAxes({sums.column}, none,
                           [&](State &) { values_.keep(product.getCell(), 0, 0); });
  forEachColumn(sums, [&](Value address) {
    Value sum = vectors_.load(address, {}, vectors_.registerType(sums.accumulator));
    values_.keepAcross(product.getCell(),
                       vectors_.convert(sum, sums.accumulator, plan::cellsOf(product.getCell())));
  });
}
