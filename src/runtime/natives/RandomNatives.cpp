// The natives rand and sample.
#include "base/WidestVectors.h"
#include "runtime/natives/Distributions.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/natives/RandomNumbers.h"
#include "runtime/natives/SystemdsRandom.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <unistd.h>
#include <unordered_map>

namespace tokamak::runtime {
namespace {

// The streams of one seed, one for each purpose of a draw.
enum Stream : uint64_t { ValueStream, SparsityStream, FirstPoissonStream };

uint64_t wordOf(const RandomBlock &block) {
  return static_cast<uint64_t>(block[1]) << 32 | block[0];
}

uint64_t freshSeed(ExecutionContext &context) {
  uint64_t draw = context.draws.count++;
  uint64_t base = static_cast<uint64_t>(context.seed);
  if (context.seed < 0 && getentropy(&base, sizeof base) != 0)
    base = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return wordOf(randomBlock(base, ~context.draws.stream, draw)) >> 1;
}

uint64_t seedOf(ExecutionContext &context, const Value &operand) {
  int64_t seed = operand.isNothing() ? -1 : operand.asInteger();
  return seed == -1 ? freshSeed(context) : static_cast<uint64_t>(seed);
}

// Fills `to` with the cells [begin, end); `begin` is even. Cells 2k and 2k+1 come from one block.
template <typename Pair>
void fillPairs(uint64_t seed, int64_t begin, int64_t end, double *to, const Pair &pair) {
  for (int64_t i = begin; i < end; i += 2) {
    RandomBlock block = randomBlock(seed, ValueStream, static_cast<uint64_t>(i) / 2);
    double first = 0, second = 0;
    pair(uniform(block, 0), uniform(block, 1), first, second);
    to[i - begin] = first;
    if (i + 1 < end)
      to[i + 1 - begin] = second;
  }
}

// Uniform numbers of `lanes` consecutive blocks at once, which vector instructions draw side by side: the same numbers as
// uniform(randomBlock(...)).
constexpr int64_t lanes = 16;

TOKAMAK_WIDEST_VECTORS void fillLanes(uint64_t seed, uint64_t position, double low, double width,
                                      double *to) {
  uint32_t c0[lanes], c1[lanes], c2[lanes], c3[lanes];
  for (int64_t lane = 0; lane < lanes; ++lane) {
    uint64_t at = position + static_cast<uint64_t>(lane);
    c0[lane] = static_cast<uint32_t>(at);
    c1[lane] = static_cast<uint32_t>(at >> 32);
    c2[lane] = ValueStream;
    c3[lane] = 0;
  }
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < philoxRounds; ++round) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      uint64_t product0 = philoxMultiplier0 * c0[lane], product1 = philoxMultiplier1 * c2[lane];
      c0[lane] = static_cast<uint32_t>(product1 >> 32) ^ c1[lane] ^ key0;
      c2[lane] = static_cast<uint32_t>(product0 >> 32) ^ c3[lane] ^ key1;
      c1[lane] = static_cast<uint32_t>(product1);
      c3[lane] = static_cast<uint32_t>(product0);
    }
    key0 += philoxIncrement0;
    key1 += philoxIncrement1;
  }
  auto number = [&](uint32_t high, uint32_t lower) {
    // Of the upper 53 bits; no vector instruction converts 64.
    double number =
        static_cast<double>(high) * 0x1p21 + static_cast<double>(static_cast<int32_t>(lower >> 11));
    return low + number * 0x1p-53 * width;
  };
  for (int64_t lane = 0; lane < lanes; ++lane) {
    to[2 * lane] = number(c1[lane], c0[lane]);
    to[2 * lane + 1] = number(c3[lane], c2[lane]);
  }
}

void fillUniform(uint64_t seed, int64_t begin, int64_t end, double *to, double low, double high) {
  double width = high - low;
  if (!std::isinf(width))
    for (; begin + 2 * lanes <= end; begin += 2 * lanes, to += 2 * lanes)
      fillLanes(seed, static_cast<uint64_t>(begin) / 2, low, width, to);
  if (std::isinf(width)) // finite bounds whose difference overflows
    return fillPairs(seed, begin, end, to, [&](double u, double v, double &first, double &second) {
      first = low * (1 - u) + high * u;
      second = low * (1 - v) + high * v;
    });
  fillPairs(seed, begin, end, to, [&](double u, double v, double &first, double &second) {
    first = low + u * width;
    second = low + v * width;
  });
}

