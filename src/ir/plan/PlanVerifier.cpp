// Which operators are valid: cells run over the axes of what they are computed from, maps fit the
// arrays that they access, and an axis has the property that its use gives it.
#include "ir/plan/PlanDialect.h"

#include "ir/tok/ElementTypes.h"
#include "ir/tok/SizesAttribute.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::plan;

using Axes = SmallVector<unsigned>;

static void addAxes(AffineMap map, llvm::SetVector<unsigned> &axes) {
  for (unsigned axis = 0; axis < map.getNumDims(); ++axis)
    if (map.isFunctionOfDim(axis))
      axes.insert(axis);
}

// The axes of the values together, in ascending order.
static Axes axesOf(ValueRange cells, AffineMap map = {}) {
  llvm::SetVector<unsigned> all;
  for (Value cell : cells)
    for (unsigned axis : cast<CellType>(cell.getType()).getAxes())
      all.insert(axis);
  if (map)
    addAxes(map, all);
  Axes axes(all.begin(), all.end());
  llvm::sort(axes);
  return axes;
}

static std::string textOf(ArrayRef<unsigned> axes) {
  std::string text;
  for (unsigned axis : axes)
    text += (text.empty() ? "d" : ", d") + std::to_string(axis);
  return text.empty() ? "no axis" : text;
}

static LogicalResult runsOver(Operation *op, Value cell, ArrayRef<unsigned> axes) {
  ArrayRef<unsigned> own = cast<CellType>(cell.getType()).getAxes();
  if (own == axes)
    return success();
  return op->emitOpError("runs over ") << textOf(own) << ", its operands over " << textOf(axes);
}

static Type elementOf(Value cell) { return cast<CellType>(cell.getType()).getElement(); }

//===- cells ---------------------------------------------------------------------------------===//

LogicalResult UnaryOp::verify() { return runsOver(*this, getCell(), axesOf(getOperand())); }

LogicalResult BinaryOp::verify() {
  if (elementOf(getLhs()) != elementOf(getRhs()))
    return emitOpError("the operands have different element types");
  return runsOver(*this, getCell(), axesOf({getLhs(), getRhs()}));
}

LogicalResult IfElseOp::verify() {
  if (elementOf(getThen()) != elementOf(getCell()) ||
      elementOf(getOtherwise()) != elementOf(getCell()))
    return emitOpError("both choices have the element type of the result");
  return runsOver(*this, getCell(), axesOf(getOperands()));
}

LogicalResult CastOp::verify() { return runsOver(*this, getCell(), axesOf(getOperand())); }

LogicalResult ConstantOp::verify() {
  if (getValue().getType() != getType().getElement())
    return emitOpError("the number and the cell have different types");
  return runsOver(*this, getCell(), {});
}

LogicalResult SizeOp::verify() {
  std::optional<Size> size = Size::parse(std::string_view(getSize().data(), getSize().size()));
  if (!size || size->isUnknown())
    return emitOpError("no size: ") << getSize();
  if (!getType().getElement().isInteger(64))
    return emitOpError("a size is of type i64");
  return runsOver(*this, getCell(), {});
}

LogicalResult ReindexOp::verify() {
  ArrayRef<unsigned> from = getOperand().getType().getAxes();
  if (getMap().getNumResults() != from.size())
    return emitOpError("the map has a result for each axis of the operand");
  if (elementOf(getOperand()) != elementOf(getCell()))
    return emitOpError("the element type stays");
  return runsOver(*this, getCell(), axesOf({}, getMap()));
}

// Reductions and scans.
static LogicalResult verifyAggregation(Operation *op, AggregateKind kind, CellType operand,
                                       ArrayRef<int64_t> over, Type accumulator) {
  if (kind == AggregateKind::Mean || kind == AggregateKind::Var || kind == AggregateKind::Sd)
    return op->emitOpError("mean, var and sd are decomposed before");
  if (over.empty() || !llvm::all_of(over, [&](int64_t axis) { return operand.runsOver(axis); }))
    return op->emitOpError("the operand runs over ") << textOf(operand.getAxes());
  bool floats = isFloat(*tok::elementTypeOf(operand.getElement()));
  std::optional<ElementType> type = tok::elementTypeOf(accumulator);
  if (!type || (floats && !isFloat(*type)))
    return op->emitOpError("no accumulator for ") << operand.getElement() << ": " << accumulator;
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(
          verifyAggregation(*this, getKind(), getOperand().getType(), getOver(), getAccumulator())))
    return failure();
  Axes axes = axesOf(getOperand());
  llvm::erase_if(axes, [&](unsigned axis) { return llvm::is_contained(getOver(), axis); });
  return runsOver(*this, getCell(), axes);
}

