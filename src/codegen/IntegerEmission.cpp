#include "codegen/IntegerEmission.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using Predicate = arith::CmpIPredicate;

namespace {

class Integers {
public:
  Integers(VectorBuilder &vectors, ElementType cells)
      : vectors_(vectors), builder_(vectors.builder()), cells_(cells) {}

  bool isSigned() const { return isSignedInteger(cells_); }
  Value number(int64_t value) {
    return vectors_.number(static_cast<double>(value), vectors_.registerType(cells_));
  }
  template <typename Op> Value apply(Value a, Value b) {
    return builder_.create<Op>(builder_.getUnknownLoc(), a, b);
  }
  Value compare(Predicate predicate, Value a, Value b) {
    return builder_.create<arith::CmpIOp>(builder_.getUnknownLoc(), predicate, a, b);
  }
  Value select(Value mask, Value yes, Value no) { return vectors_.select(mask, yes, no); }
  Value less(Value a, Value b) {
    return compare(isSigned() ? Predicate::slt : Predicate::ult, a, b);
  }
  Value isTrue(Value x) { return compare(Predicate::ne, x, number(0)); }
  Value truth(Value mask) {
    return vectors_.convert(vectors_.truth(mask), ElementType::Bool, cells_);
  }
  Value negate(Value x) { return apply<arith::SubIOp>(number(0), x); }
  Value sign(Value x);
  Value quotient(Value a, Value b);
  Value power(Value base, Value exponent);
  Value shiftLeft(Value a, Value distance);
  Value shiftRight(Value a, Value distance);

private:
  // The lowest six bits of a distance, and whether fewer bits than the cell has are shifted.
  Value steps(Value distance) { return apply<arith::AndIOp>(distance, number(63)); }
  Value width() { return number(8 * byteSize(cells_)); }

  VectorBuilder &vectors_;
  OpBuilder &builder_;
  ElementType cells_;
};

Value Integers::sign(Value x) {
  Value positive = select(isTrue(x), number(1), number(0));
  return isSigned() ? select(less(x, number(0)), number(-1), positive) : positive;
}

// The divisor is 1 in lanes where the hardware's division would fail: for the divisors 0 and -1.
Value Integers::quotient(Value a, Value b) {
  Value isZero = compare(Predicate::eq, b, number(0));
  Value divisor = select(isZero, number(1), b);
  if (!isSigned())
    return select(isZero, number(0), apply<arith::DivUIOp>(a, divisor));
  Value isMinusOne = compare(Predicate::eq, b, number(-1));
  divisor = select(isMinusOne, number(1), divisor);
  Value result = apply<arith::DivSIOp>(a, divisor);
  return select(isZero, number(0), select(isMinusOne, negate(a), result));
}

// By squaring: one step for each bit of the exponent.
Value Integers::power(Value base, Value exponent) {
  State state = {number(1), base, exponent};
  Value first = vectors_.integer(0), last = vectors_.integer(8 * byteSize(cells_));
  vectors_.forLoop(first, last, 1, state, [&](Value, State &current) {
    Value isOdd = compare(Predicate::ne, apply<arith::AndIOp>(current[2], number(1)), number(0));
    current[0] = select(isOdd, apply<arith::MulIOp>(current[0], current[1]), current[0]);
    current[1] = apply<arith::MulIOp>(current[1], current[1]);
    current[2] = apply<arith::ShRUIOp>(current[2], number(1));
  });
  if (!isSigned())
    return state[0];
  // Truncated reciprocals: those of 1 and -1 are themselves, all others 0.
  Value isOdd = compare(Predicate::ne, apply<arith::AndIOp>(exponent, number(1)), number(0));
  Value ofMinusOne = select(isOdd, number(-1), number(1));
  Value reciprocal = select(compare(Predicate::eq, base, number(-1)), ofMinusOne, number(0));
  reciprocal = select(compare(Predicate::eq, base, number(1)), number(1), reciprocal);
  return select(less(exponent, number(0)), reciprocal, state[0]);
}

Value Integers::shiftLeft(Value a, Value distance) {
  Value count = steps(distance), fits = compare(Predicate::ult, count, width());
  return select(fits, apply<arith::ShLIOp>(a, select(fits, count, number(0))), number(0));
}

// Arithmetic for signed integers: a distance beyond the width leaves copies of the sign.
Value Integers::shiftRight(Value a, Value distance) {
  Value count = steps(distance), fits = compare(Predicate::ult, count, width());
  if (isSigned())
    return apply<arith::ShRSIOp>(a, select(fits, count, number(8 * byteSize(cells_) - 1)));
  return select(fits, apply<arith::ShRUIOp>(a, select(fits, count, number(0))), number(0));
}

} // namespace

