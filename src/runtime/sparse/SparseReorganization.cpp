#include "runtime/sparse/SparseReorganization.h"

#include "runtime/sparse/SparseMatrix.h"

#include <numeric>

namespace tokamak::runtime {
namespace {

// The entries of a row within columns [begin, end).
SparseRow entriesWithin(const Array &csr, int64_t row, int64_t begin, int64_t end) {
  SparseRow all = rowOf(csr, row);
  const int32_t *first = std::lower_bound(all.columns, all.columns + all.count, begin);
  const int32_t *last = std::lower_bound(first, all.columns + all.count, end);
  return {first, all.values + (first - all.columns), last - first};
}

// Copies the entries with their columns shifted by `shift`, and advances the pointers.
void copyEntries(const SparseRow &row, int64_t shift, int32_t *&columns, double *&values) {
  for (int64_t p = 0; p < row.count; ++p)
    columns[p] = static_cast<int32_t>(row.columns[p] + shift);
  std::copy_n(row.values, row.count, values);
  columns += row.count;
  values += row.count;
}

// Some rows with the entries of which the column is `moved` elsewhere, in the same order; it is -1 where the entry is left out.
// Which entries that are often can't be predicted, so each is written, and replaced by the next one if it is left out.
template <typename Moved>
ArrayPointer withColumnsMoved(ExecutionContext &context, const Array &csr, int64_t rowBegin,
                              int64_t rows, int64_t columns, const Moved &moved) {
  const int64_t *begins = csr.rowOffsets() + rowBegin;
  const int32_t *indices = csr.columnIndices();
  const double *values = csr.data();
  int64_t parts = (rows + parallelGrain - 1) / parallelGrain;
  auto rowOfPart = [&](int64_t part) { return std::min(rows, part * parallelGrain); };
  BudgetedVector<int64_t> nextOf(static_cast<size_t>(parts) + 1); // entries
  forEachRange(context, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      int64_t count = 0;
      for (int64_t p = begins[rowOfPart(part)]; p < begins[rowOfPart(part + 1)]; ++p)
        count += moved(indices[p]) >= 0;
      nextOf[part + 1] = count;
    }
  });
  std::partial_sum(nextOf.begin(), nextOf.end(), nextOf.begin());
  ArrayPointer result = Array::createSparse(rows, columns, nextOf.back());
  int64_t *resultBegins = result->mutableRowOffsets();
  int32_t *resultIndices = result->mutableColumnIndices();
  double *resultValues = result->mutableData();
  resultBegins[0] = 0;
  forEachRange(context, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      int64_t next = nextOf[part], end = nextOf[part + 1];
      for (int64_t row = rowOfPart(part); row < rowOfPart(part + 1); ++row) {
        for (int64_t p = begins[row]; p < begins[row + 1] && next < end; ++p) {
          int32_t column = moved(indices[p]);
          resultIndices[next] = column;
          resultValues[next] = values[p];
          next += column >= 0;
        }
        resultBegins[row + 1] = next;
      }
    }
  });
  return result;
}

// Entries and offsets of rows: what a sparse copy has to be made of.
int64_t partsOf(const Array &csr) { return csr.entries() + csr.rows(); }

// Where a loop replaces a few cells at a time, each sparse copy costs as much as the whole matrix: once they have cost more
// than a dense one would, that is made, in which all further cells are replaced in place.
bool staysSparse(const Array &target, CellRange range) {
  constexpr int64_t cellsOfPart = 4; // of a dense matrix, which are made in the time of a part
  if (range.rows() * range.columns() >= target.cells() / 16)
    return true;
  double denseBytes = static_cast<double>(target.cells()) * sizeof(double);
  bool isDear = target.copiedByInserts() + partsOf(target) > target.cells() / cellsOfPart;
  return !isDear || denseBytes > 0x1p60 ||
         !BufferPool::instance().hasRoomFor(2 * static_cast<int64_t>(denseBytes));
}

} // namespace

ArrayReference sliceSparse(ExecutionContext &context, const Array &csr, CellRange range) {
  if (range.columns() == csr.columns())
    return Array::inBestLayout(csr.rowView(range.rowBegin, range.rowEnd));
  // Where rows are long, the columns are found faster than all entries are gone through.
  constexpr int64_t longRow = 16;
  if (csr.entries() < longRow * csr.rows()) {
    auto begin = static_cast<int32_t>(range.columnBegin),
         end = static_cast<int32_t>(range.columnEnd);
    return Array::inBestLayout(withColumnsMoved(
        context, csr, range.rowBegin, range.rows(), range.columns(),
        [=](int32_t column) { return column >= begin && column < end ? column - begin : -1; }));
  }
  auto entries = [&](int64_t row) {
    return entriesWithin(csr, range.rowBegin + row, range.columnBegin, range.columnEnd);
  };
  return Array::inBestLayout(buildSparse(
      context, range.rows(), range.columns(), [&](int64_t row) { return entries(row).count; },
      [&](int64_t row, int32_t *columns, double *values) {
        copyEntries(entries(row), -range.columnBegin, columns, values);
      }));
}

