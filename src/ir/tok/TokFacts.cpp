// Inference of facts about the results of `tok` operations, and errors for operands whose sizes are
// proved wrong.
#include "base/FileFormats.h"
#include "base/Sizes.h"
#include "ir/tok/CellFacts.h"
#include "ir/tok/TokDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

// Writes sizes for messages: "569x30", with letters for symbols: "nx3", "(n + 1)x3". One symbol has
// the same letter wherever the object writes it.
class SizeWriter {
public:
  std::string operator()(const Facts &facts) {
    std::string text;
    for (const Size &size : facts.dims)
      text += (text.empty() ? "" : "x") + (*this)(size);
    return text;
  }
  std::string operator()(const Size &size) {
    if (size.isUnknown())
      return "?";
    std::string text =
        size.text([this](const Size &symbol) { return letterOf(symbol.symbolId()); });
    return size.isConstant() || size.isSymbol() ? text : "(" + text + ")";
  }

private:
  std::string letterOf(int64_t id) {
    static constexpr StringRef letters = "nmkpqrst";
    size_t place = llvm::find(symbols_, id) - symbols_.begin();
    if (place == symbols_.size())
      symbols_.push_back(id);
    std::string number = place < letters.size() ? "" : std::to_string(place / letters.size());
    return letters[place % letters.size()] + number;
  }

  SmallVector<int64_t> symbols_;
};

static const Size one = Size::constant(1);

// The size that two operands share: the more precise of the two facts.
static Size meet(const Size &a, const Size &b) {
  if (a.isConstant() || b.isUnknown())
    return a;
  return b.isConstant() || a.isUnknown() ? b : a;
}
static SmallVector<Size, 2> meet(ArrayRef<Size> a, ArrayRef<Size> b) {
  if (a.empty() || b.empty())
    return SmallVector<Size, 2>(a.empty() ? b : a);
  SmallVector<Size, 2> dims(a);
  for (auto [left, right] : llvm::zip(dims, b))
    left = meet(left, right);
  return dims;
}

// The size of the result of broadcasting two dimensions: a dimension of size 1 is repeated.
static Size broadcast(const Size &a, const Size &b) {
  if (a.isConstant(1) || a.provedEqual(b))
    return b;
  if (b.isConstant(1))
    return a;
  bool isLeft = a.provedDifferent(one), isRight = b.provedDifferent(one);
  if (isLeft && isRight)
    return meet(a, b);
  return isLeft ? a : isRight ? b : Size::unknown();
}
static bool mayBroadcast(const Size &a, const Size &b) {
  return !a.provedDifferent(b) || !a.provedDifferent(one) || !b.provedDifferent(one);
}
// The same for arrays, whose dimensions are aligned at the last one; a missing dimension has size
// 1. Without dimensions where those of an array are not known.
static SmallVector<Size, 2> broadcast(ArrayRef<Size> a, ArrayRef<Size> b) {
  if (a.empty() || b.empty())
    return {};
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<Size, 2> dims(a);
  for (auto [left, right] : llvm::zip(llvm::reverse(dims), llvm::reverse(b)))
    left = broadcast(left, right);
  return dims;
}
// Whether it holds for the sizes of all dimensions that both arrays have.
static bool allAligned(const Facts &a, const Facts &b,
                       llvm::function_ref<bool(const Size &, const Size &)> holds) {
  for (auto [left, right] : llvm::zip(llvm::reverse(a.dims), llvm::reverse(b.dims)))
    if (!holds(left, right))
      return false;
  return true;
}
// The sizes of an array that another one is broadcast to, and that must not grow by that: a
// dimension of the other one that is not 1 is not repeated, so it is the same.
static SmallVector<Size, 2> broadcastTo(ArrayRef<Size> whole, ArrayRef<Size> part) {
  SmallVector<Size, 2> dims(whole);
  for (auto [size, own] : llvm::zip(llvm::reverse(dims), llvm::reverse(part)))
    if (own.provedDifferent(one))
      size = meet(size, own);
  return dims;
}
static bool mayBroadcastTo(const Size &left, const Size &right) {
  return !left.provedDifferent(right) || !right.provedDifferent(one);
}
static bool mayEqual(const Size &left, const Size &right) { return !left.provedDifferent(right); }

