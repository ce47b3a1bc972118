#include "codegen/KernelBody.h"

#include "codegen/Aggregation.h"
#include "codegen/LaunchSizes.h"
#include "ir/plan/IterationSpace.h"
#include "ir/tok/ElementTypes.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

bool codegen::isRead(Value value) { return value.getDefiningOp<plan::ReadOp>() != nullptr; }

bool codegen::isCell(Operation *operation) {
  return isa<plan::UnaryOp, plan::BinaryOp, plan::IfElseOp, plan::CastOp, plan::ConstantOp>(
      operation);
}

Value codegen::withoutCopies(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    auto cast = dyn_cast<plan::CastOp>(op);
    if (!isa<plan::ReindexOp>(op) && !(cast && cellsOf(cast.getCell()) == ElementType::F64 &&
                                       cellsOf(cast.getOperand()) == ElementType::F32))
      return value;
    value = op->getOperand(0);
  }
}

static bool isNarrow(const Size &size) {
  return size.isConstant() && size.constantValue() <= mostNarrowColumns;
}

FailureOr<KernelBody> KernelBody::analyze(plan::OperatorOp op) {
  KernelBody body;
  body.op_ = op;
  body.axes_ = op.axisSizes();
  unsigned scalarCount = 0;
  for (BlockArgument argument : op.getBody().getArguments())
    body.inputIndex_[argument] =
        tok::isArray(argument.getType()) ? body.arrayCount_++ : scalarCount++;
  if (failed(body.findAxes()))
    return failure();
  for (Operation &operation : body.block())
    if (failed(body.checkOperation(operation)))
      return failure();
  if (failed(body.findRoots()))
    return failure();
  return body;
}

//===- axes ----------------------------------------------------------------------------------===//

// True for the aggregate of the only row of an array that is a result: it is computed as an
// aggregate of all cells.
bool KernelBody::isOfOnlyRow(plan::ReduceOp reduce) const {
  return reduce.getKind() <= AggregateKind::Max && reduce.getType().getAxes().size() == 1 &&
         reduce.getType().runsOver(0) && axes_[0].isConstant(1) && isOnlyWritten(reduce);
}

LogicalResult KernelBody::findAxes() {
  // Which cells run over each axis, by their number in the body.
  SmallVector<llvm::BitVector> along(axes_.size());
  for (Operation &operation : block()) {
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    if (operation.getNumResults() == 0 || (reduce && isOfOnlyRow(reduce)))
      continue;
    auto cell = cast<plan::CellType>(operation.getResult(0).getType());
    for (unsigned axis = 0; axis < axes_.size(); ++axis)
      along[axis].push_back(cell.runsOver(axis));
  }
  unsigned columns = 0;
  for (unsigned axis = 0; axis < axes_.size(); ++axis) {
    if (axis == 0 || along[axis] == along[0])
      rows_.push_back(axis);
    else if (along[axis].any())
      ++columns;
  }
  if (rows_.empty() || rows_.back() + 1 != rows_.size())
    return op_.emitOpError("the first axes are the rows of a tile");
  flat_ = columns == 0;
  auto isLarger = [](const Size &a, const Size &b) {
    return a.isConstant() && (!b.isConstant() || a.constantValue() < b.constantValue());
  };
  for (unsigned axis = rows_.size(); axis < axes_.size(); ++axis)
    if (columns_.isConstant(1) || isLarger(columns_, axes_[axis]))
      columns_ = axes_[axis];
  for (unsigned axis = rows_.size(); axis < axes_.size(); ++axis)
    if (axes_[axis] != columns_ && !isNarrow(axes_[axis]))
      return op_.emitOpError("of the lengths of rows only one may be other than a constant of at "
                             "most ")
             << mostNarrowColumns;
  return success();
}

std::optional<int64_t> KernelBody::constantColumns() const {
  return columns_.isConstant() ? std::optional(columns_.constantValue()) : std::nullopt;
}

