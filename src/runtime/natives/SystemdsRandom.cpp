#include "runtime/natives/SystemdsRandom.h"

#include "base/ElementType.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/sparse/CellCollector.h"

#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace tokamak::runtime {
namespace {

constexpr int64_t blockSize = 1000;

// java.util.Random: its documentation gives the recurrence and how each kind of number is made of it.
class LinearCongruential {
public:
  explicit LinearCongruential(int64_t seed)
      : state_((static_cast<uint64_t>(seed) ^ factor) & mask) {}

  int32_t next(int bits) {
    state_ = (state_ * factor + 0xb) & mask;
    return static_cast<int32_t>(state_ >> (48 - bits));
  }
  int64_t nextLong() {
    auto high = static_cast<uint64_t>(int64_t{next(32)}) << 32;
    return static_cast<int64_t>(high + static_cast<uint64_t>(int64_t{next(32)}));
  }
  double nextDouble() {
    int64_t high = int64_t{next(26)} << 27;
    return static_cast<double>(high + next(27)) * 0x1p-53;
  }
  // From 0 to bound - 1.
  int64_t nextBelow(int32_t bound) {
    if ((bound & -bound) == bound)
      return (bound * int64_t{next(31)}) >> 31;
    while (true) {
      int32_t bits = next(31), value = bits % bound;
      if (int64_t{bits} - value + (bound - 1) <= INT32_MAX)
        return value;
    }
  }
  int64_t nextLongBelow(int64_t bound) {
    while (true) {
      auto bits = static_cast<int64_t>(static_cast<uint64_t>(nextLong()) << 1 >> 1);
      int64_t value = bits % bound;
      if (static_cast<uint64_t>(bits - value) + static_cast<uint64_t>(bound - 1) <= INT64_MAX)
        return value;
    }
  }

private:
  static constexpr uint64_t factor = 0x5deece66d, mask = (uint64_t{1} << 48) - 1;
  uint64_t state_;
};

class Well1024a {
public:
  explicit Well1024a(const std::array<uint32_t, 32> &state) : state_(state) {}

  // From a single seed, as Apache Commons Math fills the state.
  static Well1024a ofSeed(int64_t seed) {
    std::array<uint32_t, 32> state{};
    state[0] = static_cast<uint32_t>(static_cast<uint64_t>(seed) >> 32);
    state[1] = static_cast<uint32_t>(seed);
    for (size_t i = 2; i < state.size(); ++i) {
      // Of a signed number, which is shifted with its sign.
      int64_t before = static_cast<int32_t>(state[i - 2]);
      state[i] =
          static_cast<uint32_t>(1812433253 * static_cast<uint64_t>(before ^ (before >> 30)) + i);
    }
    return Well1024a(state);
  }

  uint32_t next(int bits) {
    auto at = [this](size_t distance) { return state_[(index_ + distance) % 32]; };
    uint32_t z0 = at(31), m1 = at(3), m2 = at(24), m3 = at(10);
    uint32_t z1 = at(0) ^ m1 ^ (m1 >> 8), z2 = m2 ^ (m2 << 19) ^ m3 ^ (m3 << 14);
    state_[index_] = z1 ^ z2;
    index_ = (index_ + 31) % 32;
    state_[index_] = z0 ^ (z0 << 11) ^ z1 ^ (z1 << 7) ^ z2 ^ (z2 << 13);
    return state_[index_] >> (32 - bits);
  }
  int64_t nextLong() {
    auto high = static_cast<uint64_t>(next(32)) << 32;
    return static_cast<int64_t>(high | next(32));
  }
  double nextDouble() {
    auto high = static_cast<uint64_t>(next(26)) << 26;
    return static_cast<double>(high | next(26)) * 0x1p-52;
  }

private:
  std::array<uint32_t, 32> state_;
  size_t index_ = 0;
};

// A stream of numbers of one distribution.
class Values {
public:
  Values(const SystemdsDraw &draw, int64_t seed)
      : draw_(draw), uniform_(seed), counter_(Well1024a::ofSeed(seed)) {
    if (draw.distribution == CellDistribution::Normal)
      drawPair();
  }