// The size that a scalar operand gives an array. Unknown for a constant that is no valid size: the
// operation fails when it runs.
static Size sizeOf(const Facts &scalar) {
  Size size = scalar.integer;
  return size.isConstant() && !isSize(size.constantValue()) ? Size::unknown() : size;
}

// The number of indices in begin:end (both inclusive).
static Size rangeLength(const Facts &begin, const Facts &end) {
  return end.integer - begin.integer + 1;
}

static Size productOf(ArrayRef<Size> sizes) {
  Size product = Size::constant(1);
  for (const Size &size : sizes)
    product = product * size;
  return product;
}

static Facts integerFacts(const Size &value, MLIRContext *context) {
  Facts facts;
  facts.integer = value;
  if (value.isConstant())
    facts.value = IntegerAttr::get(IntegerType::get(context, 64), value.constantValue());
  return facts;
}

// If an elementwise operation is zero wherever a sparse operand is zero, its result is a sparse array
// with the same entries; of several such operands the sparsest determines the layout.
static void inferLayout(Operation *op, ArrayRef<Facts> operands, Facts &result) {
  for (auto [sparse, facts] : llvm::zip(op->getOperands(), operands)) {
    if (!facts.isSparse() || facts.dims != result.dims)
      continue;
    CellFact fact = cellOf(*op, [&, sparse = sparse](OpOperand &operand) {
      return operand.get() == sparse ? CellFact(0.0)
                                     : numberOf(operands[operand.getOperandNumber()]);
    });
    if (!fact.isZero() || (result.isSparse() && result.density <= facts.density))
      continue;
    result.layout = Layout::Sparse;
    result.density = facts.density;
  }
}

//===- cells ---------------------------------------------------------------------------------===//

void ConstantOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts> results) {
  results[0].value = getValue();
  if (auto integer = dyn_cast<IntegerAttr>(getValue()); integer && getType().isInteger(64))
    results[0].integer = Size::constant(integer.getInt());
}

void UndefOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts>) {}

void UnaryOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (getType().isInteger(64)) {
    if (getKind() == UnaryOperator::Neg)
      results[0] = integerFacts(-1 * operands[0].integer, getContext());
    return;
  }
  results[0].dims = operands[0].dims;
  inferLayout(*this, operands, results[0]);
}

// An integer operation as an operation on sizes; unknown where it is none.
static Size sizeOfOperation(BinaryOperator kind, const Size &a, const Size &b) {
  if (a.isConstant() && b.isConstant()) {
    auto value = evaluateInteger(kind, a.constantValue(), b.constantValue());
    return value ? Size::constant(*value) : Size::unknown();
  }
  switch (kind) {
  case BinaryOperator::Add:
    return a + b;
  case BinaryOperator::Sub:
    return a - b;
  case BinaryOperator::Mul:
    return a * b;
  case BinaryOperator::IntDiv: // rounds towards zero
    return a.range().low >= 0 ? floorDivide(a, b) : Size::unknown();
  case BinaryOperator::Min:
    return minimum(a, b);
  case BinaryOperator::Max:
    return maximum(a, b);
  default:
    return Size::unknown();
  }
}

void BinaryOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  bool leftArray = isArray(getLhs().getType()), rightArray = isArray(getRhs().getType());
  if (!leftArray && !rightArray) {
    Size a = operands[0].integer, b = operands[1].integer;
    if (!getType().isInteger(64))
      return;
    results[0] = integerFacts(sizeOfOperation(getKind(), a, b), getContext());
    return;
  }
  if (!leftArray || !rightArray) {
    results[0].dims = operands[leftArray ? 0 : 1].dims;
    inferLayout(*this, operands, results[0]);
    return;
  }
  ArrayRef<Size> lhs = operands[0].dims, rhs = operands[1].dims;
  results[0].dims = getLeftSizes() ? broadcastTo(lhs, rhs) : broadcast(lhs, rhs);
  inferLayout(*this, operands, results[0]);
}

