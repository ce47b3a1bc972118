// Parsing, printing, builders, verifiers and folds of the `tok` operations; control flow is in
// TokControlOps.cpp.
#include "ir/tok/OperatorNames.h"
#include "ir/tok/TokDialect.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

#define GET_OP_CLASSES
#include "TokOps.cpp.inc"

//===- constant ------------------------------------------------------------------------------===//

void ConstantOp::build(OpBuilder &builder, OperationState &state, int64_t value) {
  build(builder, state, builder.getI64Type(), builder.getI64IntegerAttr(value));
}
void ConstantOp::build(OpBuilder &builder, OperationState &state, double value) {
  build(builder, state, builder.getF64Type(), builder.getF64FloatAttr(value));
}
void ConstantOp::build(OpBuilder &builder, OperationState &state, bool value) {
  build(builder, state, builder.getI1Type(), builder.getBoolAttr(value));
}
void ConstantOp::build(OpBuilder &builder, OperationState &state, StringRef text) {
  build(builder, state, StringType::get(builder.getContext()), builder.getStringAttr(text));
}
ConstantOp ConstantOp::none(OpBuilder &builder, Location location) {
  return builder.create<ConstantOp>(location, builder.getNoneType(), builder.getUnitAttr());
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantOp::verify() {
  Type type = getType();
  if (auto typed = dyn_cast<TypedAttr>(getValue()); typed && isNumber(type))
    return typed.getType() == type ? success() : emitOpError("value and result type differ");
  if (isa<StringAttr>(getValue()) && isa<StringType>(type))
    return success();
  if (isa<UnitAttr>(getValue()) && isa<NoneType>(type))
    return success();
  return emitOpError("a literal is a number, a boolean, a string or unit");
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  Attribute value;
  if (parser.parseAttribute(value) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  Type type;
  if (auto typed = dyn_cast<TypedAttr>(value); typed && isNumber(typed.getType()))
    type = typed.getType();
  else if (isa<UnitAttr>(value))
    type = parser.getBuilder().getNoneType();
  else
    type = StringType::get(parser.getContext());
  // Parses an optional colon and type, as after a string.
  Type written;
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(written))
    return failure();
  result.addAttribute(getValueAttrName(result.name), value);
  result.addTypes(written ? written : type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getValue();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  if (isa<StringType>(getType()) || isa<NoneType>(getType()))
    printer << " : " << getType();
}

//===- cell operators ------------------------------------------------------------------------===//

static LogicalResult emitWrongCells(Operation *op, std::string_view name, Type array) {
  return op->emitOpError("'") << StringRef(name.data(), name.size())
                              << "' is not of cells of this type: convert " << array
                              << " by tok.cast";
}

void UnaryOp::build(OpBuilder &builder, OperationState &state, UnaryOperator kind, Value operand) {
  build(builder, state, unaryResultType(kind, operand.getType()),
        builder.getI32IntegerAttr(static_cast<int32_t>(kind)), operand);
}
LogicalResult UnaryOp::verify() {
  Type inferred = unaryResultType(getKind(), getOperand().getType());
  if (!inferred && isArray(getOperand().getType()))
    return emitWrongCells(*this, mnemonic(getKind()), getOperand().getType());
  if (!isCellResult(resultOf(getKind()), inferred, getType()))
    return emitOpError("result type does not follow from the operand's");
  return success();
}
// Only integers (overflow) and scalars of unknown type can fail.
Speculation::Speculatability UnaryOp::getSpeculatability() {
  Type type = getOperand().getType();
  bool safe = isArray(type) || type.isF64() || type.isInteger(1);
  return safe ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

void BinaryOp::build(OpBuilder &builder, OperationState &state, BinaryOperator kind, Value lhs,
                     Value rhs, bool oneRepeated) {
  build(builder, state, binaryResultType(kind, lhs.getType(), rhs.getType()),
        builder.getI32IntegerAttr(static_cast<int32_t>(kind)), lhs, rhs,
        oneRepeated ? builder.getUnitAttr() : UnitAttr());
}
LogicalResult BinaryOp::verify() {
  Type lhs = getLhs().getType(), rhs = getRhs().getType();
  if (isArray(lhs) && isArray(rhs) && !broadcastType(lhs, rhs))
    return emitOpError("arrays of one operation have the same element type, not ")
           << lhs << " and " << rhs;
  Type array = isArray(lhs) ? lhs : rhs;
  std::optional<ElementType> cells = isArray(array) ? elementTypeOf(array) : ElementType::F64;
  if (!cells || !takes(getKind(), *cells))
    return emitWrongCells(*this, mnemonic(getKind()), array);
  if (!isCellResult(resultOf(getKind()), binaryResultType(getKind(), lhs, rhs), getType()))
    return emitOpError("result type does not follow from the operands'");
  if (getOneRepeated() && !(isArray(lhs) && isArray(rhs)))
    return emitOpError("one_repeated is of two arrays");
  return success();
}
// Two arrays fail if their sizes differ, two integers if the result overflows.
Speculation::Speculatability BinaryOp::getSpeculatability() {
  Type lhs = getLhs().getType(), rhs = getRhs().getType();
  auto harmless = [](Type type) { return type.isF64() || type.isInteger(1); };
  bool arrayWithScalar = (isArray(lhs) && isNumber(rhs)) || (isNumber(lhs) && isArray(rhs));
  bool safe =
      arrayWithScalar || (isNumber(lhs) && isNumber(rhs) && (harmless(lhs) || harmless(rhs)));
  return safe ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

LogicalResult IfElseOp::verify() {
  Type expected =
      ifElseResultType(getCondition().getType(), getThen().getType(), getOtherwise().getType());
  if (expected != getType())
    return emitOpError("result type does not follow from the operands'");
  if (getOneWhole() && !isArray(getType()))
    return emitOpError("one_whole is of arrays");
  return success();
}

//===- arrays --------------------------------------------------------------------------------===//

void AggregateOp::build(OpBuilder &builder, OperationState &state, AggregateKind kind,
                        AggregateDirection direction, Value operand) {
  Type total =
      isArrayOfIntegers(operand.getType()) ? Type(builder.getI64Type()) : builder.getF64Type();
  Type type = direction == AggregateDirection::Full ? total : operand.getType();
  build(builder, state, type, builder.getI32IntegerAttr(static_cast<int32_t>(kind)),
        builder.getI32IntegerAttr(static_cast<int32_t>(direction)), operand);
}
LogicalResult AggregateOp::verify() {
  bool full = getDirection() == AggregateDirection::Full;
  bool index = isIndex(getKind());
  if (full == isArray(getType()))
    return emitOpError("a full aggregate is a scalar, one over rows or columns an array");
  ElementType cells = *elementTypeOf(getOperand().getType()), result = *elementTypeOf(getType());
  bool isSpread = getKind() == AggregateKind::Mean || getKind() == AggregateKind::Var ||
                  getKind() == AggregateKind::Sd;
  if (!isFloat(cells) && isSpread)
    return emitWrongCells(*this, mnemonic(getKind()), getOperand().getType());
  if (full && result != (isFloat(cells) ? ElementType::F64 : ElementType::I64))
    return emitOpError("a full aggregate of floats is an f64, one of integers an i64");
  bool mayBeI64 = index || !isFloat(cells);
  bool needsI64 = cells == ElementType::Bool && getKind() != AggregateKind::Min &&
                  getKind() != AggregateKind::Max;
  if (!full && !(result == cells && !needsI64) && !(result == ElementType::I64 && mayBeI64))
    return emitOpError("an aggregate of rows or columns has the element type of its operand; those "
                       "of integers and indices may be i64, sums and counts of i1 are");
  if (!full && cast<RankedTensorType>(getType()).getRank() !=
                   cast<RankedTensorType>(getOperand().getType()).getRank())
    return emitOpError("an aggregate of rows or columns has the rank of its operand");
  if (getDirection() == AggregateDirection::Column && isTensor(getOperand().getType()))
    return emitOpError("columns are aggregated of matrices only; of other arrays `row`, along the "
                       "last dimension");
  if (index && getDirection() != AggregateDirection::Row)
    return emitOpError("indices of extremes are of rows");
  return success();
}

std::optional<AggregateKind> CallNativeOp::getCumulativeKind() {
  return llvm::StringSwitch<std::optional<AggregateKind>>(getNative())
      .Case("cumsum", AggregateKind::Sum)
      .Case("cumprod", AggregateKind::Prod)
      .Case("cummin", AggregateKind::Min)
      .Case("cummax", AggregateKind::Max)
      .Default(std::nullopt);
}

LogicalResult MatmulOp::verify() {
  Type lhs = getLhs().getType();
  if (cast<RankedTensorType>(lhs).getRank() < 2)
    return emitOpError("the operands have at least two dimensions");
  if (getRhs().getType() != lhs ||
      cast<RankedTensorType>(getType()).getRank() != cast<RankedTensorType>(lhs).getRank())
    return emitOpError(
        "operands and result have the same rank, the operands the same element type");
  ElementType cells = *elementTypeOf(lhs), result = *elementTypeOf(getType());
  bool isWider = isSignedInteger(result) && isInteger(cells) && byteSize(result) > byteSize(cells);
  if (cells == ElementType::Bool || (result != cells && !isWider))
    return emitOpError("the result has the operands' element type, or a wider signed one for "
                       "integers; i1 is converted by tok.cast");
  return success();
}

LogicalResult TransposeOp::verify() {
  if (cast<RankedTensorType>(getOperand().getType()).getRank() < 2)
    return emitOpError("the operand has at least two dimensions");
  return getType() == getOperand().getType() ? success()
                                             : emitOpError("the result has the operand's type");
}

LogicalResult RowsOp::verify() {
  return isTensor(getOperand().getType())
             ? emitOpError("an array of another rank than 2 has no rows: use tok.size")
             : success();
}
LogicalResult ColumnsOp::verify() {
  return isTensor(getOperand().getType())
             ? emitOpError("an array of another rank than 2 has no columns: use tok.size")
             : success();
}

LogicalResult SizeOp::verify() {
  int64_t rank = cast<RankedTensorType>(getOperand().getType()).getRank();
  if (static_cast<int64_t>(getDimension()) < 1 || static_cast<int64_t>(getDimension()) > rank)
    return emitOpError("there is no dimension ")
           << static_cast<int64_t>(getDimension()) << ": they count from 1 to " << rank;
  return success();
}

// The type of the literal: that of its cells with dynamic sizes.
static RankedTensorType typeOfLiteral(ShapedType cells) {
  SmallVector<int64_t> dynamic(cells.getRank(), ShapedType::kDynamic);
  return RankedTensorType::get(dynamic, cells.getElementType());
}

LogicalResult LiteralOp::verify() {
  if (!isa<DenseFPElementsAttr, DenseIntElementsAttr>(getCells()))
    return emitOpError("the cells are written as dense<...> of numbers");
  return getType() == typeOfLiteral(getCells().getShapedType())
             ? success()
             : emitOpError("the result has the rank and element type of the cells, without sizes");
}

ParseResult LiteralOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr cells;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseAttribute(cells, "cells", result.attributes) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  if (!isa<RankedTensorType>(cells.getShapedType()))
    return parser.emitError(place, "expected cells of type tensor<...>");
  result.addTypes(typeOfLiteral(cells.getShapedType()));
  return success();
}

void LiteralOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCells();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"cells"});
}