SmallVector<unsigned, 2> KernelBody::columnAxes(Value cell) const {
  SmallVector<unsigned, 2> axes;
  for (unsigned axis : cast<plan::CellType>(cell.getType()).getAxes())
    if (axis >= rows_.size())
      axes.push_back(axis);
  return axes;
}

int64_t KernelBody::narrowColumns(Value value) const {
  return axes_[columnAxes(value).front()].constantValue();
}

Extent KernelBody::extentOf(Value value) const {
  bool overRows = runsOverRows(cast<plan::CellType>(value.getType()));
  if (flat_)
    return overRows ? Extent::Wide : Extent::Uniform;
  SmallVector<unsigned, 2> columns = columnAxes(value);
  if (columns.empty())
    return overRows ? Extent::PerRow : Extent::Uniform;
  if (columns.size() > 1)
    return Extent::Factor;
  const Size &width = axes_[columns.front()];
  bool isWide =
      width == columns_ && !(width.isConstant() && width.constantValue() <= mostNarrowMainColumns);
  if (overRows)
    return isWide ? Extent::Wide : Extent::Narrow;
  return isWide ? Extent::Shared : Extent::SharedNarrow;
}

//===- what a body may do --------------------------------------------------------------------===//

LogicalResult KernelBody::checkOperation(Operation &operation) {
  if (auto read = dyn_cast<plan::ReadOp>(operation))
    return checkRead(read);
  if (auto reduce = dyn_cast<plan::ReduceOp>(operation))
    return checkReduction(reduce);
  if (isa<plan::WriteOp>(operation))
    return success();
  Value result = operation.getResult(0);
  bool isCopy = isa<plan::ReindexOp>(operation) && withoutCopies(result) != result;
  if (!isCell(&operation) && !isCopy)
    return operation.emitOpError("there is no code for this operation yet");
  if (extentOf(result) == Extent::Factor && !isOnlyFactor(&operation))
    return operation.emitOpError("a value runs over rows and one other axis at most");
  return success();
}

bool codegen::isOnlyFactor(Operation *operation) {
  return llvm::all_of(operation->getUsers(), [](Operation *user) {
    auto reduce = dyn_cast<plan::ReduceOp>(user);
    return reduce ? plan::productIn(reduce) != nullptr : isa<plan::BinaryOp, plan::CastOp>(user);
  });
}

bool codegen::isOnlyWritten(plan::ReduceOp reduce) {
  return llvm::all_of(reduce->getUsers(), [](Operation *user) { return isa<plan::WriteOp>(user); });
}

FailureOr<bool> codegen::isReadAlongRows(plan::ReadOp read) {
  AffineMap map = read.getMap();
  if (!read.getIndices().empty() || read.getOutside())
    return read.emitOpError("there is no code for gathers and windows yet");
  SmallVector<unsigned, 4> order;
  for (AffineExpr place : map.getResults()) {
    auto axis = dyn_cast<AffineDimExpr>(place);
    if (!axis && place != getAffineConstantExpr(0, map.getContext()))
      return read.emitOpError("there is no code for such places yet");
    if (axis)
      order.push_back(axis.getPosition());
  }
  return llvm::is_sorted(order);
}

// Operands of products may also be read along columns.
LogicalResult KernelBody::checkRead(plan::ReadOp read) {
  FailureOr<bool> isAlongRows = isReadAlongRows(read);
  if (failed(isAlongRows))
    return failure();
  if (!*isAlongRows && runsOverRows(read.getType()))
    return read.emitOpError("operands are read along their rows");
  SmallVector<Size> sizes =
      op_.operandSizes()[cast<BlockArgument>(read.getOperand()).getArgNumber()];
  for (auto [place, size] : llvm::zip(read.getMap().getResults(), sizes))
    if (auto axis = dyn_cast<AffineDimExpr>(place); axis && axes_[axis.getPosition()] != size)
      return read.emitOpError("there is no code for parts of arrays yet");
  return success();
}

