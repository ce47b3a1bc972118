// Errors for operands that are proved wrong by what is known of them, in the words of the errors at
// run time.
#include "base/FileFormats.h"
#include "base/NumberText.h"
#include "base/Sizes.h"
#include "ir/tok/BroadcastSizes.h"
#include "ir/tok/TokDialect.h"

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

//===- cells ----------------------------------------------------------------------------------===//

static InFlightDiagnostic sizesDisagree(Operation *op, const Facts &lhs, StringRef name,
                                        const Facts &rhs) {
  SizeWriter describe;
  return op->emitError("sizes do not agree: ")
         << describe(lhs) << ' ' << name << ' ' << describe(rhs) << "; expected equal sizes, or ";
}

static LogicalResult checkBroadcast(Operation *op, const Facts &lhs, StringRef name,
                                    const Facts &rhs) {
  if (allAligned(lhs, rhs, mayBroadcast))
    return success();
  return sizesDisagree(op, lhs, name, rhs) << "1 where they differ";
}

LogicalResult BinaryOp::checkFacts(ArrayRef<Facts> operands) {
  const Facts &lhs = operands[0], &rhs = operands[1];
  std::string_view spelled = spelling(getKind());
  StringRef name(spelled.data(), spelled.size());
  if (!getOneRepeated())
    return checkBroadcast(*this, lhs, name, rhs);
  if (mayRepeatTo(lhs, rhs) || mayRepeatTo(rhs, lhs))
    return success();
  InFlightDiagnostic error = sizesDisagree(*this, lhs, name, rhs);
  error << "one operand that is a vector of matching length";
  if (lhs.isColumnVector() && rhs.isRowVector())
    error << "; outer(u, v, \"" << name << "\") combines a column with a row";
  return error;
}

// Rules compute it as a binary operation, which never has other operands.
LogicalResult OuterOp::checkFacts(ArrayRef<Facts> operands) {
  auto constant = getSpelling().getDefiningOp<ConstantOp>();
  auto name = constant ? dyn_cast<StringAttr>(constant.getValue()) : StringAttr();
  return checkBroadcast(*this, operands[0], name ? name.getValue() : "outer", operands[1]);
}

LogicalResult IfElseOp::checkFacts(ArrayRef<Facts> operands) {
  SmallVector<Facts> arrays;
  llvm::copy_if(operands, std::back_inserter(arrays),
                [](const Facts &facts) { return !facts.dims.empty(); });
  bool agree = true;
  Facts soFar;
  for (const Facts &facts : arrays) {
    agree = agree && allAligned(soFar, facts, mayBroadcast);
    soFar.dims = soFar.dims.empty() ? facts.dims : broadcast(soFar.dims, facts.dims);
  }
  auto mayBeWhole = [&](const Facts &whole) {
    return llvm::all_of(arrays, [&](const Facts &part) { return mayRepeatTo(whole, part); });
  };
  if (agree && (!getOneWhole() || arrays.empty() || llvm::any_of(arrays, mayBeWhole)))
    return success();
  SizeWriter describe;
  InFlightDiagnostic error = emitError("ifelse: sizes do not agree: ");
  for (auto [place, facts] : llvm::enumerate(arrays))
    error << (place == 0 ? "" : place + 1 == arrays.size() ? " and " : ", ") << describe(facts);
  return error << "; expected equal sizes, or "
               << (getOneWhole() ? "vectors of matching length beside a matrix"
                                 : "1 where they differ");
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

//===- arrays ---------------------------------------------------------------------------------===//

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
  bool isBelow = low.isConstant() && low.constantValue() < 1;
  return op->emitError("index out of range: ") << range << " of a " << describe(array) << " matrix"
                                               << (isBelow ? "; indices begin at 1" : "");
}

LogicalResult SliceOp::checkFacts(ArrayRef<Facts> operands) {
  if (failed(checkRange(*this, "row", operands[1], operands[2], operands[0])))
    return failure();
  return checkRange(*this, "column", operands[3], operands[4], operands[0]);
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

//===- construction ---------------------------------------------------------------------------===//

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

LogicalResult FillOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSizes(*this, "matrix", operands[1], operands[2]);
}
LogicalResult ViewOp::checkFacts(ArrayRef<Facts> operands) {
  SizeWriter describe;
  Facts result;
  ViewOp::inferFacts(operands, result);
  if (!productOf(operands[0].dims).provedDifferent(productOf(result.dims)))
    return success();
  return emitError("an array of ")
         << describe(operands[0]) << " has not as many cells as one of " << describe(result);
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
LogicalResult ReshapeOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSizes(*this, "matrix", operands[1], operands[2]);
}
LogicalResult ParseMatrixOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSizes(*this, "matrix", operands[1], operands[2]);
}
LogicalResult RandOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSizes(*this, "rand", operands[0], operands[1]);
}
LogicalResult SeqOp::checkFacts(ArrayRef<Facts> operands) {
  auto from = dyn_cast_or_null<FloatAttr>(operands[0].value);
  auto to = dyn_cast_or_null<FloatAttr>(operands[1].value);
  auto by = dyn_cast_or_null<FloatAttr>(operands[2].value);
  if (!by)
    return success();
  double increment = by.getValueAsDouble();
  if (increment == 0)
    return emitError("seq: the increment is zero");
  if (!from || !to)
    return success();
  double first = from.getValueAsDouble(), last = to.getValueAsDouble();
  if (!(first < last && increment < 0) && !(first > last && increment > 0))
    return success();
  return emitError("seq: the increment ")
         << textOf(increment) << " does not lead from " << textOf(first) << " to " << textOf(last);
}
LogicalResult SampleOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSize(*this, "sample", "values", operands[1]);
}
LogicalResult TableOp::checkFacts(ArrayRef<Facts> operands) {
  return checkSizes(*this, "table", operands[3], operands[4]);
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
LogicalResult CbindOp::checkFacts(ArrayRef<Facts> operands) {
  return checkAppend(*this, operands, false);
}
LogicalResult RbindOp::checkFacts(ArrayRef<Facts> operands) {
  return checkAppend(*this, operands, true);
}

//===- program --------------------------------------------------------------------------------===//

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

LogicalResult ReadOp::checkFacts(ArrayRef<Facts> operands) {
  if (failed(checkSizes(*this, "read", operands[2], operands[3], /*least=*/-1)))
    return failure();
  return checkFormat(*this, getType(), operands[1]);
}
LogicalResult WriteOp::checkFacts(ArrayRef<Facts> operands) {
  return checkFormat(*this, getValue().getType(), operands[2]);
}
