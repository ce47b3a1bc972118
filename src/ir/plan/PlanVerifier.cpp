// Which operators are valid: cells run over the axes of what they are computed from, maps fit the
// arrays that they access, and an axis has the property that its use gives it.
#include "ir/plan/PlanDialect.h"

#include "ir/tok/ElementTypes.h"
#include "ir/tok/SizesAttribute.h"

#include <numeric>
#include <set>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::plan;

SmallVector<unsigned> plan::axesOf(ValueRange cells, AffineMap map) {
  std::set<unsigned> axes;
  for (Value value : cells)
    if (auto cell = dyn_cast<CellType>(value.getType()))
      axes.insert(cell.getAxes().begin(), cell.getAxes().end());
  for (unsigned axis = 0; map && axis < map.getNumDims(); ++axis)
    if (map.isFunctionOfDim(axis))
      axes.insert(axis);
  return {axes.begin(), axes.end()};
}

SmallVector<unsigned> plan::axesOf(Operation *operation) {
  if (auto number = dyn_cast<NumberOp>(operation))
    return {static_cast<unsigned>(number.getAxis())};
  bool isReindexed = isa<ReindexOp>(operation);
  auto map = operation->getAttrOfType<AffineMapAttr>("map");
  SmallVector<unsigned> axes =
      axesOf(isReindexed ? ValueRange() : ValueRange(operation->getOperands()),
             map ? map.getValue() : AffineMap());
  if (auto reduce = dyn_cast<ReduceOp>(operation))
    llvm::erase_if(axes, [&](unsigned axis) { return llvm::is_contained(reduce.getOver(), axis); });
  return axes;
}

static std::string textOf(ArrayRef<unsigned> axes) {
  std::string text;
  for (unsigned axis : axes)
    text += (text.empty() ? "d" : ", d") + std::to_string(axis);
  return text.empty() ? "no axis" : text;
}

LogicalResult SizeOp::verify() {
  std::optional<Size> size = Size::parse(std::string_view(getSize().data(), getSize().size()));
  if (!size || size->isUnknown())
    return emitOpError("no size: ") << getSize();
  return success();
}

template <typename Aggregation> static LogicalResult verifyAggregation(Aggregation op) {
  AggregateKind kind = op.getKind();
  if (kind == AggregateKind::Mean || kind == AggregateKind::Var || kind == AggregateKind::Sd)
    return op.emitOpError("mean, var and sd are decomposed before");
  CellType operand = op.getOperand().getType();
  if (op.getOver().empty() ||
      !llvm::all_of(op.getOver(), [&](int64_t axis) { return operand.runsOver(axis); }))
    return op.emitOpError("the operand runs over ") << textOf(operand.getAxes());
  std::optional<ElementType> accumulator = tok::elementTypeOf(op.getAccumulator());
  if (!accumulator || (isFloat(cellsOf(op.getOperand())) && !isFloat(*accumulator)))
    return op.emitOpError("no accumulator for ")
           << operand.getElement() << ": " << op.getAccumulator();
  return success();
}

LogicalResult ReduceOp::verify() { return verifyAggregation(*this); }
LogicalResult ScanOp::verify() { return verifyAggregation(*this); }

LogicalResult ReadOp::verify() {
  if (!isa<BlockArgument>(getOperand()))
    return emitOpError("reads an operand of the operator");
  Type type = getOperand().getType();
  bool hasCells = tok::isArray(type) || tok::isNumber(type);
  if (!hasCells || cellsOfOperand(type) != getType().getElement())
    return emitOpError("the cells of ") << type << " are not of type " << getType().getElement();
  return success();
}

//===- operators -----------------------------------------------------------------------------===//

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

// Axes that the cell has beyond those of the map have size 1; what is written is repeated along axes
// that it does not run over. An axis accesses the whole dimension or its beginning.
static LogicalResult checkMap(Operation *op, AffineMap map, ValueRange indices, CellType cell,
                              ArrayRef<Size> sizes, ArrayRef<Size> axes) {
  if (map.getNumDims() != axes.size())
    return op->emitOpError("the operator has ")
           << axes.size() << " axes, the map " << map.getNumDims();
  if (map.getNumResults() != sizes.size())
    return op->emitOpError("the array has ")
           << sizes.size() << " dimensions, the map " << map.getNumResults() << " results";
  SmallVector<unsigned> used = axesOf(indices, map);
  for (unsigned axis : used)
    if (!cell.runsOver(axis) && !isa<WriteOp>(op))
      return op->emitOpError("the cell does not run over d") << axis;
  for (unsigned axis : cell.getAxes())
    if (!llvm::is_contained(used, axis) && !axes[axis].isConstant(1))
      return op->emitOpError("the map does not depend on d") << axis;
  for (auto [place, size] : llvm::zip(map.getResults(), sizes))
    if (auto axis = dyn_cast<AffineDimExpr>(place);
        axis && !axes[axis.getPosition()].provedAtMost(size))
      return op->emitOpError("d") << axis.getPosition()
                                  << " may be longer than the dimension it accesses";
  return success();
}

// The product of some sizes.
template <typename Sizes> static Size cellsIn(const Sizes &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), Size::constant(1), std::multiplies<>());
}

LogicalResult OperatorOp::verifyRegions() {
  SmallVector<Size> axes = axisSizes();
  auto sizeOf = [&](unsigned axis) { return axes[axis]; };
  SmallVector<SmallVector<Size>> operands = operandSizes(), results = resultSizes();
  SmallVector<Size> written(results.size(), Size::constant(0)); // cells, by result
  for (Operation &operation : getBody().front()) {
    if (!isa_and_nonnull<PlanDialect>(operation.getDialect()))
      return operation.emitOpError("is no operation of a body");
    SmallVector<unsigned> own = axesOf(operation.getResults()), computed = axesOf(&operation);
    if (own != computed && !isa<ReadOp, WriteOp>(operation))
      return operation.emitOpError("runs over ")
             << textOf(own) << ", its operands over " << textOf(computed);
    for (unsigned axis : own)
      if (axis >= axes.size())
        return operation.emitOpError("there is no axis d") << axis;
    LogicalResult fits = success();
    if (auto read = dyn_cast<ReadOp>(operation)) {
      fits = checkMap(read, read.getMap(), read.getIndices(), read.getType(),
                      operands[read.getNumber()], axes);
    } else if (auto reindex = dyn_cast<ReindexOp>(operation)) {
      auto sizes = llvm::map_to_vector(reindex.getOperand().getType().getAxes(), sizeOf);
      fits = checkMap(reindex, reindex.getMap(), {}, reindex.getType(), sizes, axes);
    } else if (auto write = dyn_cast<WriteOp>(operation)) {
      uint64_t number = write.getNumber();
      if (number >= results.size())
        return write.emitOpError("there is no result ") << number;
      Type type = getResult(number).getType();
      Type cells = tok::isArray(type) ? getElementTypeOrSelf(type) : type;
      CellType cell = write.getCell().getType();
      if (cells != cell.getElement())
        return write.emitOpError("the result is of type ") << cells;
      fits = checkMap(write, write.getMap(), write.getIndices(), cell, results[number], axes);
      if (succeeded(fits))
        written[number] = written[number] + cellsIn(llvm::map_range(axesOf(write), sizeOf));
    }
    if (failed(fits))
      return failure();
  }
  // Parts that don't overlap and have as many cells as the result cover it.
  for (size_t result = 0; result < results.size(); ++result)
    if (!written[result].provedEqual(cellsIn(results[result])))
      return emitOpError("what is written to result ") << result << " does not fill it";
  return success();
}