// log(x) of x in [2^-53, 1]: of a power of 2, which is exact but for ln(2), and of a number m near 1, as the series of
// 2 atanh((m - 1) / (m + 1)).
inline double logOfUniform(double x) {
  auto bits = std::bit_cast<uint64_t>(x);
  auto exponent = static_cast<double>(static_cast<int32_t>(bits >> 52) - 1023);
  auto mantissa = std::bit_cast<double>((bits & (uint64_t{1} << 52) - 1) | uint64_t{1023} << 52);
  bool isLarge = mantissa > std::numbers::sqrt2;
  mantissa = isLarge ? mantissa * 0.5 : mantissa;
  exponent = isLarge ? exponent + 1 : exponent;
  double s = (mantissa - 1) / (mantissa + 1), square = s * s, sum = 0;
  for (int k = 10; k >= 1; --k)
    sum = sum * square + 1.0 / (2 * k + 1);
  return exponent * std::numbers::ln2 + 2 * (s + s * square * sum);
}

// Box and Muller's transform of `lanes` pairs of uniforms in place: each gives two independent normals. Sine and cosine are
// Taylor series on an eighth of a turn to either side of a quarter.
TOKAMAK_WIDEST_VECTORS void makeNormal(double *pairs) {
  for (int64_t lane = 0; lane < lanes; ++lane) {
    double u = pairs[2 * lane], v = pairs[2 * lane + 1];
    double radius = std::sqrt(-2 * logOfUniform(1 - u));
    auto quarter = static_cast<int32_t>(4 * v + 0.5);
    double angle = 2 * std::numbers::pi * (v - quarter * 0.25), square = angle * angle;
    double sine = 0, cosine = 0;
    for (int k = 8; k >= 1; --k) {
      sine = (sine + 1) * square * (-1.0 / (2 * k * (2 * k + 1)));
      cosine = (cosine + 1) * square * (-1.0 / (2 * k * (2 * k - 1)));
    }
    sine = angle + angle * sine;
    cosine += 1;
    bool isOdd = quarter & 1;
    double x = isOdd ? sine : cosine, y = isOdd ? cosine : sine;
    pairs[2 * lane] = radius * (quarter + 1 & 2 ? -x : x);
    pairs[2 * lane + 1] = radius * (quarter & 2 ? -y : y);
  }
}

void fillNormal(uint64_t seed, int64_t begin, int64_t end, double *to) {
  for (; begin < end; begin += 2 * lanes, to += 2 * lanes) {
    double numbers[2 * lanes];
    fillLanes(seed, static_cast<uint64_t>(begin) / 2, 0, 1, numbers);
    makeNormal(numbers);
    std::copy_n(numbers, std::min(end - begin, 2 * lanes), to);
  }
}

// The uniform numbers of one cell: as many as a rejection method needs.
class CellUniforms {
public:
  CellUniforms(uint64_t seed, int64_t cell) : seed_(seed), cell_(static_cast<uint64_t>(cell)) {}
  double next() {
    int which = static_cast<int>(count_ % 2);
    if (which == 0)
      block_ = randomBlock(seed_, FirstPoissonStream + count_ / 2, cell_);
    ++count_;
    return uniform(block_, which);
  }

private:
  uint64_t seed_, cell_, count_ = 0;
  RandomBlock block_{};
};

double poissonBySearch(CellUniforms &uniforms, double lambda) {
  double probability = std::exp(-lambda), cumulative = probability, u = uniforms.next();
  int64_t count = 0;
  while (u > cumulative && probability > 0) {
    ++count;
    probability *= lambda / static_cast<double>(count);
    cumulative += probability;
  }
  return static_cast<double>(count);
}

// Hoermann, "The transformed rejection method for generating Poisson random variables" (1993),
// algorithm PTRS.
double poissonByRejection(CellUniforms &uniforms, double lambda) {
  double b = 0.931 + 2.53 * std::sqrt(lambda), a = -0.059 + 0.02483 * b;
  double inverseAlpha = 1.1239 + 1.1328 / (b - 3.4), vr = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = uniforms.next() - 0.5, v = uniforms.next();
    double us = 0.5 - std::fabs(u);
    double k = std::floor((2 * a / us + b) * u + lambda + 0.43);
    if (us >= 0.07 && v <= vr)
      return k;
    if (k < 0 || (us < 0.013 && v > us))
      continue;
    double logAccept = std::log(v) + std::log(inverseAlpha) - std::log(a / (us * us) + b);
    if (logAccept <= k * std::log(lambda) - lambda - logGamma(k + 1))
      return k;
  }
}