  double next() {
    switch (draw_.distribution) {
    case CellDistribution::Uniform:
      return uniform_.nextDouble();
    case CellDistribution::Normal:
      return nextNormal();
    case CellDistribution::Poisson:
      return nextPoisson();
    }
    return 0;
  }
  // Within the bounds of the draw.
  double nextCell() {
    bool isUniform = draw_.distribution == CellDistribution::Uniform;
    double low = isUniform ? draw_.low : 0, range = isUniform ? draw_.high - draw_.low : 1;
    return low + range * next();
  }

private:
  double nextNormal() {
    if (!isSecond_) {
      isSecond_ = true;
      return pair_[0];
    }
    double second = pair_[1];
    drawPair();
    isSecond_ = false;
    return second;
  }

  // The method of G. Box and M. Muller.
  void drawPair() {
    double radius = std::sqrt(-2 * std::log(uniform_.nextDouble()));
    double angle = 2 * std::numbers::pi * uniform_.nextDouble();
    pair_[0] = radius * std::cos(angle);
    pair_[1] = radius * std::sin(angle);
  }

  // D. Knuth's method: as many uniform numbers as their product stays above exp(-lambda).
  double nextPoisson() {
    double limit = std::exp(-draw_.lambda), product = 1;
    int64_t count = 0;
    while (static_cast<double>(count) < 1000 * draw_.lambda) {
      product *= counter_.nextDouble();
      if (product < limit)
        break;
      ++count;
    }
    return static_cast<double>(count);
  }

  const SystemdsDraw &draw_;
  LinearCongruential uniform_;
  Well1024a counter_;
  double pair_[2] = {};
  bool isSecond_ = false;
};

std::vector<int64_t> seedsOfBlocks(int64_t seed, int64_t count) {
  LinearCongruential random(seed);
  std::array<uint32_t, 32> state{};
  for (uint32_t &word : state)
    word = static_cast<uint32_t>(random.next(32));
  Well1024a generator(state);
  std::vector<int64_t> seeds(static_cast<size_t>(count));
  for (int64_t &blockSeed : seeds)
    blockSeed = generator.nextLong();
  return seeds;
}

// Whether SystemDS keeps a block of this size sparse, which decides how its cells are chosen: it compares the bytes of both
// forms.
bool isSparseBlock(int64_t rows, int64_t columns, double sparsity) {
  constexpr double sparseBelow = 0.4;
  auto entries = static_cast<double>(
      static_cast<int64_t>(sparsity * static_cast<double>(rows) * static_cast<double>(columns)));
  double share = entries / static_cast<double>(rows) / static_cast<double>(columns);
  if (share >= sparseBelow || columns == 1)
    return false;
  constexpr double bytesOfRow = 96, bytesOfEntry = 12, bytesOfEmptyRow = 8, leastEntries = 4;
  // Rounding may leave it above `entries`: then SystemDS counts one more.
  entries = std::ceil(share * static_cast<double>(rows) * static_cast<double>(columns));
  double filledRows = std::min(static_cast<double>(rows), entries);
  double entriesOfRow = std::max(leastEntries, entries / static_cast<double>(rows));
  double sparseBytes = 104 + filledRows * std::floor(bytesOfRow + bytesOfEntry * entriesOfRow) +
                       (static_cast<double>(rows) - filledRows) * bytesOfEmptyRow;
  double denseBytes = 152 + 8 * static_cast<double>(rows) * static_cast<double>(columns);
  return sparseBytes < denseBytes;
}

struct Block {
  int64_t row, column, rows, columns; // where it begins, and its sizes
};

// Calls set(row, column, value) for the cells of a block that are drawn.
template <typename Set>
void drawBlock(const SystemdsDraw &draw, const Block &block, int64_t seed, const Set &set) {
  Values values(draw, seed);
  // A normal number may lie beyond the limits of the seed: all of them above 1 choose the same places.
  LinearCongruential places(convertCell<int64_t>(values.next() * 0x1p63));
  int64_t cells = block.rows * block.columns;
  if (draw.sparsity < 1 && isSparseBlock(block.rows, block.columns, draw.sparsity)) {
    // Distances between cells that are drawn follow a geometric distribution.
    double logOfDrop = std::log(1 - draw.sparsity);
    if (logOfDrop == 0) // nothing is drawn: 1 - sparsity is 1
      return;
    for (int64_t place = 0; place < cells;) {
      place += static_cast<int64_t>(std::ceil(std::log(places.nextDouble()) / logOfDrop));
      if (place > cells)
        break;
      set(block.row + (place - 1) / block.columns, block.column + (place - 1) % block.columns,
          values.nextCell());
    }
    return;
  }
  for (int64_t i = 0; i < block.rows; ++i)
    for (int64_t j = 0; j < block.columns; ++j)
      if (draw.sparsity == 1 || places.nextDouble() <= draw.sparsity)
        set(block.row + i, block.column + j, values.nextCell());
}

} // namespace