LogicalResult BinaryOp::checkFacts(ArrayRef<Facts> operands) {
  SizeWriter describe;
  const Facts &lhs = operands[0], &rhs = operands[1];
  if (allAligned(lhs, rhs, getLeftSizes() ? mayBroadcastTo : mayBroadcast))
    return success();
  std::string_view spelled = spelling(getKind());
  StringRef name(spelled.data(), spelled.size());
  InFlightDiagnostic error = emitError("sizes do not agree: ")
                             << describe(lhs) << ' ' << name << ' ' << describe(rhs)
                             << "; expected equal sizes, or ";
  if (!getLeftSizes())
    return error << "1 where they differ";
  error << "a right operand that is a vector of matching length";
  if (lhs.isColumnVector() && rhs.isRowVector())
    error << "; outer(u, v, \"" << name << "\") combines a column with a row";
  return error;
}

void IfElseOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  Facts &result = results[0];
  bool first = true;
  for (auto [operand, facts] : llvm::zip(getOperands(), operands)) {
    if (!isArray(operand.getType()))
      continue;
    bool takes = std::exchange(first, false);
    result.dims = takes             ? facts.dims
                  : getEqualSizes() ? meet(result.dims, facts.dims)
                                    : broadcast(result.dims, facts.dims);
  }
  inferLayout(*this, operands, result);
}

LogicalResult IfElseOp::checkFacts(ArrayRef<Facts> operands) {
  SizeWriter describe;
  Facts soFar;
  for (const Facts &facts : operands) {
    if (facts.dims.empty())
      continue;
    if (!allAligned(soFar, facts, getEqualSizes() ? mayEqual : mayBroadcast))
      return emitError("ifelse: sizes do not agree: ")
             << describe(soFar) << " and " << describe(facts);
    bool replaces = soFar.dims.empty() || getEqualSizes();
    soFar.dims = replaces ? facts.dims : broadcast(soFar.dims, facts.dims);
  }
  return success();
}

void ConcatOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts>) {}

void CastOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (isArray(getType())) {
    if (isArray(getOperand().getType()))
      results[0].dims = operands[0].dims;
    else if (isScalar(getOperand().getType()))
      results[0] = Facts::matrix(Size::constant(1), Size::constant(1));
  } else if (isScalar(getOperand().getType()) && getType().isInteger(64)) {
    results[0].integer = operands[0].integer;
  }
}

LogicalResult CastOp::checkFacts(ArrayRef<Facts> operands) {
  SizeWriter describe;
  const Facts &facts = operands[0];
  bool toScalar = isArray(getOperand().getType()) && isScalar(getType());
  if (toScalar && llvm::any_of(facts.dims, [&](const Size &dimension) {
        return dimension.provedDifferent(one);
      }))
    return emitError("as.scalar: expected a 1x1 matrix, got one of ") << describe(facts);
  return success();
}

//===- arrays --------------------------------------------------------------------------------===//

void AggregateOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (getDirection() == AggregateDirection::Row) {
    results[0].dims = operands[0].dims;
    if (!results[0].dims.empty())
      results[0].dims.back() = one;
  } else if (getDirection() == AggregateDirection::Column)
    results[0] = Facts::matrix(one, operands[0].columns());
}

void MatmulOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  const Facts &lhs = operands[0], &rhs = operands[1];
  if (!isTensor(getType())) {
    results[0] = Facts::matrix(lhs.rows(), rhs.columns());
    return;
  }
  if (lhs.dims.size() != rhs.dims.size() || lhs.dims.size() < 2)
    return;
  ArrayRef<Size> left = lhs.dims, right = rhs.dims;
  results[0].dims = broadcast(left.drop_back(2), right.drop_back(2));
  results[0].dims.push_back(left[left.size() - 2]);
  results[0].dims.push_back(right.back());
}

