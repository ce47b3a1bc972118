#include "runtime/sparse/SparseTimesSparse.h"

#include "runtime/sparse/SparseMatrix.h"

#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace tokamak::runtime {
namespace {

// before[i]: the number of multiplications for the rows before row i; the last one is the total.
BudgetedVector<int64_t> productsBefore(const Array &lhs, const Array &rhs) {
  BudgetedVector<int64_t> before(lhs.rows() + 1, 0);
  for (int64_t i = 0; i < lhs.rows(); ++i) {
    SparseRow row = rowOf(lhs, i);
    int64_t products = 0;
    for (int64_t p = 0; p < row.count; ++p)
      products += rowOf(rhs, row.columns[p]).count;
    before[i + 1] = before[i] + products;
  }
  return before;
}

// A set of columns, which are found in ascending order: a bit for each. Where a row may have few columns of many, there are too
// many words to go through: then the words that aren't 0 have bits themselves, and the words of these.
class ColumnSet {
public:
  explicit ColumnSet(int64_t columns) {
    size_t words = columns;
    for (BudgetedVector<uint64_t> &level : levels_) {
      words = (words + bitsOfWord - 1) / bitsOfWord;
      level.resize(words);
    }
  }
  // Of at most so many additions. The set must be empty.
  void begin(int64_t additions) {
    constexpr int64_t wordsOfAddition = 4; // so many take as long as an addition to all levels
    hasLevels_ = additions < std::ssize(levels_[0]) / wordsOfAddition;
  }
  // Adds the columns of a row, and calls visit(column, number of the entry) for each.
  template <typename Visit> void add(const SparseRow &row, const Visit &visit) {
    uint64_t *bits = levels_[0].data(), *words = levels_[1].data(),
             *wordsOfWords = levels_[2].data();
    auto set = [](uint64_t *level, uint32_t place) {
      level[place / bitsOfWord] |= uint64_t{1} << place % bitsOfWord;
    };
    for (int64_t p = 0; p < row.count; ++p) {
      auto column = static_cast<uint32_t>(row.columns[p]);
      set(bits, column);
      visit(column, p);
    }
    if (hasLevels_)
      for (int64_t p = 0; p < row.count; ++p) {
        uint32_t word = static_cast<uint32_t>(row.columns[p]) / bitsOfWord;
        set(words, word);
        set(wordsOfWords, word / bitsOfWord);
      }
  }
  // Calls visit(the first column of a word, its bits, maybe none) in ascending order and makes the set empty.
  template <typename Visit> void takeWords(const Visit &visit) {
    if (hasLevels_)
      return takeWordsOfLevels(visit);
    uint32_t first = 0;
    for (uint64_t &word : levels_[0]) {
      visit(first, std::exchange(word, 0));
      first += bitsOfWord;
    }
  }

private:
  static constexpr uint32_t bitsOfWord = 64;

  // Calls visit(place) for each bit of a word and clears it.
  template <typename Visit>
  static void takePlaces(BudgetedVector<uint64_t> &level, uint32_t word, const Visit &visit) {
    for (uint64_t left = std::exchange(level[word], 0); left != 0; left &= left - 1)
      visit(word * bitsOfWord + static_cast<uint32_t>(std::countr_zero(left)));
  }
  template <typename Visit> void takeWordsOfLevels(const Visit &visit) {
    auto &[bits, words, wordsOfWords] = levels_;
    for (uint32_t top = 0; top < wordsOfWords.size(); ++top)
      takePlaces(wordsOfWords, top, [&](uint32_t middle) {
        takePlaces(words, middle, [&](uint32_t place) {
          visit(place * bitsOfWord, std::exchange(bits[place], 0));
        });
      });
  }

  bool hasLevels_ = false;
  std::array<BudgetedVector<uint64_t>, 3> levels_;
};

// Accumulates one row of a sparse result: sums in a dense row (Gustavson, "Two fast algorithms for sparse matrices", 1978), and
// the set of columns that have a sum.
class RowSums {
public:
  explicit RowSums(int64_t columns) : sums_(columns), columns_(columns) {}

