#include "codegen/CellEmission.h"

#include "codegen/IntegerEmission.h"
#include "schedule/Instructions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using Predicate = arith::CmpFPredicate;

namespace {

// Short names for the operations that cell operators are composed of.
class Cells {
public:
  Cells(VectorBuilder &vectors, Type cells)
      : vectors_(vectors), builder_(vectors.builder()), cells_(cells) {}

  Value number(double value) { return vectors_.number(value, cells_); }
  Value compare(Predicate predicate, Value a, Value b) {
    return builder_.create<arith::CmpFOp>(location(), predicate, a, b);
  }
  Value select(Value mask, Value yes, Value no) { return vectors_.select(mask, yes, no); }
  Value truth(Value mask) { return select(mask, number(1), number(0)); }
  Value isTrue(Value x) { return compare(Predicate::UNE, x, number(0)); }
  Value isNan(Value x) { return compare(Predicate::UNO, x, x); }
  Value nan() { return number(std::numeric_limits<double>::quiet_NaN()); }
  template <typename Op> Value arithmetic(Value a, Value b) {
    return builder_.create<Op>(location(), a, b);
  }
  template <typename Op> Value intrinsic(Value x) {
    return builder_.create<Op>(location(), x.getType(), x);
  }
  Value copySign(Value magnitude, Value sign) {
    return builder_.create<LLVM::CopySignOp>(location(), magnitude.getType(), magnitude, sign);
  }
  Value negate(Value x) { return builder_.create<arith::NegFOp>(location(), x); }
  Value call(std::string_view mnemonic, ValueRange operands) {
    auto vector = cast<VectorType>(operands.front().getType());
    std::string function = "tokamak_vector_" + std::string(mnemonic);
    if (vector.getElementType().isF32())
      return vectors_.callMath(function + "_f32x" + std::to_string(vector.getNumElements()),
                               operands);
    // Functions of doubles exist for eight.
    if (vector.getNumElements() > VectorBuilder::lanes)
      return callForHalves(function, operands);
    return vectors_.callMath(function, operands);
  }
  Value callForHalves(StringRef function, ValueRange operands) {
    static constexpr int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    Value results[2];
    for (auto [half, result] : llvm::enumerate(results)) {
      ArrayRef<int64_t> own =
          ArrayRef(all).slice(half * VectorBuilder::lanes, VectorBuilder::lanes);
      SmallVector<Value> halves;
      for (Value operand : operands)
        halves.push_back(vectors_.shuffle(operand, operand, own));
      result = vectors_.callMath(function, halves);
    }
    return vectors_.shuffle(results[0], results[1], all);
  }
  Value sign(Value x);
  Value roundHalfUp(Value x);
  Value truncatedQuotient(Value a, Value b);
  Value truncatedRemainder(Value a, Value b);
  Value bits(Value x);
  Value numbers(Value integers, Type type);
  template <typename Op> Value onBits(Value a, Value b) {
    return numbers(arithmetic<Op>(bits(a), bits(b)), a.getType());
  }
  template <typename Op> Value shift(Value a, Value distance);
  Value extreme(Predicate better, Value a, Value b);

private:
  Location location() { return builder_.getUnknownLoc(); }
  VectorBuilder &vectors_;
  OpBuilder &builder_;
  Type cells_;
};

Value Cells::sign(Value x) {
  Value negative = select(compare(Predicate::OLT, x, number(0)), number(-1), x);
  return select(compare(Predicate::OGT, x, number(0)), number(1), negative);
}

Value Cells::roundHalfUp(Value x) {
  Value floor = intrinsic<LLVM::FFloorOp>(x);
  Value up = compare(Predicate::OGE, arithmetic<arith::SubFOp>(x, floor), number(0.5));
  Value rounded = select(up, arithmetic<arith::AddFOp>(floor, number(1)), floor);
  rounded = select(compare(Predicate::OGE, rounded, number(0x1p63)), number(0x1p63), rounded);
  rounded = select(compare(Predicate::OLE, rounded, number(-0x1p63)), number(-0x1p63), rounded);
  return select(isNan(x), number(0), rounded);
}

// Infinite and NaN quotients pass through unchanged.
Value Cells::truncatedQuotient(Value a, Value b) {
  Value quotient = arithmetic<arith::DivFOp>(a, b);
  Value magnitude = arithmetic<arith::AddFOp>(intrinsic<LLVM::FAbsOp>(quotient), number(0x1p-53));
  return copySign(intrinsic<LLVM::FFloorOp>(magnitude), quotient);
}

Value Cells::truncatedRemainder(Value a, Value b) {
  Value taken = arithmetic<arith::MulFOp>(truncatedQuotient(a, b), b);
  return arithmetic<arith::SubFOp>(a, taken);
}

// The operand of a bitwise operator as integers: truncated as DML does it (after adding 2^-53 to
// the magnitude) and saturated; NaN gives 0.
Value Cells::bits(Value x) {
  Value magnitude = arithmetic<arith::AddFOp>(intrinsic<LLVM::FAbsOp>(x), number(0x1p-53));
  Value truncated = copySign(intrinsic<LLVM::FFloorOp>(magnitude), x);
  Type integers = cast<VectorType>(x.getType()).clone(builder_.getI64Type());
  return builder_
      .create<LLVM::CallIntrinsicOp>(location(), TypeRange(integers), "llvm.fptosi.sat", truncated)
      ->getResult(0);
}

Value Cells::numbers(Value integers, Type type) {
  return builder_.create<arith::SIToFPOp>(location(), type, integers);
}

// Only the lowest six bits of the distance are used.
template <typename Op> Value Cells::shift(Value a, Value distance) {
  Value steps = bits(distance);
  auto lowest =
      DenseElementsAttr::get(cast<VectorType>(steps.getType()), builder_.getI64IntegerAttr(63));
  Value mask = builder_.create<arith::ConstantOp>(location(), lowest);
  return numbers(arithmetic<Op>(bits(a), arithmetic<arith::AndIOp>(steps, mask)), a.getType());
}

// `b` where `better` holds between b and a, else `a`; NaN where either is NaN.
Value Cells::extreme(Predicate better, Value a, Value b) {
  Value best = select(compare(better, b, a), b, a);
  return select(compare(Predicate::UNO, a, b), nan(), best);
}

} // namespace

