#include "ir/tok/Facts.h"

#include <gtest/gtest.h>

using namespace tokamak::tok;

namespace {

Dimension symbol(int64_t id) { return Dimension::symbol(id); }
Dimension number(int64_t value) { return Dimension::constant(value); }

TEST(DimensionProduct, multipliesConstants) {
  EXPECT_TRUE(Dimension::product(number(6), number(7)).isConstant(42));
  EXPECT_TRUE(Dimension::product(number(0), symbol(3)).isConstant(0));
  EXPECT_TRUE(Dimension::product(symbol(3), number(1)).provedEqual(symbol(3)));
  EXPECT_TRUE(Dimension::product(number(INT64_MAX), number(2)).isUnknown());
}

TEST(DimensionProduct, isTheSameInAnyOrder) {
  Dimension left = Dimension::product(Dimension::product(symbol(1), number(4)), symbol(2));
  Dimension right = Dimension::product(symbol(2), Dimension::product(symbol(1), number(4)));
  EXPECT_TRUE(left.isProduct());
  EXPECT_TRUE(left.provedEqual(right));
  EXPECT_FALSE(left.provedEqual(Dimension::product(symbol(1), symbol(2))));
  EXPECT_FALSE(
      left.provedEqual(Dimension::product(Dimension::product(symbol(1), number(2)), symbol(2))));
}

TEST(DimensionProduct, tellsSquaresFromFactors) {
  Dimension square = Dimension::product(symbol(5), symbol(5));
  EXPECT_TRUE(square.isProduct());
  EXPECT_FALSE(square.provedEqual(symbol(5)));
  EXPECT_FALSE(square.provedEqual(Dimension::product(symbol(5), symbol(6))));
}

TEST(DimensionProduct, isUnknownWhereItHasTooManyFactors) {
  Dimension product = number(1);
  for (int64_t i = 0; i < 4; ++i)
    product = Dimension::product(product, symbol(i));
  EXPECT_TRUE(product.isProduct());
  EXPECT_TRUE(Dimension::product(product, symbol(4)).isUnknown());
  EXPECT_TRUE(Dimension::product(symbol(4094), symbol(1)).isProduct());
  EXPECT_TRUE(Dimension::product(symbol(5000), symbol(1)).isUnknown());
}

TEST(DimensionProduct, estimatesWhatItsFactorsEstimate) {
  Dimension product = Dimension::product(Dimension::symbol(1, 100), Dimension::symbol(2, 30));
  EXPECT_EQ(product.estimate(-1), 3000);
  EXPECT_EQ(Dimension::product(product, number(2)).estimate(-1), 6000);
}

TEST(Facts, collapseToRowsAlongTheLastDimension) {
  Facts facts;
  facts.dims = {symbol(1), number(3), symbol(2)};
  Facts collapsed = facts.collapsed();
  EXPECT_TRUE(collapsed.rows().provedEqual(Dimension::product(number(3), symbol(1))));
  EXPECT_TRUE(collapsed.columns().provedEqual(symbol(2)));
  facts.dims = {number(7)};
  EXPECT_TRUE(facts.collapsed().isRowVector());
}

} // namespace