void fillPoisson(uint64_t seed, int64_t begin, int64_t end, double *to, double lambda) {
  constexpr double rejectionFrom = 10;
  for (int64_t i = begin; i < end; ++i) {
    CellUniforms uniforms(seed, i);
    to[i - begin] = lambda < rejectionFrom ? poissonBySearch(uniforms, lambda)
                                           : poissonByRejection(uniforms, lambda);
  }
}

CellDistribution distributionOf(const Value &operand) {
  const std::string &pdf = textOperand(operand, "rand", "pdf");
  if (pdf == "uniform")
    return CellDistribution::Uniform;
  if (pdf == "normal")
    return CellDistribution::Normal;
  if (pdf == "poisson")
    return CellDistribution::Poisson;
  throw Error(fmt::format("rand: unknown pdf \"{}\": expected uniform, normal or poisson", pdf));
}

struct Draw {
  CellDistribution distribution;
  uint64_t seed;
  double low, high, lambda;

  // Fills `to` with the cells [begin, end); `begin` is even.
  void fill(int64_t begin, int64_t end, double *to) const {
    switch (distribution) {
    case CellDistribution::Uniform:
      return fillUniform(seed, begin, end, to, low, high);
    case CellDistribution::Normal:
      return fillNormal(seed, begin, end, to);
    case CellDistribution::Poisson:
      return fillPoisson(seed, begin, end, to, lambda);
    }
  }
  double cell(int64_t cell) const {
    double pair[2];
    int64_t even = cell / 2 * 2;
    fill(even, even + 2, pair);
    return pair[cell - even];
  }
};

// The number of cells in a block; blocks are drawn independently of each other. Blocks are larger
// if few cells are kept, so that there are not many more blocks than kept cells.
int64_t sparsityBlock(double sparsity) {
  constexpr int64_t smallest = int64_t{1} << 14, largest = largestSize;
  int64_t block = smallest;
  while (block < largest && static_cast<double>(block) * sparsity < 1)
    block *= 2;
  return block;
}

// Calls keep(cell) for the non-zero cells of [begin, end), ascending. Each cell is kept with the
// same probability, so the distances between kept cells follow a geometric distribution and skipped
// cells cost nothing. `begin` is a multiple of the block size.
template <typename Keep>
void forEachKept(uint64_t seed, double sparsity, int64_t begin, int64_t end, const Keep &keep) {
  if (sparsity <= 0)
    return;
  double logOfDrop = std::log1p(-sparsity);
  int64_t size = sparsityBlock(sparsity);
  for (int64_t block = begin; block < end; block += size) {
    auto position = static_cast<uint64_t>(block);
    int64_t blockEnd = std::min(end, block + size);
    RandomBlock random{};
    int drawn = 0;
    for (int64_t cell = block;; ++cell, ++drawn) {
      // Position: two draws share a random block, so a block of cells uses at most as many
      // positions as it has cells and never those of the next one.
      if (drawn % 2 == 0)
        random = randomBlock(seed, SparsityStream, position++);
      double skipped = std::floor(std::log1p(-uniform(random, drawn % 2)) / logOfDrop);
      if (!(skipped < static_cast<double>(blockEnd - cell)))
        break;
      cell += static_cast<int64_t>(skipped);
      keep(cell);
    }
  }
}

// Fills `to` with all cells of [begin, end), drawn as doubles.
template <typename Number>
void drawCells(const Draw &draw, int64_t begin, int64_t end, Number *to) {
  if constexpr (std::is_same_v<Number, double>) {
    draw.fill(begin, end, to);
  } else {
    constexpr int64_t atOnce = 1024;
    double cells[atOnce];
    for (int64_t first = begin; first < end; first += atOnce) {
      int64_t last = std::min(end, first + atOnce);
      draw.fill(first, last, cells);
      std::copy(cells, cells + (last - first), to + (first - begin));
    }
  }
}

