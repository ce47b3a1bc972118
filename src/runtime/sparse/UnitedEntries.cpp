#include "runtime/sparse/UnitedEntries.h"

#include "runtime/sparse/SparseMatrix.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tokamak::runtime {
namespace {

// Merges the columns of a and b, both ascending, into `to` and returns their number. Branch-free
// with respect to which column is next.
int64_t mergeColumns(std::span<const int32_t> a, std::span<const int32_t> b, int32_t *to) {
  size_t i = 0, j = 0;
  int64_t count = 0;
  while (i < a.size() && j < b.size()) {
    int32_t left = a[i], right = b[j];
    to[count++] = std::min(left, right);
    i += left <= right ? 1 : 0;
    j += right <= left ? 1 : 0;
  }
  std::copy(a.begin() + i, a.end(), to + count);
  std::copy(b.begin() + j, b.end(), to + count + (a.size() - i));
  return count + static_cast<int64_t>(a.size() - i + b.size() - j);
}

std::span<const int32_t> columnsOf(const Array &matrix, int64_t row) {
  const int64_t *offsets = matrix.rowOffsets();
  return {matrix.columnIndices() + offsets[row],
          static_cast<size_t>(offsets[row + 1] - offsets[row])};
}

// Writes the values of a row at the united columns, a superset of its own; zeros elsewhere.
template <typename Number>
void spread(std::span<const int32_t> own, const Number *from, std::span<const int32_t> united,
            Number *to) {
  if (own.empty()) {
    std::fill_n(to, united.size(), Number(0));
    return;
  }
  // Selects zero or the value by an index instead of a branch.
  size_t next = 0, last = own.size() - 1;
  for (size_t i = 0; i < united.size(); ++i) {
    size_t has = own[next] == united[i] ? 1 : 0;
    Number values[] = {Number(0), from[next]};
    to[i] = values[has];
    next = std::min(next + has, last);
  }
}

// 1 or 0, of which the compiler doesn't know that it depends on a comparison: it would make a branch of what is selected by it,
// which processors can't predict.
uint64_t numberOf(bool isTrue) {
  uint64_t number = isTrue ? 1 : 0;
  asm("" : "+r"(number)); // NOLINT(hicpp-no-assembler)
  return number;
}

// The value if `has` is 1, zero if it is 0.
double valueIf(uint64_t has, double value) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) & (0 - has));
}

// Writes the entries of two rows side by side: the united columns and, at each, both values, zero where a row has no entry.
// No branch depends on which column is next, as in mergeColumns.
void mergeEntries(SparseRow a, SparseRow b, int32_t *columns, double *ofA, double *ofB) {
  int64_t i = 0, j = 0, count = 0;
  for (; i < a.count && j < b.count; ++count) {
    int32_t left = a.columns[i], right = b.columns[j];
    uint64_t isLeft = numberOf(left <= right), isRight = numberOf(right <= left);
    columns[count] = std::min(left, right);
    ofA[count] = valueIf(isLeft, a.values[i]);
    ofB[count] = valueIf(isRight, b.values[j]);
    i += static_cast<int64_t>(isLeft);
    j += static_cast<int64_t>(isRight);
  }
  auto copyRest = [&](const SparseRow &row, int64_t from, double *own, double *others) {
    int64_t rest = row.count - from;
    std::copy_n(row.columns + from, rest, columns + count);
    std::copy_n(row.values + from, rest, own + count);
    std::fill_n(others + count, rest, 0.0);
    count += rest;
  };
  copyRest(a, i, ofA, ofB);
  copyRest(b, j, ofB, ofA);
}

// How many columns there are in a or b, both ascending.
int64_t countColumns(std::span<const int32_t> a, std::span<const int32_t> b) {
  size_t i = 0, j = 0, common = 0;
  while (i < a.size() && j < b.size()) {
    int32_t left = a[i], right = b[j];
    common += left == right ? 1 : 0;
    i += left <= right ? 1 : 0;
    j += right <= left ? 1 : 0;
  }
  return static_cast<int64_t>(a.size() + b.size() - common);
}

class Union {
public:
  explicit Union(std::span<ArrayReference *const> matrices) {
    for (ArrayReference *matrix : matrices)
      matrices_.push_back(matrix->get());
  }

  bool isShared() const {
    return std::all_of(matrices_.begin(), matrices_.end(), [&](const Array *matrix) {
      return matrix->rowOffsets() == matrices_[0]->rowOffsets() &&
             matrix->columnIndices() == matrices_[0]->columnIndices();
    });
  }

  std::vector<ArrayPointer> build(ExecutionContext &context) const {
    return areTwoOfDoubles() ? buildTwo(context) : buildAny(context);
  }

private:
  bool areTwoOfDoubles() const {
    return matrices_.size() == 2 && std::ranges::all_of(matrices_, [](const Array *matrix) {
             return matrix->elementType() == ElementType::F64;
           });
  }