LogicalResult ScanOp::verify() {
  if (failed(
          verifyAggregation(*this, getKind(), getOperand().getType(), getOver(), getAccumulator())))
    return failure();
  if (getOver().size() != 1 || getKind() > AggregateKind::Max)
    return emitOpError("sum, prod, min or max along one axis");
  return runsOver(*this, getCell(), axesOf(getOperand()));
}

//===- accesses ------------------------------------------------------------------------------===//

static LogicalResult verifyIndices(Operation *op, AffineMap map, ValueRange indices) {
  if (map.getNumSymbols() != indices.size())
    return op->emitOpError("the map has a symbol for each index");
  for (Value index : indices)
    if (!elementOf(index).isInteger(64))
      return op->emitOpError("indices are of type i64");
  return success();
}

LogicalResult ReadOp::verify() {
  if (!isa<BlockArgument>(getOperand()))
    return emitOpError("reads an operand of the operator");
  Type type = getOperand().getType();
  bool hasCells = tok::isArray(type) || tok::isNumber(type);
  if (!hasCells || cellsOfOperand(type) != getType().getElement())
    return emitOpError("the cells of ") << type << " are not of type " << getType().getElement();
  return verifyIndices(*this, getMap(), getIndices());
}

LogicalResult WriteOp::verify() { return verifyIndices(*this, getMap(), getIndices()); }

namespace {

// The checks that need the whole operator.
class OperatorVerifier {
public:
  explicit OperatorVerifier(OperatorOp op)
      : op_(op), axes_(op.axisSizes()), operands_(op.operandSizes()), results_(op.resultSizes()),
        written_(results_.size(), Size::constant(0)) {}

  LogicalResult run() {
    for (Operation &operation : op_.getBody().front()) {
      LogicalResult known = checkCells(operation);
      if (failed(known))
        return failure();
      if (auto read = dyn_cast<ReadOp>(operation))
        known = checkRead(read);
      else if (auto write = dyn_cast<WriteOp>(operation))
        known = checkWrite(write);
      else if (auto reindex = dyn_cast<ReindexOp>(operation))
        known = checkReindex(reindex);
      else if (!isa_and_nonnull<PlanDialect>(operation.getDialect()))
        known = operation.emitOpError("is no operation of a body");
      if (failed(known))
        return failure();
    }
    // Parts that don't overlap and have as many cells as the result cover it.
    for (size_t result = 0; result < results_.size(); ++result)
      if (!written_[result].provedEqual(productOf(results_[result])))
        return op_.emitOpError("what is written to result ") << result << " does not fill it";
    return success();
  }

private:
  LogicalResult checkCells(Operation &operation) {
    for (Value result : operation.getResults())
      if (auto cell = dyn_cast<CellType>(result.getType()))
        for (unsigned axis : cell.getAxes())
          if (axis >= axes_.size())
            return operation.emitOpError("there is no axis d") << axis;
    return success();
  }

  static Size productOf(ArrayRef<Size> sizes) {
    Size product = Size::constant(1);
    for (const Size &size : sizes)
      product = product * size;
    return product;
  }

