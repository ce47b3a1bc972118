#include "oracle/OperationRules.h"

#include "ir/tok/ElementTypes.h"
#include "ir/tok/TokDialect.h"
#include "oracle/CellRules.h"
#include "oracle/SumRules.h"
#include "reference/OperationMeaning.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tokamak::oracle {
namespace {

using runtime::Array;
using runtime::ArrayPointer;
using runtime::Value;
using Operands = std::span<const Tracked>;

bool areExact(Operands operands) {
  return std::all_of(operands.begin(), operands.end(),
                     [](const Tracked &operand) { return operand.errors.isExact(); });
}

int64_t cellsOf(const Value &value) { return value.isArray() ? value.array()->cells() : 1; }

CellErrors anythingOf(const Value &value) {
  return CellErrors::uniform(cellsOf(value), CellErrors::anything);
}

Value arrayOf(const std::vector<double> &cells, const runtime::Shape &shape) {
  ArrayPointer array = Array::create(shape);
  std::copy(cells.begin(), cells.end(), array->mutableData());
  return array;
}

// Rounds an error bound up to a number of the model's type: operations that move the cells of such
// an array would round the bounds to nearest.
double roundedUp(const ErrorModel &model, double error) {
  if (!model.isNarrow() || error <= 0)
    return error;
  return roundedTo(model.type, error * (1 + 2 * model.roundoff) + model.smallest());
}

// Whether an array holds integers or i1, which are exact or unknown.
bool isOfIntegers(const Value &value) {
  return value.isArray() && value.array()->elementType() != ElementType::F64;
}

// The error bounds as an array of the operand's shape and type, or as a number. For integers: 1
// where the cell may be anything, 0 where it is exact.
Value errorsAsValue(const ErrorModel &model, const Tracked &operand) {
  if (!operand.value.isArray())
    return roundedUp(model, operand.errors[0]);
  ArrayPointer errors = Array::create(operand.value.array()->shape());
  bool areIntegers = isOfIntegers(operand.value);
  for (int64_t i = 0; i < errors->cells(); ++i)
    errors->mutableData()[i] =
        areIntegers ? operand.errors[i] != 0 : roundedUp(model, operand.errors[i]);
  return Array::withElementType(errors, operand.value.array()->elementType());
}

CellErrors errorsFromValue(const Value &value) {
  CellView cells(value);
  std::vector<double> errors(cells.cells());
  for (int64_t i = 0; i < cells.cells(); ++i)
    errors[i] = isOfIntegers(value) && cells[i] != 0 ? CellErrors::anything : cells[i];
  return CellErrors(std::move(errors));
}

// Error bounds of integers made from floats that are not exact.
CellErrors truncationErrors(const Tracked &operand, ElementType type) {
  CellView cells(operand.value);
  std::vector<double> errors(cells.cells());
  for (int64_t i = 0; i < cells.cells(); ++i) {
    double error = std::fmax(operand.errors[i], 0);
    bool isCertain = integerOf(type, cells[i] - error) == integerOf(type, cells[i] + error);
    errors[i] =
        error == 0 || (isCertain && error != CellErrors::anything) ? 0 : CellErrors::anything;
  }
  return CellErrors(std::move(errors));
}

// Operators of integers are exact; a cell that is computed from one that isn't may be anything,
// because results wrap.
CellErrors integerErrors(Operands operands, const Value &result) {
  std::vector<double> errors(cellsOf(result));
  CellView results(result);
  for (const Tracked &operand : operands) {
    if (operand.errors.isExact())
      continue;
    CellView cells(operand.value);
    for (int64_t i = 0; i < results.cells(); ++i)
      if (operand.errors[cells.broadcast(i, results)] != 0)
        errors[i] = CellErrors::anything;
  }
  return CellErrors(std::move(errors));
}

// Error bounds of cells after rounding to a narrower type.
CellErrors roundingErrors(const ErrorModel &model, const Tracked &operand) {
  CellView cells(operand.value);
  std::vector<double> errors(cells.cells());
  for (int64_t i = 0; i < cells.cells(); ++i) {
    double error = operand.errors[i], size = std::fabs(cells[i]) + error;
    bool exact = error == 0 || error == CellErrors::zeroSign;
    errors[i] = exact ? error
                : size < model.largest
                    ? (error + 2 * model.roundoff * size) * 1.01 + model.smallest()
                    : CellErrors::anything;
  }
  return CellErrors(std::move(errors));
}

// Error bounds of a value after a cast.
CellErrors castErrors(const ErrorModel &model, tok::CastOp cast, const Tracked &operand,
                      const Value &result) {
  mlir::Type type = cast.getType();
  if (operand.errors.isExact())
    return {};
  if (operand.value.isArray() && tok::isArray(type)) {
    ElementType cells = *tok::elementTypeOf(type);
    if (!isFloat(cells))
      return truncationErrors(operand, cells);
    if (cells != ElementType::F64)
      return roundingErrors(model, operand);
    // The roundings of a product in single precision are larger than those of one that it is a factor of.
    return tok::elementTypeOf(cast.getOperand().getType()) == cells
               ? operand.errors
               : operand.errors.withoutProduct();
  }
  if (operand.value.isList() || operand.value.isFrame())
    return anythingOf(result);
  double error = operand.errors[0];
  if (result.isArray() || result.isDouble())
    return operand.errors;
  if (result.isBoolean() && operand.value.isNumber())
    return CellErrors({truthOf(operand.value.asDouble(), error) == Truth::Unknown ? 1.0 : 0.0});
  if (result.isInteger() && error != CellErrors::anything) {
    double cell = CellView(operand.value)[0], off = std::max(error, 0.0);
    bool certain = truncateToInteger(cell - off) == truncateToInteger(cell + off);
    return certain ? CellErrors() : anythingOf(result);
  }
  return anythingOf(result);
}

CellErrors outerErrors(const ErrorModel &model, Operands operands, const Value &result) {
  std::optional<BinaryOperator> op = findBinaryBySpelling(operands[2].value.text());
  return binaryErrors(model, *op, operands[0], operands[1], result);
}

// Error bounds of moments, covariances and means of exact cells: sums of powers of their distances
// from a mean. Looser than the bounds of sums, but tight enough to detect a wrong cell.
CellErrors statisticErrors(const ErrorModel &model, int power, Operands operands,
                           const Value &result) {
  if (!areExact(operands))
    return anythingOf(result);
  double product = 1, size = 0, count = 1;
  for (const Tracked &operand : operands) {
    if (!operand.value.isArray())
      continue;
    CellView cells(operand.value);
    size = 0;
    for (int64_t i = 0; i < cells.cells(); ++i)
      size = std::fmax(size, std::fabs(cells[i]));
    product *= std::fmax(2 * size, 1);
    count = std::fmax(count, static_cast<double>(cells.cells()));
  }
  double largest = std::fmax(product, std::pow(product, power));
  double error = 8 * (count + 8) * model.roundoff * largest;
  return CellErrors::uniform(cellsOf(result), std::isfinite(error) ? error : CellErrors::anything);
}

// Sparse arrays do not store zeros, so the sign of a zero is lost.
CellErrors withoutSigns(CellErrors errors, const Value &result) {
  CellView cells(result);
  std::vector<double> unsignedErrors(cells.cells());
  for (int64_t i = 0; i < cells.cells(); ++i) {
    bool lost = cells[i] == 0 && std::signbit(cells[i]) && errors[i] == 0;
    unsignedErrors[i] = lost ? CellErrors::zeroSign : errors[i];
  }
  CellErrors all(std::move(unsignedErrors));
  if (errors.product())
    all.setProduct(*errors.product());
  return all;
}

// Error bounds of the same value in every cell.
CellErrors fillErrors(Operands operands, const Value &result) {
  return operands[0].errors.isExact() ? CellErrors()
                                      : CellErrors::uniform(cellsOf(result), operands[0].errors[0]);
}

} // namespace