bool KernelBody::isOverRows(plan::ReduceOp reduce) const {
  return llvm::is_contained(reduce.getOver(), rows_.front()) || isOfOnlyRow(reduce);
}

LogicalResult KernelBody::checkReduction(plan::ReduceOp reduce) {
  if (failed(checkAccumulator(reduce)))
    return failure();
  bool overRows = isOverRows(reduce);
  if (overRows && !isOfOnlyRow(reduce) && !llvm::all_of(rows_, [&](unsigned axis) {
        return llvm::is_contained(reduce.getOver(), static_cast<int64_t>(axis));
      }))
    return reduce.emitOpError("rows are reduced together");
  if (overRows && reduce.getKind() > AggregateKind::Max)
    return reduce.emitOpError("only sums, products, minima and maxima are merged over rows");
  if (overRows && !isOnlyWritten(reduce))
    return reduce.emitOpError("what is aggregated over rows is not computed with further");
  if (!runsOverRows(reduce.getOperand().getType()))
    return reduce.emitOpError("what is aggregated runs over the rows");
  if (columnAxes(reduce.getOperand()).size() < 2)
    return success();
  plan::BinaryOp product = plan::productIn(reduce);
  if (!product || reduce.getOver().size() != (overRows ? rows_.size() : 1))
    return reduce.emitOpError("only products run over rows and two other axes");
  return overRows ? success() : noteProduct(reduce, product);
}

LogicalResult KernelBody::noteProduct(plan::ReduceOp reduce, plan::BinaryOp product) {
  Value left = withoutCopies(product.getLhs()), right = withoutCopies(product.getRhs());
  if (!runsOverRows(cast<plan::CellType>(left.getType())))
    std::swap(left, right);
  auto factor = right.getDefiningOp<plan::ReadOp>();
  if (!factor || runsOverRows(factor.getType()) ||
      !runsOverRows(cast<plan::CellType>(left.getType())))
    return reduce.emitOpError("the right operand of a product of rows must be an input");
  auto first = dyn_cast<AffineDimExpr>(factor.getMap().getResult(0));
  bool isTransposed = first && first.getPosition() != reduce.getOver().front();
  Extent from = extentOf(left), to = extentOf(reduce.getCell());
  if (to == Extent::Wide && from == Extent::Wide && !isNarrow(columns_))
    return reduce.emitOpError("a product of rows with a wide matrix is not computed in a kernel");
  if (to == Extent::Wide && from == Extent::Narrow && !isNarrow(columns_) && isTransposed)
    return reduce.emitOpError(
        "the right operand of a product with a wide result is not transposed");
  products_[reduce] = {left, factor, isTransposed};
  return success();
}

//===- roots ---------------------------------------------------------------------------------===//

LogicalResult KernelBody::findRoots() {
  for (plan::WriteOp write : block().getOps<plan::WriteOp>()) {
    if (write.getNumber() != roots_.size() || !write.getIndices().empty())
      return write.emitOpError("there is no code for results in parts yet");
    auto reduce = write.getCell().getDefiningOp<plan::ReduceOp>();
    Root root{Root::Kind::Array, AggregateKind::Sum, write.getCell(), {}};
    if (reduce && isOverRows(reduce)) {
      SmallVector<unsigned, 2> columns = columnAxes(write.getCell());
      root = {columns.empty() ? Root::Kind::FullAggregate : Root::Kind::ColumnAggregate,
              reduce.getKind(),
              reduce.getOperand(),
              {}};
      if (columns.size() == 2) {
        plan::BinaryOp product = plan::productIn(reduce);
        root.kind = Root::Kind::TransposedProduct;
        root.value = withoutCopies(product.getLhs());
        root.factor = withoutCopies(product.getRhs());
        auto first = dyn_cast<AffineDimExpr>(write.getMap().getResult(0));
        if (!first ||
            !cast<plan::CellType>(product.getLhs().getType()).runsOver(first.getPosition()))
          std::swap(root.value, root.factor);
        if (!llvm::any_of(columns, [&](unsigned axis) { return isNarrow(axes_[axis]); }))
          return reduce.emitOpError("a product over the rows has one side of at most ")
                 << mostNarrowColumns << " columns";
      }
    } else if (!write.getMap().isFunctionOfDim(rows_.front()) &&
               !runsOverRows(write.getCell().getType())) {
      return write.emitOpError("a result must extend over the rows");
    } else if (SmallVector<unsigned, 4> order;
               llvm::any_of(write.getMap().getResults(), [&](AffineExpr place) {
                 if (auto axis = dyn_cast<AffineDimExpr>(place))
                   order.push_back(axis.getPosition());
                 return !llvm::is_sorted(order);
               })) {
      return write.emitOpError("results are written along their rows");
    }
    roots_.push_back(root);
  }
  return success();
}