ArrayReference systemdsRandom(ExecutionContext &context, const SystemdsDraw &draw) {
  constexpr double largestLambda = 40;
  if (draw.distribution == CellDistribution::Poisson && draw.lambda >= largestLambda)
    throw Error(fmt::format(
        "rand: --random=systemds draws from Poisson's distribution with lambda below {}, got {}",
        largestLambda, draw.lambda));
  int64_t rows = draw.rows, columns = draw.columns;
  bool isUniform = draw.distribution == CellDistribution::Uniform;
  if (isUniform && draw.sparsity == 1 && draw.low == draw.high)
    return Array::filled({rows, columns}, draw.low);
  if (rows == 0 || columns == 0 || draw.sparsity == 0)
    return Array::filled({rows, columns}, 0);
  int64_t across = (columns + blockSize - 1) / blockSize,
          blocks = (rows + blockSize - 1) / blockSize * across;
  std::vector<int64_t> seeds = seedsOfBlocks(draw.seed, blocks);
  auto blockAt = [&](int64_t number) {
    Block block{number / across * blockSize, number % across * blockSize, blockSize, blockSize};
    block.rows = std::min(block.rows, rows - block.row);
    block.columns = std::min(block.columns, columns - block.column);
    return block;
  };
  auto forEachBlock = [&](const auto &body) {
    forEachRange(context, blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t number = begin; number < end; ++number)
        body(number);
    });
  };
  auto expected = static_cast<int64_t>(draw.sparsity * static_cast<double>(rows) *
                                       static_cast<double>(columns));
  if (!Array::isBetterSparse({rows, columns}, expected)) {
    ArrayPointer dense =
        draw.sparsity == 1 ? Array::create({rows, columns}) : Array::filled({rows, columns}, 0);
    double *cells = dense->mutableData();
    forEachBlock([&](int64_t number) {
      drawBlock(draw, blockAt(number), seeds[number],
                [&](int64_t i, int64_t j, double value) { cells[i * columns + j] = value; });
    });
    return Array::inBestLayout(dense);
  }
  std::vector<BudgetedVector<Cell>> parts(static_cast<size_t>(blocks));
  forEachBlock([&](int64_t number) {
    drawBlock(draw, blockAt(number), seeds[number],
              [&](int64_t i, int64_t j, double value) { parts[number].push_back({i, j, value}); });
  });
  CellCollector collector(rows, columns);
  for (BudgetedVector<Cell> &part : parts)
    collector.add(std::move(part));
  return collector.finish(context);
}

ArrayReference systemdsSample(int64_t range, int64_t size, bool withReplacement, int64_t seed) {
  ArrayPointer sample = Array::create({size, 1});
  double *cells = sample->mutableData();
  LinearCongruential random(seed);
  if (withReplacement) {
    for (int64_t i = 0; i < size; ++i)
      cells[i] = static_cast<double>(1 + random.nextLongBelow(range));
    return sample;
  }
  if (range > INT32_MAX)
    throw Error(fmt::format("sample: --random=systemds draws from at most {} numbers, got {}",
                            INT32_MAX, range));
  std::iota(cells, cells + size, 1.0);
  for (int64_t i = size + 1; i <= range; ++i)
    if (random.nextBelow(static_cast<int32_t>(i)) < size)
      cells[random.nextBelow(static_cast<int32_t>(size))] = static_cast<double>(i);
  // D. Knuth's shuffle.
  for (int64_t i = 0; i + 1 < size; ++i)
    std::swap(cells[i], cells[random.nextBelow(static_cast<int32_t>(size - i)) + i]);
  return sample;
}

} // namespace tokamak::runtime
