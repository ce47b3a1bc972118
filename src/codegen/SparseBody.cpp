#include "codegen/SparseBody.h"

#include "codegen/CellEmission.h"
#include "codegen/LaunchSizes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

bool codegen::isTransposedProduct(tok::MatmulOp product) {
  return product.getLhs().getDefiningOp<tok::TransposeOp>() != nullptr;
}

bool codegen::isSampledProduct(tok::MatmulOp product) {
  return !isTransposedProduct(product) &&
         product.getRhs().getDefiningOp<tok::TransposeOp>() != nullptr;
}

static Value transposed(Value value) {
  return value.getDefiningOp<tok::TransposeOp>().getOperand();
}

FailureOr<SparseBody> SparseBody::analyze(plan::OperatorOp op) {
  SparseBody body;
  body.op_ = op;
  body.facts_ = plan::bodyFacts(op);
  body.driver_ = op.getBody().getArgument(*op.getDriver());
  body.rows_ = body.facts_.lookup(body.driver_).rows();
  body.columns_ = body.facts_.lookup(body.driver_).columns();
  unsigned scalarCount = 0;
  for (BlockArgument argument : op.getBody().getArguments())
    body.inputIndex_[argument] =
        tok::isArray(argument.getType()) ? body.arrayCount_++ : scalarCount++;
  if (failed(body.classify()) || failed(body.findRoots()))
    return failure();
  return body;
}

//===- kinds ---------------------------------------------------------------------------------===//

bool SparseBody::isDenseInput(Value value, const Size &rows) const {
  auto input = dyn_cast<BlockArgument>(value);
  return input && tok::isArray(input.getType()) && !isCsr(input) &&
         facts_.lookup(input).rows().provedEqual(rows);
}

bool SparseBody::isPerRow(Value value) const {
  return hasKind(value, SparseKind::PerRow) ||
         (hasKind(value, SparseKind::Uniform) && tok::isArray(value.getType()) &&
          rows_.isConstant(1));
}

SparseKind SparseBody::kindOfInput(BlockArgument input) const {
  if (!tok::isArray(input.getType()))
    return SparseKind::Uniform;
  tok::Facts facts = facts_.lookup(input);
  bool oneColumn = facts.columns().isConstant(1), oneRow = facts.rows().isConstant(1);
  if (oneRow && oneColumn)
    return SparseKind::Uniform;
  if (facts.rows().provedEqual(rows_)) {
    if (oneColumn)
      return SparseKind::PerRow;
    return facts.columns().provedEqual(columns_) ? SparseKind::Wide : SparseKind::Narrow;
  }
  if (oneRow)
    return facts.columns().provedEqual(columns_) ? SparseKind::PerColumn
                                                 : SparseKind::PerNarrowColumn;
  return SparseKind::Factor;
}

LogicalResult SparseBody::classify() {
  if (columns_.isConstant(0) || columns_.isConstant(1))
    return op_.emitOpError("a driver has several columns");
  for (BlockArgument input : op_.getBody().getArguments()) {
    SparseKind kind = kinds_[input] = kindOfInput(input);
    if (tok::isArray(input.getType()) && isCsr(input) && kind != SparseKind::Wide)
      return op_.emitOpError("CSR operands have the sizes of the driver");
  }
  for (Operation &operation : op_.getBody().front()) {
    LogicalResult known = success();
    if (auto product = dyn_cast<tok::MatmulOp>(operation))
      known = classifyProduct(product);
    else if (auto aggregate = dyn_cast<tok::AggregateOp>(operation))
      known = classifyAggregate(aggregate);
    else if (isCell(&operation))
      known = classifyCell(operation);
    else if (isa<tok::TransposeOp>(operation))
      known = llvm::all_of(operation.getUsers(),
                           [](Operation *user) { return isa<tok::MatmulOp>(user); })
                  ? success()
                  : operation.emitOpError("only a factor of a product is transposed in a kernel");
    else if (auto cast = dyn_cast<tok::CastOp>(operation);
             cast ? withoutCasts(cast) == cast : !isa<plan::YieldOp>(operation))
      known = op_.emitOpError("no code for ") << operation.getName();
    if (failed(known))
      return failure();
  }
  return success();
}

