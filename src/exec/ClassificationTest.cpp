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

// As after plans for both.
Classification classifyChanged(const std::vector<Value> &first, std::vector<Value> second,
                               pipeline::FrozenBlock block = {}, ClassificationPolicy policy = {}) {
  SizeHistory history;
  history.add(first);
  history.add(second);
  policy.history = &history;
  return classifyAll(std::move(second), std::move(block), policy);
}

TEST(Classification, SizesThatKeepChangingAreSymbols) {
  auto plan = classifyChanged({matrix(7, 10), matrix(7, 3)}, {matrix(20, 10), matrix(20, 3)});
  EXPECT_TRUE(holds(plan, {matrix(2, 10), matrix(2, 3)}));
  EXPECT_TRUE(holds(plan, {matrix(4096, 10), matrix(4096, 3)}));
  EXPECT_FALSE(holds(plan, {matrix(4097, 10), matrix(4097, 3)})) << "another plan may be better";
  EXPECT_FALSE(holds(plan, {matrix(20, 10), matrix(21, 3)})) << "they were equal each time";
  EXPECT_FALSE(holds(plan, {matrix(20, 11), matrix(20, 3)})) << "it never changed";
  EXPECT_FALSE(holds(plan, {matrix(1, 10), matrix(1, 3)})) << "one row is another plan";
  EXPECT_FALSE(holds(plan, {matrix(0, 10), matrix(0, 3)}));
}

TEST(Classification, SizesThatKeepChangingMayBeOneOrNoneWhereThatIsAskedFor) {
  std::vector<Value> first = {matrix(7, 10), int64_t{7}}, second = {matrix(1, 10), int64_t{1}};
  ClassificationPolicy policy{.smallSizesChange = true, .integersAreSizes = true};
  auto plan = classifyChanged(first, second, {}, policy);
  for (int64_t rows : {0, 1, 2, 100})
    EXPECT_TRUE(holds(plan, {matrix(rows, 10), rows})) << rows;
  EXPECT_FALSE(holds(plan, {matrix(0, 10), int64_t{1}}));
  EXPECT_FALSE(holds(plan, {matrix(7, 1), int64_t{7}})) << "it never changed";
  auto narrow = classifyChanged(first, second, {}, {.integersAreSizes = true});
  EXPECT_TRUE(holds(narrow, second));
  EXPECT_FALSE(holds(narrow, first));
  auto large = classifyChanged(first, {matrix(8, 10), int64_t{8}}, {}, policy);
  EXPECT_TRUE(holds(large, {matrix(2, 10), int64_t{2}}));
  EXPECT_FALSE(holds(large, second)) << "it never was so small";
}

TEST(Classification, SizesThatKeepChangingMayBeEqualByChance) {
  pipeline::FrozenBlock block;
  block.literals = {30};
  auto plan =
      classifyChanged({matrix(7, 10), matrix(8, 5)}, {matrix(20, 10), matrix(40, 6)}, block);
  EXPECT_TRUE(holds(plan, {matrix(10, 10), matrix(10, 10)}));
  EXPECT_TRUE(holds(plan, {matrix(30, 10), matrix(30, 30)}));
}

TEST(Classification, IntegersThatKeepChangingAreSizesWhereThatIsAskedFor) {
  std::vector<Value> first = {matrix(7, 10), int64_t{7}}, second = {matrix(20, 10), int64_t{20}};
  auto plan = classifyChanged(first, second, {}, {.integersAreSizes = true});
  EXPECT_TRUE(holds(plan, {matrix(9, 10), int64_t{9}}));
  EXPECT_FALSE(holds(plan, {matrix(9, 10), int64_t{8}}));
  EXPECT_FALSE(holds(plan, {matrix(9, 10), int64_t{1}}));
}

} // namespace