ArrayPointer drawDense(ExecutionContext &context, Shape shape, const Draw &draw, double sparsity) {
  ArrayPointer result = Array::create(shape, typeOfNumbers(context));
  int64_t grain = sparsity == 1 ? parallelGrain : std::max(parallelGrain, sparsityBlock(sparsity));
  withFloatCells(*result, [&]<typename Number>() {
    Number *cells = result->mutableCellsAs<Number>();
    forEachRange(context, result->cells(), grain, [&](int64_t begin, int64_t end) {
      if (sparsity == 1)
        return drawCells(draw, begin, end, cells + begin);
      std::fill(cells + begin, cells + end, Number(0));
      forEachKept(draw.seed, sparsity, begin, end,
                  [&](int64_t cell) { cells[cell] = static_cast<Number>(draw.cell(cell)); });
    });
  });
  return result;
}

// The same cells as sparse. The positions of kept cells are drawn twice, to count and to write them:
// that is faster than storing them, and takes no memory.
ArrayPointer drawSparse(ExecutionContext &context, Shape shape, const Draw &draw, double sparsity) {
  int64_t cells = shape.cells(), columns = shape[1], block = sparsityBlock(sparsity);
  int64_t blocks = cells / block + (cells % block != 0);
  constexpr int64_t mostRanges = 256;
  int64_t blocksPerRange = std::max<int64_t>(4, (blocks + mostRanges - 1) / mostRanges);
  int64_t grain = std::min(cells, productOfSizes({blocksPerRange, block}).value_or(cells));
  BudgetedVector<int64_t> firstEntry(cells / grain + 2, 0);
  forEachRange(context, cells, grain, [&](int64_t begin, int64_t end) {
    int64_t &count = firstEntry[begin / grain + 1];
    forEachKept(draw.seed, sparsity, begin, end, [&](int64_t) { ++count; });
  });
  std::partial_sum(firstEntry.begin(), firstEntry.end(), firstEntry.begin());
  ArrayPointer result =
      Array::createSparse(shape[0], columns, firstEntry.back(), typeOfNumbers(context));
  int64_t *offsets = result->mutableRowOffsets();
  int32_t *indices = result->mutableColumnIndices();
  withFloatCells(*result, [&]<typename Number>() {
    Number *values = result->mutableCellsAs<Number>();
    // Each range writes the offsets of the rows that begin in it.
    forEachRange(context, cells, grain, [&](int64_t begin, int64_t end) {
      int64_t next = firstEntry[begin / grain], row = (begin + columns - 1) / columns;
      forEachKept(draw.seed, sparsity, begin, end, [&](int64_t cell) {
        for (; row <= cell / columns; ++row)
          offsets[row] = next;
        indices[next] = static_cast<int32_t>(cell % columns);
        values[next++] = static_cast<Number>(draw.cell(cell));
      });
      for (; row * columns < end; ++row)
        offsets[row] = next;
    });
  });
  offsets[shape[0]] = firstEntry.back();
  return result;
}

} // namespace

void runRand(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  Shape shape{sizeOperand(operands[0], "rand", "rows"),
              sizeOperand(operands[1], "rand", "columns")};
  double low = operands[2].asDouble(), high = operands[3].asDouble();
  double sparsity = operands[4].asDouble(), lambda = operands[7].asDouble();
  CellDistribution distribution = distributionOf(operands[6]);
  bool isUniform = distribution == CellDistribution::Uniform;
  if (isUniform && !(std::isfinite(low) && std::isfinite(high)))
    throw Error(fmt::format("rand: min and max must be finite numbers, got {} and {}", textOf(low),
                            textOf(high)));
  if (low > high)
    throw Error(fmt::format("rand: min {} is greater than max {}", textOf(low), textOf(high)));
  if (!(sparsity >= 0 && sparsity <= 1))
    throw Error(fmt::format("rand: sparsity {} is not within 0 and 1", textOf(sparsity)));
  if (distribution == CellDistribution::Poisson && !(lambda > 0 && std::isfinite(lambda)))
    throw Error(fmt::format("rand: lambda {} is not positive and finite", textOf(lambda)));
  uint64_t seed = seedOf(context, operands[5]);
  if (context.randomNumbers == RandomNumbers::Systemds) {
    results[0] = systemdsRandom(context, {.rows = shape[0],
                                          .columns = shape[1],
                                          .distribution = distribution,
                                          .low = low,
                                          .high = high,
                                          .lambda = lambda,
                                          .sparsity = sparsity,
                                          .seed = static_cast<int64_t>(seed)});
    return;
  }
  Draw draw{distribution, seed, low, high, lambda};
  if (isUniform && low == high && sparsity == 1) {
    results[0] = filledWith(context, shape, typeOfNumbers(context), Value(low));
    return;
  }
  double expected = sparsity * static_cast<double>(shape[0]) * static_cast<double>(shape[1]);
  expected = std::min(expected, static_cast<double>(largestSize));
  bool isSparse = Array::isBetterSparse(shape, static_cast<int64_t>(expected));
  if (isSparse) {
    Array::checkRoomForSparse(shape[0], shape[1]);
    int64_t bytesOfEntry = byteSize(typeOfNumbers(context)) + static_cast<int64_t>(sizeof(int32_t));
    BufferPool::instance().checkRoomFor(static_cast<int64_t>(expected) * bytesOfEntry);
  }
  results[0] = isSparse ? Array::inBestLayout(drawSparse(context, shape, draw, sparsity))
                        : drawDense(context, shape, draw, sparsity);
}

