#include "codegen/InvariantDivision.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using Predicate = arith::CmpFPredicate;

// If dividend and divisor are in these ranges, nothing that is computed on the way loses bits, unless
// it overflows: remainders, which are at least dividend * 2^-2p for a precision of p bits, are
// numbers, quotients are normal, and a dividend times what the reciprocal lacks is normal or too small
// to matter.
namespace {
struct Ranges {
  double leastDividend, mostDivisor, leastDivisor;
};
} // namespace
static Type cellsOf(Value vector) { return cast<VectorType>(vector.getType()).getElementType(); }
static Ranges rangesOf(Value vector) {
  return cellsOf(vector).isF32() ? Ranges{0x1p-100, 0x1p20, 0x1p-20}
                                 : Ranges{0x1p-600, 0x1p300, 0x1p-300};
}
static Value numberLike(VectorBuilder &vectors, double number, Value vector) {
  return vectors.number(number, cellsOf(vector));
}

static Value magnitudeOf(VectorBuilder &vectors, Value x) {
  return vectors.create<LLVM::FAbsOp>(x.getType(), x);
}
static Value multiply(VectorBuilder &vectors, Value a, Value b) {
  return vectors.create<arith::MulFOp>(a, b);
}
static Value compare(VectorBuilder &vectors, Predicate predicate, Value a, Value b) {
  return vectors.create<arith::CmpFOp>(predicate, a, b);
}
static Value either(VectorBuilder &vectors, Value a, Value b) {
  return a ? vectors.create<arith::OrIOp>(a, b) : b;
}
static Value isAny(VectorBuilder &vectors, Value mask) {
  return vectors.create<vector::ReductionOp>(vector::CombiningKind::OR, mask);
}

InvariantDivisor codegen::prepareDivision(VectorBuilder &vectors, Value divisor) {
  auto [leastDividend, mostDivisor, leastDivisor] = rangesOf(divisor);
  auto number = [&](double value) { return numberLike(vectors, value, divisor); };
  Value one = number(1), magnitude = magnitudeOf(vectors, divisor);
  Value isUsual = vectors.create<arith::AndIOp>(
      compare(vectors, Predicate::OLE, magnitude, number(mostDivisor)),
      compare(vectors, Predicate::OGE, magnitude, number(leastDivisor)));
  Value reciprocal = vectors.select(isUsual, vectors.create<arith::DivFOp>(one, divisor),
                                    number(std::numeric_limits<double>::quiet_NaN()));
  Value lacking = vectors.fma(vectors.create<arith::NegFOp>(divisor), reciprocal, one);
  return {divisor, reciprocal, multiply(vectors, lacking, reciprocal)};
}

InvariantDivisor codegen::splatLane(VectorBuilder &vectors, const InvariantDivisor &divisor,
                                    int64_t lane) {
  return {vectors.splatLane(divisor.divisor, lane), vectors.splatLane(divisor.reciprocal, lane),
          vectors.splatLane(divisor.rest, lane)};
}

static Value quotientOf(VectorBuilder &vectors, Value dividend, const InvariantDivisor &by) {
  Value near = vectors.fma(dividend, by.reciprocal, multiply(vectors, dividend, by.rest));
  Value remainder = vectors.fma(vectors.create<arith::NegFOp>(near), by.divisor, dividend);
  return vectors.fma(remainder, by.reciprocal, near);
}

// Whether a quotient is NaN, two quotients at a time, or the least magnitude of the dividends is
// small.
static Value areDoubtful(VectorBuilder &vectors, ArrayRef<Value> dividends,
                         ArrayRef<Value> quotients) {
  Value doubtful, least;
  for (size_t number = 0; number < quotients.size(); number += 2)
    doubtful = either(vectors, doubtful,
                      compare(vectors, Predicate::UNO, quotients[number],
                              quotients[std::min(number + 1, quotients.size() - 1)]));
  for (Value dividend : dividends) {
    Value magnitude = magnitudeOf(vectors, dividend);
    least =
        least ? vectors.select(compare(vectors, Predicate::OLT, magnitude, least), magnitude, least)
              : magnitude;
  }
  Value limit = numberLike(vectors, rangesOf(least).leastDividend, least);
  return either(vectors, doubtful, compare(vectors, Predicate::OLT, least, limit));
}

// Whether one of the quotients is NaN, or its dividend small but no zero.
static Value areWrong(VectorBuilder &vectors, ArrayRef<Value> dividends,
                      ArrayRef<Value> quotients) {
  Value wrong;
  for (auto [dividend, quotient] : llvm::zip_equal(dividends, quotients)) {
    Value limit = numberLike(vectors, rangesOf(dividend).leastDividend, dividend);
    Value isSmall = vectors.create<arith::AndIOp>(
        compare(vectors, Predicate::OLT, magnitudeOf(vectors, dividend), limit),
        compare(vectors, Predicate::ONE, dividend, numberLike(vectors, 0, dividend)));
    wrong = either(vectors, wrong,
                   either(vectors, isSmall, compare(vectors, Predicate::UNO, quotient, quotient)));
  }
  return wrong;
}

State codegen::emitQuotients(VectorBuilder &vectors, ArrayRef<Value> dividends,
                             ArrayRef<InvariantDivisor> divisors) {
  State quotients;
  for (auto [dividend, divisor] : llvm::zip_equal(dividends, divisors))
    quotients.push_back(quotientOf(vectors, dividend, divisor));
  Value isDoubtful = isAny(vectors, areDoubtful(vectors, dividends, quotients));
  vectors.ifThen(isDoubtful, quotients, [&](State &exact) {
    Value isWrong = isAny(vectors, areWrong(vectors, dividends, exact));
    // The sum with the remainder of a zero has lost its sign.
    for (auto [quotient, dividend, divisor] : llvm::zip_equal(exact, dividends, divisors))
      quotient = vectors.create<LLVM::CopySignOp>(quotient.getType(), quotient,
                                                  multiply(vectors, dividend, divisor.reciprocal));
    vectors.ifThen(isWrong, exact, [&](State &divided) {
      for (auto [quotient, dividend, divisor] : llvm::zip_equal(divided, dividends, divisors))
        quotient = vectors.create<arith::DivFOp>(dividend, divisor.divisor);
    });
  });
  return quotients;
}