std::vector<Value> OperationRules::meaning(mlir::Operation &operation,
                                           std::vector<Value> operands) const {
  return reference::meaningOf(operation, operands, context_);
}

CellErrors OperationRules::movedErrors(mlir::Operation &operation, Operands operands,
                                       size_t moved) const {
  // The dimension along which arrays are joined.
  auto native = dyn_cast<tok::CallNativeOp>(operation);
  bool leadsWithParameter = native && native.getNative() == "join";
  std::vector<Value> errors;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (i >= moved && !operand.errors.isExact())
      throw Undecided("where cells go is not exact");
    bool isParameter = i == 0 && leadsWithParameter;
    bool moves = i < moved && !isParameter && (operand.value.isArray() || operand.value.isNumber());
    if (i < moved && !isParameter && !moves)
      return CellErrors({CellErrors::anything}); // parts of lists and texts
    errors.push_back(moves ? errorsAsValue(model_, operand) : operand.value);
  }
  Value result = meaning(operation, std::move(errors)).front();
  return result.isArray() ? errorsFromValue(result) : CellErrors({CellErrors::anything});
}

static Value magnitudesOf(const Value &value) {
  CellView cells(value);
  std::vector<double> magnitudes(cells.cells());
  for (int64_t i = 0; i < cells.cells(); ++i)
    magnitudes[i] = std::fabs(cells[i]);
  return arrayOf(magnitudes, value.array()->shape());
}

