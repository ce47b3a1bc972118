#include "runtime/natives/CellSort.h"

#include "runtime/parallel/TileScheduler.h"
#include "runtime/values/CellOrder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>

namespace tokamak::runtime {
namespace {

std::vector<double> cellsOf(size_t count, int distinct) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double special[] = {
      std::numeric_limits<double>::quiet_NaN(), inf, -inf, 0, -0.0, 5e-324, -5e-324};
  std::mt19937_64 random(count);
  std::vector<double> cells;
  for (size_t i = 0; i < count; ++i) {
    auto draw = static_cast<int>(random() % static_cast<unsigned>(distinct));
    cells.push_back(draw < 7
                        ? special[draw]
                        : std::ldexp(static_cast<double>(draw) - distinct / 2.0, draw % 40 - 20));
  }
  return cells;
}

// The rows in their order, by the definition.
std::vector<int64_t> expectedRows(const std::vector<double> &cells, bool decreasing) {
  std::vector<int64_t> rows(cells.size());
  std::iota(rows.begin(), rows.end(), int64_t{0});
  std::sort(rows.begin(), rows.end(), [&](int64_t a, int64_t b) {
    int order = compareCells(cells[a], cells[b]);
    return order == 0 ? a < b : (order > 0) == decreasing;
  });
  return rows;
}

void expectSorted(size_t count, int distinct, bool decreasing, int threads) {
  Scheduler scheduler(threads);
  ExecutionContext context;
  context.scheduler = &scheduler;
  std::vector<double> cells = cellsOf(count, distinct), sorted(count);
  std::vector<int64_t> expected = expectedRows(cells, decreasing);
  RowKeys keys = rowsInOrder(context, cells.data(), 1, std::ssize(cells), decreasing);
  auto sort = [&](const std::vector<double> &unsorted, std::vector<double> &to) {
    return sortCells(context, unsorted.data(), std::ssize(unsorted), decreasing, to.data());
  };
  std::vector<double> positive = cells, inOrder(count), withoutNegativeZero = cells;
  for (double &cell : positive)
    cell = std::fabs(cell);
  ASSERT_TRUE(sort(positive, inOrder));
  std::ranges::sort(positive, [&](double a, double b) {
    return decreasing ? compareCells(b, a) < 0 : compareCells(a, b) < 0;
  });
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(compareCells(inOrder[i], positive[i]), 0) << i;
  auto isNegativeZero = [](double cell) { return cell == 0 && std::signbit(cell); };
  ASSERT_EQ(sort(cells, sorted), std::ranges::none_of(cells, isNegativeZero));
  std::ranges::replace_if(withoutNegativeZero, isNegativeZero, 0.0);
  ASSERT_TRUE(sort(withoutNegativeZero, sorted));
  std::vector<int64_t> places;
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(keys[i].row, static_cast<uint64_t>(expected[i]));
    ASSERT_EQ(compareCells(sorted[i], cells[expected[i]]), 0) << i;
    if (i % 97 == 0)
      places.push_back(static_cast<int64_t>(count - 1 - i));
  }
  if (decreasing)
    return;
  std::vector<double> selected = selectCells(context, cells.data(), std::ssize(cells), places);
  ASSERT_EQ(selected.size(), places.size());
  for (size_t i = 0; i < places.size(); ++i)
    ASSERT_EQ(compareCells(selected[i], sorted[places[i]]), 0) << places[i];
}

TEST(CellSort, IsStableAndPutsNaNBehindNumbers) {
  for (size_t count : {0, 1, 2, 499, 500, 1000, 5000, 20000})
    for (bool decreasing : {false, true}) {
      expectSorted(count, 20, decreasing, 1);
      expectSorted(count, 100000, decreasing, 1);
    }
}

TEST(CellSort, DoesNotDependOnThreads) {
  expectSorted(700'001, 1000, false, 2);
  expectSorted(700'001, 1'000'000'000, true, 3);
  expectSorted(300'000, 3, false, 3); // NaN and infinities
}

TEST(CellSort, SortsKeysOfSeveralColumns) {
  ExecutionContext context;
  RowKeys keys;
  for (uint64_t i = 0; i < 3000; ++i)
    keys.push_back({i, i * 7 % 10});
  sortRowKeys(context, keys);
  for (size_t i = 1; i < keys.size(); ++i)
    ASSERT_LT(std::pair(keys[i - 1].key, keys[i - 1].row), std::pair(keys[i].key, keys[i].row));
}

TEST(CellSort, KeepsCells) {
  for (double cell : {0.0, 1.5, -1.5, 5e-324, -1e308, std::numeric_limits<double>::infinity()})
    for (bool decreasing : {false, true})
      EXPECT_EQ(cellOfKey(keyOfCell(cell, decreasing), decreasing), cell);
}

} // namespace
} // namespace tokamak::runtime
