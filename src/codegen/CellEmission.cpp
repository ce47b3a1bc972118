#include "codegen/CellEmission.h"

#include "schedule/Instructions.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

// What cell operators are composed of, for cells of one type: f64, f32 or an integer.
class Cells {
public:
  Cells(VectorBuilder &vectors, ElementType cells)
      : vectors_(vectors), cells_(cells), register_(vectors.registerType(cells)) {}

  Value unary(UnaryOperator op, Value x) {
    switch (op) {
    case UnaryOperator::Neg:
      return negate(x);
    case UnaryOperator::Not:
      return truth(isEqual(x, 0));
    case UnaryOperator::Abs:
      if (isFloating())
        return intrinsic<LLVM::FAbsOp>(x);
      return isSigned() ? select(isLess(x, number(0)), negate(x), x) : x;
    case UnaryOperator::Sign:
      return sign(x);
    case UnaryOperator::Round:
      return isFloating() ? roundHalfUp(x) : x;
    case UnaryOperator::Floor:
      return isFloating() ? intrinsic<LLVM::FFloorOp>(x) : x;
    case UnaryOperator::Ceil:
      return isFloating() ? intrinsic<LLVM::FCeilOp>(x) : x;
    case UnaryOperator::IsNan:
      return isFloating() ? truth(isNan(x, x)) : number(0);
    case UnaryOperator::IsInfinite:
      return isFloating() ? truth(isEqual(intrinsic<LLVM::FAbsOp>(x),
                                          std::numeric_limits<double>::infinity()))
                          : number(0);
    case UnaryOperator::Sqrt:
      return intrinsic<LLVM::SqrtOp>(x);
#define TOKAMAK_FUNCTION(Name, ...) case UnaryOperator::Name:
#include "base/CellOperators.def"
      return call(mnemonic(op), x);
    }
    llvm_unreachable("all operators are listed");
  }

  Value binary(BinaryOperator op, Value a, Value b) {
    switch (op) {
    case BinaryOperator::Add:
      return apply<arith::AddFOp, arith::AddIOp>(a, b);
    case BinaryOperator::Sub:
      return apply<arith::SubFOp, arith::SubIOp>(a, b);
    case BinaryOperator::Mul:
      return apply<arith::MulFOp, arith::MulIOp>(a, b);
    case BinaryOperator::Div:
      return isFloating() ? apply<arith::DivFOp>(a, b) : quotient(a, b);
    case BinaryOperator::IntDiv:
      return quotient(a, b);
    case BinaryOperator::Mod:
      return remainder(a, b);
    case BinaryOperator::Pow:
      return isFloating() ? call(mnemonic(op), {a, b}) : integerPower(a, b);
    case BinaryOperator::Min:
      return extreme(BinaryOperator::Lt, a, b);
    case BinaryOperator::Max:
      return extreme(BinaryOperator::Gt, a, b);
    case BinaryOperator::Eq:
    case BinaryOperator::Ne:
    case BinaryOperator::Lt:
    case BinaryOperator::Le:
    case BinaryOperator::Gt:
    case BinaryOperator::Ge:
      return truth(compare(op, a, b));
    case BinaryOperator::And:
      return logic<arith::AndIOp>(a, b);
    case BinaryOperator::Or:
      return logic<arith::OrIOp>(a, b);
    case BinaryOperator::Xor:
      return logic<arith::XOrIOp>(a, b);
    case BinaryOperator::BitwAnd:
      return isFloating() ? onIntegers(op, a, b) : apply<arith::AndIOp>(a, b);
    case BinaryOperator::BitwOr:
      return isFloating() ? onIntegers(op, a, b) : apply<arith::OrIOp>(a, b);
    case BinaryOperator::BitwXor:
      return isFloating() ? onIntegers(op, a, b) : apply<arith::XOrIOp>(a, b);
    case BinaryOperator::BitwShiftL:
    case BinaryOperator::BitwShiftR:
      return isFloating() ? onIntegers(op, a, b) : shift(op, a, b);
    }
    llvm_unreachable("all operators are listed");
  }

