// Natives that move cells without computing: transpose, slices, left indexing, diagonals,
// permutations of rows.
#include "runtime/natives/CellTransposition.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/sparse/SparseMatrix.h"
#include "runtime/sparse/SparseProducts.h"
#include "runtime/sparse/SparseReorganization.h"
#include "runtime/values/Frame.h"
#include "runtime/values/IndexRange.h"

namespace tokamak::runtime {

void runTranspose(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  if (hasSparse(operands)) {
    results[0] = Array::inBestLayout(transposeSparse(context, *operands[0].array()));
    return;
  }
  const Array &source = denseOperand(operands[0], "t");
  std::array<int64_t, Shape::maxRank> sizes{};
  int rank = source.shape().rank();
  std::copy_n(source.shape().sizes().begin(), rank, sizes.begin());
  std::swap(sizes[rank - 1], sizes[rank - 2]);
  Shape shape(std::span<const int64_t>(sizes.data(), static_cast<size_t>(rank)));
  int64_t rows = shape[rank - 1], columns = shape[rank - 2], cells = source.cells();
  if (rows == 1 || columns == 1 || cells == 0) {
    results[0] = source.reshaped(shape);
    context.touchedBytes = 0;
    return;
  }
  ArrayPointer result = Array::create(shape, source.elementType());
  withCellSize(source.elementType(), [&]<typename Cell>() {
    const Cell *from = source.cellsAs<Cell>();
    Cell *to = result->mutableCellsAs<Cell>();
    int64_t matrix = rows * columns, matrices = cells / matrix;
    if (matrices == 1)
      return transposeMatrix(context, from, rows, columns, to);
    ExecutionContext alone; // the matrices are distributed over the threads
    forEachRange(context, matrices, parallelGrain / matrix, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        transposeMatrix(alone, from + i * matrix, rows, columns, to + i * matrix);
    });
  });
  results[0] = std::move(result);
}

namespace {

void checkBounds(std::string_view what, int64_t begin, int64_t end, int64_t size,
                 const Array &array) {
  if (!isIndexRange(begin, end, size))
    throw badIndexRange(what, begin, end, size, array.shape().text() + " matrix");
}

FrameRange frameRangeOf(std::span<const Value> bounds) {
  return {bounds[0].asInteger(), bounds[1].asInteger(), bounds[2].asInteger(),
          bounds[3].asInteger()};
}

CellRange rangeOf(const Array &array, std::span<const Value> bounds) {
  int64_t rowBegin = bounds[0].asInteger(), rowEnd = bounds[1].asInteger();
  int64_t columnBegin = bounds[2].asInteger(), columnEnd = bounds[3].asInteger();
  checkBounds("row", rowBegin, rowEnd, array.rows(), array);
  checkBounds("column", columnBegin, columnEnd, array.columns(), array);
  return {rowBegin - 1, rowEnd, columnBegin - 1, columnEnd};
}

} // namespace

void runSlice(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  if (operands[0].isFrame()) {
    results[0] = sliceFrame(*operands[0].frame(), frameRangeOf(operands.subspan(1, 4)));
    return;
  }
  const Array &source = denseMatrixOperand(operands[0], "indexing");
  CellRange range = rangeOf(source, operands.subspan(1, 4));
  if (range.rows() == source.rows() && range.columns() == source.columns()) {
    results[0] = operands[0];
    context.touchedBytes = 0;
    return;
  }
  if (source.isSparse()) {
    ArrayReference result = sliceSparse(context, source, range);
    context.touchedBytes = 2 * result->bytes();
    results[0] = std::move(result);
    return;
  }
  if (range.columns() == source.columns()) {
    results[0] = source.rowView(range.rowBegin, range.rowEnd);
    context.touchedBytes = 0;
    return;
  }
  ArrayPointer result = Array::create({range.rows(), range.columns()}, source.elementType());
  for (int64_t i = 0; i < range.rows(); ++i)
    copyCells(source, (range.rowBegin + i) * source.columns() + range.columnBegin, range.columns(),
              result->mutableBytes(), i * range.columns());
  context.touchedBytes = 2 * result->bytes();
  results[0] = std::move(result);
}

namespace {

// The matrix that left indexing writes to: the operand itself if it has no other owner; then only
// the replaced cells are read and written.
ArrayPointer insertionTarget(ExecutionContext &context, Value &operand, CellRange range) {
  const Array *before = operand.array().get();
  ArrayPointer result = takeOrCopy(operand);
  if (result.get() == before)
    context.touchedBytes = 2 * range.rows() * range.columns() * byteSize(result->elementType());
  return result;
}

} // namespace

