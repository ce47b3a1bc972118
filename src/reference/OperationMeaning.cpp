#include "reference/OperationMeaning.h"
#include "reference/DefiningEquations.h"

#include "base/Error.h"
#include "ir/tok/ElementTypes.h"
#include "ir/tok/TokDialect.h"
#include "reference/AggregateMeaning.h"
#include "reference/BodyMeaning.h"
#include "reference/CellMeaning.h"
#include "reference/IndexMeaning.h"
#include "reference/NamedMeaning.h"
#include "reference/ScalarMeaning.h"
#include "reference/TypedMeaning.h"
#include "runtime/values/ScalarOperations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <bit>
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

ElementType elementTypeOf(mlir::Type array) { return *tok::elementTypeOf(array); }

Value literal(tok::LiteralOp op) {
  runtime::Shape shape(op.getCells().getShapedType().getShape());
  ElementType type = elementTypeOf(op.getType());
  if (auto integers = mlir::dyn_cast<mlir::DenseIntElementsAttr>(op.getCells())) {
    runtime::ArrayPointer array = runtime::Array::create(shape, ElementType::I64);
    auto *next = array->mutableCellsAs<int64_t>();
    for (const llvm::APInt &cell : integers.getValues<llvm::APInt>())
      *next++ =
          isSignedInteger(type) ? cell.getSExtValue() : static_cast<int64_t>(cell.getZExtValue());
    return converted(Value(array), ElementType::I64, type);
  }
  runtime::ArrayPointer array = runtime::Array::create(shape);
  double *next = array->mutableData();
  for (llvm::APFloat cell : mlir::cast<mlir::DenseFPElementsAttr>(op.getCells())) {
    bool losesInfo = false;
    cell.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    *next++ = cell.convertToDouble();
  }
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

BinarySizes sizesOf(tok::BinaryOp op) {
  return op.getOneRepeated() ? BinarySizes::OneRepeated : BinarySizes::Broadcast;
}

// A scalar ifelse with an integer branch and a double branch has a double result.
Value ifElseOfType(tok::IfElseOp op, Operands operands) {
  IfElseSizes sizes = op.getOneWhole() ? IfElseSizes::OneWhole : IfElseSizes::Broadcast;
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

std::vector<Value> callNative(const NativeRow &row, size_t resultCount, Operands operands,
                              runtime::ExecutionContext &context) {
  // The native may overwrite operands that it owns alone; the originals keep a reference to the
  // arrays, so they stay unchanged.
  std::vector<Value> copies(operands.begin(), operands.end()), results(resultCount);
  runtime::findNative(row.name)->function(context, copies, results);
  if (auto violation = violationOf(row.kind, operands, results))
    internalError(
        fmt::format("{} does not give what defines its result: {}", row.name, *violation));
  for (Value &result : results)
    if (result.isArray())
      result = runtime::Array::asDense(result.array());
  return results;
}

std::vector<Value> named(tok::NativeOpInterface op, Operands operands,
                         runtime::ExecutionContext &context) {
  const NativeRow *row = tok::nativeRowOf(op);
  if (!row)
    internalError(fmt::format("no native '{}'", op.getNativeName().str()));
  if (Meaning *meaning = findMeaning(row->kind))
    return {meaning(operands)};
  return callNative(*row, op->getNumResults(), operands, context);
}

std::vector<Value> computedInDoubles(mlir::Operation &operation, Operands operands,
                                     runtime::ExecutionContext &context) {
  using Results = std::vector<Value>;
  return llvm::TypeSwitch<mlir::Operation *, Results>(&operation)
      .Case([&](tok::ConstantOp op) { return Results{constant(op)}; })
      .Case([&](tok::UndefOp op) { return Results{runtime::Undefined{op.getVariable().str()}}; })
      .Case([&](tok::UnaryOp op) { return Results{unary(op.getKind(), operands[0])}; })
      .Case([&](tok::BinaryOp op) {
        return Results{binary(op.getKind(), operands[0], operands[1], sizesOf(op))};
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

//===- element types other than f64 ----------------------------------------------------------===//

bool isOfIntegers(const Value &value) {
  return value.isArray() && value.array()->elementType() != ElementType::F64;
}

// Whether the operation only moves cells, to positions that depend on sizes and indices.
bool movesCells(mlir::Operation &operation) {
  const NativeRow *native = tok::nativeRowOf(&operation);
  return native && (native->movedOperands(operation.getNumOperands()) > 0 ||
                    native->errors == NativeErrors::Fill);
}

// Whether this scalar operand goes with cells of arrays, or becomes a cell.
bool isCell(mlir::Operation &operation, size_t operand) {
  if (mlir::isa<tok::InsertOp>(operation))
    return operand == 1;
  if (mlir::isa<tok::FillOp>(operation))
    return operand == 0;
  if (mlir::isa<tok::IfElseOp>(operation))
    return operand > 0;
  if (const NativeRow *native = tok::nativeRowOf(&operation);
      native && native->kind == NativeKind::Windows)
    return operand == 1;
  return mlir::isa<tok::BinaryOp, tok::CbindOp, tok::RbindOp>(operation);
}

// The element type with which scalars of the operation go: that of its arrays.
std::optional<ElementType> typeOfCells(mlir::Operation &operation) {
  if (mlir::isa<tok::BinaryOp>(operation))
    for (mlir::Type type : operation.getOperandTypes())
      if (tok::isArray(type))
        return elementTypeOf(type);
  for (mlir::Type type : operation.getResultTypes())
    if (tok::isArray(type))
      return elementTypeOf(type);
  return std::nullopt;
}

// The results of an operation on doubles, in the types of the operation's results.
std::vector<Value> inResultTypes(mlir::Operation &operation, std::vector<Value> results) {
  for (mlir::OpResult result : operation.getResults()) {
    Value &value = results[result.getResultNumber()];
    if (tok::isArray(result.getType()) && value.isArray() &&
        value.array()->elementType() == ElementType::F64 &&
        elementTypeOf(result.getType()) != ElementType::F64)
      value = converted(value, ElementType::F64, elementTypeOf(result.getType()));
  }
  return results;
}

std::vector<Value> moved(mlir::Operation &operation, std::vector<Value> operands,
                         runtime::ExecutionContext &context) {
  auto type = typeOfCells(operation);
  const NativeRow &native = *tok::nativeRowOf(&operation);
  size_t count =
      native.errors == NativeErrors::Fill ? operands.size() : native.movedOperands(operands.size());
  // Integers that say where cells go.
  for (Value &operand : llvm::MutableArrayRef(operands).drop_front(count))
    if (isOfIntegers(operand))
      operand = converted(operand, operand.array()->elementType(), ElementType::F64);
  if (!type || isFloat(*type)) {
    std::vector<Value> results = computedInDoubles(operation, operands, context);
    // Scalars are rounded already, but not the numbers in a text that tok.fill reads.
    bool areRounded = !mlir::isa<tok::FillOp>(operation) &&
                      llvm::all_of(operation.getOperandTypes(), [&](mlir::Type operand) {
                        return !tok::isArray(operand) || elementTypeOf(operand) == type;
                      });
    return areRounded ? results : inResultTypes(operation, std::move(results));
  }
  for (auto [number, operand] : llvm::enumerate(operands))
    if (isCell(operation, number) && operand.isInteger())
      operand = std::bit_cast<double>(operand.asInteger());
  std::vector<Value> places(operands.begin() + static_cast<int64_t>(count), operands.end());
  operands.resize(count);
  return {movedIntegers(operands, *type, [&](Operands bits) {
    std::vector<Value> all(bits.begin(), bits.end());
    all.insert(all.end(), places.begin(), places.end());
    return computedInDoubles(operation, all, context).front();
  })};
}

// An element of an array of integers becomes a scalar, an array one of another type.
Value castTyped(tok::CastOp op, const Value &value, mlir::Type from, mlir::Type to) {
  if (tok::isArray(from) && tok::isArray(to))
    return converted(value, elementTypeOf(from), elementTypeOf(to));
  if (tok::isArray(from))
    return cast(scalarOfIntegers(value), to);
  if (!value.isNumber())
    return inResultTypes(*op, {cast(value, to)}).front();
  Value cell = scalarBeside(elementTypeOf(to), value);
  return movedIntegers({}, elementTypeOf(to), [&](Operands) {
    return Value(runtime::Array::filled({1, 1}, std::bit_cast<double>(cell.asInteger())));
  });
}

// Selects integers by their bits.
Value ifElseOfIntegers(tok::IfElseOp op, Operands operands, ElementType type) {
  auto bitsOf = [](const Value &value) {
    return value.isInteger() ? Value(std::bit_cast<double>(value.asInteger())) : value;
  };
  Value condition =
      operands[0].isArray() && operands[0].array()->elementType() != ElementType::F64
          ? converted(operands[0], operands[0].array()->elementType(), ElementType::F64)
          : operands[0];
  Value branches[] = {bitsOf(operands[1]), bitsOf(operands[2])};
  return movedIntegers(branches, type, [&](Operands bits) {
    return ifElseOfType(op, std::vector{condition, bits[0], bits[1]});
  });
}

// An operation that is computed in doubles, unless it is defined for cells of every type.
std::vector<Value> throughDoubles(mlir::Operation &operation, std::vector<Value> operands,
                                  runtime::ExecutionContext &context) {
  const NativeRow *native = tok::nativeRowOf(&operation);
  bool takesAll =
      native && (native->access == NativeAccess::Any || native->access == NativeAccess::DenseCells);
  for (Value &operand : operands)
    if (operand.isArray() && operand.array()->elementType() != ElementType::F64 && !takesAll &&
        !mlir::isa<tok::AssumeOp>(operation))
      operand = converted(operand, operand.array()->elementType(), ElementType::F64);
  return inResultTypes(operation, computedInDoubles(operation, operands, context));
}

std::vector<Value> computedInTypes(mlir::Operation &operation, std::vector<Value> operands,
                                   runtime::ExecutionContext &context) {
  using Results = std::vector<Value>;
  bool integers = llvm::any_of(operands, isOfIntegers);
  auto resultType = [&] {
    auto type = tok::elementTypeOf(operation.getResult(0).getType());
    return type.value_or(ElementType::F64);
  };
  if (auto cast = mlir::dyn_cast<tok::CastOp>(operation);
      cast && (integers || tok::isArrayOfIntegers(cast.getType())))
    return {castTyped(cast, operands[0], cast.getOperand().getType(), cast.getType())};
  if (auto select = mlir::dyn_cast<tok::IfElseOp>(operation);
      select && tok::isArrayOfIntegers(select.getType()))
    return {ifElseOfIntegers(select, operands, resultType())};
  if (mlir::isa<tok::LiteralOp>(operation) || !integers)
    return inResultTypes(operation, computedInDoubles(operation, operands, context));
  return llvm::TypeSwitch<mlir::Operation *, Results>(&operation)
      .Case([&](tok::UnaryOp op) {
        return Results{unaryOfIntegers(op.getKind(), operands[0], resultType())};
      })
      .Case([&](tok::BinaryOp op) {
        return Results{
            binaryOfIntegers(op.getKind(), operands[0], operands[1], resultType(), sizesOf(op))};
      })
      .Case([&](tok::AggregateOp op) {
        return Results{
            aggregateIntegers(op.getKind(), op.getDirection(), operands[0], resultType())};
      })
      .Case([&](tok::MatmulOp) {
        return Results{multiplyIntegers(operands[0], operands[1], resultType())};
      })
      .Default([&](mlir::Operation *) { return throughDoubles(operation, operands, context); });
}

} // namespace

std::vector<Value> meaningOf(mlir::Operation &operation, Operands operands,
                             runtime::ExecutionContext &context) {
  if (mlir::isa<tok::CastOp>(operation) && operands[0].isUndefined())
    return {operands[0]}; // converting a variable without a value is not reading it
  const NativeRow *native = tok::nativeRowOf(&operation);
  bool mayBeUnassigned = native && native->kind == NativeKind::IsAssigned;
  for (const Value &operand : operands)
    if (!mayBeUnassigned)
      runtime::checkDefined(operand);
  if (auto fused = mlir::dyn_cast<plan::OperatorOp>(operation))
    return meaningOfBody(fused, operands);
  std::optional<ElementType> type = typeOfCells(operation);
  std::vector<Value> typed(operands.begin(), operands.end());
  if (type)
    for (auto [number, operand] : llvm::enumerate(typed))
      if (isCell(operation, number))
        operand = scalarBeside(*type, operand);
  if (movesCells(operation))
    return moved(operation, std::move(typed), context);
  return computedInTypes(operation, std::move(typed), context);
}

} // namespace tokamak::reference
