#include "runtime/sparse/RowCompression.h"

#include "runtime/natives/NativeTesting.h"

#include <map>
#include <random>

using namespace tokamak;
using namespace tokamak::runtime;

namespace {

struct Entry {
  int64_t row, column;
  double value;
};

ArrayPointer compressed(const std::vector<Entry> &entries, int64_t rows, int64_t columns,
                        RowCompression::SamePlace samePlace) {
  Scheduler scheduler(2);
  ExecutionContext context;
  context.scheduler = &scheduler;
  auto forEachEntry = [&](const auto &body) {
    for (const Entry &entry : entries)
      body(entry.row, entry.column, entry.value);
  };
  return RowCompression(context, rows, columns, std::ssize(entries)).of(forEachEntry, samePlace);
}

// The same entries as a map from places to values.
void expectSame(const Array &matrix, const std::map<std::pair<int64_t, int64_t>, double> &wanted) {
  const int64_t *offsets = matrix.rowOffsets();
  ASSERT_EQ(offsets[0], 0);
  auto next = wanted.begin();
  for (int64_t row = 0; row < matrix.rows(); ++row)
    for (int64_t p = offsets[row]; p < offsets[row + 1]; ++p, ++next) {
      ASSERT_NE(next, wanted.end());
      ASSERT_EQ(std::pair(row, int64_t{matrix.columnIndices()[p]}), next->first);
      ASSERT_EQ(matrix.data()[p], next->second);
    }
  EXPECT_EQ(next, wanted.end());
}

// Rows of any length, with columns of one to four bytes, and some places twice.
TEST(RowCompression, sortsRowsByColumn) {
  for (int64_t columns : {int64_t{1}, int64_t{200}, int64_t{257}, int64_t{70'000},
                          (int64_t{1} << 24) + 5, (int64_t{1} << 31) - 1})
    for (int64_t rows : {1, 7, 2000}) {
      std::mt19937_64 random(columns + rows);
      std::vector<Entry> entries;
      int count = rows < 2000 ? 5000 : 100'000; // those of several ranges of rows
      for (int i = 0; i < count; ++i) {
        auto row = static_cast<int64_t>(random() % 3 == 0 ? random() % rows : (rows - 1) / 2);
        auto column = static_cast<int64_t>(random() % 4 == 0 ? columns - 1 : random() % columns);
        entries.push_back({row, column, static_cast<double>(random() % 5)});
      }
      std::map<std::pair<int64_t, int64_t>, double> sums, last;
      for (const Entry &entry : entries) {
        sums[{entry.row, entry.column}] += entry.value;
        last[{entry.row, entry.column}] = entry.value;
      }
      std::erase_if(last, [](const auto &entry) { return entry.second == 0; });
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
      expectSame(*compressed(entries, rows, columns, RowCompression::SamePlace::Added), sums);
      expectSame(*compressed(entries, rows, columns, RowCompression::SamePlace::Last), last);
    }
}

// Sums of one place are made in the order in which its entries were placed.
TEST(RowCompression, addsInOrder) {
  std::vector<Entry> entries;
  for (int64_t column = 99; column >= 0; --column)
    entries.push_back({0, column, 1e16});
  for (int64_t column = 0; column < 100; ++column)
    entries.push_back({0, column, 1});
  for (int64_t column = 0; column < 100; ++column)
    entries.push_back({0, column, -1e16});
  ArrayPointer matrix = compressed(entries, 1, 1000, RowCompression::SamePlace::Added);
  ASSERT_EQ(matrix->rowOffsets()[1], 100);
  for (int64_t p = 0; p < 100; ++p)
    EXPECT_EQ(matrix->data()[p], 1e16 + 1 - 1e16);
}

TEST(RowCompression, hasRowsWithoutEntries) {
  expectSame(*compressed({}, 3, 5, RowCompression::SamePlace::Added), {});
  expectSame(*compressed({}, 0, 5, RowCompression::SamePlace::Last), {});
  expectSame(*compressed({{2, 4, 1.5}}, 3, 5, RowCompression::SamePlace::Added), {{{2, 4}, 1.5}});
}

} // namespace
