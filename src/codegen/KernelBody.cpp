#include "codegen/KernelBody.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using tok::Dimension;

// To an integer or a boolean a cast truncates or compares, unless the value is one already.
static bool keepsValue(tok::CastOp cast) {
  Type from = cast.getOperand().getType(), to = cast.getType();
  return from == to || from.isInteger(1) || !(to.isInteger(64) || to.isInteger(1));
}

Value codegen::withoutCasts(Value value) {
  for (auto cast = value.getDefiningOp<tok::CastOp>(); cast && keepsValue(cast);
       cast = value.getDefiningOp<tok::CastOp>())
    value = cast.getOperand();
  return value;
}

bool codegen::isRowProduct(tok::MatmulOp op) {
  return !op.getLhs().getDefiningOp<tok::TransposeOp>();
}

// The aggregate of the only row, as a result: an aggregate of all cells.
bool KernelBody::isOnlyRow(tok::AggregateOp aggregate) const {
  bool result =
      llvm::all_of(aggregate->getUsers(), [](Operation *user) { return isa<plan::YieldOp>(user); });
  return aggregate.getDirection() == AggregateDirection::Row && rows_.isConstant(1) && result &&
         aggregate.getKind() <= AggregateKind::Max;
}

static bool isOne(Dimension dimension) { return dimension.isConstant(1); }

static bool hasShape(const tok::Facts &facts, Dimension rows, Dimension columns) {
  return facts.rows().provedEqual(rows) && facts.columns().provedEqual(columns);
}

FailureOr<KernelBody> KernelBody::analyze(plan::OperatorOp op) {
  KernelBody body;
  body.op_ = op;
  body.facts_ = plan::bodyFacts(op);
  unsigned scalarCount = 0;
  for (BlockArgument argument : op.getBody().getArguments())
    body.inputIndex_[argument] =
        tok::isArray(argument.getType()) ? body.arrayCount_++ : scalarCount++;
  if (failed(body.findIterationSpace()) || failed(body.findRoots()) || failed(body.classify()))
    return failure();
  return body;
}

std::optional<int64_t> KernelBody::constantColumns() const {
  return columns_.isConstant() ? std::optional(columns_.constantValue()) : std::nullopt;
}

// Operands that are read along the rows or cells of the iteration space; the rest (the vector of a
// row product) is not.
static void forEachCellOperand(Operation &operation, llvm::function_ref<void(Value)> visit) {
  if (isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::AggregateOp, tok::TransposeOp>(
          operation)) {
    for (Value operand : operation.getOperands())
      visit(withoutCasts(operand));
  } else if (auto product = dyn_cast<tok::MatmulOp>(operation)) {
    if (isRowProduct(product))
      visit(product.getLhs());
    else
      visit(product.getRhs());
  }
}

LogicalResult KernelBody::findIterationSpace() {
  auto widen = [](Dimension &space, Dimension size) {
    if (isOne(size))
      return true;
    if (isOne(space))
      space = size;
    return space.provedEqual(size);
  };
  bool agree = true;
  auto cover = [&](Value value) {
    if (!tok::isArray(value.getType()))
      return;
    tok::Facts facts = factsOf(value);
    agree &= facts.isMatrix() && widen(rows_, facts.rows()) && widen(columns_, facts.columns());
  };
  for (Operation &operation : op_.getBody().front()) {
    forEachCellOperand(operation, cover);
    if (isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp>(operation))
      cover(operation.getResult(0));
  }
  if (!agree)
    return op_.emitOpError("the body's values don't share one iteration space");
  return success();
}

