#include "base/SparseSafety.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace tokamak;

namespace {

std::vector<BinaryOperator> binaryOperators() {
  return {
#define TOKAMAK_BINARY(Name, ...) BinaryOperator::Name,
#include "base/CellOperators.def"
  };
}

// Random bit patterns cover all magnitudes, both signs and what is not finite.
double randomDouble(std::mt19937_64 &random) {
  switch (random() % 4) {
  case 0:
    return std::bit_cast<double>(random());
  case 1:
    return static_cast<double>(static_cast<int64_t>(random() % 41) - 20);
  case 2:
    return (static_cast<int64_t>(random() % 41) - 20) / 4.0;
  default:
    return std::uniform_real_distribution<>(-2, 2)(random);
  }
}

// Whether the rule for products lets a sparse result be 0 where this one is not.
bool isExempt(BinaryOperator op, double other) {
  if (op == BinaryOperator::Mul)
    return !std::isfinite(other);
  return op == BinaryOperator::Div && (std::isnan(other) || !std::isfinite(1 / other));
}

} // namespace

TEST(SparseSafety, AbsorbedZerosAreZeroAtEveryValue) {
  std::mt19937_64 random(7);
  for (BinaryOperator op : binaryOperators())
    for (bool left : {true, false}) {
      if (!absorbsZero(op, left))
        continue;
      for (int i = 0; i < 20000; ++i) {
        double other = randomDouble(random);
        double result = left ? evaluate(op, 0.0, other) : evaluate(op, other, 0.0);
        ASSERT_TRUE(result == 0 || isExempt(op, other))
            << mnemonic(op) << (left ? " of 0 and " : " with 0 on the right of ") << other;
      }
    }
}

TEST(SparseSafety, RefusedOperatorsHaveAWitness) {
  std::mt19937_64 random(8);
  for (BinaryOperator op : binaryOperators())
    for (bool left : {true, false}) {
      if (absorbsZero(op, left))
        continue;
      bool witness = false;
      for (int i = 0; i < 20000 && !witness; ++i) {
        double other = randomDouble(random);
        witness = (left ? evaluate(op, 0.0, other) : evaluate(op, other, 0.0)) != 0;
      }
      EXPECT_TRUE(witness) << mnemonic(op) << (left ? " left" : " right");
    }
}

TEST(SparseSafety, KnownOperators) {
  EXPECT_TRUE(absorbsZero(BinaryOperator::Mul, true));
  EXPECT_TRUE(absorbsZero(BinaryOperator::Mul, false));
  EXPECT_TRUE(absorbsZero(BinaryOperator::Div, true));
  EXPECT_FALSE(absorbsZero(BinaryOperator::Div, false));
  EXPECT_TRUE(absorbsZero(BinaryOperator::And, true));
  EXPECT_FALSE(absorbsZero(BinaryOperator::Add, true));
  EXPECT_FALSE(absorbsZero(BinaryOperator::Pow, true)); // 0^-1
  EXPECT_FALSE(absorbsZero(BinaryOperator::Min, true));
}

TEST(SparseSafety, ExpressionsAreFollowedCellByCell) {
  CellFact zero = 0.0, unknown, two = 2.0;
  EXPECT_TRUE(isZero(factAt(BinaryOperator::Pow, zero, two)));
  EXPECT_FALSE(isZero(factAt(BinaryOperator::Pow, zero, zero)));
  EXPECT_EQ(factAt(UnaryOperator::Exp, zero), 1.0);
  // (exp(x) - 1) * y
  EXPECT_TRUE(
      isZero(factAt(BinaryOperator::Mul,
                    factAt(BinaryOperator::Sub, factAt(UnaryOperator::Exp, zero), 1.0), unknown)));
  EXPECT_TRUE(isZero(factAtIfElse(factAt(BinaryOperator::Ne, zero, 0.0), unknown, 0.0)));
  EXPECT_FALSE(isZero(factAtIfElse(unknown, 0.0, 1.0)));
}
