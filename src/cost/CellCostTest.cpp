#include "cost/CellCost.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::cost;

static const CellCosts costs;

TEST(CellCost, aRegisterHoldsTwiceAsManySingles) {
  EXPECT_EQ(additionsOf(ElementType::F64), 1);
  EXPECT_EQ(additionsOf(ElementType::F32), 0.5);
  for (auto op : {UnaryOperator::Neg, UnaryOperator::Exp, UnaryOperator::Tan})
    EXPECT_EQ(additionsOf(op, ElementType::F32, costs),
              additionsOf(op, ElementType::F64, costs) / 2);
  EXPECT_EQ(additionsOf(BinaryOperator::Mul, ElementType::F32, costs), 0.5);
  // It is computed in doubles.
  EXPECT_GT(additionsOf(UnaryOperator::Round, ElementType::F32, costs),
            additionsOf(UnaryOperator::Round, ElementType::F64, costs));
}

TEST(CellCost, halvesAreConvertedForEachOperator) {
  EXPECT_GT(additionsOf(BinaryOperator::Add, ElementType::F16, costs),
            additionsOf(BinaryOperator::Add, ElementType::F64, costs));
  EXPECT_GT(additionsOf(BinaryOperator::Add, ElementType::BF16, costs),
            additionsOf(BinaryOperator::Add, ElementType::F16, costs));
  // Of a function, the conversions are a small part.
  EXPECT_LT(additionsOf(UnaryOperator::Tan, ElementType::BF16, costs),
            additionsOf(UnaryOperator::Tan, ElementType::F64, costs));
}

TEST(CellCost, integersAreComputedInTheirWidth) {
  EXPECT_EQ(additionsOf(BinaryOperator::Add, ElementType::I64, costs), 1);
  EXPECT_EQ(additionsOf(BinaryOperator::Add, ElementType::U32, costs), 0.5);
  EXPECT_EQ(additionsOf(BinaryOperator::Add, ElementType::I8, costs), 0.5);
  EXPECT_EQ(additionsOf(ElementType::Bool), 0.5);
  // One at a time, whatever their width.
  EXPECT_EQ(additionsOf(BinaryOperator::Div, ElementType::U8, costs),
            additionsOf(BinaryOperator::Mod, ElementType::I64, costs));
  EXPECT_GT(additionsOf(BinaryOperator::IntDiv, ElementType::U8, costs),
            additionsOf(BinaryOperator::Div, ElementType::F64, costs));
  // One step for each bit.
  EXPECT_EQ(additionsOf(BinaryOperator::Pow, ElementType::I64, costs),
            4 * additionsOf(BinaryOperator::Pow, ElementType::I32, costs));
}

TEST(CellCost, aggregatesWidenCells) {
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Sum, ElementType::F64), 1);
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Sum, ElementType::F32), 2);
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Sum, ElementType::U64), 1);
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Sum, ElementType::U8), 2);
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Max, ElementType::U8), 2);
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Max, ElementType::F32), 0.5);
}