static LogicalResult verifySizes(Operation *op, size_t count, Type operand, Type result) {
  auto shape = cast<RankedTensorType>(result);
  if (static_cast<int64_t>(count) != shape.getRank())
    return op->emitOpError("as many sizes as the result has dimensions expected: ")
           << shape.getRank();
  return shape.getElementType() == cast<RankedTensorType>(operand).getElementType()
             ? success()
             : op->emitOpError("operand and result have the same element type");
}

LogicalResult ViewOp::verify() {
  return verifySizes(*this, getSizes().size(), getOperand().getType(), getType());
}

LogicalResult ExpandOp::verify() {
  if (getType() != getOperand().getType())
    return emitOpError("operand and result have the same type");
  return verifySizes(*this, getSizes().size(), getOperand().getType(), getType());
}

LogicalResult AssumeOp::verify() {
  return verifySizes(*this, getSizes().size(), getType(), getType());
}

LogicalResult CastOp::verify() {
  Type from = getOperand().getType(), to = getType();
  if (isArray(from) && isArray(to)) {
    if (cast<RankedTensorType>(from).getRank() != cast<RankedTensorType>(to).getRank())
      return emitOpError("changes the element type of an array, not its rank: use tok.view");
    return success();
  }
  if (isTensor(to))
    return emitOpError("a scalar becomes a matrix of one cell: use tok.view for another rank");
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (auto inner = getOperand().getDefiningOp<TransposeOp>())
    return inner.getOperand();
  return {};
}

Speculation::Speculatability CallNativeOp::getSpeculatability() {
  const NativeRow *native = nativeRowOf(*this);
  return native && native->effect == NativeEffect::Total ? Speculation::Speculatable
                                                         : Speculation::NotSpeculatable;
}

// An operation without a fixed seed draws different numbers each time, so memory effects keep it
// from being merged, removed or moved.
template <typename Op>
static void
seededEffects(Op op, SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  auto seed = op.getSeed().template getDefiningOp<ConstantOp>();
  if (seed && cast<IntegerAttr>(seed.getValue()).getInt() != -1)
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}
void CallNativeOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  const NativeRow *row = nativeRowOf(getOperation());
  if (!row || row->effect == NativeEffect::Total || row->effect == NativeEffect::Fallible)
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}
void RandOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  seededEffects(*this, effects);
}
void SampleOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  seededEffects(*this, effects);
}