  // Axes that the cell has beyond those of the map have size 1; what is written is repeated along axes
  // that it does not run over. An axis accesses the whole dimension or its beginning.
  LogicalResult checkMap(Operation *op, AffineMap map, ValueRange indices, CellType cell,
                         ArrayRef<Size> sizes) {
    if (map.getNumDims() != axes_.size())
      return op->emitOpError("the operator has ")
             << axes_.size() << " axes, the map " << map.getNumDims();
    if (map.getNumResults() != sizes.size())
      return op->emitOpError("the array has ")
             << sizes.size() << " dimensions, the map " << map.getNumResults() << " results";
    Axes used = axesOf(indices, map);
    for (unsigned axis : used)
      if (!cell.runsOver(axis) && !isa<WriteOp>(op))
        return op->emitOpError("the cell does not run over d") << axis;
    for (unsigned axis : cell.getAxes())
      if (!llvm::is_contained(used, axis) && !axes_[axis].isConstant(1))
        return op->emitOpError("the map does not depend on d") << axis;
    for (auto [place, size] : llvm::zip(map.getResults(), sizes))
      if (auto axis = dyn_cast<AffineDimExpr>(place);
          axis && !axes_[axis.getPosition()].provedAtMost(size))
        return op->emitOpError("d")
               << axis.getPosition() << " may be longer than the dimension it accesses";
    return success();
  }

  LogicalResult checkRead(ReadOp read) {
    unsigned number = cast<BlockArgument>(read.getOperand()).getArgNumber();
    return checkMap(read, read.getMap(), read.getIndices(), read.getType(), operands_[number]);
  }

  LogicalResult checkWrite(WriteOp write) {
    uint64_t number = write.getNumber();
    if (number >= results_.size())
      return write.emitOpError("there is no result ") << number;
    Size part = Size::constant(1);
    for (unsigned axis : axesOf(write->getOperands(), write.getMap()))
      part = part * axes_[axis];
    written_[number] = written_[number] + part;
    Type type = op_.getResult(number).getType();
    Type cells = tok::isArray(type) ? getElementTypeOrSelf(type) : type;
    if (cells != write.getCell().getType().getElement())
      return write.emitOpError("the result is of type ") << cells;
    return checkMap(write, write.getMap(), write.getIndices(), write.getCell().getType(),
                    results_[number]);
  }

  LogicalResult checkReindex(ReindexOp reindex) {
    SmallVector<Size> sizes;
    for (unsigned axis : reindex.getOperand().getType().getAxes())
      sizes.push_back(axes_[axis]);
    return checkMap(reindex, reindex.getMap(), {}, reindex.getType(), sizes);
  }

  OperatorOp op_;
  SmallVector<Size> axes_;
  SmallVector<SmallVector<Size>> operands_, results_;
  SmallVector<Size> written_; // cells, by result
};

} // namespace

static LogicalResult checkLists(OperatorOp op, ArrayAttr lists, TypeRange types, StringRef what) {
  if (lists.size() != types.size())
    return op.emitOpError("sizes of each ") << what;
  for (auto [list, type] : llvm::zip(lists, types)) {
    std::optional<SmallVector<Size>> sizes = tok::sizesOf(list);
    auto array = dyn_cast<RankedTensorType>(type);
    if (!sizes || sizes->size() != static_cast<size_t>(array ? array.getRank() : 0))
      return op.emitOpError("a size for each dimension of each ") << what << " that is an array";
  }
  return success();
}

LogicalResult OperatorOp::verify() {
  if (!tok::sizesOf(getAxisSizesAttr()))
    return emitOpError("each axis has a size");
  if (failed(checkLists(*this, getOperandSizesAttr(), getInputs().getTypes(), "operand")) ||
      failed(checkLists(*this, getResultSizesAttr(), getResultTypes(), "result")))
    return failure();
  for (int64_t number : getSparse())
    if (number < 0 || number >= getNumOperands() || !tok::isArray(getOperand(number).getType()))
      return emitOpError("sparse lists operands that are arrays");
  SmallVector<SmallVector<Size>> sizes = operandSizes();
  for (int64_t driver : getDrivers())
    if (!isSparseOperand(driver) || sizes[driver] != sizes[getDrivers().front()])
      return emitOpError("the drivers are sparse operands of the same sizes");
  SmallVector<SmallVector<Size>> results = resultSizes();
  for (int64_t result : getSparseResults())
    if (getDrivers().empty() || results[result] != sizes[getDrivers().front()])
      return emitOpError("a sparse result has the sizes and the entries of a driver");
  if (TypeRange(getBody().getArgumentTypes()) != getInputs().getTypes())
    return emitOpError("the body's arguments are the operands");
  return success();
}

LogicalResult OperatorOp::verifyRegions() { return OperatorVerifier(*this).run(); }