// Of aggregates over windows of operand 0: sums, of products with operand 1 if `weights` is 1, or extremes. The
// operation itself tells what comes together: it is applied to magnitudes and to error bounds. Six numbers for each
// dimension stand behind `weights` + 2 operands; the second is the size of a window.
CellErrors OperationRules::windowErrors(mlir::Operation &operation, Operands operands, bool areSums,
                                        size_t weights) const {
  auto applied = [&](Value image, std::optional<Value> filters) {
    std::vector<Value> values = {std::move(image)};
    for (const Tracked &operand : operands.subspan(1))
      values.push_back(operand.value);
    if (filters)
      values[1] = *filters;
    return meaning(operation, std::move(values)).front();
  };
  for (const Tracked &operand : operands.subspan(1 + weights))
    if (!operand.errors.isExact())
      throw Undecided("where windows are is not exact");
  if (!areSums)
    return errorsFromValue(applied(errorsAsValue(model_, operands[0]), std::nullopt));
  std::optional<Value> filters, filterErrors;
  if (weights > 0) {
    filters = magnitudesOf(operands[1].value);
    filterErrors = errorsAsValue(model_, operands[1]);
  }
  Value image = magnitudesOf(operands[0].value);
  Value sums = applied(image, filters);
  Value carried = applied(errorsAsValue(model_, operands[0]), filters);
  Value carriedByFilters = weights > 0 ? applied(image, filterErrors) : carried;
  double terms =
      weights > 0
          ? static_cast<double>(operands[1].value.array()->cells()) /
                static_cast<double>(std::max<int64_t>(operands[1].value.array()->shape()[0], 1))
          : 1;
  if (weights == 0)
    for (size_t i = 3; i < operands.size(); i += 6)
      terms *= operands[i].value.asDouble();
  CellView sizes(sums), first(carried), second(carriedByFilters);
  std::vector<double> errors(sizes.cells());
  for (int64_t i = 0; i < sizes.cells(); ++i) {
    // Both sides round each term and each sum; products of errors are small beside the rest.
    double error = (first[i] + second[i]) * 1.01 +
                   2 * (terms + 2) * model_.roundoff * sizes[i] * 1.01 + terms * model_.smallest();
    errors[i] = std::isfinite(error) ? error : CellErrors::anything;
  }
  return CellErrors(std::move(errors));
}

// Rows (or columns) with a non-zero cell are kept: whether one exists must be certain for each row.
CellErrors OperationRules::removeEmptyErrors(mlir::Operation &operation, Operands operands) const {
  const auto &[target, margin, select, emptyReturn] =
      std::tie(operands[0], operands[1], operands[2], operands[3]);
  CellView cells(target.value);
  bool byRows = margin.value.text() == "rows";
  int64_t lines = byRows ? cells.rows() : cells.columns();
  ArrayPointer kept = Array::filled({lines, 1}, 0);
  if (select.value.isNothing()) {
    std::vector<bool> unknown(lines);
    for (int64_t i = 0; i < cells.cells(); ++i) {
      int64_t line = byRows ? i / cells.columns() : i % cells.columns();
      Truth truth = truthOf(cells[i], target.errors[i]);
      unknown[line] = unknown[line] || truth == Truth::Unknown;
      if (truth == Truth::NotZero)
        kept->mutableData()[line] = 1;
    }
    for (int64_t line = 0; line < lines; ++line)
      if (unknown[line] && kept->data()[line] == 0)
        throw Undecided("what removeEmpty removes is not exact");
  } else {
    CellView chosen(select.value);
    for (int64_t line = 0; line < lines; ++line) {
      Truth truth = truthOf(chosen[line], select.errors[line]);
      if (truth == Truth::Unknown)
        throw Undecided("what removeEmpty removes is not exact");
      kept->mutableData()[line] = truth == Truth::NotZero;
    }
  }
  return errorsFromValue(meaning(operation, {errorsAsValue(model_, target), margin.value,
                                             Value(kept), emptyReturn.value})
                             .front());
}

