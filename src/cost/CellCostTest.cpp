#include "cost/CellCost.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::cost;

TEST(CellCost, aRegisterHoldsTwiceAsManySingles) {
  EXPECT_EQ(additionsOf(ElementType::F64), 1);
  EXPECT_EQ(additionsOf(ElementType::F32), 0.5);
  for (auto op : {UnaryOperator::Neg, UnaryOperator::Exp, UnaryOperator::Tan})
    EXPECT_EQ(additionsOf(op, ElementType::F32), additionsOf(op, ElementType::F64) / 2);
  EXPECT_EQ(additionsOf(BinaryOperator::Mul, ElementType::F32), 0.5);
  // It is computed in doubles.
  EXPECT_GT(additionsOf(UnaryOperator::Round, ElementType::F32),
            additionsOf(UnaryOperator::Round, ElementType::F64));
}

TEST(CellCost, halvesAreConvertedForEachOperator) {
  EXPECT_GT(additionsOf(BinaryOperator::Add, ElementType::F16),
            additionsOf(BinaryOperator::Add, ElementType::F64));
  EXPECT_GT(additionsOf(BinaryOperator::Add, ElementType::BF16),
            additionsOf(BinaryOperator::Add, ElementType::F16));
  // Of a function, the conversions are a small part.
  EXPECT_LT(additionsOf(UnaryOperator::Tan, ElementType::BF16),
            additionsOf(UnaryOperator::Tan, ElementType::F64));
}

TEST(CellCost, integersAreComputedInTheirWidth) {
  EXPECT_EQ(additionsOf(BinaryOperator::Add, ElementType::I64), 1);
  EXPECT_EQ(additionsOf(BinaryOperator::Add, ElementType::U32), 0.5);
  EXPECT_EQ(additionsOf(BinaryOperator::Add, ElementType::I8), 0.5);
  EXPECT_EQ(additionsOf(ElementType::Bool), 0.5);
  // One at a time, whatever their width.
  EXPECT_EQ(additionsOf(BinaryOperator::Div, ElementType::U8),
            additionsOf(BinaryOperator::Mod, ElementType::I64));
  EXPECT_GT(additionsOf(BinaryOperator::IntDiv, ElementType::U8),
            additionsOf(BinaryOperator::Div, ElementType::F64));
  // One step for each bit.
  EXPECT_EQ(additionsOf(BinaryOperator::Pow, ElementType::I64),
            4 * additionsOf(BinaryOperator::Pow, ElementType::I32));
}

TEST(CellCost, aggregatesWidenCells) {
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Sum, ElementType::F64), 1);
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Sum, ElementType::F32), 2);
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Sum, ElementType::U64), 1);
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Sum, ElementType::U8), 2);
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Max, ElementType::U8), 2);
  EXPECT_EQ(additionsOfAggregating(AggregateKind::Max, ElementType::F32), 0.5);
}
