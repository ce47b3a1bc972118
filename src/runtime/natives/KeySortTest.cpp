#include "runtime/natives/KeySort.h"

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
template <typename Row>
std::vector<Row> expectedRows(const std::vector<double> &cells, bool decreasing) {
  std::vector<Row> rows(cells.size());
  std::iota(rows.begin(), rows.end(), Row{0});
  std::sort(rows.begin(), rows.end(), [&](Row a, Row b) {
    int order = compareCells(cells[a], cells[b]);
    return order == 0 ? a < b : (order > 0) == decreasing;
  });
  return rows;
}

template <typename Row>
void expectSorted(size_t count, int distinct, bool decreasing, int threads) {
  Scheduler scheduler(threads);
  ExecutionContext context{.scheduler = &scheduler};
  std::vector<double> cells = cellsOf(count, distinct);
  SortKeys keys = sortKeys(context, cells.data(), 1, static_cast<int64_t>(count), decreasing),
           alone = keys;
  BudgetedVector<Row> rows(count);
  std::iota(rows.begin(), rows.end(), Row{0});
  sortKeysWithRows(context, keys, rows);
  std::vector<Row> expected = expectedRows<Row>(cells, decreasing);
  ASSERT_TRUE(std::equal(rows.begin(), rows.end(), expected.begin()));
  sortKeysAlone(context, alone);
  for (size_t i = 0; i < count; ++i)
    ASSERT_TRUE(sameCell(cellOfKey(alone[i], decreasing), cells[expected[i]])) << i;
}

TEST(KeySort, IsStableAndPutsNaNBehindNumbers) {
  for (size_t count : {0, 1, 2, 1000, 1023, 1024, 5000})
    for (bool decreasing : {false, true}) {
      expectSorted<uint32_t>(count, 20, decreasing, 1);
      expectSorted<int64_t>(count, 100000, decreasing, 1);
    }
}

TEST(KeySort, DoesNotDependOnThreads) {
  expectSorted<uint32_t>(700'001, 1000, false, 2);
  expectSorted<uint32_t>(700'001, 1'000'000'000, true, 3);
}

TEST(KeySort, KeepsCells) {
  for (double cell : {0.0, 1.5, -1.5, 5e-324, -1e308, std::numeric_limits<double>::infinity()})
    for (bool decreasing : {false, true})
      EXPECT_EQ(cellOfKey(keyOfCell(cell, decreasing), decreasing), cell);
}

} // namespace
} // namespace tokamak::runtime
