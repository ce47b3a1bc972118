// Natives that move cells without computing: transpose, slices, left indexing, diagonals,
// permutations of rows.
#include "runtime/natives/CellTransposition.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/natives/RowCopies.h"
#include "runtime/sparse/SparseMatrix.h"
#include "runtime/sparse/SparseProducts.h"
#include "runtime/sparse/SparseReorganization.h"
#include "runtime/values/Frame.h"
#include "runtime/values/IndexRange.h"

#include <functional>

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
  MutableRows into{result->mutableBytes(), range.columns()};
  forEachRowRange(context, range.rows(), range.columns(), [&](int64_t begin, int64_t end) {
    copyRectangle(source, {range.rowBegin + begin, range.columnBegin}, into, {begin, 0},
                  end - begin, range.columns());
  });
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
    FramePointer target = operands[0].frame();
    operands[0] = Value();
    results[0] =
        insertIntoFrame(std::move(target), operands[1], frameRangeOf(operands.subspan(2, 4)));
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
  const Array &cells = *operands[1].array();
  MutableRows into{result->mutableBytes(), columns};
  forEachRowRange(context, range.rows(), range.columns(), [&](int64_t begin, int64_t end) {
    copyRectangle(cells, {begin, 0}, into, {range.rowBegin + begin, range.columnBegin}, end - begin,
                  range.columns());
  });
  results[0] = std::move(result);
}

void runDiag(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseMatrixOperand(operands[0], "diag");
  int64_t size = source.rows(), cell = byteSize(source.elementType());
  if (source.columns() == 1) {
    ArrayReference column = Array::asDense(operands[0].array());
    if (column->elementType() == ElementType::F64 && Array::isBetterSparse({size, size}, size)) {
      results[0] = sparseDiagonal(*column);
      return;
    }
    ArrayPointer result = filledWith(context, {size, size}, column->elementType(), 0.0);
    copyRows({result->mutableBytes(), (size + 1) * cell}, {column->rawBytes(), cell}, 0, size, cell,
             std::identity());
    results[0] = std::move(result);
    return;
  }
  if (source.columns() != size)
    throw Error(fmt::format("diag: expected a column vector or a square matrix, got {}",
                            source.shape().text()));
  ArrayPointer result = Array::create({size, 1}, source.elementType());
  if (source.isSparse()) // of doubles; its cells are looked up, because dense it may be huge
    for (int64_t i = 0; i < size; ++i)
      result->mutableData()[i] = source.at(i, i);
  else
    copyRows({result->mutableBytes(), cell}, {source.rawBytes(), (size + 1) * cell}, 0, size, cell,
             std::identity());
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
  const std::byte *from = source.rawBytes();
  int64_t columns = source.columns(), bytes = columns * byteSize(source.elementType());
  forEachRowRange(context, source.rows(), columns, [&](int64_t begin, int64_t end) {
    copyRows({to, bytes}, {from, bytes}, begin, end, bytes, rowOf);
  });
  return result;
}

} // namespace

void runRev(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseMatrixOperand(operands[0], "rev");
  results[0] =
      permuteRows(context, source, [last = source.rows() - 1](int64_t i) { return last - i; });
}

void runRoll(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseMatrixOperand(operands[0], "roll");
  int64_t rows = std::max<int64_t>(1, source.rows());
  int64_t shift = operands[1].asInteger() % rows;
  results[0] = permuteRows(context, source, [=](int64_t i) { return (i - shift + rows) % rows; });
}

namespace {

// The cells of a matrix on one side of its diagonal, or ones in their places; others are 0.
void takeTriangle(ExecutionContext &context, std::span<Value> operands, std::span<Value> results,
                  std::string_view native, bool isLower) {
  const Array &given = matrixOperand(operands[0], native);
  bool withDiagonal = operands[1].asBoolean(), keepValues = operands[2].asBoolean();
  if (given.rows() != given.columns())
    throw Error(fmt::format("{}: expected a square matrix, got {}", native, given.shape().text()));
  ArrayReference source = Array::asDense(operands[0].array());
  int64_t size = source->rows();
  ArrayPointer result = Array::create(source->shape());
  const double *from = source->data();
  double *to = result->mutableData();
  forEachRowRange(context, size, size, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = isLower ? 0 : i + !withDiagonal, behind = isLower ? i + withDiagonal : size;
      double *row = to + i * size;
      std::fill(row, row + first, 0.0);
      if (keepValues)
        std::copy(from + i * size + first, from + i * size + behind, row + first);
      else
        std::fill(row + first, row + behind, 1.0);
      std::fill(row + behind, row + size, 0.0);
    }
  });
  results[0] = std::move(result);
}

} // namespace

void runLowerTri(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  takeTriangle(context, operands, results, "lower.tri", /*isLower=*/true);
}

void runUpperTri(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  takeTriangle(context, operands, results, "upper.tri", /*isLower=*/false);
}

} // namespace tokamak::runtime