  // Counts the columns of each row, then writes columns and values where they stand.
  std::vector<ArrayPointer> buildTwo(ExecutionContext &context) const {
    const Array &a = *matrices_[0], &b = *matrices_[1];
    BudgetedVector<int64_t> offsets(a.rows() + 1, 0), bounds = ranges();
    forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t) {
      for (int64_t row = begin; row < end; ++row)
        offsets[row + 1] = countColumns(columnsOf(a, row), columnsOf(b, row));
    });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    ArrayPointer first = Array::createSparse(a.rows(), a.columns(), offsets.back());
    std::copy(offsets.begin(), offsets.end(), first->mutableRowOffsets());
    ArrayPointer second = first->withSamePattern(ElementType::F64);
    int32_t *columns = first->mutableColumnIndices();
    double *ofA = first->mutableData(), *ofB = second->mutableData();
    forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t place = offsets[row];
        mergeEntries(rowOf(a, row), rowOf(b, row), columns + place, ofA + place, ofB + place);
      }
    });
    return {std::move(first), std::move(second)};
  }

  std::vector<ArrayPointer> buildAny(ExecutionContext &context) const {
    const Array &first = *matrices_[0];
    BudgetedVector<int64_t> offsets(first.rows() + 1, 0), bounds = ranges();
    BudgetedVector<BudgetedVector<int32_t>> pieces(bounds.size());
    forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t number) {
      pieces[number] = unite(begin, end, offsets);
    });
    for (int64_t row = 0; row < first.rows(); ++row)
      offsets[row + 1] += offsets[row];
    std::vector<ArrayPointer> results{
        Array::createSparse(first.rows(), first.columns(), offsets.back(), first.elementType())};
    std::copy(offsets.begin(), offsets.end(), results[0]->mutableRowOffsets());
    for (size_t i = 1; i < matrices_.size(); ++i)
      results.push_back(results[0]->withSamePattern(matrices_[i]->elementType()));
    int32_t *columns = results[0]->mutableColumnIndices();
    // Take the writable pointers before the threads start: mutableCellsOf drops the array's cached
    // conversion to the other layout, which is a data race if several threads do it.
    std::vector<void *> cells;
    for (size_t i = 0; i < matrices_.size(); ++i)
      withFloatCells(*matrices_[i], [&]<typename Number>() {
        cells.push_back(results[i]->mutableCellsAs<Number>());
      });
    forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t number) {
      std::copy(pieces[number].begin(), pieces[number].end(), columns + offsets[begin]);
      for (size_t i = 0; i < matrices_.size(); ++i)
        withFloatCells(*matrices_[i], [&]<typename Number>() {
          const Array &from = *matrices_[i];
          for (int64_t row = begin; row < end; ++row)
            spread(columnsOf(from, row), from.cellsAs<Number>() + from.rowOffsets()[row],
                   columnsOf(*results[0], row), static_cast<Number *>(cells[i]) + offsets[row]);
        });
    });
    return results;
  }

  // Ranges of rows with about equally many entries in all matrices together.
  BudgetedVector<int64_t> ranges() const {
    return workRanges(matrices_[0]->rows(), parallelGrain, [&](int64_t row) {
      int64_t work = row;
      for (const Array *matrix : matrices_)
        work += matrix->rowOffsets()[row] - matrix->rowOffsets()[0];
      return work;
    });
  }

  // The united columns of the rows [begin, end), one row after the other; the number of columns of
  // row r goes to counts[r + 1].
  BudgetedVector<int32_t> unite(int64_t begin, int64_t end, BudgetedVector<int64_t> &counts) const {
    int64_t entries = 0, longest = 0; // at most
    for (int64_t row = begin; row < end; ++row) {
      int64_t inRow = 0;
      for (const Array *matrix : matrices_)
        inRow += static_cast<int64_t>(columnsOf(*matrix, row).size());
      entries += inRow;
      longest = std::max(longest, inRow);
    }
    BudgetedVector<int32_t> columns(entries), soFar(longest);
    int64_t next = 0;
    for (int64_t row = begin; row < end; ++row) {
      std::span<const int32_t> united = columnsOf(*matrices_[0], row);
      for (size_t i = 1; i < matrices_.size(); ++i) {
        if (i > 1) {
          std::copy(united.begin(), united.end(), soFar.begin());
          united = std::span(soFar).first(united.size());
        }
        int32_t *to = columns.data() + next;
        int64_t count = mergeColumns(united, columnsOf(*matrices_[i], row), to);
        united = {to, static_cast<size_t>(count)};
      }
      counts[row + 1] = static_cast<int64_t>(united.size());
      next += counts[row + 1];
    }
    columns.resize(next);
    return columns;
  }

  std::vector<const Array *> matrices_;
};

} // namespace

void uniteEntries(ExecutionContext &context, std::span<ArrayReference *const> matrices) {
  if (matrices.size() < 2)
    return;
  Union united(matrices);
  if (united.isShared())
    return;
  std::vector<ArrayPointer> results = united.build(context);
  for (size_t i = 0; i < matrices.size(); ++i)
    *matrices[i] = std::move(results[i]);
}

} // namespace tokamak::runtime
