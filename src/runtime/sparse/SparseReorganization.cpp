#include "runtime/sparse/SparseReorganization.h"

#include "runtime/sparse/SparseMatrix.h"

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

bool staysSparse(const Array &target, CellRange range) {
  constexpr int64_t affordableBytes = int64_t{1} << 26;
  double denseBytes = static_cast<double>(target.cells()) * sizeof(double);
  bool isLargePart = range.rows() * range.columns() >= target.cells() / 16;
  return isLargePart ||
         denseBytes > static_cast<double>(std::max(affordableBytes, 16 * target.bytes()));
}

} // namespace

ArrayReference sliceSparse(ExecutionContext &context, const Array &csr, CellRange range) {
  if (range.columns() == csr.columns())
    return Array::inBestLayout(csr.rowView(range.rowBegin, range.rowEnd));
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
  return Array::inBestLayout(buildSparse(
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
      }));
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
  return Array::inBestLayout(buildSparse(
      context, csr.rows(), static_cast<int64_t>(columns.size()),
      [&](int64_t row) {
        SparseRow entries = rowOf(csr, row);
        return std::count_if(entries.columns, entries.columns + entries.count,
                             [&](int32_t column) { return newColumn[column] >= 0; });
      },
      [&](int64_t row, int32_t *indices, double *values) {
        SparseRow entries = rowOf(csr, row);
        for (int64_t p = 0; p < entries.count; ++p)
          if (int32_t column = newColumn[entries.columns[p]]; column >= 0) {
            *indices++ = column;
            *values++ = entries.values[p];
          }
      }));
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