// f32 operators without instructions or functions of their own are computed in doubles and rounded.
template <typename Operator> static bool isWidened(Type cells, Operator op) {
  return cells.isF32() && singlePrecisionOf(op) == SinglePrecision::Widened;
}

static Type registerOf(Value vector) { return cast<VectorType>(vector.getType()).getElementType(); }

Value codegen::emitUnary(VectorBuilder &vectors, UnaryOperator op, Value x) {
  if (Type type = registerOf(x); isWidened(type, op))
    return vectors.round(emitUnary(vectors, op, vectors.extend(x)), type);
  Cells cells(vectors, registerOf(x));
  switch (op) {
  case UnaryOperator::Neg:
    return cells.negate(x);
  case UnaryOperator::Not:
    return cells.truth(cells.compare(Predicate::OEQ, x, cells.number(0)));
  case UnaryOperator::Abs:
    return cells.intrinsic<LLVM::FAbsOp>(x);
  case UnaryOperator::Sign:
    return cells.sign(x);
  case UnaryOperator::Sqrt:
    return cells.intrinsic<LLVM::SqrtOp>(x);
  case UnaryOperator::Round:
    return cells.roundHalfUp(x);
  case UnaryOperator::Floor:
    return cells.intrinsic<LLVM::FFloorOp>(x);
  case UnaryOperator::Ceil:
    return cells.intrinsic<LLVM::FCeilOp>(x);
  case UnaryOperator::IsNan:
    return cells.truth(cells.isNan(x));
  case UnaryOperator::IsInfinite: {
    Value infinity = cells.number(std::numeric_limits<double>::infinity());
    return cells.truth(cells.compare(Predicate::OEQ, cells.intrinsic<LLVM::FAbsOp>(x), infinity));
  }
#define TOKAMAK_FUNCTION(Name, ...) case UnaryOperator::Name:
#include "base/CellOperators.def"
    return cells.call(mnemonic(op), x);
  }
  llvm_unreachable("all operators are listed");
}

