#include "runtime/sparse/SparseProducts.h"

#include "base/ConstantOf.h"
#include "base/WidestVectors.h"
#include "runtime/natives/CellTransposition.h"
#include "runtime/sparse/SparseMatrix.h"
#include "runtime/sparse/SparseTimesSparse.h"

namespace tokamak::runtime {
namespace {

constexpr int64_t mostPartials = 32;
constexpr int64_t mostCachedCells = int64_t{1} << 16; // 512 KiB

// to += factor * from. Multiplication and addition are not contracted, so all
// variants give the same bits.
TOKAMAK_WIDEST_VECTORS void addScaled(double factor, const double *from, int64_t count,
                                      double *to) {
  for (int64_t j = 0; j < count; ++j)
    to[j] += factor * from[j];
}

// to += the sum of each factor times its row, in order: `to` is read and written once for four of them.
constexpr int64_t rowsTogether = 4;
TOKAMAK_WIDEST_VECTORS void addFourScaled(const double *factors, const double *const *rows,
                                          int64_t count, double *to) {
  for (int64_t j = 0; j < count; ++j)
    to[j] =
        (((to[j] + factors[0] * rows[0][j]) + factors[1] * rows[1][j]) + factors[2] * rows[2][j]) +
        factors[3] * rows[3][j];
}

// The lines of a row of a dense factor that the next entries need: their order is unpredictable.
void prefetchRow(const double *row, int64_t count) {
  constexpr int64_t cellsOfLine = 8, mostLines = 16;
  for (int64_t j = 0; j < std::min(count, mostLines * cellsOfLine); j += cellsOfLine)
    __builtin_prefetch(row + j);
}

// Four running sums, so that additions don't wait for each other.
double dot(const SparseRow &row, const double *vector) {
  double sums[4] = {};
  int64_t p = 0;
  for (; p + 4 <= row.count; p += 4)
    for (int64_t k = 0; k < 4; ++k)
      sums[k] += row.values[p + k] * vector[row.columns[p + k]];
  for (; p < row.count; ++p)
    sums[0] += row.values[p] * vector[row.columns[p]];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

ArrayReference transposeDense(ExecutionContext &context, const Array &source) {
  int64_t rows = source.rows(), columns = source.columns();
  if (rows == 1 || columns == 1)
    return source.reshaped({columns, rows});
  ArrayPointer result = Array::create({columns, rows});
  transposeMatrix(context, source.cellsAs<uint64_t>(), rows, columns,
                  result->mutableCellsAs<uint64_t>());
  return result;
}

ArrayReference denseOf(ExecutionContext &context, const Factor &factor) {
  return factor.transposed ? transposeDense(context, *factor.array) : factor.array;
}

ArrayReference sparseOf(ExecutionContext &context, const Factor &factor) {
  return factor.transposed ? ArrayReference(transposeSparse(context, *factor.array)) : factor.array;
}

// The row of a dense factor that the entry says, where entries before `end` may be read.
constexpr int64_t entriesAhead = 8;
const double *rowAhead(const int32_t *entry, const int32_t *end, const double *rhs,
                       int64_t columns) {
  return rhs + *std::min(entry + entriesAhead, end - 1) * columns;
}

// target = the sum of the rows of `rhs` that the entries say, times these. What they say lies before `end`.
void addRows(const SparseRow &row, const int32_t *end, const Array &rhs, double *target) {
  int64_t columns = rhs.columns();
  auto rowOfEntry = [&](int64_t p) { return rhs.data() + row.columns[p] * columns; };
  auto prefetchBehind = [&](int64_t p) {
    prefetchRow(rowAhead(row.columns + p, end, rhs.data(), columns), columns);
  };
  std::fill_n(target, columns, 0.0);
  int64_t p = 0;
  for (; p + rowsTogether <= row.count; p += rowsTogether) {
    const double *rows[rowsTogether];
    for (int64_t k = 0; k < rowsTogether; ++k) {
      rows[k] = rowOfEntry(p + k);
      prefetchBehind(p + k);
    }
    addFourScaled(row.values + p, rows, columns, target);
  }
  for (; p < row.count; ++p) {
    prefetchBehind(p);
    addScaled(row.values[p], rowOfEntry(p), columns, target);
  }
}

// Rows begin to `end` of a product with so few columns that the sums of a row stay in registers, added up in the same order.
template <int64_t columns>
[[gnu::always_inline]] inline void addNarrowRows(const Array &lhs, int64_t begin, int64_t end,
                                                 const double *rhs, double *to) {
  const int32_t *lastEntry = lhs.columnIndices() + lhs.rowOffsets()[lhs.rows()];
  for (int64_t i = begin; i < end; ++i) {
    SparseRow row = rowOf(lhs, i);
    double sums[columns] = {};
    for (int64_t p = 0; p < row.count; ++p) {
      prefetchRow(rowAhead(row.columns + p, lastEntry, rhs, columns), columns);
      const double *from = rhs + row.columns[p] * columns;
#pragma clang loop unroll(full)
      for (int64_t j = 0; j < columns; ++j)
        sums[j] += row.values[p] * from[j];
    }
    std::copy_n(sums, columns, to + i * columns);
  }
}

// False if there are too many columns.
TOKAMAK_WIDEST_VECTORS bool addNarrowRows(const Array &lhs, int64_t begin, int64_t end,
                                          const Array &rhs, double *to) {
  auto ofFew = [&]<int64_t columns>() __attribute__((always_inline)) {
    addNarrowRows<columns>(lhs, begin, end, rhs.data(), to);
  };
  return withConstantOf<2, 3, 4, 5, 6, 7, 8>(rhs.columns(), ofFew);
}

// Computes the result row by row; rows are distributed by their entries.
ArrayPointer sparseTimesDense(ExecutionContext &context, const Array &lhs, const Array &rhs) {
  int64_t columns = rhs.columns();
  ArrayPointer result = Array::create({lhs.rows(), columns});
  double *to = result->mutableData();
  forEachBound(context, entryRanges(lhs, columns), [&](int64_t begin, int64_t end, int64_t) {
    if (addNarrowRows(lhs, begin, end, rhs, to))
      return;
    for (int64_t i = begin; i < end; ++i) {
      SparseRow row = rowOf(lhs, i);
      if (columns == 1) {
        to[i] = dot(row, rhs.data());
        continue;
      }
      addRows(row, lhs.columnIndices() + lhs.rowOffsets()[lhs.rows()], rhs, to + i * columns);
    }
  });
  return result;
}

// t(lhs) %*% rhs: every entry adds a row of rhs to a row of the result. If the result stays in a
// core's caches and is small compared with the work, each range of rows has a partial one; otherwise
// lhs is transposed.
ArrayPointer transposedSparseTimesDense(ExecutionContext &context, const Array &lhs,
                                        const Array &rhs) {
  int64_t columns = rhs.columns(), cells = lhs.columns() * columns;
  int64_t work = lhs.entries() * columns + lhs.rows();
  int64_t count = std::clamp<int64_t>(work / std::max(parallelGrain, 2 * cells), 1, mostPartials);
  bool isCached = cells <= mostCachedCells;
  if ((count == 1 || !isCached) && work > 8 * parallelGrain)
    return sparseTimesDense(context, *transposeSparse(context, lhs), rhs);
  const int64_t *offsets = lhs.rowOffsets();
  BudgetedVector<int64_t> bounds =
      workRanges(lhs.rows(), (work + count - 1) / count,
                 [&](int64_t row) { return (offsets[row] - offsets[0]) * columns + row; });
  count = std::max<int64_t>(1, static_cast<int64_t>(bounds.size()) - 1);
  ArrayPointer partials = Array::create({count * lhs.columns(), columns});
  double *data = partials->mutableData();
  std::fill_n(data, cells, 0.0); // needed if there are no rows
  forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t number) {
    double *to = data + number * cells;
    std::fill_n(to, cells, 0.0);
    for (int64_t i = begin; i < end; ++i) {
      SparseRow row = rowOf(lhs, i);
      if (columns == 1) {
        double factor = rhs.data()[i];
        for (int64_t p = 0; p < row.count; ++p)
          to[row.columns[p]] += row.values[p] * factor;
        continue;
      }
      for (int64_t p = 0; p < row.count; ++p)
        addScaled(row.values[p], rhs.data() + i * columns, columns, to + row.columns[p] * columns);
    }
  });
  if (count == 1)
    return partials;
  addPartials(context, data, count, cells);
  ArrayPointer result = Array::create({lhs.columns(), columns});
  std::copy_n(data, cells, result->mutableData());
  return result;
}

// A dense matrix times a CSR one, as the transpose of t(rhs) %*% t(lhs), which computes whole vectors: for some rows of lhs at a
// time, so that little is transposed at once.
ArrayReference denseTimesSparse(ExecutionContext &context, const Array &lhs, const Factor &rhs) {
  constexpr int64_t rowsAtOnce = 256;
  int64_t rows = lhs.rows(), columns = rhs.columns();
  // t(rhs) %*% some
  auto multiplied = [&](const Array &some) {
    return rhs.transposed ? sparseTimesDense(context, *rhs.array, some)
                          : transposedSparseTimesDense(context, *rhs.array, some);
  };
  if (rows <= rowsAtOnce)
    return transposeDense(context, *multiplied(*transposeDense(context, lhs)));
  ArrayReference transposed =
      rhs.transposed ? rhs.array : ArrayReference(transposeSparse(context, *rhs.array));
  ArrayPointer result = Array::create({rows, columns});
  auto *to = result->mutableCellsAs<uint64_t>();
  for (int64_t begin = 0; begin < rows; begin += rowsAtOnce) {
    int64_t end = std::min(rows, begin + rowsAtOnce);
    ArrayPointer product =
        sparseTimesDense(context, *transposed, *transposeDense(context, *lhs.rowView(begin, end)));
    transposeMatrix(context, product->cellsAs<uint64_t>(), columns, end - begin,
                    to + begin * columns);
  }
  return result;
}

} // namespace

