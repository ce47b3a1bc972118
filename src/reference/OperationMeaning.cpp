#include "reference/OperationMeaning.h"

#include "base/Error.h"
#include "ir/tok/TokDialect.h"
#include "reference/AggregateMeaning.h"
#include "reference/CellMeaning.h"
#include "reference/IndexMeaning.h"
#include "reference/NamedMeaning.h"
#include "reference/ScalarMeaning.h"
#include "reference/TensorMeaning.h"
#include "runtime/ScalarOperations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <fmt/format.h>

namespace tokamak::reference {
namespace {

using runtime::Value;
using Operands = std::span<const Value>;

Value constant(tok::ConstantOp op) {
  mlir::Attribute literal = op.getValue();
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(literal))
    return number.getValueAsDouble();
  if (auto text = mlir::dyn_cast<mlir::StringAttr>(literal))
    return text.getValue().str();
  if (mlir::isa<mlir::UnitAttr>(literal))
    return Value();
  auto integer = mlir::cast<mlir::IntegerAttr>(literal);
  if (op.getType().isInteger(1))
    return integer.getValue().getBoolValue();
  return static_cast<int64_t>(integer.getInt());
}

Value literal(tok::LiteralOp op) {
  auto cells = mlir::cast<mlir::DenseFPElementsAttr>(op.getCells());
  runtime::ArrayPointer array = runtime::Array::create(runtime::Shape(cells.getType().getShape()));
  double *next = array->mutableData();
  for (const llvm::APFloat &cell : cells.getValues<llvm::APFloat>())
    *next++ = cell.convertToDouble();
  return array;
}

Value sizeOfDimension(const Value &value, uint64_t dimension) {
  return value.array()->shape()[static_cast<int>(dimension) - 1];
}

// Casts `value` to the type.
Value cast(const Value &value, mlir::Type type) {
  if (type.isInteger(1))
    return castToBoolean(value);
  if (type.isInteger(64))
    return castToInteger(value);
  if (type.isF64())
    return castToDouble(value);
  if (mlir::isa<tok::StringType>(type))
    return castToScalar(value).asText();
  if (mlir::isa<tok::ScalarType>(type))
    return castToScalar(value);
  if (tok::isArray(type))
    return castToMatrix(value);
  if (mlir::isa<tok::ListType>(type))
    return castToList(value);
  if (mlir::isa<tok::FrameType>(type))
    return castToFrame(value);
  throw Error(
      fmt::format("{} cannot be cast to {}", value.describe(), tok::describeType(type).str()));
}

// A scalar ifelse with an integer branch and a double branch has a double result.
Value ifElseOfType(tok::IfElseOp op, Operands operands) {
  IfElseSizes sizes = op.getEqualSizes() ? IfElseSizes::Equal : IfElseSizes::Broadcast;
  Value result = ifElse(operands[0], operands[1], operands[2], sizes);
  return op.getType().isF64() ? Value(result.asDouble()) : result;
}

Value assume(tok::AssumeOp op, const Value &value) {
  const runtime::Shape &shape = value.array()->shape();
  llvm::ArrayRef<int64_t> sizes = op.getSizes();
  bool holds = shape.rank() == static_cast<int>(sizes.size());
  for (int i = 0; holds && i < shape.rank(); ++i)
    holds = sizes[i] < 0 || sizes[i] == shape[i];
  if (!holds)
    throw Error(fmt::format("the array is {}, which is not what was assumed", shape.text()));
  return value;
}

std::vector<Value> callNative(std::string_view name, size_t resultCount, Operands operands,
                              runtime::ExecutionContext &context) {
  const runtime::Native *native = runtime::findNative(name);
  if (!native)
    internalError(fmt::format("no native '{}'", name));
  // The native may overwrite operands that it owns alone; the originals keep a reference to the
  // arrays, so they stay unchanged.
  std::vector<Value> copies(operands.begin(), operands.end()), results(resultCount);
  native->function(context, copies, results);
  for (Value &result : results)
    if (result.isArray())
      result = runtime::Array::asDense(result.array());
  return results;
}

std::vector<Value> named(tok::NativeOpInterface op, Operands operands,
                         runtime::ExecutionContext &context) {
  std::string_view name = op.getNativeName();
  if (Meaning *meaning = findMeaning(name))
    return {meaning(operands)};
  return callNative(name, op->getNumResults(), operands, context);
}

bool isSingle(mlir::Type type) {
  auto array = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return array && array.getElementType().isF32();
}

std::vector<Value> computedInDoubles(mlir::Operation &operation, Operands operands,
                                     runtime::ExecutionContext &context) {
  using Results = std::vector<Value>;
  return llvm::TypeSwitch<mlir::Operation *, Results>(&operation)
      .Case([&](tok::ConstantOp op) { return Results{constant(op)}; })
      .Case([&](tok::UndefOp op) { return Results{runtime::Undefined{op.getVariable().str()}}; })
      .Case([&](tok::UnaryOp op) { return Results{unary(op.getKind(), operands[0])}; })
      .Case([&](tok::BinaryOp op) {
        BinarySizes sizes = op.getLeftSizes() ? BinarySizes::Left : BinarySizes::Broadcast;
        return Results{binary(op.getKind(), operands[0], operands[1], sizes)};
      })
      .Case([&](tok::IfElseOp op) { return Results{ifElseOfType(op, operands)}; })
      .Case([&](tok::ConcatOp) { return Results{concat(operands[0], operands[1])}; })
      .Case([&](tok::CastOp op) { return Results{cast(operands[0], op.getType())}; })
      .Case([&](tok::AggregateOp op) {
        return Results{aggregate(op.getKind(), op.getDirection(), operands[0])};
      })
      .Case([&](tok::RowsOp) { return Results{rows(operands[0])}; })
      .Case([&](tok::ColumnsOp) { return Results{columns(operands[0])}; })
      .Case([&](tok::LengthOp) { return Results{length(operands[0])}; })
      .Case(
          [&](tok::SizeOp op) { return Results{sizeOfDimension(operands[0], op.getDimension())}; })
      .Case([&](tok::LiteralOp op) { return Results{literal(op)}; })
      .Case([&](tok::AssumeOp op) { return Results{assume(op, operands[0])}; })
      .Case([&](tok::BarrierOp) { return Results(); })
      .Case([&](tok::NativeOpInterface op) { return named(op, operands, context); })
      .Default([](mlir::Operation *op) -> Results {
        internalError(fmt::format("the reference has no meaning for '{}'",
                                  op->getName().getStringRef().str()));
      });
}

} // namespace