void runInsert(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  if (operands[0].isFrame()) {
    results[0] =
        insertIntoFrame(*operands[0].frame(), operands[1], frameRangeOf(operands.subspan(2, 4)));
    return;
  }
  const Array &target = denseMatrixOperand(operands[0], "left indexing");
  CellRange range = rangeOf(target, operands.subspan(2, 4));
  int64_t columns = target.columns();
  if (operands[1].isScalar()) {
    if (range.rows() != 1 || range.columns() != 1)
      throw Error(fmt::format(
          "left indexing: a scalar can replace one cell, not {}x{}; use matrix(value, rows, "
          "cols)",
          range.rows(), range.columns()));
    if (target.isSparse()) {
      ArrayPointer value = Array::filled({1, 1}, operands[1].asDouble());
      results[0] = insertSparse(context, operands[0].array(), value, range);
      return;
    }
    ArrayPointer result = insertionTarget(context, operands[0], range);
    withCellType(result->elementType(), [&]<typename Cell>() {
      result->mutableCellsAs<Cell>()[range.rowBegin * columns + range.columnBegin] =
          cellFrom<Cell>(operands[1]);
    });
    results[0] = std::move(result);
    return;
  }
  const Array &value = denseMatrixOperand(operands[1], "left indexing");
  if (value.rows() != range.rows() || value.columns() != range.columns())
    throw Error(fmt::format("left indexing: a {} matrix cannot replace {}x{} cells",
                            value.shape().text(), range.rows(), range.columns()));
  if (target.isSparse()) {
    results[0] = insertSparse(context, operands[0].array(), operands[1].array(), range);
    return;
  }
  if (value.isSparse())
    operands[1] = Array::asDense(operands[1].array());
  ArrayPointer result = insertionTarget(context, operands[0], range);
  for (int64_t i = 0; i < range.rows(); ++i)
    copyCells(*operands[1].array(), i * range.columns(), range.columns(), result->mutableBytes(),
              (range.rowBegin + i) * columns + range.columnBegin);
  results[0] = std::move(result);
}

void runDiag(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseMatrixOperand(operands[0], "diag");
  int64_t size = source.rows();
  if (source.columns() == 1) {
    ArrayReference column = Array::asDense(operands[0].array());
    if (column->elementType() == ElementType::F64 && Array::isBetterSparse({size, size}, size)) {
      results[0] = sparseDiagonal(*column);
      return;
    }
    ArrayPointer result = filledWith(context, {size, size}, column->elementType(), 0.0);
    for (int64_t i = 0; i < size; ++i)
      copyCells(*column, i, 1, result->mutableBytes(), i * size + i);
    results[0] = std::move(result);
    return;
  }
  if (source.columns() != size)
    throw Error(fmt::format("diag: expected a column vector or a square matrix, got {}",
                            source.shape().text()));
  ArrayPointer result = Array::create({size, 1}, source.elementType());
  for (int64_t i = 0; i < size; ++i)
    if (source.isSparse()) // of doubles; its cells are looked up, because dense it may be huge
      result->mutableData()[i] = source.at(i, i);
    else
      copyCells(source, i * size + i, 1, result->mutableBytes(), i);
  results[0] = std::move(result);
}

namespace {

// Row i of the result is row rowOf(i) of the source.
template <typename RowOf>
Value permuteRows(ExecutionContext &context, const Array &source, const RowOf &rowOf) {
  if (source.isSparse()) {
    BudgetedVector<int64_t> rows(source.rows());
    for (int64_t i = 0; i < source.rows(); ++i)
      rows[i] = rowOf(i);
    return takeSparseRows(context, source, rows);
  }
  ArrayPointer result = Array::create(source.shape(), source.elementType());
  std::byte *to = result->mutableBytes();
  int64_t columns = source.columns();
  forEachRowRange(context, source.rows(), columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      copyCells(source, rowOf(i) * columns, columns, to, i * columns);
  });
  return result;
}

} // namespace

void runRev(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseMatrixOperand(operands[0], "rev");
  results[0] = permuteRows(context, source, [&](int64_t i) { return source.rows() - 1 - i; });
}

void runRoll(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseMatrixOperand(operands[0], "roll");
  int64_t rows = std::max<int64_t>(1, source.rows());
  int64_t shift = operands[1].asInteger() % rows;
  results[0] = permuteRows(context, source, [&](int64_t i) { return (i - shift + rows) % rows; });
}

namespace {

template <typename IsInside>
void triangle(std::span<Value> operands, std::span<Value> results, std::string_view native,
              const IsInside &isInside) {
  const Array &source = matrixOperand(operands[0], native);
  bool withDiagonal = operands[1].asBoolean(), keepValues = operands[2].asBoolean();
  if (source.rows() != source.columns())
    throw Error(fmt::format("{}: expected a square matrix, got {}", native, source.shape().text()));
  ArrayPointer result = Array::create(source.shape());
  for (int64_t i = 0; i < source.rows(); ++i)
    for (int64_t j = 0; j < source.columns(); ++j) {
      bool inside = isInside(i, j) || (withDiagonal && i == j);
      result->mutableData()[i * source.columns() + j] = !inside      ? 0
                                                        : keepValues ? source.at(i, j)
                                                                     : 1;
    }
  results[0] = std::move(result);
}

} // namespace

void runLowerTri(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  triangle(operands, results, "lower.tri", [](int64_t i, int64_t j) { return j < i; });
}

void runUpperTri(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  triangle(operands, results, "upper.tri", [](int64_t i, int64_t j) { return j > i; });
}

} // namespace tokamak::runtime