// The kind of a cell operator's result, from those of its operands; none if they don't fit.
static std::optional<SparseKind> join(ArrayRef<SparseKind> operands) {
  auto has = [&](SparseKind kind) { return llvm::is_contained(operands, kind); };
  auto only = [&](std::initializer_list<SparseKind> kinds) {
    return llvm::all_of(operands, [&](SparseKind kind) { return llvm::is_contained(kinds, kind); });
  };
  using enum SparseKind;
  if (has(Wide))
    return only({Wide, PerRow, PerColumn, Uniform}) ? std::optional(Wide) : std::nullopt;
  if (has(Narrow))
    return only({Narrow, PerRow, PerNarrowColumn, Uniform}) ? std::optional(Narrow) : std::nullopt;
  for (SparseKind kind : {PerRow, PerColumn, PerNarrowColumn})
    if (has(kind))
      return only({kind, Uniform}) ? std::optional(kind) : std::nullopt;
  return only({Uniform}) ? std::optional(Uniform) : std::nullopt;
}

LogicalResult SparseBody::classifyCell(Operation &operation) {
  Type type = operation.getResult(0).getType();
  if (isa<tok::ConstantOp>(operation) ? !tok::isNumber(type) : type.isInteger(64))
    return op_.emitOpError("a kernel computes with doubles and booleans only");
  SmallVector<SparseKind> operands;
  Size narrow = Size::unknown();
  for (Value operand : operation.getOperands()) {
    Value value = withoutCasts(operand);
    auto known = kinds_.find(value);
    if (known == kinds_.end())
      return operation.emitOpError("an aggregate is not computed with further inside a kernel");
    operands.push_back(known->second);
    if (known->second != SparseKind::Narrow && known->second != SparseKind::PerNarrowColumn)
      continue;
    if (!narrow.isUnknown() && !narrow.provedEqual(columnsOf(value)))
      return operation.emitOpError("the operands have different numbers of columns");
    narrow = columnsOf(value);
  }
  std::optional<SparseKind> kind = join(operands);
  if (!kind)
    return operation.emitOpError("the operands don't share the entries, the rows or the columns");
  kinds_[operation.getResult(0)] = *kind;
  return success();
}

LogicalResult SparseBody::classifyProduct(tok::MatmulOp product) {
  if (isTransposedProduct(product))
    return success(); // a result
  if (isSampledProduct(product)) {
    Value left = product.getLhs(), right = transposed(product.getRhs());
    if (!isDenseInput(left, rows_) || !isDenseInput(right, columns_))
      return product.emitOpError("a product at the entries is one of dense inputs with as many "
                                 "rows and columns as the driver");
    kinds_[product] = SparseKind::Wide;
    return success();
  }
  Size columns = columnsOf(product.getRhs());
  if (!hasKind(withoutCasts(product.getLhs()), SparseKind::Wide) ||
      !isDenseInput(product.getRhs(), columns_))
    return product.emitOpError("the rows are multiplied by a dense input");
  if (!columns.isConstant(1) && columns.provedEqual(columns_))
    return product.emitOpError("a product has fewer columns than the driver");
  kinds_[product] = columns.isConstant(1) ? SparseKind::PerRow : SparseKind::Narrow;
  return success();
}

LogicalResult SparseBody::classifyAggregate(tok::AggregateOp aggregate) {
  if (aggregate.getKind() > AggregateKind::Max)
    return aggregate.emitOpError("only sums, products, minima and maxima are taken of entries");
  if (aggregate.getDirection() != AggregateDirection::Row)
    return success(); // a result
  Value operand = withoutCasts(aggregate.getOperand());
  if (!hasKind(operand, SparseKind::Wide) && !hasKind(operand, SparseKind::Narrow) &&
      !hasKind(operand, SparseKind::PerRow))
    return aggregate.emitOpError("rows are aggregated of values that extend over the rows");
  kinds_[aggregate.getResult()] = SparseKind::PerRow;
  return success();
}

//===- results -------------------------------------------------------------------------------===//