// The weights of a cell may be summed in any order.
CellErrors OperationRules::tableErrors(mlir::Operation &operation, Operands operands,
                                       const Value &result) const {
  for (size_t i : {0, 1, 3, 4})
    if (!operands[i].errors.isExact())
      throw Undecided("keys of table are not exact");
  if (operands[2].value.isNothing())
    return {};
  CellView weights(operands[2].value);
  SumBound bound(model_);
  int64_t count = cellsOf(operands[0].value);
  for (int64_t i = 0; i < count; ++i) {
    int64_t weight = weights.cells() == 1 ? 0 : i;
    bound.add(weights[weight], operands[2].errors[weight]);
  }
  double error = bound.error(1);
  return error == 0 ? CellErrors() : CellErrors::uniform(cellsOf(result), error);
}

// What is known of the errors of a native that has no rule for these operands.
static CellErrors errorsWithoutRule(const NativeRow &native, Operands operands,
                                    const Value &result) {
  if (areExact(operands))
    return {};
  for (const Tracked &operand : operands)
    if (!operand.value.isArray() && !operand.value.isList() && !operand.errors.isExact() &&
        result.isArray())
      throw Undecided(fmt::format("a parameter of {} is not exact", native.name));
  if (result.isArray() && native.hasSizesFromCells())
    throw Undecided(fmt::format("the size of what {} gives may not be exact", native.name));
  return anythingOf(result);
}

CellErrors OperationRules::nativeErrors(mlir::Operation &operation, const NativeRow &native,
                                        Operands operands, const Value &result) const {
  auto areExactFrom = [&](size_t first) { return areExact(operands.subspan(first)); };
  auto scan = [&](AggregateKind kind, bool alongRows = false) {
    return scanErrors(model_, kind, alongRows, operands[0], result);
  };
  bool isConvolution = native.name == "convolve", isPool = native.name == "pool";
  if ((isConvolution || isPool) && !isOfIntegers(operands[0].value)) {
    bool areSums = isConvolution || operands[1].value.text() == "sum";
    return windowErrors(operation, operands, areSums, /*weights=*/isConvolution ? 1 : 0);
  }
  switch (native.errors) {
  case NativeErrors::Product:
    return matmulErrors(model_, operands[0], operands[1], result);
  case NativeErrors::Trace:
    return traceErrors(model_, operands[0], result);
  case NativeErrors::ScanSum:
    return scan(AggregateKind::Sum);
  case NativeErrors::ScanProd:
    return scan(AggregateKind::Prod);
  case NativeErrors::ScanMin:
    return scan(AggregateKind::Min);
  case NativeErrors::ScanMax:
    return scan(AggregateKind::Max);
  case NativeErrors::RowScanSum:
    return scan(AggregateKind::Sum, /*alongRows=*/true);
  case NativeErrors::Table:
    return tableErrors(operation, operands, result);
  case NativeErrors::Moment:
    if (auto power = static_cast<int>(CellView(operands.back().value)[0]); power > 0)
      return statisticErrors(model_, power, operands, result);
    break;
  case NativeErrors::Mean:
    return statisticErrors(model_, 1, operands, result);
  case NativeErrors::GroupMoments:
    return statisticErrors(model_, 4, operands, result);
  case NativeErrors::Outer:
    if (areExactFrom(2))
      return outerErrors(model_, operands, result);
    break;
  case NativeErrors::Moves1:
  case NativeErrors::Moves2:
  case NativeErrors::MovesAll:
    return areExact(operands)
               ? CellErrors()
               : movedErrors(operation, operands, native.movedOperands(operands.size()));
  case NativeErrors::Fill:
    if (areExactFrom(1))
      return fillErrors(operands, result);
    break;
  case NativeErrors::Replace:
    if (!areExact(operands) && areExactFrom(1))
      return replaceErrors(operands[0], operands[1].value.asDouble(), result);
    break;
  case NativeErrors::NonEmpty:
    return areExact(operands) ? CellErrors() : removeEmptyErrors(operation, operands);
  case NativeErrors::Any:
    break;
  }
  return errorsWithoutRule(native, operands, result);
}

