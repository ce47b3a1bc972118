#include "exec/PlanConditions.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Array;
using runtime::Value;

namespace {

Value matrix(int64_t rows, int64_t columns) { return Array::filled({rows, columns}, 1.0); }

Classification classifyAll(std::vector<Value> inputs, pipeline::FrozenBlock block = {},
                           ClassificationPolicy policy = {}) {
  block.bind.resize(inputs.size(), true);
  return classify(block, inputs, std::vector<bool>(inputs.size(), false), policy);
}

bool holds(const Classification &classification, std::vector<Value> inputs) {
  return classification.conditions.holdFor(inputs);
}

TEST(PlanConditions, LargeSizesAreSymbols) {
  auto plan = classifyAll({matrix(1000, 10), matrix(1000, 1)});
  EXPECT_TRUE(holds(plan, {matrix(1200, 10), matrix(1200, 1)}));
  EXPECT_TRUE(plan.facts[0].dims[0].isSymbol());
  EXPECT_TRUE(plan.facts[0].dims[0].provedEqual(plan.facts[1].dims[0]));
}

TEST(PlanConditions, NarrowSizesAreExact) {
  auto plan = classifyAll({matrix(1000, 10)});
  EXPECT_TRUE(plan.facts[0].dims[1].isConstant(10));
  EXPECT_FALSE(holds(plan, {matrix(1000, 11)}));
}

TEST(PlanConditions, SizesThatDifferedMustGoOnToDiffer) {
  auto plan = classifyAll({matrix(1000, 100), matrix(1000, 1)});
  EXPECT_FALSE(holds(plan, {matrix(100, 100), matrix(100, 1)}));
  EXPECT_FALSE(holds(plan, {matrix(1000, 100), matrix(999, 1)}));
}

TEST(PlanConditions, CostsHoldInARange) {
  auto plan = classifyAll({matrix(1000, 1)});
  EXPECT_TRUE(holds(plan, {matrix(15000, 1)}));
  EXPECT_FALSE(holds(plan, {matrix(100000, 1)}));
}

TEST(PlanConditions, LiteralsOfTheBlockAreExactSizes) {
  pipeline::FrozenBlock block;
  block.literals = {1000};
  auto plan = classifyAll({matrix(1000, 1)}, block);
  EXPECT_TRUE(plan.facts[0].dims[0].isConstant(1000));
  EXPECT_FALSE(holds(plan, {matrix(1001, 1)}));
}

TEST(PlanConditions, AnIntegerThatIsASizeIsItsSymbol) {
  auto plan = classifyAll({matrix(1000, 1), int64_t{1000}});
  EXPECT_TRUE(plan.facts[1].integer.provedEqual(plan.facts[0].dims[0]));
  EXPECT_TRUE(holds(plan, {matrix(1001, 1), int64_t{1001}}));
  EXPECT_FALSE(holds(plan, {matrix(1001, 1), int64_t{1000}}));
}

TEST(PlanConditions, ScalarsAreBoundByValue) {
  auto plan = classifyAll({matrix(1000, 1), 0.5});
  EXPECT_TRUE(holds(plan, {matrix(1000, 1), 0.5}));
  EXPECT_FALSE(holds(plan, {matrix(1000, 1), 0.25}));
  EXPECT_EQ(plan.conditions.mismatch(std::vector<Value>{matrix(1000, 1), 0.25}),
            "input 2 has scalar 0.25 instead of 0.5");
}

TEST(PlanConditions, AVaryingScalarIsFree) {
  pipeline::FrozenBlock block;
  block.bind = {true};
  std::vector<Value> inputs{0.5};
  auto plan = classify(block, inputs, {true}, {});
  EXPECT_TRUE(holds(plan, {0.25}));
  EXPECT_FALSE(plan.facts[0].bound.has_value());
}

TEST(PlanConditions, IdenticalComparesBits) {
  EXPECT_TRUE(identical(std::nan(""), std::nan("")));
  EXPECT_FALSE(identical(0.0, -0.0));
  EXPECT_FALSE(identical(int64_t{1}, 1.0));
}

} // namespace
