#include "runtime/natives/Native.h"

#include "runtime/parallel/TileScheduler.h"
#include "runtime/values/Array.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace tokamak::runtime {
namespace {

ArrayPointer scanned(NativeFunction native, const ArrayPointer &matrix, int threads) {
  Scheduler scheduler(threads);
  ExecutionContext context;
  context.scheduler = &scheduler;
  Value operands[] = {Value(matrix)}, results[1];
  native(context, operands, results);
  return std::const_pointer_cast<Array>(results[0].array());
}

ArrayPointer sums(const ArrayPointer &matrix, int threads) {
  return scanned(runCumsum, matrix, threads);
}

// Beside sums in extended precision, at the borders of the units that are added up apart.
TEST(Cumsum, AddsAlongColumnsOnAnyNumberOfThreads) {
  std::mt19937_64 random(5);
  for (int64_t rows : {1, 7, 1023, 1024, 1025, 8192, 8193, 200'001})
    for (int64_t columns : {1, 3, 10, 300}) {
      if (rows * columns > 3'000'000)
        continue;
      ArrayPointer matrix = Array::create({rows, columns});
      for (int64_t i = 0; i < rows * columns; ++i)
        matrix->mutableData()[i] = static_cast<double>(random() >> 11) * 0x1p-53 - 0.25;
      ArrayPointer one = sums(matrix, 1), three = sums(matrix, 3);
      std::vector<long double> exact(static_cast<size_t>(columns));
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          exact[j] += matrix->data()[i * columns + j];
          double found = one->data()[i * columns + j];
          ASSERT_NEAR(found, static_cast<double>(exact[j]), 1e-9)
              << rows << "x" << columns << " at " << i;
          ASSERT_EQ(found, three->data()[i * columns + j]);
        }
    }
}

// A sum of zeros is 0, whatever their signs are, as in the reference.
TEST(Cumsum, OfNegativeZerosIsZero) {
  for (int64_t columns : {1, 3, 300})
    for (int64_t rows : {1, 5000}) {
      ArrayPointer matrix = Array::create({rows, columns});
      std::fill_n(matrix->mutableData(), rows * columns, -0.0);
      for (NativeFunction *native : {runCumsum, runRowcumsum}) {
        ArrayPointer found = scanned(native, matrix, 2);
        for (int64_t i = 0; i < rows * columns; ++i)
          ASSERT_FALSE(std::signbit(found->data()[i])) << rows << "x" << columns << " at " << i;
      }
    }
}

// As the sum of all cells in their order, whichever of the units' sums overflow.
TEST(Cumsum, OverflowsWhereTheSumInOrderDoes) {
  struct {
    double first, up, down; // far apart, but the last two
  } cases[] = {{-1.7e308, 1e308, 1e308},   {1e308, 1e308, -1e308}, {0, 1.7e308, -1.7e308},
               {4e307, 1.5e308, -1.5e308}, {1e308, 1e308, 1e308},  {INFINITY, 1e308, 1e308},
               {1e308, -INFINITY, 1e308}};
  for (int64_t columns : {1, 3, 300})
    for (int64_t rows : {2000, 20'000})
      for (auto [first, up, down] : cases) {
        ArrayPointer matrix = Array::create({rows, columns});
        std::fill_n(matrix->mutableData(), rows * columns, 0.0);
        matrix->mutableData()[columns - 1] = first;
        matrix->mutableData()[(rows - 500) * columns + columns - 1] = up;
        matrix->mutableData()[(rows - 400) * columns + columns - 1] = down;
        for (int threads : {1, 3}) {
          ArrayPointer found = sums(matrix, threads);
          double inOrder = 0;
          for (int64_t i = 0; i < rows; ++i) {
            inOrder += matrix->data()[i * columns + columns - 1];
            double cell = found->data()[i * columns + columns - 1];
            ASSERT_TRUE(cell == inOrder || (std::isnan(cell) && std::isnan(inOrder)))
                << rows << "x" << columns << " at " << i << ": " << cell << ", not " << inOrder;
          }
        }
      }
}

// Columns one by one, a few in a cache line, and those that threads divide.
TEST(Cummax, GoesAlongColumnsOnAnyNumberOfThreads) {
  std::mt19937_64 random(7);
  for (int64_t rows : {1, 7, 1000})
    for (int64_t columns : {1, 3, 8, 300, 2500}) {
      ArrayPointer matrix = Array::create({rows, columns});
      for (int64_t i = 0; i < rows * columns; ++i)
        matrix->mutableData()[i] = static_cast<double>(random() % 1000 * i);
      matrix->mutableData()[rows / 2 * columns] = NAN;
      ArrayPointer one = scanned(runCummax, matrix, 1), three = scanned(runCummax, matrix, 3);
      for (int64_t j = 0; j < columns; ++j) {
        double largest = -INFINITY;
        for (int64_t i = 0; i < rows; ++i) {
          double cell = matrix->data()[i * columns + j], found = one->data()[i * columns + j];
          largest = std::isnan(cell) || std::isnan(largest) ? NAN : std::max(largest, cell);
          ASSERT_TRUE(std::isnan(largest) ? std::isnan(found) : found == largest)
              << rows << "x" << columns << " at " << i << ", " << j;
          ASSERT_EQ(std::bit_cast<uint64_t>(found),
                    std::bit_cast<uint64_t>(three->data()[i * columns + j]));
        }
      }
    }
}

TEST(Cumsum, StaysInfiniteAndNaN) {
  ArrayPointer column = Array::create({20'000, 1});
  std::fill_n(column->mutableData(), 20'000, 1.0);
  column->mutableData()[3000] = INFINITY;
  column->mutableData()[15'000] = -INFINITY;
  ArrayPointer result = sums(column, 2);
  EXPECT_EQ(result->data()[2999], 3000);
  EXPECT_EQ(result->data()[3000], INFINITY);
  EXPECT_EQ(result->data()[14'999], INFINITY);
  EXPECT_TRUE(std::isnan(result->data()[15'000]));
  EXPECT_TRUE(std::isnan(result->data()[19'999]));
}

} // namespace
} // namespace tokamak::runtime