LogicalResult MatmulOp::checkFacts(ArrayRef<Facts> operands) {
  SizeWriter describe;
  ArrayRef<Size> lhs = operands[0].dims, rhs = operands[1].dims;
  if (lhs.size() < 2 || lhs.size() != rhs.size())
    return success();
  if (lhs.back().provedDifferent(rhs[rhs.size() - 2]))
    return emitError("%*%: the inner dimensions differ: ")
           << describe(operands[0]) << " %*% " << describe(operands[1]);
  for (auto [left, right] : llvm::zip(lhs.drop_back(2), rhs.drop_back(2)))
    if (!mayBroadcast(left, right))
      return emitError("%*%: the leading dimensions differ: ")
             << describe(operands[0]) << " %*% " << describe(operands[1]);
  return success();
}

void TransposeOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0].dims = operands[0].dims;
  if (size_t rank = results[0].dims.size(); rank >= 2)
    std::swap(results[0].dims[rank - 1], results[0].dims[rank - 2]);
  results[0].layout = operands[0].layout;
  results[0].density = operands[0].density;
}

void RowsOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0] = integerFacts(operands[0].rows(), getContext());
}
void ColumnsOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0] = integerFacts(operands[0].columns(), getContext());
}
void LengthOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (isScalar(getOperand().getType())) {
    results[0] = integerFacts(Size::constant(1), getContext());
    return;
  }
  Size cells = productOf(operands[0].dims);
  if (!operands[0].dims.empty())
    results[0] = integerFacts(cells, getContext());
}
void SizeOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (getDimension() <= operands[0].dims.size())
    results[0] = integerFacts(operands[0].dims[getDimension() - 1], getContext());
}

void SliceOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (isArray(getType()))
    results[0] =
        Facts::matrix(rangeLength(operands[1], operands[2]), rangeLength(operands[3], operands[4]));
}

// Reports indices proved to be outside 1..size, and ranges proved to be empty, in the words of the
// run-time error.
static LogicalResult checkRange(Operation *op, StringRef what, const Facts &begin, const Facts &end,
                                const Facts &array) {
  SizeWriter describe;
  Size low = begin.integer, high = end.integer;
  Size size = what == "row" ? array.rows() : array.columns();
  if (low.isConstant(1) && high.isConstant(0) && size.isConstant(0))
    return success(); // the whole of an empty dimension
  auto outside = [&](const Size &index) {
    return index.isConstant() &&
           (index.constantValue() < 1 ||
            (size.isConstant() && index.constantValue() > size.constantValue()));
  };
  if (low.isConstant() && high.isConstant() && low.constantValue() > high.constantValue() &&
      !outside(low))
    return op->emitError("invalid range: ") << what << "s " << low.constantValue() << ":"
                                            << high.constantValue() << " end before they begin";
  if (!outside(low) && !outside(high))
    return success();
  auto number = [](const Size &index) {
    return index.isConstant() ? std::to_string(index.constantValue()) : std::string("?");
  };
  std::string range = low == high ? what.str() + " " + number(low)
                                  : what.str() + "s " + number(low) + ":" + number(high);
  return op->emitError("index out of range: ") << range << " of a " << describe(array) << " matrix";
}

LogicalResult SliceOp::checkFacts(ArrayRef<Facts> operands) {
  if (failed(checkRange(*this, "row", operands[1], operands[2], operands[0])))
    return failure();
  return checkRange(*this, "column", operands[3], operands[4], operands[0]);
}

void InsertOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0].dims = operands[0].dims;
}

LogicalResult InsertOp::checkFacts(ArrayRef<Facts> operands) {
  SizeWriter describe;
  if (failed(checkRange(*this, "row", operands[2], operands[3], operands[0])) ||
      failed(checkRange(*this, "column", operands[4], operands[5], operands[0])))
    return failure();
  Size rows = rangeLength(operands[2], operands[3]),
       columns = rangeLength(operands[4], operands[5]);
  Facts target = Facts::matrix(rows, columns);
  if (isArray(getValue().getType())) {
    if (operands[1].rows().provedDifferent(rows) || operands[1].columns().provedDifferent(columns))
      return emitError("left indexing: a ")
             << describe(operands[1]) << " matrix cannot replace " << describe(target) << " cells";
    return success();
  }
  if (isArray(getInto().getType()) && (rows.provedDifferent(one) || columns.provedDifferent(one)))
    return emitError("left indexing: a scalar can replace one cell, not ")
           << describe(target) << "; use matrix(value, rows, cols)";
  return success();
}

