#include "runtime/image/PlanConditions.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tokamak::runtime;
using tokamak::Size;

namespace {

Value matrix(int64_t rows, int64_t columns) { return Array::filled({rows, columns}, 1.0); }

// Two matrices of n rows, 500 <= n <= 2000, the first with 3 columns, and a scalar of value 0.5.
PlanConditions sameRows() {
  using Input = PlanConditions::Input;
  PlanConditions conditions;
  conditions.symbolCount = 1;
  Size n = Size::symbol(0, -1, {500, 2000});
  conditions.narrowLimit = 32;
  conditions.exactValues = {1024};
  conditions.inputs = {{Input::Kind::Array, {}, {n, Size::constant(3)}, {}},
                       {Input::Kind::Array, {}, {n, Size::constant(1)}, {}},
                       {Input::Kind::Bound, 0.5, {}, {}}};
  return conditions;
}

TEST(PlanConditions, holdForSizesInTheRange) {
  PlanConditions conditions = sameRows();
  EXPECT_TRUE(conditions.holdFor(std::vector<Value>{matrix(500, 3), matrix(500, 1), 0.5}));
  EXPECT_TRUE(conditions.holdFor(std::vector<Value>{matrix(2000, 3), matrix(2000, 1), 0.5}));
  EXPECT_FALSE(conditions.holdFor(std::vector<Value>{matrix(2001, 3), matrix(2001, 1), 0.5}));
}

TEST(PlanConditions, sayWhatDiffers) {
  PlanConditions conditions = sameRows();
  auto mismatch = [&](std::vector<Value> values) { return conditions.mismatch(values); };
  EXPECT_EQ(mismatch({matrix(600, 3), matrix(601, 1), 0.5}), "input 2 has size 601x1");
  EXPECT_EQ(mismatch({matrix(600, 4), matrix(600, 1), 0.5}), "input 1 has size 600x4");
  EXPECT_EQ(mismatch({matrix(1024, 3), matrix(1024, 1), 0.5}), "input 1 has size 1024x3");
  EXPECT_EQ(mismatch({matrix(600, 3), matrix(600, 1), 0.25}),
            "input 3 has scalar 0.25 instead of 0.5");
  EXPECT_EQ(mismatch({Array::asSparse(matrix(600, 3).array()), matrix(600, 1), 0.5}),
            "input 1 has density 1");
}

TEST(PlanConditions, differForArraysOfOneNumber) {
  PlanConditions conditions = sameRows();
  Value repeated = Array::repeated({600, 3}, tokamak::ElementType::F64, 1.0);
  EXPECT_EQ(conditions.mismatch(std::vector<Value>{repeated, matrix(600, 1), 0.5}),
            "input 1 has one number in all cells");
  conditions.inputs[0].isRepeated = true;
  EXPECT_TRUE(conditions.holdFor(std::vector<Value>{repeated, matrix(600, 1), 0.5}));
  EXPECT_EQ(conditions.mismatch(std::vector<Value>{matrix(600, 3), matrix(600, 1), 0.5}),
            "input 1 has cells of its own");
  EXPECT_TRUE(allows(tokamak::CellFact::within(0, 2), repeated));
  EXPECT_FALSE(allows(tokamak::CellFact::within(2, 3), repeated));
}

TEST(PlanConditions, lookAtCellsWhereThatIsWanted) {
  auto vector = [](std::vector<double> cells) {
    ArrayPointer array = Array::create({static_cast<int64_t>(cells.size()), 1});
    std::copy(cells.begin(), cells.end(), array->mutableData());
    return Value(array);
  };
  tokamak::CellFact divisor = tokamak::CellFact::nonZeroNumber(),
                    positive = tokamak::CellFact::within(0, 1e100);
  EXPECT_TRUE(allows(divisor, vector({1, -2, INFINITY})));
  EXPECT_FALSE(allows(divisor, vector({1, -2, 0})));
  EXPECT_FALSE(allows(divisor, vector({1, std::nan(""), 3})));
  EXPECT_TRUE(allows(positive, vector({0, 5})));
  EXPECT_FALSE(allows(positive, vector({0, -5})));
  EXPECT_FALSE(allows(positive, vector({INFINITY})));
  EXPECT_FALSE(allows(divisor, Array::asSparse(vector({1, 0}).array())));
  EXPECT_TRUE(allows(divisor, Array::asSparse(vector({1, 2}).array())));
  EXPECT_TRUE(allows(divisor, 2.5));
  EXPECT_FALSE(allows(divisor, 0.0));

  using Input = PlanConditions::Input;
  PlanConditions conditions;
  conditions.inputs = {
      {Input::Kind::Array, {}, {Size::constant(2), Size::constant(1)}, {}, {{divisor, true}}}};
  EXPECT_TRUE(conditions.holdFor(std::vector<Value>{vector({1, 2})}));
  std::vector<Value> withZero{vector({1, 0})};
  EXPECT_FALSE(conditions.holdFor(withZero));
  EXPECT_EQ(conditions.mismatch(withZero), "input 1 has a cell that is zero or NaN");
  conditions.inputs[0].cells->holds = false;
  EXPECT_TRUE(conditions.holdFor(withZero));
  EXPECT_FALSE(conditions.holdFor(std::vector<Value>{vector({1, 2})}));
}

TEST(PlanConditions, identicalComparesBits) {
  EXPECT_TRUE(identical(std::nan(""), std::nan("")));
  EXPECT_FALSE(identical(0.0, -0.0));
  EXPECT_FALSE(identical(int64_t{1}, 1.0));
}

} // namespace
