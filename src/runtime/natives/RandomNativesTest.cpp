#include "runtime/natives/NativeTesting.h"
#include "runtime/natives/RandomNumbers.h"

#include <cmath>
#include <set>

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

static Value draw(int64_t rows, int64_t columns, int64_t seed, std::string pdf = "uniform",
                  double sparsity = 1, double lambda = 1, int threads = 2) {
  return call("rand", {rows, columns, 0.0, 1.0, sparsity, seed, std::move(pdf), lambda}, threads);
}

static double meanOf(const Value &value) {
  double sum = 0;
  for (double cell : cellsOf(value))
    sum += cell;
  return sum / static_cast<double>(value.array()->cells());
}

static double varianceOf(const Value &value) {
  double mean = meanOf(value), sum = 0;
  for (double cell : cellsOf(value))
    sum += (cell - mean) * (cell - mean);
  return sum / static_cast<double>(value.array()->cells() - 1);
}

// The published test vectors of the generator.
TEST(RandomNumbers, isPhilox) {
  EXPECT_EQ(randomBlock(0, 0, 0), (RandomBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(randomBlock(~0ull, ~0ull, ~0ull),
            (RandomBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(RandomNatives, dependsOnSeedAndPositionAlone) {
  EXPECT_EQ(cellsOf(draw(1000, 201, 7, "normal", 1, 1, 1)),
            cellsOf(draw(1000, 201, 7, "normal", 1, 1, 4)));
  EXPECT_NE(cellsOf(draw(10, 10, 7)), cellsOf(draw(10, 10, 8)));
  Cells small = cellsOf(draw(3, 1, 7)), large = cellsOf(draw(100, 1, 7));
  EXPECT_TRUE(std::equal(small.begin(), small.end(), large.begin()));
}

TEST(RandomNatives, drawsFreshSeeds) {
  EXPECT_NE(cellsOf(draw(10, 10, -1)), cellsOf(draw(10, 10, -1)));
  ExecutionContext a, b;
  a.seed = b.seed = 3;
  std::vector<Value> operands = {integer(4), integer(4),  0.0,       1.0,
                                 1.0,        integer(-1), "uniform", 1.0};
  Value first, second, again;
  findNative("rand")->function(a, operands, {&first, 1});
  findNative("rand")->function(a, operands, {&second, 1});
  findNative("rand")->function(b, operands, {&again, 1});
  EXPECT_EQ(cellsOf(first), cellsOf(again));
  EXPECT_NE(cellsOf(first), cellsOf(second));
}

TEST(RandomNatives, hasTheMomentsOfItsDistribution) {
  Value uniforms = draw(400, 500, 1);
  EXPECT_NEAR(meanOf(uniforms), 0.5, 0.005);
  EXPECT_NEAR(varianceOf(uniforms), 1.0 / 12, 0.005);
  Value normals = draw(400, 500, 1, "normal");
  EXPECT_NEAR(meanOf(normals), 0, 0.01);
  EXPECT_NEAR(varianceOf(normals), 1, 0.02);
  for (double lambda : {0.5, 4.0, 60.0}) {
    Value counts = draw(400, 500, 1, "poisson", 1, lambda);
    EXPECT_NEAR(meanOf(counts), lambda, 0.02 * lambda);
    EXPECT_NEAR(varianceOf(counts), lambda, 0.03 * lambda);
  }
}

TEST(RandomNatives, leavesOutCells) {
  Cells cells = cellsOf(draw(400, 500, 1, "uniform", 0.1));
  auto zeros = std::count(cells.begin(), cells.end(), 0.0);
  EXPECT_NEAR(static_cast<double>(zeros) / 200000, 0.9, 0.005);
}

TEST(RandomNatives, givesTheLayoutThatSuitsWhatWasDrawn) {
  for (int64_t seed = 1; seed <= 50; ++seed) {
    Value drawn = draw(16, 16, seed, "uniform", 0.2);
    EXPECT_EQ(drawn.array()->isSparse(), drawn.array()->countNonZeros() < 64) << seed;
  }
}

TEST(RandomNatives, checksItsParameters) {
  EXPECT_EQ(errorOf([] { draw(2, 2, 1, "cauchy"); }),
            "rand: unknown pdf \"cauchy\": expected uniform, normal or poisson");
  EXPECT_EQ(errorOf([] { draw(2, 2, 1, "uniform", 1.5); }),
            "rand: sparsity 1.5 is not within 0 and 1");
  EXPECT_EQ(sizeOf(draw(0, 3, 1)), "0x3");
}

TEST(RandomNatives, samples) {
  Cells cells = cellsOf(call("sample", {integer(50), integer(50), false, integer(5)}));
  EXPECT_EQ(std::set<double>(cells.begin(), cells.end()).size(), 50u);
  EXPECT_EQ(*std::min_element(cells.begin(), cells.end()), 1);
  EXPECT_EQ(*std::max_element(cells.begin(), cells.end()), 50);
  Cells repeated = cellsOf(call("sample", {integer(3), integer(1000), true, integer(5)}));
  EXPECT_EQ(std::set<double>(repeated.begin(), repeated.end()), (std::set<double>{1, 2, 3}));
  EXPECT_EQ(errorOf("sample", {integer(3), integer(4), false, integer(5)}),
            "sample: cannot draw 4 values of 1..3 without replacement");
}
