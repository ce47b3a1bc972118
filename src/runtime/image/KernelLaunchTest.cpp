#include "runtime/image/KernelLaunch.h"

#include "runtime/memory/CacheSize.h"
#include "runtime/natives/NativeTesting.h"

#include <cmath>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;
using tokamak::abi::cellsOfInput, tokamak::abi::columnsOfInput, tokamak::abi::KernelOutput,
    tokamak::abi::rowsOfInput;

static const double *inputOf(const TokArguments *arguments, int i) {
  return static_cast<const double *>(arguments->inputs[i].data);
}

// Outputs y = x * s over cells, the sum of y, and the number of cells.
static int32_t scaleAndSum(const TokArguments *arguments, const TokTile *tile,
                           TokWorkspace *workspace) {
  auto *y = static_cast<double *>(arguments->outputs[0].data);
  std::fill_n(workspace->partials, 16, 0.0);
  for (int64_t i = tile->begin; i < tile->end; ++i) {
    y[i] = inputOf(arguments, 0)[i] * arguments->scalars[0];
    workspace->partials[0] += y[i];
    workspace->partials[8] += 1;
  }
  return 0;
}

static void addPartials(const TokArguments *, double *into, const double *from) {
  for (int i = 0; i < 16; ++i)
    into[i] += from[i];
}

static KernelPlan scalePlan() {
  KernelPlan plan;
  plan.name = "scale";
  plan.extents[0] = cellsOfInput(0);
  plan.extents[1] = Size::constant(1);
  Size rows = rowsOfInput(0), columns = columnsOfInput(0);
  plan.outputs = {{KernelOutput::Kind::Array, {rows, columns}},
                  {KernelOutput::Kind::PartialScalar},
                  {KernelOutput::Kind::PartialScalar}};
  plan.tileBytesPerStep = 16;
  plan.kernel = scaleAndSum;
  plan.merge = addPartials;
  return plan;
}

static std::vector<Value> launch(const KernelPlan &plan, std::vector<Value> operands,
                                 int threads = 2) {
  Scheduler scheduler(threads);
  std::vector<Value> results(plan.outputs.size());
  launchKernel(plan, &scheduler, operands, results);
  return results;
}

TEST(KernelLaunch, yieldsArraysAndPartials) {
  std::vector<Value> results = launch(scalePlan(), {matrix(2, 2, {1, 2, 3, 4}), 2.0});
  EXPECT_EQ(cellsOf(results[0]), (Cells{2, 4, 6, 8}));
  EXPECT_EQ(sizeOf(results[0]), "2x2");
  EXPECT_EQ(results[1].asDouble(), 20);
  EXPECT_EQ(results[2].asDouble(), 4);
}

TEST(KernelLaunch, launchesAnEmptyTile) {
  std::vector<Value> results = launch(scalePlan(), {matrix(0, 3, {}), 2.0});
  EXPECT_EQ(sizeOf(results[0]), "0x3");
  EXPECT_EQ(results[1].asDouble(), 0);
}

TEST(KernelLaunch, isTheSameOnAnyNumberOfThreads) {
  ArrayPointer x = Array::create({1000003, 1});
  for (int64_t i = 0; i < x->cells(); ++i)
    x->mutableData()[i] = std::sin(static_cast<double>(i));
  double once = launch(scalePlan(), {x, 0.1}, 1)[1].asDouble();
  for (int threads : {2, 3, 4}) {
    std::vector<Value> results = launch(scalePlan(), {x, 0.1}, threads);
    EXPECT_EQ(results[1].asDouble(), once);
    EXPECT_EQ(results[2].asDouble(), 1000003);
  }
}

// Writes whether its result bypasses the caches at the beginning of each tile, which no other thread writes.
static int32_t tellBypassing(const TokArguments *arguments, const TokTile *tile, TokWorkspace *) {
  static_cast<double *>(arguments->outputs[0].data)[tile->begin] =
      arguments->outputs[0].bypassesCaches;
  return 0;
}