//===- construction --------------------------------------------------------------------------===//

static Facts matrixOfSizes(const Facts &rows, const Facts &columns) {
  return Facts::matrix(sizeOf(rows), sizeOf(columns));
}

// Reports a constant size below `least`, in the words of the run-time error.
static LogicalResult checkSize(Operation *op, StringRef operation, StringRef what,
                               const Facts &size, int64_t least = 0) {
  if (!size.integer.isConstant() || size.integer.constantValue() >= least)
    return success();
  return op->emitError() << operation << ": the number of " << what
                         << " is negative: " << size.integer.constantValue();
}
static LogicalResult checkSizes(Operation *op, StringRef operation, const Facts &rows,
                                const Facts &columns, int64_t least = 0) {
  if (failed(checkSize(op, operation, "rows", rows, least)))
    return failure();
  return checkSize(op, operation, "columns", columns, least);
}

void FillOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0] = matrixOfSizes(operands[1], operands[2]);
  if (auto value = dyn_cast_or_null<FloatAttr>(operands[0].value))
    results[0].density = value.getValue().isZero() ? 0 : 1;
}
LogicalResult FillOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSizes(*this, "matrix", operands[1], operands[2]);
}
void LiteralOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts> results) {
  for (int64_t size : getCells().getShapedType().getShape())
    results[0].dims.push_back(Size::constant(size));
}
void ViewOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  for (const Facts &size : operands.drop_front())
    results[0].dims.push_back(sizeOf(size));
}
LogicalResult ViewOp::checkFacts(ArrayRef<Facts> operands) {
  SizeWriter describe;
  Facts result;
  ViewOp::inferFacts(operands, result);
  if (!productOf(operands[0].dims).provedDifferent(productOf(result.dims)))
    return success();
  return emitError("view: cannot show ")
         << describe(operands[0]) << " as " << describe(result) << ": the cells are not as many";
}
void ExpandOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  for (auto [own, size] : llvm::zip(operands[0].dims, operands.drop_front()))
    results[0].dims.push_back(own.provedDifferent(one) ? own : sizeOf(size));
}
LogicalResult ExpandOp::checkFacts(ArrayRef<Facts> operands) {
  for (auto [own, size] : llvm::zip(operands[0].dims, operands.drop_front()))
    if (own.provedDifferent(size.integer) && own.provedDifferent(one)) {
      SizeWriter describe;
      return emitError("expand: only dimensions of size 1 can be repeated, not ")
             << describe(own) << " to " << describe(size.integer);
    }
  return success();
}
void ReshapeOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0] = matrixOfSizes(operands[1], operands[2]);
}
LogicalResult ReshapeOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSizes(*this, "matrix", operands[1], operands[2]);
}
void ParseMatrixOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0] = matrixOfSizes(operands[1], operands[2]);
}
LogicalResult ParseMatrixOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSizes(*this, "matrix", operands[1], operands[2]);
}
LogicalResult RandOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSizes(*this, "rand", operands[0], operands[1]);
}
void RandOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0] = matrixOfSizes(operands[0], operands[1]);
  if (auto sparsity = dyn_cast_or_null<FloatAttr>(operands[4].value))
    results[0].density = sparsity.getValueAsDouble();
}
void SampleOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0] = Facts::matrix(sizeOf(operands[1]), Size::constant(1));
}
LogicalResult SampleOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSize(*this, "sample", "values", operands[1]);
}
void SeqOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts> results) {
  results[0] = Facts::matrix(Size::unknown(), Size::constant(1));
}