namespace {

// A random integer in [0, bound): the high half of a 64 by 64 bit product.
int64_t boundedInteger(uint64_t seed, int64_t position, int64_t bound) {
  RandomBlock block = randomBlock(seed, ValueStream, static_cast<uint64_t>(position));
  uint64_t bits = static_cast<uint64_t>(block[1]) << 32 | block[0];
  using Wide = unsigned __int128;
  return static_cast<int64_t>(static_cast<Wide>(bits) * static_cast<Wide>(bound) >> 64);
}

// The first `size` steps of the Fisher-Yates shuffle of 1..range. `data` holds the first `size`
// places. The other places are stored in full if they are few; otherwise a hash table holds only
// those changed.
void drawWithoutReplacement(uint64_t seed, int64_t range, int64_t size, double *data) {
  using Moved = std::unordered_map<int64_t, int64_t, std::hash<int64_t>, std::equal_to<>,
                                   BudgetedAllocator<std::pair<const int64_t, int64_t>>>;
  for (int64_t i = 0; i < size; ++i)
    data[i] = static_cast<double>(i + 1);
  constexpr int64_t numbersOfEntry = 4; // memory of a table entry, in numbers
  bool isDense = range - size <= numbersOfEntry * size;
  BudgetedVector<double> others(isDense ? range - size : 0);
  std::iota(others.begin(), others.end(), static_cast<double>(size + 1));
  Moved moved;
  for (int64_t i = 0; i < size; ++i) {
    int64_t place = i + boundedInteger(seed, i, range - i);
    if (place < size) {
      std::swap(data[i], data[place]);
    } else if (isDense) {
      std::swap(data[i], others[place - size]);
    } else {
      auto [entry, isNew] = moved.try_emplace(place, place + 1);
      double drawn = static_cast<double>(entry->second);
      entry->second = static_cast<int64_t>(data[i]);
      data[i] = drawn;
    }
  }
}

} // namespace

void runSample(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  int64_t range = operands[0].asInteger(), size = sizeOperand(operands[1], "sample", "values");
  bool replacement = operands[2].asBoolean();
  if (range < 1)
    throw Error(fmt::format("sample: the range must be at least 1, got {}", range));
  if (!replacement && size > range)
    throw Error(
        fmt::format("sample: cannot draw {} values of 1..{} without replacement", size, range));
  uint64_t seed = seedOf(context, operands[3]);
  if (context.randomNumbers == RandomNumbers::Systemds) {
    results[0] = systemdsSample(range, size, replacement, static_cast<int64_t>(seed));
    return;
  }
  // The shuffle needs numbers that hold every place; the result is rounded at the end.
  if (!replacement) {
    ArrayPointer result = Array::create({size, 1});
    drawWithoutReplacement(seed, range, size, result->mutableData());
    results[0] = std::move(result);
    return;
  }
  ArrayPointer result = Array::create({size, 1}, typeOfNumbers(context));
  withFloatCells(*result, [&]<typename Number>() {
    for (int64_t i = 0; i < size; ++i)
      result->mutableCellsAs<Number>()[i] = static_cast<Number>(1 + boundedInteger(seed, i, range));
  });
  results[0] = std::move(result);
}

DrawPosition DrawPosition::ofIteration(uint64_t iteration) const {
  return {wordOf(randomBlock(stream, count, iteration)), 0};
}

} // namespace tokamak::runtime
