#include "ir/tok/CellFacts.h"

#include "ir/tok/ElementTypes.h"
#include "ir/tok/ScalarConstant.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

// An upper bound on the number of rows, columns or cells.
static constexpr double mostCells = 0x1p63;

ZeroRule tok::zeroRuleOf(Operation &operation) {
  for (Operation *parent = operation.getParentOp(); parent; parent = parent->getParentOp())
    if (parent->hasAttr(strictZerosAttributeName))
      return ZeroRule::Strict;
  return ZeroRule::Sparse;
}

// Encodes the interval [low, high] and two flags (0 or 1): may be NaN, may be zero.
Attribute tok::cellsAttribute(MLIRContext *context, const CellFact &cells) {
  return DenseF64ArrayAttr::get(
      context, {cells.low, cells.high, double(cells.mayBeNan), double(cells.mayBeZero)});
}

CellFact tok::statedCellsOf(BlockArgument argument) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto stated = function && argument.getOwner()->isEntryBlock()
                    ? function.getArgAttrOfType<DenseF64ArrayAttr>(argument.getArgNumber(),
                                                                   cellsAttributeName)
                    : nullptr;
  return stated ? CellFact(stated[0], stated[1], stated[2] != 0, stated[3] != 0)
                : CellFact::anything();
}

CellFact tok::numberOf(const Facts &facts) {
  std::optional<double> number = numberOf(facts.value);
  return number ? CellFact(*number) : CellFact::anything();
}

static bool isSingle(Type type) { return getElementTypeOrSelf(type).isF32(); }
// Facts are about doubles: nothing is known about the cells of arrays of integers, which wrap, and of
// 16-bit floats.
static bool mayBeKnown(Type type) {
  std::optional<ElementType> cells = isArray(type) ? elementTypeOf(type) : ElementType::F64;
  return cells && mayBeSparse(*cells);
}

CellFact tok::cellOf(Operation &operation, llvm::function_ref<CellFact(OpOperand &)> factOf) {
  if (!mayBeKnown(operation.getResult(0).getType()))
    return CellFact::anything();
  bool single = isSingle(operation.getResult(0).getType());
  auto rounded = [&](const CellFact &fact) { return single ? inSinglePrecision(fact) : fact; };
  auto operand = [&](unsigned number) {
    OpOperand &operand = operation.getOpOperand(number);
    CellFact fact = factOf(operand);
    return isSingle(operand.get().getType()) ? fact : rounded(fact);
  };
  if (auto unary = dyn_cast<UnaryOp>(operation))
    return rounded(factAt(unary.getKind(), operand(0)));
  if (auto binary = dyn_cast<BinaryOp>(operation))
    return rounded(factAt(binary.getKind(), operand(0), operand(1), zeroRuleOf(operation)));
  return factAtIfElse(operand(0), operand(1), operand(2));
}

// The lower and upper bound of a number of rows or columns.
static std::pair<double, double> rangeOf(const Size &size) {
  auto [low, high] = size.range();
  return {std::max<double>(low, 0), std::min<double>(high, largestSize)};
}

static CellFact aggregateOf(AggregateOp aggregate, const Facts &facts, const CellFact &cell) {
  double fewest = 1, most = 1;
  auto along = [&](const Size &size) {
    auto [low, high] = rangeOf(size);
    fewest *= low;
    most = std::min(most * high, mostCells);
  };
  if (aggregate.getDirection() != AggregateDirection::Row)
    along(facts.rows());
  if (aggregate.getDirection() != AggregateDirection::Column)
    along(facts.columns());
  switch (aggregate.getKind()) {
  case AggregateKind::Sum:
    return sumOf(cell, fewest, most);
  case AggregateKind::Min:
  case AggregateKind::Max:
    return fewest >= 1 ? cell : CellFact::anything();
  case AggregateKind::IndexMax:
  case AggregateKind::IndexMin:
  case AggregateKind::FirstIndexMax:
  case AggregateKind::FirstIndexMin:
  case AggregateKind::Prod:
  case AggregateKind::Mean:
  case AggregateKind::Var:
  case AggregateKind::Sd:
    return CellFact::anything();
  }
  return CellFact::anything();
}

CellFact tok::allCellsOf(Operation &operation, ArrayRef<Facts> facts,
                         llvm::function_ref<CellFact(Value)> factOf) {
  if (operation.getNumResults() != 1 || !mayBeKnown(operation.getResult(0).getType()))
    return CellFact::anything();
  bool single = isSingle(operation.getResult(0).getType());
  auto rounded = [&](const CellFact &fact) { return single ? inSinglePrecision(fact) : fact; };
  return llvm::TypeSwitch<Operation *, CellFact>(&operation)
      .Case<TransposeOp, SliceOp, ReshapeOp, ViewOp, ExpandOp>(
          [&](auto) { return factOf(operation.getOperand(0)); })
      .Case([&](FillOp fill) { return rounded(factOf(fill.getValue())); })
      .Case([&](CastOp cast) {
        bool keeps = isa<FloatType>(getElementTypeOrSelf(cast.getType()));
        return keeps ? rounded(factOf(cast->getOperand(0))) : CellFact::anything();
      })
      .Case<CbindOp, RbindOp>([&](auto append) {
        CellFact all = factOf(append->getOperand(0));
        for (Value operand : append->getOperands().drop_front())
          all = eitherOf(all, factOf(operand));
        return all;
      })
      .Case([&](AggregateOp aggregate) {
        return rounded(aggregateOf(aggregate, facts[0], factOf(aggregate.getOperand())));
      })
      .Case([&](MatmulOp matmul) {
        CellFact term = rounded(factAt(BinaryOperator::Mul, factOf(matmul.getLhs()),
                                       factOf(matmul.getRhs()), ZeroRule::Strict));
        auto [fewest, most] = rangeOf(facts[0].columns());
        return rounded(sumOf(term, fewest, most));
      })
      .Default([](Operation *) { return CellFact::anything(); });
}
