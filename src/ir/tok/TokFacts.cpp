// Inference of facts about the results of operations that are not natives; those are in
// NativeFacts.cpp.
#include "ir/tok/BroadcastSizes.h"
#include "ir/tok/CellFacts.h"
#include "ir/tok/TokDialect.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

static const Size one = Size::constant(1);

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
      return operand.get() == sparse ? CellFact::withoutEntry()
                                     : numberOf(operands[operand.getOperandNumber()]);
    });
    if (!fact.isZero() || (result.isSparse() && result.density <= facts.density))
      continue;
    result.layout = Layout::Sparse;
    result.density = facts.density;
  }
}

//===- cells ----------------------------------------------------------------------------------===//

void ConstantOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts> results) {
  results[0].value = getValue();
  if (auto integer = dyn_cast<IntegerAttr>(getValue()); integer && getType().isInteger(64))
    results[0].integer = Size::constant(integer.getInt());
}

void UndefOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts>) {}

void UnaryOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (getType().isInteger(64)) {
    const Size &x = operands[0].integer;
    if (getKind() == UnaryOperator::Neg)
      results[0] = integerFacts(-1 * x, getContext());
    else if (getKind() == UnaryOperator::Abs)
      results[0] = integerFacts(x.range().low >= 0 ? x : maximum(x, -1 * x), getContext());
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
  results[0].dims = getOneRepeated() ? broadcastOne(lhs, rhs) : broadcast(lhs, rhs);
  inferLayout(*this, operands, results[0]);
}

void IfElseOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  Facts &result = results[0];
  bool first = true;
  for (auto [operand, facts] : llvm::zip(getOperands(), operands)) {
    if (!isArray(operand.getType()))
      continue;
    bool takes = std::exchange(first, false);
    result.dims = takes ? facts.dims : broadcast(result.dims, facts.dims);
  }
  inferLayout(*this, operands, result);
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
  } else if (getOperand().getType().isInteger(64) && getType().isF64()) {
    constexpr int64_t mostExact = int64_t(1) << 53;
    Size::Range range = operands[0].integer.range();
    if (range.low >= -mostExact && range.high <= mostExact)
      results[0].integer = operands[0].integer;
  }
}

//===- arrays ---------------------------------------------------------------------------------===//

void AggregateOp::inferFacts(ArrayRef<Facts> operands, MutableArrayRef<Facts> results) {
  if (getDirection() == AggregateDirection::Row) {
    results[0].dims = operands[0].dims;
    if (!results[0].dims.empty())
      results[0].dims.back() = one;
  } else if (getDirection() == AggregateDirection::Column)
    results[0] = Facts::matrix(one, operands[0].columns());
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

void LiteralOp::inferFacts(ArrayRef<Facts>, MutableArrayRef<Facts> results) {
  for (int64_t size : getCells().getShapedType().getShape())
    results[0].dims.push_back(Size::constant(size));
}
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