  // A mask.
  Value compare(BinaryOperator comparison, Value a, Value b) {
    using Float = arith::CmpFPredicate;
    using Integer = arith::CmpIPredicate;
    struct Comparison {
      BinaryOperator op;
      Float floats;
      Integer signedIntegers, unsignedIntegers;
    };
    static constexpr Comparison comparisons[] = {
        {BinaryOperator::Eq, Float::OEQ, Integer::eq, Integer::eq},
        {BinaryOperator::Ne, Float::UNE, Integer::ne, Integer::ne},
        {BinaryOperator::Lt, Float::OLT, Integer::slt, Integer::ult},
        {BinaryOperator::Le, Float::OLE, Integer::sle, Integer::ule},
        {BinaryOperator::Gt, Float::OGT, Integer::sgt, Integer::ugt},
        {BinaryOperator::Ge, Float::OGE, Integer::sge, Integer::uge},
    };
    const auto *found =
        llvm::find_if(comparisons, [&](const auto &c) { return c.op == comparison; });
    if (isFloating())
      return vectors_.create<arith::CmpFOp>(found->floats, a, b);
    return vectors_.create<arith::CmpIOp>(
        isSigned() ? found->signedIntegers : found->unsignedIntegers, a, b);
  }

private:
  bool isFloating() const { return isFloat(cells_); }
  bool isSigned() const { return isSignedInteger(cells_); }
  Value number(double value) { return vectors_.number(value, register_); }
  Value select(Value mask, Value yes, Value no) { return vectors_.select(mask, yes, no); }
  Value truth(Value mask) {
    return isFloating() ? select(mask, number(1), number(0))
                        : vectors_.convert(vectors_.truth(mask), ElementType::Bool, cells_);
  }
  template <typename Op> Value apply(Value a, Value b) { return vectors_.create<Op>(a, b); }
  template <typename OfFloats, typename OfIntegers> Value apply(Value a, Value b) {
    return isFloating() ? apply<OfFloats>(a, b) : apply<OfIntegers>(a, b);
  }
  template <typename Op> Value logic(Value a, Value b) {
    return truth(apply<Op>(vectors_.isTrue(a), vectors_.isTrue(b)));
  }
  template <typename Op> Value intrinsic(Value x) { return vectors_.create<Op>(x.getType(), x); }
  Value isEqual(Value x, double value) { return compare(BinaryOperator::Eq, x, number(value)); }
  Value isLess(Value a, Value b) { return compare(BinaryOperator::Lt, a, b); }
  Value isNan(Value a, Value b) {
    return vectors_.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, a, b);
  }

  Value call(std::string_view mnemonic, ValueRange operands) {
    std::string function = "tokamak_vector_" + std::string(mnemonic);
    int64_t width = cast<VectorType>(operands.front().getType()).getNumElements();
    if (cells_ == ElementType::F32)
      return vectors_.callMath(function + "_f32x" + std::to_string(width), operands);
    if (width == VectorBuilder::lanes)
      return vectors_.callMath(function, operands);
    // Functions of doubles exist for eight.
    auto callForHalf = [&](int64_t number) {
      SmallVector<Value> halves;
      for (Value operand : operands)
        halves.push_back(vectors_.half(operand, number));
      return vectors_.callMath(function, halves);
    };
    Value lower = callForHalf(0);
    return vectors_.join(lower, callForHalf(1));
  }

  Value negate(Value x) {
    return isFloating() ? vectors_.create<arith::NegFOp>(x) : apply<arith::SubIOp>(number(0), x);
  }

  Value sign(Value x) {
    Value negative = select(isLess(x, number(0)), number(-1), x);
    return select(compare(BinaryOperator::Gt, x, number(0)), number(1), negative);
  }

  Value roundHalfUp(Value x) {
    Value floor = intrinsic<LLVM::FFloorOp>(x);
    Value up = compare(BinaryOperator::Ge, apply<arith::SubFOp>(x, floor), number(0.5));
    Value rounded = select(up, apply<arith::AddFOp>(floor, number(1)), floor);
    Value most = number(0x1p63), least = number(-0x1p63);
    rounded = select(compare(BinaryOperator::Ge, rounded, most), most, rounded);
    rounded = select(compare(BinaryOperator::Le, rounded, least), least, rounded);
    return select(isNan(x, x), number(0), rounded);
  }

  // As DML truncates: after adding 2^-53 to the magnitude. Infinite and NaN numbers stay.
  Value truncate(Value x) {
    Value magnitude = apply<arith::AddFOp>(intrinsic<LLVM::FAbsOp>(x), number(0x1p-53));
    return vectors_.create<LLVM::CopySignOp>(x.getType(), intrinsic<LLVM::FFloorOp>(magnitude), x);
  }

  // Truncated. Of integers 0 if the divisor is 0; it is made 1 in lanes where the hardware's
  // division would fail: for the divisors 0 and -1.
  Value quotient(Value a, Value b) {
    if (isFloating())
      return truncate(apply<arith::DivFOp>(a, b));
    Value isZero = isEqual(b, 0);
    Value divisor = select(isZero, number(1), b);
    if (!isSigned())
      return select(isZero, number(0), apply<arith::DivUIOp>(a, divisor));
    Value isMinusOne = isEqual(b, -1);
    divisor = select(isMinusOne, number(1), divisor);
    Value result = apply<arith::DivSIOp>(a, divisor);
    return select(isZero, number(0), select(isMinusOne, negate(a), result));
  }

  Value remainder(Value a, Value b) {
    Value taken = apply<arith::MulFOp, arith::MulIOp>(quotient(a, b), b);
    Value rest = apply<arith::SubFOp, arith::SubIOp>(a, taken);
    return isFloating() ? rest : select(isEqual(b, 0), number(0), rest);
  }

  // By squaring: one step for each bit of the exponent.
  Value integerPower(Value base, Value exponent) {
    auto isOdd = [&](Value x) {
      return compare(BinaryOperator::Ne, apply<arith::AndIOp>(x, number(1)), number(0));
    };
    State state = {number(1), base, exponent};
    Value first = vectors_.integer(0), last = vectors_.integer(8 * byteSize(cells_));
    vectors_.forLoop(first, last, 1, state, [&](Value, State &current) {
      Value multiplied = apply<arith::MulIOp>(current[0], current[1]);
      current[0] = select(isOdd(current[2]), multiplied, current[0]);
      current[1] = apply<arith::MulIOp>(current[1], current[1]);
      current[2] = apply<arith::ShRUIOp>(current[2], number(1));
    });
    if (!isSigned())
      return state[0];
    // Truncated reciprocals: those of 1 and -1 are themselves, all others 0.
    Value ofMinusOne = select(isOdd(exponent), number(-1), number(1));
    Value reciprocal = select(isEqual(base, -1), ofMinusOne, number(0));
    reciprocal = select(isEqual(base, 1), number(1), reciprocal);
    return select(isLess(exponent, number(0)), reciprocal, state[0]);
  }

  // `b` where it is better than `a`, else `a`; NaN where either is NaN. NaN is never better, so that only
  // that of `b` is looked for: in a loop over cells b, aggregates don't wait for that. If the result were `b`
  // there, LLVM would join both comparisons, and aggregates wait for both.
  Value extreme(BinaryOperator better, Value a, Value b) {
    Value best = select(compare(better, b, a), b, a);
    if (!isFloating())
      return best;
    return select(isNan(b, b), number(std::numeric_limits<double>::quiet_NaN()), best);
  }

  // An operator on bits: of the 64-bit integers that doubles are truncated to, saturated, NaN as 0.
  Value onIntegers(BinaryOperator op, Value a, Value b) {
    auto integer = [&](Value x) { return vectors_.convert(truncate(x), cells_, ElementType::I64); };
    Value left = integer(a), right = integer(b);
    return vectors_.convert(Cells(vectors_, ElementType::I64).binary(op, left, right),
                            ElementType::I64, cells_);
  }

  // Only the lowest six bits of the distance are used. A distance beyond the width leaves 0, and to
  // the right copies of the sign.
  Value shift(BinaryOperator op, Value a, Value distance) {
    double width = 8 * byteSize(cells_);
    Value count = apply<arith::AndIOp>(distance, number(63));
    Value fits = compare(BinaryOperator::Lt, count, number(width));
    if (op == BinaryOperator::BitwShiftR && isSigned())
      return apply<arith::ShRSIOp>(a, select(fits, count, number(width - 1)));
    count = select(fits, count, number(0));
    Value shifted = op == BinaryOperator::BitwShiftR ? apply<arith::ShRUIOp>(a, count)
                                                     : apply<arith::ShLIOp>(a, count);
    return select(fits, shifted, number(0));
  }

  VectorBuilder &vectors_;
  ElementType cells_;
  Type register_;
};

} // namespace