Value codegen::emitBinary(VectorBuilder &vectors, BinaryOperator op, Value a, Value b) {
  if (Type type = registerOf(a); isWidened(type, op))
    return vectors.round(emitBinary(vectors, op, vectors.extend(a), vectors.extend(b)), type);
  Cells cells(vectors, registerOf(a));
  auto comparison = [&](Predicate predicate) {
    return cells.truth(cells.compare(predicate, a, b));
  };
  auto logic = [&](auto combine) { return cells.truth(combine(cells.isTrue(a), cells.isTrue(b))); };
  switch (op) {
  case BinaryOperator::Add:
    return cells.arithmetic<arith::AddFOp>(a, b);
  case BinaryOperator::Sub:
    return cells.arithmetic<arith::SubFOp>(a, b);
  case BinaryOperator::Mul:
    return cells.arithmetic<arith::MulFOp>(a, b);
  case BinaryOperator::Div:
    return cells.arithmetic<arith::DivFOp>(a, b);
  case BinaryOperator::Pow:
    return cells.call(mnemonic(op), {a, b});
  case BinaryOperator::Mod:
    return cells.truncatedRemainder(a, b);
  case BinaryOperator::IntDiv:
    return cells.truncatedQuotient(a, b);
  case BinaryOperator::Min:
    return cells.extreme(Predicate::OLT, a, b);
  case BinaryOperator::Max:
    return cells.extreme(Predicate::OGT, a, b);
  case BinaryOperator::Eq:
    return comparison(Predicate::OEQ);
  case BinaryOperator::Ne:
    return comparison(Predicate::UNE);
  case BinaryOperator::Lt:
    return comparison(Predicate::OLT);
  case BinaryOperator::Le:
    return comparison(Predicate::OLE);
  case BinaryOperator::Gt:
    return comparison(Predicate::OGT);
  case BinaryOperator::Ge:
    return comparison(Predicate::OGE);
  case BinaryOperator::And:
    return logic([&](Value p, Value q) { return cells.arithmetic<arith::AndIOp>(p, q); });
  case BinaryOperator::Or:
    return logic([&](Value p, Value q) { return cells.arithmetic<arith::OrIOp>(p, q); });
  case BinaryOperator::Xor:
    return logic([&](Value p, Value q) { return cells.arithmetic<arith::XOrIOp>(p, q); });
  case BinaryOperator::BitwAnd:
    return cells.onBits<arith::AndIOp>(a, b);
  case BinaryOperator::BitwOr:
    return cells.onBits<arith::OrIOp>(a, b);
  case BinaryOperator::BitwXor:
    return cells.onBits<arith::XOrIOp>(a, b);
  case BinaryOperator::BitwShiftL:
    return cells.shift<arith::ShLIOp>(a, b);
  case BinaryOperator::BitwShiftR:
    return cells.shift<arith::ShRSIOp>(a, b);
  }
  llvm_unreachable("all operators are listed");
}

static std::optional<double> constantOf(Value value) {
  auto constant = value.getDefiningOp<plan::ConstantOp>();
  if (!constant)
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return number.getValueAsDouble();
  return doubleOf(plan::cellsOf(value),
                  cast<IntegerAttr>(constant.getValue()).getValue().getSExtValue());
}

Type codegen::cellType(VectorBuilder &vectors, Value cell) {
  return vectors.registerType(plan::cellsOf(cell));
}

Value codegen::emitScalar(VectorBuilder &vectors, Value scalars, unsigned index,
                          ElementType cells) {
  return vectors.splat(vectors.loadCell(scalars, vectors.integer(index), cells));
}

// Cells of 16 bits are computed in f32 and rounded after each operator.
static Value inCells(VectorBuilder &vectors, Value value, ElementType cells) {
  return isHalf(cells) ? vectors.convert(value, ElementType::F32, cells) : value;
}

static Value emitOperator(VectorBuilder &vectors, Operation *op, ElementType cells,
                          ValueRange operands) {
  if (auto unary = dyn_cast<plan::UnaryOp>(op))
    return isFloat(cells)
               ? inCells(vectors, emitUnary(vectors, unary.getKind(), operands[0]), cells)
               : emitIntegerUnary(vectors, unary.getKind(), cells, operands[0]);
  auto binary = cast<plan::BinaryOp>(op);
  BinaryOperator kind = binary.getKind();
  Value right = operands[1];
  // pow gives x*x for an exponent of 2, so a literal 2 may skip the call without changing bits.
  if (schedule::isSquare(binary)) {
    kind = BinaryOperator::Mul;
    right = operands[0];
  }
  return isFloat(cells) ? inCells(vectors, emitBinary(vectors, kind, operands[0], right), cells)
                        : emitIntegerBinary(vectors, kind, cells, operands[0], right);
}

static Value emitConstant(VectorBuilder &vectors, plan::ConstantOp constant) {
  ElementType cells = plan::cellsOf(constant);
  if (isFloat(cells))
    return vectors.number(*constantOf(constant), vectors.registerType(cells));
  int64_t number = cast<IntegerAttr>(constant.getValue()).getValue().getSExtValue();
  return vectors.convert(vectors.integers(number), ElementType::I64, cells);
}

Value codegen::emitCell(VectorBuilder &vectors, Operation *op, ValueRange values) {
  SmallVector<Value> operands(values);
  ElementType result = plan::cellsOf(op->getResult(0));
  if (auto cast = dyn_cast<plan::CastOp>(op))
    return vectors.convert(operands[0], plan::cellsOf(cast.getOperand()), result);
  if (isa<plan::IfElseOp>(op))
    return vectors.select(vectors.isTrue(operands[0]), operands[1], operands[2]);
  if (auto constant = dyn_cast<plan::ConstantOp>(op))
    return emitConstant(vectors, constant);
  ElementType cells = plan::cellsOf(op->getOperand(0));
  return vectors.convert(emitOperator(vectors, op, cells, operands), cells, result);
}