// A product is still known as one after it is transposed or sliced.
void OperationRules::keepProduct(mlir::Operation &operation, Operands operands,
                                 CellErrors &errors) const {
  if (!mlir::isa<tok::TransposeOp, tok::SliceOp>(operation) || !operands[0].errors.product())
    return;
  ProductErrors product = *operands[0].errors.product();
  for (std::vector<double> *cells : {&product.carried, &product.magnitudes}) {
    std::vector<Value> moved;
    for (const Tracked &operand : operands)
      moved.push_back(operand.value);
    moved[0] = arrayOf(*cells, operands[0].value.array()->shape());
    CellView view(meaning(operation, std::move(moved)).front());
    cells->resize(view.cells());
    for (int64_t i = 0; i < view.cells(); ++i)
      (*cells)[i] = view[i];
  }
  errors.setProduct(std::move(product));
}

CellErrors OperationRules::errorsOf(mlir::Operation &operation, Operands operands,
                                    const Value &result) const {
  CellErrors errors = valueErrors(operation, operands, result);
  if (model_.sparse && result.isArray())
    errors = withoutSigns(std::move(errors), result);
  keepProduct(operation, operands, errors);
  return errors;
}

CellErrors OperationRules::valueErrors(mlir::Operation &operation, Operands operands,
                                       const Value &result) const {
  bool integers = std::any_of(operands.begin(), operands.end(),
                              [](const Tracked &operand) { return isOfIntegers(operand.value); });
  if (integers && mlir::isa<tok::UnaryOp, tok::BinaryOp>(operation))
    return integerErrors(operands, result);
  if (integers && mlir::isa<tok::AggregateOp, tok::MatmulOp>(operation))
    return areExact(operands) ? CellErrors() : anythingOf(result);
  return llvm::TypeSwitch<mlir::Operation *, CellErrors>(&operation)
      .Case<tok::ConstantOp, tok::UndefOp, tok::BarrierOp, tok::RowsOp, tok::ColumnsOp,
            tok::LengthOp, tok::SizeOp>([](auto) { return CellErrors(); })
      .Case([&](tok::UnaryOp op) { return unaryErrors(model_, op.getKind(), operands[0], result); })
      .Case([&](tok::BinaryOp op) {
        if (!result.isArray() && !result.isNumber())
          return areExact(operands) ? CellErrors() : anythingOf(result);
        bool texts = operands[0].value.isString() || operands[1].value.isString();
        if (texts)
          return areExact(operands) ? CellErrors() : anythingOf(result);
        return binaryErrors(model_, op.getKind(), operands[0], operands[1], result);
      })
      .Case([&](tok::IfElseOp) {
        if (areExact(operands))
          return CellErrors();
        if (!result.isArray() && !result.isNumber())
          return anythingOf(result);
        return ifElseErrors(model_, operands[0], operands[1], operands[2], result);
      })
      .Case([&](tok::CastOp op) { return castErrors(model_, op, operands[0], result); })
      .Case([&](tok::AssumeOp) { return operands[0].errors; })
      .Case([&](tok::AggregateOp op) {
        return aggregateErrors(model_, op.getKind(), op.getDirection(), operands[0], result);
      })
      .Case([&](tok::NativeOpInterface op) {
        return nativeErrors(operation, *tok::nativeRowOf(op), operands, result);
      })
      .Default([&](mlir::Operation *) {
        return areExact(operands) ? CellErrors() : anythingOf(result);
      });
}

} // namespace tokamak::oracle