std::vector<Value> meaningOf(mlir::Operation &operation, Operands operands,
                             runtime::ExecutionContext &context) {
  for (const Value &operand : operands)
    runtime::checkDefined(operand);
  if (llvm::none_of(operation.getResultTypes(), isSingle))
    return computedInDoubles(operation, operands, context);
  // These operations only move cells, which are already rounded.
  if (mlir::isa<tok::SliceOp, tok::TransposeOp, tok::ViewOp, tok::ExpandOp>(operation))
    return computedInDoubles(operation, operands, context);
  std::vector<Value> rounded(operands.begin(), operands.end());
  auto roundScalar = [](Value &operand) {
    if (operand.isNumber())
      operand = static_cast<double>(static_cast<float>(operand.asDouble()));
  };
  if (auto insert = mlir::dyn_cast<tok::InsertOp>(operation);
      insert && (rounded[1].isNumber() || isSingle(insert.getValue().getType()))) {
    roundScalar(rounded[1]);
    return computedInDoubles(operation, rounded, context);
  }
  if (mlir::isa<tok::BinaryOp, tok::IfElseOp>(operation))
    std::for_each(rounded.begin(), rounded.end(), roundScalar);
  std::vector<Value> results = computedInDoubles(operation, rounded, context);
  for (mlir::OpResult result : operation.getResults())
    if (isSingle(result.getType())) {
      Value &value = results[result.getResultNumber()];
      value = roundedToSingle(value);
    }
  return results;
}

} // namespace tokamak::reference
