#include "exec/Classification.h"

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

TEST(Classification, LargeSizesAreSymbols) {
  auto plan = classifyAll({matrix(1000, 10), matrix(1000, 1)});
  EXPECT_TRUE(holds(plan, {matrix(1200, 10), matrix(1200, 1)}));
  EXPECT_TRUE(plan.conditions.inputs[0].sizes[0].isSymbol());
  EXPECT_TRUE(plan.conditions.inputs[0].sizes[0].provedEqual(plan.conditions.inputs[1].sizes[0]));
}

TEST(Classification, EveryDimensionHasItsSize) {
  auto array = [](int64_t a, int64_t b, int64_t c) -> Value {
    return Array::create({a, b, c}, ElementType::F32);
  };
  auto plan = classifyAll({array(8, 1000, 200), array(1, 1000, 200)});
  EXPECT_TRUE(plan.conditions.inputs[0].sizes[0].isConstant(8));
  EXPECT_TRUE(plan.conditions.inputs[1].sizes[0].isConstant(1));
  EXPECT_TRUE(plan.conditions.inputs[0].sizes[1].provedEqual(plan.conditions.inputs[1].sizes[1]));
  EXPECT_TRUE(holds(plan, {array(8, 2000, 400), array(1, 2000, 400)}));
  EXPECT_FALSE(holds(plan, {array(8, 1000, 200), array(8, 1000, 200)}));
  EXPECT_FALSE(holds(plan, {array(8, 1000, 200), array(1, 999, 200)}));
  EXPECT_FALSE(holds(plan, {array(8, 128, 128), array(1, 128, 128)}));
  EXPECT_FALSE(holds(plan, {matrix(8, 1000), matrix(8, 1000)}));
}

TEST(Classification, NarrowSizesAreExact) {
  auto plan = classifyAll({matrix(1000, 10)});
  EXPECT_TRUE(plan.conditions.inputs[0].sizes[1].isConstant(10));
  EXPECT_FALSE(holds(plan, {matrix(1000, 11)}));
}

TEST(Classification, SizesThatDifferedMustGoOnToDiffer) {
  auto plan = classifyAll({matrix(1000, 100), matrix(1000, 1)});
  EXPECT_FALSE(holds(plan, {matrix(100, 100), matrix(100, 1)}));
  EXPECT_FALSE(holds(plan, {matrix(1000, 100), matrix(999, 1)}));
}

TEST(Classification, CostsHoldInARange) {
  auto plan = classifyAll({matrix(1000, 1)});
  EXPECT_TRUE(holds(plan, {matrix(15000, 1)}));
  EXPECT_FALSE(holds(plan, {matrix(100000, 1)}));
}

TEST(Classification, LiteralsOfTheBlockAreExactSizes) {
  pipeline::FrozenBlock block;
  block.literals = {1000};
  auto plan = classifyAll({matrix(1000, 1)}, block);
  EXPECT_TRUE(plan.conditions.inputs[0].sizes[0].isConstant(1000));
  EXPECT_FALSE(holds(plan, {matrix(1001, 1)}));
}

TEST(Classification, AnIntegerThatIsASizeIsItsSymbol) {
  auto plan = classifyAll({matrix(1000, 1), int64_t{1000}});
  EXPECT_TRUE(plan.conditions.inputs[1].sizes[0].provedEqual(plan.conditions.inputs[0].sizes[0]));
  EXPECT_TRUE(holds(plan, {matrix(1001, 1), int64_t{1001}}));
  EXPECT_FALSE(holds(plan, {matrix(1001, 1), int64_t{1000}}));
}

TEST(Classification, ScalarsAreBoundByValue) {
  auto plan = classifyAll({matrix(1000, 1), 0.5});
  EXPECT_TRUE(holds(plan, {matrix(1000, 1), 0.5}));
  EXPECT_FALSE(holds(plan, {matrix(1000, 1), 0.25}));
  EXPECT_EQ(plan.conditions.mismatch(std::vector<Value>{matrix(1000, 1), 0.25}),
            "input 2 has scalar 0.25 instead of 0.5");
}

TEST(Classification, AVaryingScalarIsFree) {
  pipeline::FrozenBlock block;
  block.bind = {true};
  std::vector<Value> inputs{0.5};
  auto plan = classify(block, inputs, {true}, {});
  EXPECT_TRUE(holds(plan, {0.25}));
  EXPECT_EQ(plan.conditions.inputs[0].kind, runtime::PlanConditions::Input::Kind::Free);
}

TEST(Classification, FixedRangesDoNotDependOnTheInputs) {
  ClassificationPolicy policy;
  policy.fixedRanges = true;
  auto one = classifyAll({matrix(300, 1)}, {}, policy),
       other = classifyAll({matrix(4000, 1)}, {}, policy);
  EXPECT_EQ(one.key(), other.key());
  EXPECT_TRUE(holds(one, {matrix(4095, 1)}));
  EXPECT_FALSE(holds(one, {matrix(4096, 1)}));
  EXPECT_NE(one.key(), classifyAll({matrix(4096, 1)}, {}, policy).key());
  EXPECT_EQ(one.conditions.inputs[0].sizes[0].estimate(-1),
            other.conditions.inputs[0].sizes[0].estimate(-1));
}

} // namespace