// What `value` yields as a result: an aggregate over the rows, or cells.
LogicalResult KernelBody::findRoots() {
  auto isPerRow = [&](Value value) {
    return hasShape(factsOf(value), rows_, Dimension::constant(1));
  };
  for (Value yielded : op_.getBody().front().getTerminator()->getOperands()) {
    Value value = withoutCasts(yielded);
    Root root{Root::Kind::Array, AggregateKind::Sum, value, {}};
    if (auto aggregate = value.getDefiningOp<tok::AggregateOp>();
        aggregate &&
        (aggregate.getDirection() != AggregateDirection::Row || isOnlyRow(aggregate))) {
      bool full = aggregate.getDirection() != AggregateDirection::Column;
      root = {full ? Root::Kind::FullAggregate : Root::Kind::ColumnAggregate,
              aggregate.getKind(),
              withoutCasts(aggregate.getOperand()),
              {}};
      if (isPerRow(root.value))
        root.kind = Root::Kind::FullAggregate;
    } else if (auto product = value.getDefiningOp<tok::MatmulOp>();
               product && !isRowProduct(product)) {
      Value left = product.getLhs().getDefiningOp<tok::TransposeOp>().getOperand();
      root = {Root::Kind::ColumnAggregate, AggregateKind::Sum, withoutCasts(left),
              withoutCasts(product.getRhs())};
      if (isPerRow(root.value))
        std::swap(root.value, root.factor); // t(u) X = t(t(X) u)
      if (isPerRow(root.value))
        root.kind = Root::Kind::FullAggregate;
    }
    if (root.aggregate > AggregateKind::Max)
      return op_.emitOpError("only sums, products, minima and maxima are merged over rows");
    roots_.push_back(root);
  }
  return success();
}

// What the emitters see through.
static bool isStructural(Operation &operation) {
  return isa<tok::TransposeOp, tok::MatmulOp, tok::AggregateOp, plan::YieldOp>(operation);
}

// A cell operator computes on doubles, from operands that are known wherever its result is.
LogicalResult KernelBody::checkCell(Operation &operation, Extent extent) {
  Type type = operation.getResult(0).getType();
  if (isa<tok::ConstantOp>(operation) ? !tok::isNumber(type) : type.isInteger(64))
    return op_.emitOpError("a kernel computes with doubles and booleans only");
  for (Value operand : operation.getOperands()) {
    auto known = extents_.find(withoutCasts(operand));
    if (known == extents_.end())
      return op_.emitOpError("an aggregate is not computed with further inside a kernel");
    if (known->second != extent && known->second != Extent::Uniform && extent != Extent::Wide)
      return op_.emitOpError("the left operand must be at least as large as the right one");
  }
  return success();
}

LogicalResult KernelBody::classify() {
  bool sameShapes = true, needsRows = false;
  Dimension one = Dimension::constant(1);
  auto extentFor = [&](Value value) -> std::optional<Extent> {
    if (!tok::isArray(value.getType()))
      return Extent::Uniform;
    tok::Facts facts = factsOf(value);
    if (hasShape(facts, rows_, columns_))
      return isOne(columns_) ? Extent::PerRow : Extent::Wide;
    if (hasShape(facts, one, one) && !isOne(rows_))
      return Extent::Uniform;
    sameShapes = false;
    if (hasShape(facts, rows_, one))
      return Extent::PerRow;
    if (hasShape(facts, one, columns_))
      return Extent::Shared;
    return std::nullopt;
  };
  llvm::DenseSet<Value> productVectors;
  for (auto product : op_.getBody().front().getOps<tok::MatmulOp>()) {
    if (!isRowProduct(product))
      continue;
    if (!isa<BlockArgument>(product.getRhs()))
      return op_.emitOpError("the right operand of a product of rows must be an input");
    productVectors.insert(product.getRhs());
  }
  for (BlockArgument argument : op_.getBody().getArguments()) {
    std::optional<Extent> extent = Extent::Shared;
    if (!argument.use_empty() && !(productVectors.contains(argument) && argument.hasOneUse()))
      extent = extentFor(argument);
    if (!extent && !productVectors.contains(argument))
      return op_.emitOpError(
          "an input has neither the shape of the iteration space nor of its rows or columns");
    extents_[argument] = extent.value_or(Extent::Shared);
  }
  for (Operation &operation : op_.getBody().front()) {
    auto product = dyn_cast<tok::MatmulOp>(operation);
    auto aggregate = dyn_cast<tok::AggregateOp>(operation);
    if ((product && isRowProduct(product)) ||
        (aggregate && aggregate.getDirection() == AggregateDirection::Row &&
         !isOnlyRow(aggregate))) {
      needsRows = true;
      AggregateKind kind = aggregate ? aggregate.getKind() : AggregateKind::Sum;
      if (kind == AggregateKind::Mean || kind == AggregateKind::Var || kind == AggregateKind::Sd)
        return op_.emitOpError("mean, var and sd are decomposed before code generation");
      if (!hasShape(factsOf(withoutCasts(operation.getOperand(0))), rows_, columns_))
        return op_.emitOpError("rows are aggregated of values that extend over rows and columns");
      extents_[operation.getResult(0)] = Extent::PerRow;
    } else if (isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::ConstantOp>(operation)) {
      auto extent = extentFor(operation.getResult(0));
      if (!extent)
        return op_.emitOpError(
            "a value has neither the shape of the iteration space nor of its rows or columns");
      if (failed(checkCell(operation, *extent)))
        return failure();
      extents_[operation.getResult(0)] = *extent;
    } else if (auto cast = dyn_cast<tok::CastOp>(operation);
               cast ? !keepsValue(cast) : !isStructural(operation)) {
      return op_.emitOpError("no code for ") << operation.getName();
    }
  }
  for (const Root &root : roots_) {
    needsRows |= root.kind == Root::Kind::ColumnAggregate;
    for (Value value : {root.value, root.factor})
      if (value && !extents_.contains(value))
        return op_.emitOpError("an aggregate is not computed with further inside a kernel");
    if (root.factor && extents_.lookup(root.factor) != Extent::PerRow)
      return op_.emitOpError("the transposed rows are multiplied by one column only");
    Extent extent = extents_.lookup(root.value);
    if (extent != Extent::Wide && extent != Extent::PerRow)
      return op_.emitOpError("a result must extend over the rows");
  }
  flat_ = sameShapes && !needsRows;
  // In a loop over cells there is only one kind of value that varies.
  if (flat_)
    for (auto &[value, extent] : extents_)
      if (extent == Extent::PerRow)
        extent = Extent::Wide;
  return success();
}