//===- description ---------------------------------------------------------------------------===//

static ElementType elementTypeOf(Type type) {
  if (tok::isArray(type))
    return *tok::elementTypeOf(type);
  return type.isInteger(64) ? ElementType::I64 : ElementType::F64;
}

abi::KernelPlan codegen::describeArrays(plan::OperatorOp op) {
  abi::KernelPlan plan;
  for (auto [number, operand] : llvm::enumerate(op.getInputs())) {
    ElementType cells = elementTypeOf(operand.getType());
    if (!tok::isArray(operand.getType())) {
      plan.integerScalars.push_back(cells == ElementType::I64);
      continue;
    }
    if (op.hasDrivers() && op.getDrivers().front() == static_cast<int64_t>(number))
      plan.driver = static_cast<int32_t>(plan.inputs.size());
    plan.inputs.push_back({cells, op.isSparseOperand(number) ? TOK_CSR : TOK_DENSE,
                           op.isDriver(number) && op.getDrivers().size() > 1});
  }
  for (auto [number, type, sizes] : llvm::enumerate(op.getResultTypes(), op.resultSizes())) {
    abi::KernelOutput output{tok::isArray(type) ? abi::KernelOutput::Kind::PartialArray
                                                : abi::KernelOutput::Kind::PartialScalar};
    if (tok::isArray(type)) {
      for (const Size &size : sizes)
        output.sizes.push_back(sizeAtLaunch(op, size));
      output.elementType = elementTypeOf(type);
      if (op.isSparseResult(number))
        output.layout = TOK_CSR;
    }
    plan.outputs.push_back(output);
  }
  return plan;
}

abi::KernelPlan KernelBody::describe() const {
  abi::KernelPlan plan = describeArrays(op_);
  int64_t wideBytes = 0, narrowBytes = 0; // per cell of a wide row; per row of narrow arrays
  auto count = [&](Value value) {
    int64_t cellBytes = byteSize(cellsOf(value));
    if (extentOf(value) == Extent::Wide)
      wideBytes += cellBytes;
    else if (extentOf(value) == Extent::Narrow)
      narrowBytes += cellBytes * narrowColumns(value);
  };
  for (plan::ReadOp read : block().getOps<plan::ReadOp>()) {
    count(read);
  }
  for (auto [root, output] : llvm::zip(roots_, plan.outputs)) {
    output.isInteger = !isFloat(cellsOf(root.value));
    if (root.kind != Root::Kind::Array)
      continue;
    output.kind = abi::KernelOutput::Kind::Array;
    count(root.value);
  }
  Size rows = Size::constant(1);
  for (unsigned axis : rows_)
    rows = rows * sizeAtLaunch(op_, axes_[axis]);
  plan.extents[0] = flat_ ? rows * sizeAtLaunch(op_, columns_) : rows;
  plan.extents[1] = flat_ ? Size::constant(1) : sizeAtLaunch(op_, columns_);
  int64_t columns = std::max<int64_t>(1, constantColumns().value_or(mostNarrowColumns));
  int64_t cellBytes = wideBytes + (narrowBytes + columns - 1) / columns;
  plan.tileBytesPerStep = cellBytes > 0 ? cellBytes : 8;
  return plan;
}