ArrayReference insertSparse(ExecutionContext &context, const ArrayReference &target,
                            const ArrayReference &value, CellRange range) {
  if (!staysSparse(*target, range)) {
    ArrayPointer result = Array::asDense(target)->copy();
    ArrayReference cells = Array::asDense(value);
    for (int64_t i = 0; i < range.rows(); ++i)
      std::copy_n(cells->data() + i * range.columns(), range.columns(),
                  result->mutableData() + (range.rowBegin + i) * result->columns() +
                      range.columnBegin);
    return result;
  }
  ArrayReference cells = Array::asSparse(value);
  const Array &source = *target;
  auto isReplaced = [&](int64_t row) { return row >= range.rowBegin && row < range.rowEnd; };
  auto left = [&](int64_t row) { return entriesWithin(source, row, 0, range.columnBegin); };
  auto right = [&](int64_t row) {
    return entriesWithin(source, row, range.columnEnd, source.columns());
  };
  auto middle = [&](int64_t row) { return rowOf(*cells, row - range.rowBegin); };
  ArrayPointer result = buildSparse(
      context, source.rows(), source.columns(),
      [&](int64_t row) {
        return isReplaced(row) ? left(row).count + middle(row).count + right(row).count
                               : rowOf(source, row).count;
      },
      [&](int64_t row, int32_t *columns, double *values) {
        if (!isReplaced(row))
          return copyEntries(rowOf(source, row), 0, columns, values);
        copyEntries(left(row), 0, columns, values);
        copyEntries(middle(row), range.columnBegin, columns, values);
        copyEntries(right(row), 0, columns, values);
      });
  result->setCopiedByInserts(source.copiedByInserts() + partsOf(source));
  return Array::inBestLayout(result);
}

ArrayReference bindSparseColumns(ExecutionContext &context,
                                 const std::vector<ArrayReference> &arrays) {
  std::vector<ArrayReference> parts;
  int64_t columns = 0;
  for (const ArrayReference &array : arrays) {
    parts.push_back(Array::asSparse(array));
    columns += array->columns();
  }
  return Array::inBestLayout(buildSparse(
      context, parts[0]->rows(), columns,
      [&](int64_t row) {
        int64_t count = 0;
        for (const ArrayReference &part : parts)
          count += rowOf(*part, row).count;
        return count;
      },
      [&](int64_t row, int32_t *indices, double *values) {
        int64_t shift = 0;
        for (const ArrayReference &part : parts) {
          copyEntries(rowOf(*part, row), shift, indices, values);
          shift += part->columns();
        }
      }));
}

ArrayReference bindSparseRows(ExecutionContext &, const std::vector<ArrayReference> &arrays) {
  std::vector<ArrayReference> parts;
  int64_t rows = 0, entries = 0;
  for (const ArrayReference &array : arrays) {
    parts.push_back(Array::asSparse(array));
    rows += array->rows();
    entries += parts.back()->entries();
  }
  ArrayPointer result = Array::createSparse(rows, arrays[0]->columns(), entries);
  int64_t *offsets = result->mutableRowOffsets(), next = 0;
  for (const ArrayReference &part : parts) {
    int64_t first = part->rowOffsets()[0];
    for (int64_t row = 0; row < part->rows(); ++row)
      *offsets++ = next + part->rowOffsets()[row] - first;
    std::copy_n(part->columnIndices() + first, part->entries(),
                result->mutableColumnIndices() + next);
    std::copy_n(part->data() + first, part->entries(), result->mutableData() + next);
    next += part->entries();
  }
  *offsets = next;
  return Array::inBestLayout(result);
}

ArrayReference takeSparseRows(ExecutionContext &context, const Array &csr,
                              const BudgetedVector<int64_t> &rows) {
  return Array::inBestLayout(buildSparse(
      context, static_cast<int64_t>(rows.size()), csr.columns(),
      [&](int64_t row) { return rowOf(csr, rows[row]).count; },
      [&](int64_t row, int32_t *columns, double *values) {
        copyEntries(rowOf(csr, rows[row]), 0, columns, values);
      }));
}

ArrayReference takeSparseColumns(ExecutionContext &context, const Array &csr,
                                 const BudgetedVector<int64_t> &columns) {
  BudgetedVector<int32_t> newColumn(csr.columns(), -1);
  for (size_t j = 0; j < columns.size(); ++j)
    newColumn[columns[j]] = static_cast<int32_t>(j);
  return Array::inBestLayout(withColumnsMoved(context, csr, 0, csr.rows(),
                                              static_cast<int64_t>(columns.size()),
                                              [&](int32_t column) { return newColumn[column]; }));
}

ArrayReference reshapeSparse(ExecutionContext &, const Array &csr, int64_t rows, int64_t columns) {
  if (columns > INT32_MAX) // more columns than a CSR matrix supports
    return Array::asDense(csr.copy())->reshaped({rows, columns});
  ArrayPointer result = Array::createSparse(rows, columns, csr.entries());
  int64_t *offsets = result->mutableRowOffsets(), next = 0, nextRow = 0;
  for (int64_t i = 0; i < csr.rows(); ++i) {
    SparseRow row = rowOf(csr, i);
    for (int64_t p = 0; p < row.count; ++p, ++next) {
      int64_t cell = i * csr.columns() + row.columns[p];
      while (nextRow <= cell / columns)
        offsets[nextRow++] = next;
      result->mutableColumnIndices()[next] = static_cast<int32_t>(cell % columns);
      result->mutableData()[next] = row.values[p];
    }
  }
  while (nextRow <= rows)
    offsets[nextRow++] = next;
  return Array::inBestLayout(result);
}

ArrayReference sparseDiagonal(const Array &diagonal) {
  int64_t size = diagonal.rows();
  ArrayPointer result = Array::createSparse(size, size, size);
  for (int64_t i = 0; i < size; ++i) {
    result->mutableRowOffsets()[i] = i;
    result->mutableColumnIndices()[i] = static_cast<int32_t>(i);
    result->mutableData()[i] = diagonal.data()[i];
  }
  result->mutableRowOffsets()[size] = size;
  return result;
}

} // namespace tokamak::runtime