// The type that an operator on `cells` computes in. Cells of 16 bits are computed in f32 and
// rounded after each operator; f32 operators without instructions or functions of their own are
// computed in doubles and rounded.
template <typename Operator> static ElementType computedIn(Operator op, ElementType cells) {
  if (!isFloat(cells) || cells == ElementType::F64)
    return cells;
  return singlePrecisionOf(op) == SinglePrecision::Widened ? ElementType::F64 : ElementType::F32;
}

Value codegen::emitUnary(VectorBuilder &vectors, UnaryOperator op, Value x, ElementType cells) {
  ElementType type = computedIn(op, cells);
  x = vectors.round(x, vectors.registerType(type));
  return vectors.convert(Cells(vectors, type).unary(op, x), type, cells);
}

Value codegen::emitBinary(VectorBuilder &vectors, BinaryOperator op, Value a, Value b,
                          ElementType cells) {
  ElementType type = computedIn(op, cells);
  a = vectors.round(a, vectors.registerType(type));
  b = vectors.round(b, vectors.registerType(type));
  return vectors.convert(Cells(vectors, type).binary(op, a, b), type, cells);
}

Value codegen::emitComparison(VectorBuilder &vectors, BinaryOperator op, Value a, Value b,
                              ElementType cells) {
  return Cells(vectors, cells).compare(op, a, b);
}