// Counts the entries of each column in ranges of rows, then moves each entry to its place, keeping
// the order of rows within a column.
ArrayPointer transposeSparse(ExecutionContext &context, const Array &csr) {
  int64_t rows = csr.columns(), columns = csr.rows(), entries = csr.entries();
  int64_t ranges = std::clamp<int64_t>(entries / std::max(parallelGrain, rows), 1, 16);
  BudgetedVector<int64_t> bounds =
      workRanges(csr.rows(), (entries + csr.rows() + ranges - 1) / ranges,
                 [&](int64_t row) { return csr.rowOffsets()[row] - csr.rowOffsets()[0] + row; });
  ranges = static_cast<int64_t>(bounds.size()) - 1;
  // Entry (range, column): first the count, then the place for the next of the range's entries of
  // the column.
  BudgetedVector<int64_t> places(ranges * rows, 0);
  forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t number) {
    int64_t *counts = places.data() + number * rows;
    for (int64_t p = csr.rowOffsets()[begin]; p < csr.rowOffsets()[end]; ++p)
      ++counts[csr.columnIndices()[p]];
  });
  ArrayPointer result = Array::createSparse(rows, columns, entries);
  int64_t next = 0;
  for (int64_t row = 0; row < rows; ++row) {
    result->mutableRowOffsets()[row] = next;
    for (int64_t range = 0; range < ranges; ++range) {
      int64_t &place = places[range * rows + row];
      next += std::exchange(place, next);
    }
  }
  result->mutableRowOffsets()[rows] = next;
  int32_t *indices = result->mutableColumnIndices();
  double *values = result->mutableData();
  forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t number) {
    int64_t *place = places.data() + number * rows;
    for (int64_t i = begin; i < end; ++i) {
      SparseRow row = rowOf(csr, i);
      for (int64_t p = 0; p < row.count; ++p) {
        int64_t to = place[row.columns[p]]++;
        indices[to] = static_cast<int32_t>(i);
        values[to] = row.values[p];
      }
    }
  });
  return result;
}

ArrayReference multiplySparse(ExecutionContext &context, const Factor &lhs, const Factor &rhs) {
  if (lhs.array->isSparse() && rhs.array->isSparse())
    return sparseTimesSparse(context, *sparseOf(context, lhs), *sparseOf(context, rhs));
  if (lhs.array->isSparse()) {
    ArrayReference right = denseOf(context, rhs);
    return lhs.transposed ? transposedSparseTimesDense(context, *lhs.array, *right)
                          : sparseTimesDense(context, *lhs.array, *right);
  }
  if (!lhs.transposed)
    return denseTimesSparse(context, *lhs.array, rhs);
  // t(lhs) %*% rhs is t(t(rhs) %*% lhs)
  return transposeDense(
      context, rhs.transposed ? *sparseTimesDense(context, *rhs.array, *lhs.array)
                              : *transposedSparseTimesDense(context, *rhs.array, *lhs.array));
}

} // namespace tokamak::runtime