Value codegen::emitIntegerUnary(VectorBuilder &vectors, UnaryOperator op, ElementType cells,
                                Value x) {
  Integers integers(vectors, cells);
  switch (op) {
  case UnaryOperator::Neg:
    return integers.negate(x);
  case UnaryOperator::Not:
    return integers.truth(integers.compare(Predicate::eq, x, integers.number(0)));
  case UnaryOperator::Abs:
    return integers.isSigned()
               ? integers.select(integers.less(x, integers.number(0)), integers.negate(x), x)
               : x;
  case UnaryOperator::Sign:
    return integers.sign(x);
  case UnaryOperator::Round:
  case UnaryOperator::Floor:
  case UnaryOperator::Ceil:
    return x;
  case UnaryOperator::IsNan:
  case UnaryOperator::IsInfinite:
    return integers.number(0);
  case UnaryOperator::Sqrt:
#define TOKAMAK_FUNCTION(Name, ...) case UnaryOperator::Name:
#include "base/CellOperators.def"
    break;
  }
  llvm_unreachable("the verifier refuses functions of integers");
}

Value codegen::emitIntegerBinary(VectorBuilder &vectors, BinaryOperator op, ElementType cells,
                                 Value a, Value b) {
  Integers integers(vectors, cells);
  auto equal = [&](Predicate predicate) {
    return integers.truth(integers.compare(predicate, a, b));
  };
  auto notLess = [&](Value x, Value y) {
    return integers.truth(
        integers.compare(integers.isSigned() ? Predicate::sge : Predicate::uge, x, y));
  };
  switch (op) {
  case BinaryOperator::Add:
    return integers.apply<arith::AddIOp>(a, b);
  case BinaryOperator::Sub:
    return integers.apply<arith::SubIOp>(a, b);
  case BinaryOperator::Mul:
    return integers.apply<arith::MulIOp>(a, b);
  case BinaryOperator::Div:
  case BinaryOperator::IntDiv:
    return integers.quotient(a, b);
  case BinaryOperator::Mod: {
    Value taken = integers.apply<arith::MulIOp>(integers.quotient(a, b), b);
    Value isZero = integers.compare(Predicate::eq, b, integers.number(0));
    return integers.select(isZero, integers.number(0), integers.apply<arith::SubIOp>(a, taken));
  }
  case BinaryOperator::Pow:
    return integers.power(a, b);
  case BinaryOperator::Min:
    return integers.select(integers.less(b, a), b, a);
  case BinaryOperator::Max:
    return integers.select(integers.less(a, b), b, a);
  case BinaryOperator::Eq:
    return equal(Predicate::eq);
  case BinaryOperator::Ne:
    return equal(Predicate::ne);
  case BinaryOperator::Lt:
    return integers.truth(integers.less(a, b));
  case BinaryOperator::Le:
    return notLess(b, a);
  case BinaryOperator::Gt:
    return integers.truth(integers.less(b, a));
  case BinaryOperator::Ge:
    return notLess(a, b);
  case BinaryOperator::And:
    return integers.truth(integers.apply<arith::AndIOp>(integers.isTrue(a), integers.isTrue(b)));
  case BinaryOperator::Or:
    return integers.truth(integers.apply<arith::OrIOp>(integers.isTrue(a), integers.isTrue(b)));
  case BinaryOperator::Xor:
    return integers.truth(integers.apply<arith::XOrIOp>(integers.isTrue(a), integers.isTrue(b)));
  case BinaryOperator::BitwAnd:
    return integers.apply<arith::AndIOp>(a, b);
  case BinaryOperator::BitwOr:
    return integers.apply<arith::OrIOp>(a, b);
  case BinaryOperator::BitwXor:
    return integers.apply<arith::XOrIOp>(a, b);
  case BinaryOperator::BitwShiftL:
    return integers.shiftLeft(a, b);
  case BinaryOperator::BitwShiftR:
    return integers.shiftRight(a, b);
  }
  llvm_unreachable("all operators are listed");
}