static Value emitConstant(VectorBuilder &vectors, plan::ConstantOp constant) {
  ElementType cells = plan::cellsOf(constant);
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return vectors.number(number.getValueAsDouble(), vectors.registerType(cells));
  int64_t number = cast<IntegerAttr>(constant.getValue()).getValue().getSExtValue();
  return vectors.convert(vectors.integers(number), ElementType::I64, cells);
}

Value codegen::emitCell(VectorBuilder &vectors, Operation *op, ValueRange operands) {
  if (auto constant = dyn_cast<plan::ConstantOp>(op))
    return emitConstant(vectors, constant);
  if (isa<plan::IfElseOp>(op))
    return vectors.select(vectors.isTrue(operands[0]), operands[1], operands[2]);
  ElementType cells = plan::cellsOf(op->getOperand(0)), result = plan::cellsOf(op->getResult(0));
  Value value = operands[0];
  if (auto unary = dyn_cast<plan::UnaryOp>(op)) {
    value = emitUnary(vectors, unary.getKind(), value, cells);
  } else if (auto binary = dyn_cast<plan::BinaryOp>(op)) {
    // pow gives x*x for an exponent of 2, so a literal 2 may skip the call without changing bits.
    bool isSquare = schedule::isSquare(binary);
    value = emitBinary(vectors, isSquare ? BinaryOperator::Mul : binary.getKind(), value,
                       isSquare ? value : operands[1], cells);
  }
  return vectors.convert(value, cells, result); // of plan.cast, too
}