  void begin(int64_t products) { columns_.begin(products); }
  // Of a row whose columns are counted only.
  void addColumns(const SparseRow &row) {
    columns_.add(row, [](uint32_t, int64_t) {});
  }
  void add(double factor, const SparseRow &row) {
    columns_.add(row, [sums = sums_.data(), factor, values = row.values](
                          uint32_t column, int64_t p) { sums[column] += factor * values[p]; });
  }
  // Ends the row: how many columns it has.
  int64_t takeCount() {
    int64_t count = 0;
    columns_.takeWords([&](uint32_t, uint64_t word) { count += std::popcount(word); });
    return count;
  }
  // Ends the row: moves its sums that aren't 0, at most as many as it has columns. Returns how many.
  int64_t moveTo(int32_t *columns, double *values) {
    int64_t count = 0;
    columns_.takeWords([&](uint32_t first, uint64_t word) {
      for (; word != 0; word &= word - 1) {
        uint32_t column = first + static_cast<uint32_t>(std::countr_zero(word));
        if (double sum = std::exchange(sums_[column], 0); sum != 0) {
          columns[count] = static_cast<int32_t>(column);
          values[count++] = sum;
        }
      }
    });
    return count;
  }

private:
  BudgetedVector<double> sums_;
  ColumnSet columns_;
};

// Rows of the right factor are found in an order that the processor can't foresee.
void prefetchRows(const Array &lhs, int64_t row, const Array &rhs) {
  constexpr int64_t most = 8; // the others come in the time in which these are added
  if (row >= lhs.rows())
    return;
  SparseRow left = rowOf(lhs, row);
  for (int64_t p = 0; p < std::min(left.count, most); ++p) {
    int64_t first = rhs.rowOffsets()[left.columns[p]];
    __builtin_prefetch(rhs.columnIndices() + first);
    __builtin_prefetch(rhs.data() + first);
  }
}

// Two passes over the products: the first counts the entries of each row, so that the second writes them where they stay.
// Their loops stand here twice: given the two as functions, one loop took 8 % longer.
ArrayPointer sparseRowsTimesSparse(ExecutionContext &context, const Array &lhs, const Array &rhs,
                                   const BudgetedVector<int64_t> &before,
                                   const BudgetedVector<int64_t> &bounds) {
  int64_t rows = lhs.rows(), columns = rhs.columns();
  BudgetedVector<int64_t> offsets(rows + 1, 0), counts(rows, 0);
  forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t) {
    RowSums sums(columns);
    for (int64_t i = begin; i < end; ++i) {
      prefetchRows(lhs, i + 2, rhs);
      SparseRow left = rowOf(lhs, i);
      sums.begin(before[i + 1] - before[i]);
      for (int64_t p = 0; p < left.count; ++p)
        sums.addColumns(rowOf(rhs, left.columns[p]));
      offsets[i + 1] = sums.takeCount();
    }
  });
  ArrayPointer result = createFromCounts(columns, offsets);
  int32_t *indices = result->mutableColumnIndices();
  double *values = result->mutableData();
  forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t) {
    RowSums sums(columns);
    for (int64_t i = begin; i < end; ++i) {
      prefetchRows(lhs, i + 2, rhs);
      SparseRow left = rowOf(lhs, i);
      sums.begin(before[i + 1] - before[i]);
      for (int64_t p = 0; p < left.count; ++p)
        sums.add(left.values[p], rowOf(rhs, left.columns[p]));
      counts[i] = sums.moveTo(indices + offsets[i], values + offsets[i]);
    }
  });
  if (std::reduce(counts.begin(), counts.end(), int64_t{0}) == offsets[rows])
    return result;
  // Some sums are 0.
  return buildSparse(
      context, rows, columns, [&](int64_t row) { return counts[row]; },
      [&](int64_t row, int32_t *toColumns, double *toValues) {
        std::copy_n(indices + offsets[row], counts[row], toColumns);
        std::copy_n(values + offsets[row], counts[row], toValues);
      });
}

} // namespace

ArrayReference sparseTimesSparse(ExecutionContext &context, const Array &lhs, const Array &rhs) {
  int64_t rows = lhs.rows(), columns = rhs.columns();
  BudgetedVector<int64_t> before = productsBefore(lhs, rhs);
  // The expected number of non-zeros if the products fell on random cells.
  double cells = static_cast<double>(rows) * static_cast<double>(columns);
  double expected = cells > 0 ? -cells * std::expm1(-static_cast<double>(before[rows]) / cells) : 0;
  bool isSparse = Array::isBetterSparse({rows, columns}, static_cast<int64_t>(expected));
  int64_t workOfRow = isSparse ? 1 : columns;
  BudgetedVector<int64_t> bounds =
      workRanges(rows, std::max(parallelGrain, 2 * columns),
                 [&](int64_t row) { return before[row] + row * workOfRow; });
  if (isSparse)
    return Array::inBestLayout(sparseRowsTimesSparse(context, lhs, rhs, before, bounds));
  ArrayPointer result = Array::create({rows, columns});
  double *to = result->mutableData();
  forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t) {
    for (int64_t i = begin; i < end; ++i) {
      double *target = to + i * columns;
      std::fill_n(target, columns, 0.0);
      SparseRow left = rowOf(lhs, i);
      for (int64_t p = 0; p < left.count; ++p) {
        SparseRow right = rowOf(rhs, left.columns[p]);
        for (int64_t q = 0; q < right.count; ++q)
          target[right.columns[q]] += left.values[p] * right.values[q];
      }
    }
  });
  return Array::inBestLayout(result);
}

} // namespace tokamak::runtime