abi::SizeExpression KernelBody::sizeOf(Dimension dimension) const {
  using Kind = abi::SizeExpression::Kind;
  if (dimension.isConstant())
    return {Kind::Constant, dimension.constantValue()};
  for (BlockArgument argument : op_.getBody().getArguments()) {
    if (!tok::isArray(argument.getType()))
      continue;
    tok::Facts facts = factsOf(argument);
    if (facts.rows().provedEqual(dimension))
      return {Kind::InputRows, arrayIndex(argument)};
    if (facts.columns().provedEqual(dimension))
      return {Kind::InputColumns, arrayIndex(argument)};
  }
  llvm_unreachable("every dimension of the iteration space is one of an input");
}

static TokElementType elementType(Type array) {
  return cast<RankedTensorType>(array).getElementType().isF32() ? TOK_F32 : TOK_F64;
}

abi::KernelPlan KernelBody::describe() const {
  using Kind = abi::SizeExpression::Kind;
  abi::KernelPlan plan;
  int64_t wideArrays = 0;
  for (BlockArgument argument : op_.getBody().getArguments())
    if (tok::isArray(argument.getType())) {
      if (op_.getDriver() && *op_.getDriver() == argument.getArgNumber())
        plan.driver = static_cast<int32_t>(plan.inputs.size());
      plan.inputs.push_back({elementType(argument.getType()),
                             op_.isCsrOperand(argument.getArgNumber()) ? TOK_CSR : TOK_DENSE});
      wideArrays += extentOf(argument) == Extent::Wide;
    }
  for (auto [root, result] :
       llvm::zip(roots_, op_.getBody().front().getTerminator()->getOperands())) {
    abi::KernelOutput output;
    bool array = tok::isArray(result.getType());
    output.kind = root.kind == Root::Kind::Array ? abi::KernelOutput::Kind::Array
                  : array                        ? abi::KernelOutput::Kind::PartialArray
                                                 : abi::KernelOutput::Kind::PartialScalar;
    if (array) {
      tok::Facts facts = factsOf(result);
      output.rows = sizeOf(facts.rows());
      output.columns = sizeOf(facts.columns());
      output.elementType = elementType(result.getType());
      if (op_.isCsrResult(plan.outputs.size()))
        output.layout = TOK_CSR;
    }
    if (root.kind == Root::Kind::Array && extentOf(root.value) == Extent::Wide)
      ++wideArrays;
    plan.outputs.push_back(output);
  }
  plan.extents[0] = sizeOf(rows_);
  plan.extents[1] = sizeOf(columns_);
  if (flat_) {
    for (BlockArgument argument : op_.getBody().getArguments())
      if (tok::isArray(argument.getType()) && extentOf(argument) == Extent::Wide)
        plan.extents[0] = {Kind::InputCells, arrayIndex(argument)};
    plan.extents[1] = {Kind::Constant, 1};
  }
  plan.tileBytesPerStep = 8 * std::max<int64_t>(wideArrays, 1);
  return plan;
}