TEST(KernelLaunch, letsResultsBypassCachesThatTheyDontFit) {
  KernelPlan plan = scalePlan();
  plan.outputs.resize(1);
  plan.kernel = tellBypassing;
  plan.merge = nullptr;
  auto bypasses = [&](int64_t bytes) {
    ArrayPointer x = Array::create({bytes / 8, 1});
    return launch(plan, {x, 1.0})[0].array()->data()[0] != 0;
  };
  EXPECT_FALSE(bypasses(lastCacheBytes()));
  EXPECT_TRUE(bypasses(lastCacheBytes() + 8));
}

static int32_t columnSums(const TokArguments *arguments, const TokTile *tile,
                          TokWorkspace *workspace) {
  int64_t columns = arguments->sizes[0];
  std::fill_n(workspace->partials, tokamak::abi::partialDoubles(columns), 0.0);
  for (int64_t i = tile->begin; i < tile->end; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      workspace->scratch[j] = inputOf(arguments, 0)[i * columns + j];
      workspace->partials[j] += workspace->scratch[j];
    }
  return 0;
}

static void addColumns(const TokArguments *arguments, double *into, const double *from) {
  for (int64_t j = 0; j < arguments->sizes[0]; ++j)
    into[j] += from[j];
}

TEST(KernelLaunch, mergesPartialArraysInATree) {
  KernelPlan plan;
  plan.name = "column_sums";
  plan.extents[0] = rowsOfInput(0);
  plan.extents[1] = columnsOfInput(0);
  plan.outputs = {{KernelOutput::Kind::PartialArray, {Size::constant(1), columnsOfInput(0)}}};
  plan.scratchSizes = {columnsOfInput(0)};
  plan.sizes = {columnsOfInput(0)};
  plan.kernel = columnSums;
  plan.merge = addColumns;
  for (int64_t rows : {0, 1, 64, 100000, 200001}) {
    Value result = launch(plan, {Array::filled({rows, 3}, 1)})[0];
    EXPECT_EQ(sizeOf(result), "1x3");
    auto sum = static_cast<double>(rows);
    EXPECT_EQ(cellsOf(result), (Cells{sum, sum, sum}));
  }
}

TEST(KernelLaunch, tilesDependOnSizesAlone) {
  KernelPlan plan;
  plan.tileBytesPerStep = 8;
  EXPECT_EQ(tileLength(plan, 1000000, 1, 0), 65536);
  EXPECT_EQ(tileLength(plan, 1000000, 100, 0), 640);
  EXPECT_EQ(tileLength(plan, 1000000, 10000, 0) % 16, 0);
  EXPECT_EQ(tileLength(plan, 10, int64_t{1} << 30, 0), 16);
  // Large partial results: few tiles.
  EXPECT_GE(tileLength(plan, 1000000, 1000, 1000000), 1000000 / 64);
  // Many rows share what is copied, but not all of them.
  plan.rowsPerCopy = 256;
  EXPECT_EQ(tileLength(plan, 1000000, 10000, 0), 256);
  EXPECT_EQ(tileLength(plan, 1000000, 100, 0), 640);
  EXPECT_EQ(tileLength(plan, 2048, 10000, 0), 128); // 16 tiles
  EXPECT_EQ(tileLength(plan, 100, 10000, 0), 64);
}

static int32_t failAtSeventyThousand(const TokArguments *, const TokTile *tile,
                                     TokWorkspace *workspace) {
  if (tile->begin <= 70000 && 70000 < tile->end) {
    workspace->failingCell = 70000;
    return 1;
  }
  return 0;
}

TEST(KernelLaunch, reportsTheFailingCell) {
  KernelPlan plan = scalePlan();
  plan.outputs.resize(1);
  plan.kernel = failAtSeventyThousand;
  EXPECT_EQ(errorOf([&] { launch(plan, {Array::filled({100000, 1}, 1), 1.0}); }),
            "kernel scale failed at cell 70000");
}
