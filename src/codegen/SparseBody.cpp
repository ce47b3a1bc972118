#include "codegen/SparseBody.h"

#include "codegen/Aggregation.h"
#include "codegen/CellEmission.h"
#include "codegen/LaunchSizes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

bool codegen::isRead(Value value) { return value.getDefiningOp<plan::ReadOp>() != nullptr; }

static Value withoutCopies(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    auto cast = dyn_cast<plan::CastOp>(op);
    if (!isa<plan::ReindexOp>(op) && !(cast && cellsOf(cast.getCell()) == ElementType::F64 &&
                                       cellsOf(cast.getOperand()) == ElementType::F32))
      return value;
    value = op->getOperand(0);
  }
}

static bool isOnlyFactor(Operation *operation) {
  return llvm::all_of(operation->getUsers(), [](Operation *user) {
    auto reduce = dyn_cast<plan::ReduceOp>(user);
    return reduce ? plan::productIn(reduce) != nullptr : isa<plan::BinaryOp, plan::CastOp>(user);
  });
}

static bool isOnlyWritten(plan::ReduceOp reduce) {
  return llvm::all_of(reduce->getUsers(), [](Operation *user) { return isa<plan::WriteOp>(user); });
}

static FailureOr<bool> isReadAlongRows(plan::ReadOp read) {
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

FailureOr<SparseBody> SparseBody::analyze(plan::OperatorOp op) {
  SparseBody body;
  body.op_ = op;
  body.axes_ = op.axisSizes();
  unsigned scalarCount = 0;
  for (BlockArgument argument : op.getBody().getArguments())
    body.inputIndex_[argument] =
        tok::isArray(argument.getType()) ? body.arrayCount_++ : scalarCount++;
  if (failed(body.findDriver()))
    return failure();
  for (Operation &operation : body.block())
    if (failed(body.checkOperation(operation)))
      return failure();
  if (failed(body.findRoots()))
    return failure();
  return body;
}

//===- axes and kinds ------------------------------------------------------------------------===//

LogicalResult SparseBody::findDriver() {
  for (plan::ReadOp read : block().getOps<plan::ReadOp>())
    if (numberOf(read) == op_.getDrivers().front())
      driver_ = read;
  ArrayRef<unsigned> axes = driver_ ? driver_.getType().getAxes() : ArrayRef<unsigned>();
  if (axes.size() != 2)
    return op_.emitOpError("a driver is read along rows and several columns");
  row_ = axes[0];
  column_ = axes[1];
  return success();
}

SparseKind SparseBody::kindOf(Value value) const {
  auto cell = cast<plan::CellType>(value.getType());
  bool rows = cell.runsOver(row_), columns = cell.runsOver(column_);
  size_t others = cell.getAxes().size() - rows - columns;
  if (others > 1 || (others == 1 && columns))
    return SparseKind::Factor;
  if (others == 1)
    return rows ? SparseKind::Narrow : SparseKind::PerNarrowColumn;
  if (rows)
    return columns ? SparseKind::Wide : SparseKind::PerRow;
  return columns ? SparseKind::PerColumn : SparseKind::Uniform;
}

const Size &SparseBody::columnsOf(Value value) const {
  for (unsigned axis : cast<plan::CellType>(value.getType()).getAxes())
    if (axis != row_ && axis != column_)
      return axes_[axis];
  return axes_[column_];
}

//===- what a body may do --------------------------------------------------------------------===//

LogicalResult SparseBody::checkOperation(Operation &operation) {
  if (auto read = dyn_cast<plan::ReadOp>(operation))
    return checkRead(read);
  if (auto reduce = dyn_cast<plan::ReduceOp>(operation))
    return checkReduction(reduce);
  if (isa<plan::WriteOp>(operation))
    return success();
  if (!isCell(&operation))
    return operation.emitOpError("there is no code for this operation at entries yet");
  if (kindOf(operation.getResult(0)) == SparseKind::Factor && !isOnlyFactor(&operation))
    return operation.emitOpError("a value runs over the rows and one other axis at most");
  return success();
}

LogicalResult SparseBody::checkRead(plan::ReadOp read) {
  FailureOr<bool> isAlongRows = isReadAlongRows(read);
  if (failed(isAlongRows))
    return failure();
  if (!*isAlongRows)
    return read.emitOpError("operands are read along their rows");
  if (tok::isArray(read.getOperand().getType()) && isSparse(read) &&
      kindOf(read) != SparseKind::Wide)
    return read.emitOpError("sparse operands are read at the entries");
  return success();
}

LogicalResult SparseBody::checkReduction(plan::ReduceOp reduce) {
  if (failed(checkAccumulator(reduce)))
    return failure();
  if (reduce.getKind() > AggregateKind::Max)
    return reduce.emitOpError("only sums, products, minima and maxima are taken of entries");
  SparseKind operand = kindOf(reduce.getOperand());
  if (isOverRows(reduce)) // a result
    return isOnlyWritten(reduce)
               ? success()
               : reduce.emitOpError("what is aggregated over rows is not computed with further");
  if (operand == SparseKind::Wide || operand == SparseKind::Narrow)
    return success();
  plan::BinaryOp product = plan::productIn(reduce);
  SparseKind result = kindOf(reduce.getCell());
  if (!product || (result != SparseKind::Wide && result != SparseKind::Narrow))
    return reduce.emitOpError("rows are aggregated of values that extend over the rows");
  Value left = withoutCopies(product.getLhs()), right = withoutCopies(product.getRhs());
  bool isSampled = result == SparseKind::Wide;
  SparseKind wanted = isSampled ? SparseKind::Narrow : SparseKind::Wide;
  if (kindOf(left) != wanted)
    std::swap(left, right);
  auto factor = right.getDefiningOp<plan::ReadOp>();
  if (kindOf(left) != wanted || !factor || kindOf(right) != SparseKind::Factor ||
      (isSampled && !isRead(left)))
    return reduce.emitOpError("a product at the entries is one of dense inputs");
  products_[reduce] = {left, factor, isSampled};
  return success();
}

//===- results -------------------------------------------------------------------------------===//

FailureOr<SparseRoot> SparseBody::rootOf(plan::WriteOp write) {
  using Kind = SparseRoot::Kind;
  Value cell = write.getCell();
  auto reduce = cell.getDefiningOp<plan::ReduceOp>();
  if (!reduce || !isOverRows(reduce))
    return SparseRoot{Kind::Array, AggregateKind::Sum, cell, {}};
  SparseKind kind = kindOf(cell), operand = kindOf(reduce.getOperand());
  if (kind == SparseKind::Uniform)
    return SparseRoot{Kind::FullAggregate, reduce.getKind(), reduce.getOperand(), {}};
  if (operand == SparseKind::Wide && reduce.getKind() != AggregateKind::Sum)
    return reduce.emitOpError("of the columns of entries only sums are taken");
  if (operand == SparseKind::Wide || operand == SparseKind::Narrow)
    return SparseRoot{Kind::ColumnAggregate, reduce.getKind(), reduce.getOperand(), {}};
  plan::BinaryOp product = plan::productIn(reduce);
  SparseRoot root{Kind::OuterProduct, AggregateKind::Sum,
                  product ? withoutCopies(product.getLhs()) : Value(),
                  product ? withoutCopies(product.getRhs()) : Value()};
  if (product && kindOf(root.value) != SparseKind::Wide)
    std::swap(root.value, root.factor);
  if (!product || kindOf(root.value) != SparseKind::Wide ||
      kindOf(root.factor) != SparseKind::Narrow ||
      write.getMap().getResult(0) != getAffineDimExpr(column_, write.getContext()))
    return reduce.emitOpError("the transposed rows are multiplied by columns or narrow rows");
  return root;
}

LogicalResult SparseBody::findRoots() {
  for (plan::WriteOp write : block().getOps<plan::WriteOp>()) {
    if (write.getNumber() != roots_.size() || !write.getIndices().empty())
      return write.emitOpError("there is no code for results in parts yet");
    FailureOr<SparseRoot> root = rootOf(write);
    if (failed(root))
      return failure();
    SparseKind kind = kindOf(root->value);
    if (kind != SparseKind::Wide && kind != SparseKind::Narrow && kind != SparseKind::PerRow)
      return write.emitOpError("a result must extend over the rows");
    bool sparse = root->kind == SparseRoot::Kind::Array && kind == SparseKind::Wide;
    if (sparse != op_.isSparseResult(write.getNumber()))
      return write.emitOpError(sparse ? "a result at the entries is a sparse array"
                                      : "only results at the entries are sparse arrays");
    roots_.push_back(*root);
  }
  return success();
}

//===- description ---------------------------------------------------------------------------===//

abi::KernelPlan SparseBody::describe() const {
  abi::KernelPlan plan = describeArrays(op_);
  // An estimate: per entry, a gather from a factor or from another matrix touches a cache line.
  constexpr int64_t bytesPerEntry = 12, bytesPerValue = 8, bytesPerGather = 64,
                    columnsOfFactor = 32;
  plan.tileBytesPerStep = bytesPerEntry;
  for (plan::ReadOp read : block().getOps<plan::ReadOp>()) {
    if (read == driver_ || !tok::isArray(read.getOperand().getType()))
      continue;
    if (hasEntriesOfDriver(read))
      plan.tileBytesPerStep += bytesPerValue;
    else if (kindOf(read) == SparseKind::Wide)
      plan.tileBytesPerStep += bytesPerGather;
  }
  auto addFactor = [&](const Size &columns) {
    plan.tileBytesPerStep +=
        8 *
        std::min(columnsOfFactor, columns.isConstant() ? columns.constantValue() : columnsOfFactor);
  };
  for (const auto &[reduce, product] : products_)
    addFactor(columnsOf(product.isSampled ? product.left : reduce->getResult(0)));
  for (auto [root, output] : llvm::zip(roots_, plan.outputs)) {
    if (root.kind == SparseRoot::Kind::Array)
      output.kind = abi::KernelOutput::Kind::Array;
    else if (root.kind == SparseRoot::Kind::OuterProduct)
      addFactor(columnsOf(root.factor));
  }
  plan.extents[0] = abi::rowsOfInput(plan.driver);
  plan.extents[1] = abi::columnsOfInput(plan.driver);
  return plan;
}