// Concatenation: sizes add up along one dimension and are equal along the other.
static Facts append(ArrayRef<Facts> operands, bool rows) {
  Size total = Size::constant(0), common = Size::unknown();
  for (const Facts &facts : operands) {
    if (!facts.isMatrix())
      return Facts();
    total = total + (rows ? facts.rows() : facts.columns());
    if (total.isConstant() && !isSize(total.constantValue()))
      total = Size::unknown();
    common = meet(common, rows ? facts.columns() : facts.rows());
  }
  return rows ? Facts::matrix(total, common) : Facts::matrix(common, total);
}
static LogicalResult checkAppend(Operation *op, ArrayRef<Facts> operands, bool rows) {
  SizeWriter describe;
  for (const Facts &facts : operands.drop_front(operands.empty() ? 0 : 1)) {
    const Facts &first = operands[0];
    if (!first.isMatrix() || !facts.isMatrix())
      continue;
    Size a = rows ? first.columns() : first.rows(), b = rows ? facts.columns() : facts.rows();
    if (a.provedDifferent(b))
      return op->emitError(rows ? "rbind" : "cbind")
             << ": the matrices have different numbers of " << (rows ? "columns" : "rows") << ", "
             << describe(first) << " and " << describe(facts);
  }
  return success();
}
void CbindOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (isArray(getType()))
    results[0] = append(operands, false);
}
void RbindOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (isArray(getType()))
    results[0] = append(operands, true);
}
LogicalResult CbindOp::checkFacts(ArrayRef<Facts> operands) {
  return checkAppend(*this, operands, false);
}
LogicalResult RbindOp::checkFacts(ArrayRef<Facts> operands) {
  return checkAppend(*this, operands, true);
}

void TableOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0] = matrixOfSizes(operands[3], operands[4]);
}
LogicalResult TableOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSizes(*this, "table", operands[3], operands[4]);
}
void RemoveEmptyOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  auto margin = dyn_cast_or_null<StringAttr>(operands[1].value);
  if (!margin)
    return;
  bool rows = margin.getValue() == "rows";
  results[0] = Facts::matrix(rows ? Size::unknown() : operands[0].rows(),
                             rows ? operands[0].columns() : Size::unknown());
}
void OuterOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0] = Facts::matrix(operands[0].rows(), operands[1].columns());
}
void ReplaceOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0].dims = operands[0].dims;
}
void DiagOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  const Facts &operand = operands[0];
  if (operand.isColumnVector())
    results[0] = Facts::matrix(operand.rows(), operand.rows());
  else if (operand.columns().isConstant())
    results[0] = Facts::matrix(operand.rows(), Size::constant(1));
}
void CallNativeOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  // Natives whose result has the shape of their first operand.
  static constexpr StringRef keepShape[] = {"rev",    "cumsum",    "cumprod",  "cummin",
                                            "cummax", "lower_tri", "upper_tri"};
  if (llvm::is_contained(keepShape, getNative()) && !operands.empty())
    results[0].dims = operands[0].dims;
}

//===- program -------------------------------------------------------------------------------===//

// Reports a constant format that can't be read or written.
static LogicalResult checkFormat(Operation *op, Type data, const Facts &format) {
  auto text = dyn_cast_or_null<StringAttr>(format.value);
  if (!text || (!isArray(data) && !isa<FrameType>(data)))
    return success();
  FormatUse use = isArray(data) ? FormatUse::Matrix : FormatUse::Frame;
  std::string name = formatNamed(text.getValue());
  return isSupportedFormat(name, use)
             ? success()
             : op->emitError(unsupportedFormat(op->getName().stripDialect(), name, use));
}

// A size of -1 means unknown.
void ReadOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (isArray(getType()))
    results[0] = matrixOfSizes(operands[2], operands[3]);
}
LogicalResult ReadOp::checkFacts(ArrayRef<Facts> operands) {
  if (failed(checkSizes(*this, "read", operands[2], operands[3], /*least=*/-1)))
    return failure();
  return checkFormat(*this, getType(), operands[1]);
}
void WriteOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts>) {}
LogicalResult WriteOp::checkFacts(ArrayRef<Facts> operands) {
  return checkFormat(*this, getValue().getType(), operands[2]);
}
void ToStringOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts>) {}
void ListOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts>) {}

void AssumeOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  results[0] = operands[0];
  results[0].dims.assign(getSizes().size(), Size::unknown());
  for (auto [index, size] : llvm::enumerate(getSizes())) {
    bool known = operands[0].dims.size() > index;
    results[0].dims[index] = size >= 0 ? Size::constant(size)
                             : known   ? operands[0].dims[index]
                                       : Size::unknown();
  }
}