FailureOr<SparseRoot> SparseBody::rootOf(Value value) {
  using Kind = SparseRoot::Kind;
  if (auto aggregate = value.getDefiningOp<tok::AggregateOp>();
      aggregate && aggregate.getDirection() != AggregateDirection::Row) {
    Value of = withoutCasts(aggregate.getOperand());
    bool column = aggregate.getDirection() == AggregateDirection::Column && !isPerRow(of);
    if (hasKind(of, SparseKind::Wide) && column && aggregate.getKind() != AggregateKind::Sum)
      return aggregate.emitOpError("of the columns of entries only sums are taken");
    return SparseRoot{
        column ? Kind::ColumnAggregate : Kind::FullAggregate, aggregate.getKind(), of, {}};
  }
  if (auto product = value.getDefiningOp<tok::MatmulOp>();
      product && isTransposedProduct(product)) {
    SparseRoot root{Kind::ColumnAggregate, AggregateKind::Sum,
                    withoutCasts(transposed(product.getLhs())), withoutCasts(product.getRhs())};
    if (isPerRow(root.value))
      std::swap(root.value, root.factor); // t(u) X = t(t(X) u)
    if (isPerRow(root.value) && isPerRow(root.factor))
      root.kind = Kind::FullAggregate;
    else if (hasKind(root.value, SparseKind::Wide) && hasKind(root.factor, SparseKind::Narrow))
      root.kind = Kind::OuterProduct;
    else if (!isPerRow(root.factor))
      return product.emitOpError("the transposed rows are multiplied by columns or narrow rows");
    return root;
  }
  return SparseRoot{Kind::Array, AggregateKind::Sum, value, {}};
}

LogicalResult SparseBody::findRoots() {
  for (auto [index, yielded] :
       llvm::enumerate(op_.getBody().front().getTerminator()->getOperands())) {
    FailureOr<SparseRoot> root = rootOf(withoutCasts(yielded));
    if (failed(root))
      return failure();
    auto known = kinds_.find(root->value);
    if (known == kinds_.end())
      return op_.emitOpError("an aggregate is not computed with further inside a kernel");
    SparseKind kind = known->second;
    if (kind != SparseKind::Wide && kind != SparseKind::Narrow && !isPerRow(root->value))
      return op_.emitOpError("a result must extend over the rows");
    bool sparse = root->kind == SparseRoot::Kind::Array && kind == SparseKind::Wide;
    if (sparse != op_.isCsrResult(index))
      return op_.emitOpError(sparse ? "a result at the entries must be listed in csr_results"
                                    : "only results at the entries may be listed in csr_results");
    roots_.push_back(*root);
  }
  return success();
}

//===- description ---------------------------------------------------------------------------===//

abi::KernelPlan SparseBody::describe() const {
  abi::KernelPlan plan;
  // An estimate: per entry, a gather from a factor or from another matrix touches a cache line.
  constexpr int64_t bytesPerEntry = 12, bytesPerValue = 8, bytesPerGather = 64,
                    columnsOfFactor = 32;
  plan.tileBytesPerStep = bytesPerEntry;
  for (BlockArgument argument : op_.getBody().getArguments()) {
    if (tok::isArray(argument.getType())) {
      if (argument == driver_)
        plan.driver = static_cast<int32_t>(plan.inputs.size());
      else if (hasEntriesOfDriver(argument))
        plan.tileBytesPerStep += bytesPerValue;
      else if (kindOf(argument) == SparseKind::Wide)
        plan.tileBytesPerStep += bytesPerGather;
      plan.inputs.push_back({cellsOf(argument.getType()), isCsr(argument) ? TOK_CSR : TOK_DENSE,
                             op_.isUnitedOperand(argument.getArgNumber())});
    } else {
      plan.integerScalars.push_back(cellsOf(argument.getType()) == ElementType::I64);
    }
  }
  for (auto product : op_.getBody().front().getOps<tok::MatmulOp>()) {
    Size factor =
        isSampledProduct(product) ? columnsOf(product.getLhs()) : columnsOf(product.getRhs());
    plan.tileBytesPerStep +=
        8 *
        std::min(columnsOfFactor, factor.isConstant() ? factor.constantValue() : columnsOfFactor);
  }
  for (auto [root, result] :
       llvm::zip(roots_, op_.getBody().front().getTerminator()->getOperands())) {
    using Kind = abi::KernelOutput::Kind;
    abi::KernelOutput output;
    bool array = tok::isArray(result.getType());
    output.kind = root.kind == SparseRoot::Kind::Array ? Kind::Array
                  : array                              ? Kind::PartialArray
                                                       : Kind::PartialScalar;
    if (array) {
      tok::Facts facts = facts_.lookup(result);
      output.rows = sizeAtLaunch(op_, facts.rows());
      output.columns = sizeAtLaunch(op_, facts.columns());
      output.elementType = cellsOf(result.getType());
      if (op_.isCsrResult(plan.outputs.size()))
        output.layout = TOK_CSR;
    }
    plan.outputs.push_back(output);
  }
  plan.extents[0] = abi::rowsOfInput(plan.driver);
  plan.extents[1] = abi::columnsOfInput(plan.driver);
  return plan;
}
