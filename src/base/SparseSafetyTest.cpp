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

// Random bit patterns cover all magnitudes, both signs and non-finite values.
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

// Whether ZeroRule::Sparse lets the result be 0 although evaluate() gives NaN.
bool isExempt(BinaryOperator op, double other) {
  return op == BinaryOperator::Mul && !std::isfinite(other);
}

// A fact that allows the value: the value itself, a range around it, or a range up to infinity.
CellFact factAbout(double value, std::mt19937_64 &random) {
  CellFact fact = value;
  switch (random() % 5) {
  case 0:
    return fact;
  case 1:
    return eitherOf(fact, randomDouble(random));
  case 2:
    return CellFact::anything();
  case 3:
    return eitherOf(fact, value > 0 ? INFINITY : -INFINITY);
  default:
    return value != 0 && !std::isnan(value) ? CellFact::nonZeroNumber() : CellFact::anything();
  }
}

std::vector<UnaryOperator> unaryOperators() {
  return {
#define TOKAMAK_UNARY(Name, ...) UnaryOperator::Name,
#include "base/CellOperators.def"
  };
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
  EXPECT_FALSE(absorbsZero(BinaryOperator::Div, true)); // 0 / 0
  EXPECT_FALSE(absorbsZero(BinaryOperator::Div, false));
  EXPECT_TRUE(absorbsZero(BinaryOperator::And, true));
  EXPECT_FALSE(absorbsZero(BinaryOperator::Add, true));
  EXPECT_FALSE(absorbsZero(BinaryOperator::Pow, true)); // 0^-1
  EXPECT_FALSE(absorbsZero(BinaryOperator::Min, true));
}

TEST(SparseSafety, FactsAllowEveryResult) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 200000; ++i) {
    double a = randomDouble(random), b = randomDouble(random);
    CellFact left = factAbout(a, random), right = factAbout(b, random);
    ASSERT_TRUE(left.allows(a) && right.allows(b));
    for (UnaryOperator op : unaryOperators())
      ASSERT_TRUE(factAt(op, left).allows(evaluate(op, a)))
          << mnemonic(op) << " of " << a << " in " << left.low << " to " << left.high;
    for (BinaryOperator op : binaryOperators())
      ASSERT_TRUE(factAt(op, left, right, ZeroRule::Strict).allows(evaluate(op, a, b)))
          << mnemonic(op) << " of " << a << " in " << left.low << " to " << left.high << " and "
          << b << " in " << right.low << " to " << right.high;
  }
}

TEST(SparseSafety, AZeroIsDividedByWhatIsNeverZeroNorNan) {
  auto isZero = [](const CellFact &divisor) {
    return factAt(BinaryOperator::Div, 0.0, divisor, ZeroRule::Sparse).isZero();
  };
  EXPECT_TRUE(isZero(2.0));
  EXPECT_TRUE(isZero(CellFact::within(1e-15, INFINITY)));
  EXPECT_TRUE(isZero(CellFact::nonZeroNumber()));
  EXPECT_FALSE(isZero(CellFact::anything()));
  EXPECT_FALSE(isZero(0.0));
  EXPECT_FALSE(isZero(NAN));
  EXPECT_FALSE(isZero(CellFact::within(0, 1)));
  EXPECT_FALSE(isZero(CellFact(1, 2, /*mayBeNan=*/true, false)));
  // U %*% t(V) + 1e-15, where no factor has negative cells
  CellFact factor = CellFact::within(0, 1e300);
  CellFact term = factAt(BinaryOperator::Mul, factor, factor, ZeroRule::Strict);
  EXPECT_TRUE(isZero(factAt(BinaryOperator::Add, sumOf(term, 1, 0x1p63), 1e-15, ZeroRule::Strict)));
  // The maximum of a cell and a small number; it is NaN if the cell is.
  CellFact finite = CellFact::within(-1e300, 1e300);
  EXPECT_TRUE(isZero(factAt(BinaryOperator::Max, finite, 1e-15, ZeroRule::Strict)));
  EXPECT_FALSE(isZero(factAt(BinaryOperator::Max, CellFact(), 1e-15, ZeroRule::Strict)));
  // In single precision small numbers round to zero sooner.
  EXPECT_FALSE(isZero(inSinglePrecision(CellFact::within(1e-60, 1))));
}

TEST(SparseSafety, StrictProductsAreZeroBesideFiniteFactors) {
  CellFact zero = CellFact::withoutEntry();
  EXPECT_TRUE(factAt(BinaryOperator::Mul, zero, CellFact(), ZeroRule::Sparse).isZero());
  EXPECT_FALSE(factAt(BinaryOperator::Mul, 0.0, CellFact(), ZeroRule::Sparse).isZero())
      << "a number 0 has no entries that could be left out";
  EXPECT_FALSE(factAt(BinaryOperator::Mul, zero, CellFact(), ZeroRule::Strict).isZero());
  EXPECT_TRUE(
      factAt(BinaryOperator::Mul, CellFact::within(-5, 5), zero, ZeroRule::Strict).isZero());
}

TEST(SparseSafety, SumsLieBetweenTheirTerms) {
  EXPECT_EQ(sumOf(CellFact::within(1, 2), 3, 4).low, 1);
  EXPECT_GE(sumOf(CellFact::within(1, 2), 3, 4).high, 8);
  EXPECT_EQ(sumOf(CellFact::within(1, 2), 0, 4).low, 0);
  EXPECT_TRUE(sumOf(CellFact::anything(), 0, 0).isZero()) << "a sum of nothing";
  EXPECT_LE(sumOf(CellFact::within(-1, 2), 0, 4).low, -4);
  EXPECT_FALSE(sumOf(CellFact::within(0, INFINITY), 0, 4).mayBeNan);
  EXPECT_TRUE(sumOf(CellFact::within(-INFINITY, INFINITY), 0, 4).mayBeNan);
}

TEST(SparseSafety, ExpressionsAreFollowedCellByCell) {
  CellFact zero = CellFact::withoutEntry(), unknown, two = 2.0;
  auto of = [](BinaryOperator op, const CellFact &a, const CellFact &b) {
    return factAt(op, a, b, ZeroRule::Sparse);
  };
  EXPECT_TRUE(of(BinaryOperator::Pow, zero, two).isZero());
  EXPECT_FALSE(of(BinaryOperator::Pow, zero, zero).isZero());
  EXPECT_TRUE(of(BinaryOperator::Pow, zero, -1.0).allows(-INFINITY)) << "of -0";
  EXPECT_TRUE(of(BinaryOperator::Pow, CellFact::within(0, 1), -1.0).allows(-INFINITY));
  EXPECT_EQ(factAt(UnaryOperator::Exp, zero).constant(), 1.0);
  // (exp(x) - 1) * y
  EXPECT_TRUE(of(BinaryOperator::Mul,
                 of(BinaryOperator::Sub, factAt(UnaryOperator::Exp, zero), 1.0), unknown)
                  .isZero());
  EXPECT_TRUE(factAtIfElse(of(BinaryOperator::Ne, zero, 0.0), unknown, 0.0).isZero());
  EXPECT_FALSE(factAtIfElse(unknown, 0.0, 1.0).isZero());
}
