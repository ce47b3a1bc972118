#include "codegen/KernelBody.h"

#include "codegen/CellEmission.h"
#include "codegen/LaunchSizes.h"
#include "ir/tok/ElementTypes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

// True if the cast changes no value, as from a cell to a scalar: to the same type of cells, or
// between floats to a type with more digits. Booleans are numbers in kernels.
static bool keepsValue(tok::CastOp cast) {
  Type from = cast.getOperand().getType(), to = cast.getType();
  if (from == to)
    return true;
  if (to.isInteger(64) || to.isInteger(1) || (tok::isArray(from) && tok::isArray(to)))
    return false;
  ElementType source = cellsOf(from), target = cellsOf(to);
  return source == target || (isFloat(source) && target == ElementType::F64) ||
         (isHalf(source) && target == ElementType::F32);
}

Value codegen::withoutCasts(Value value) {
  for (auto cast = value.getDefiningOp<tok::CastOp>(); cast && keepsValue(cast);
       cast = value.getDefiningOp<tok::CastOp>())
    value = cast.getOperand();
  return value;
}

bool codegen::isCell(Operation *operation) {
  if (auto cast = dyn_cast<tok::CastOp>(operation))
    return !keepsValue(cast) && (tok::isArray(cast.getType()) || cast.getType().isF64()) &&
           tok::elementTypeOf(cast.getOperand().getType());
  return isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::ConstantOp>(operation);
}

bool codegen::isRowProduct(tok::MatmulOp op) {
  return !op.getLhs().getDefiningOp<tok::TransposeOp>();
}

ProductOperand codegen::productOperand(tok::MatmulOp rowProduct) {
  Value right = rowProduct.getRhs();
  auto transpose = right.getDefiningOp<tok::TransposeOp>();
  if (transpose)
    right = transpose.getOperand();
  return {dyn_cast<BlockArgument>(right), static_cast<bool>(transpose)};
}

// True for a row aggregate of a matrix with one row that is only used as a result: it is computed
// as a full aggregate.
bool KernelBody::isOnlyRow(tok::AggregateOp aggregate) const {
  bool result =
      llvm::all_of(aggregate->getUsers(), [](Operation *user) { return isa<plan::YieldOp>(user); });
  return aggregate.getDirection() == AggregateDirection::Row && rows_.isConstant(1) && result &&
         aggregate.getKind() <= AggregateKind::Max;
}

static bool isOne(const Size &dimension) { return dimension.isConstant(1); }

static bool isNarrow(const Size &dimension) {
  return dimension.isConstant() && dimension.constantValue() <= mostNarrowColumns;
}

static bool hasShape(const tok::Facts &facts, const Size &rows, const Size &columns) {
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
  if (failed(body.findIterationSpace()) || failed(body.findRoots()) || failed(body.classify()) ||
      failed(body.checkRoots()))
    return failure();
  return body;
}

std::optional<int64_t> KernelBody::constantColumns() const {
  return columns_.isConstant() ? std::optional(columns_.constantValue()) : std::nullopt;
}

int64_t KernelBody::narrowColumns(Value value) const {
  return factsOf(value).columns().constantValue();
}

//===- iteration space -----------------------------------------------------------------------===//

// Visits the operands and results that are indexed by the iteration space: all but the right
// operands of row products and the results of aggregates and transposed products.
static void forEachCellValue(Operation &operation, llvm::function_ref<void(Value)> visit) {
  if (auto product = dyn_cast<tok::MatmulOp>(operation)) {
    if (isRowProduct(product)) {
      visit(withoutCasts(product.getLhs()));
      visit(product.getResult());
    } else {
      visit(withoutCasts(product.getLhs().getDefiningOp<tok::TransposeOp>().getOperand()));
      visit(withoutCasts(product.getRhs()));
    }
  } else if (auto aggregate = dyn_cast<tok::AggregateOp>(operation)) {
    visit(withoutCasts(aggregate.getOperand()));
  } else if (isCell(&operation)) {
    for (Value operand : operation.getOperands())
      visit(withoutCasts(operand));
    visit(operation.getResult(0));
  }
}

LogicalResult KernelBody::findIterationSpace() {
  bool agree = true;
  SmallVector<Size> widths;
  for (Operation &operation : op_.getBody().front())
    forEachCellValue(operation, [&](Value value) {
      if (!tok::isArray(value.getType()))
        return;
      tok::Facts facts = factsOf(value);
      agree &= facts.isMatrix() && !facts.columns().isUnknown();
      if (!agree)
        return;
      if (!isOne(facts.rows())) {
        if (isOne(rows_))
          rows_ = facts.rows();
        agree = rows_.provedEqual(facts.rows());
      }
      if (!isOne(facts.columns()) && !llvm::is_contained(widths, facts.columns()))
        widths.push_back(facts.columns());
    });
  if (!agree)
    return op_.emitOpError("the body's values don't share one iteration space");
  return chooseColumns(widths);
}

LogicalResult KernelBody::chooseColumns(ArrayRef<Size> widths) {
  auto isLarger = [](const Size &a, const Size &b) {
    return a.isConstant() && (!b.isConstant() || a.constantValue() < b.constantValue());
  };
  for (const Size &width : widths)
    if (isOne(columns_) || isLarger(columns_, width))
      columns_ = width;
  for (const Size &width : widths)
    if (width != columns_ && !isNarrow(width))
      return op_.emitOpError("the body's values don't share one iteration space: of their widths "
                             "only one may be other than a constant of at most ")
             << mostNarrowColumns;
  return success();
}

//===- roots ---------------------------------------------------------------------------------===//

// Each yielded value is either an aggregate or product over the rows, or an array of cells.
LogicalResult KernelBody::findRoots() {
  auto isPerRow = [&](Value value) { return hasShape(factsOf(value), rows_, Size::constant(1)); };
  for (Value yielded : op_.getBody().front().getTerminator()->getOperands()) {
    Value value = withoutCasts(yielded);
    Root root{Root::Kind::Array, AggregateKind::Sum, value, {}, {}};
    if (auto aggregate = value.getDefiningOp<tok::AggregateOp>();
        aggregate &&
        (aggregate.getDirection() != AggregateDirection::Row || isOnlyRow(aggregate))) {
      bool full = aggregate.getDirection() != AggregateDirection::Column;
      root = {full ? Root::Kind::FullAggregate : Root::Kind::ColumnAggregate,
              aggregate.getKind(),
              withoutCasts(aggregate.getOperand()),
              {},
              {}};
      if (isPerRow(root.value))
        root.kind = Root::Kind::FullAggregate;
    } else if (auto product = value.getDefiningOp<tok::MatmulOp>();
               product && !isRowProduct(product)) {
      Value left = product.getLhs().getDefiningOp<tok::TransposeOp>().getOperand();
      root = {Root::Kind::TransposedProduct,
              AggregateKind::Sum,
              withoutCasts(left),
              withoutCasts(product.getRhs()),
              {}};
      if (isPerRow(root.value))
        std::swap(root.value, root.factor); // t(u) X = t(t(X) u)
      if (isPerRow(root.value))
        root.kind = Root::Kind::FullAggregate;
      else if (isPerRow(root.factor))
        root.kind = Root::Kind::ColumnAggregate;
    }
    if (root.aggregate > AggregateKind::Max)
      return op_.emitOpError("only sums, products, minima and maxima are merged over rows");
    root.type = yielded.getType();
    roots_.push_back(root);
  }
  return success();
}

LogicalResult KernelBody::checkRoots() const {
  for (const Root &root : roots_) {
    for (Value value : {root.value, root.factor})
      if (value && !extents_.contains(value))
        return op_.emitOpError("an aggregate is not computed with further inside a kernel");
    if (!extendsOverRows(extents_.lookup(root.value)))
      return op_.emitOpError("a result must extend over the rows");
    if (root.kind != Root::Kind::TransposedProduct)
      continue;
    if (!extendsOverRows(extents_.lookup(root.factor)))
      return op_.emitOpError("the transposed rows are multiplied by values that extend over rows");
    if (!isNarrow(factsOf(root.value).columns()) && !isNarrow(factsOf(root.factor).columns()))
      return op_.emitOpError("a product over the rows has one side of at most ")
             << mostNarrowColumns << " columns";
  }
  return success();
}

//===- extents -------------------------------------------------------------------------------===//

bool KernelBody::hasShapeOfSpace(Value value) const {
  tok::Facts facts = factsOf(value);
  return !tok::isArray(value.getType()) || hasShape(facts, rows_, columns_) ||
         (isOne(facts.rows()) && isOne(facts.columns()) && !isOne(rows_));
}

std::optional<Extent> KernelBody::extentFor(Value value) const {
  if (!tok::isArray(value.getType()))
    return Extent::Uniform;
  tok::Facts facts = factsOf(value);
  bool overRows = facts.rows().provedEqual(rows_);
  if (!overRows && !isOne(facts.rows()))
    return std::nullopt;
  if (isOne(facts.columns()))
    return overRows ? Extent::PerRow : Extent::Uniform;
  bool isMain = facts.columns().provedEqual(columns_);
  bool isWide =
      isMain && !(columns_.isConstant() && columns_.constantValue() <= mostNarrowMainColumns);
  if (!isMain && !isNarrow(facts.columns()))
    return std::nullopt;
  if (overRows)
    return isWide ? Extent::Wide : Extent::Narrow;
  return isWide ? Extent::Shared : Extent::SharedNarrow;
}

// Operations that only describe how operands are accessed and combined; emitters handle them with
// their operands or users.
static bool isStructural(Operation &operation) {
  return isa<tok::TransposeOp, tok::MatmulOp, tok::AggregateOp, plan::YieldOp>(operation);
}

// Checks that a cell operator on scalars computes doubles or booleans, and that each operand is
// available at every cell of the result.
LogicalResult KernelBody::checkCell(Operation &operation, Extent extent) {
  Type type = operation.getResult(0).getType();
  if (isa<tok::ConstantOp>(operation) ? !tok::isNumber(type) : type.isInteger(64))
    return op_.emitOpError("scalars in a kernel are doubles and booleans only");
  bool spreads = extent == Extent::Wide || extent == Extent::Narrow;
  for (Value operand : operation.getOperands()) {
    auto known = extents_.find(withoutCasts(operand));
    if (known == extents_.end())
      return op_.emitOpError("an aggregate is not computed with further inside a kernel");
    if (known->second != extent && known->second != Extent::Uniform && !spreads)
      return op_.emitOpError("no operand may be larger than the result");
  }
  return success();
}

LogicalResult KernelBody::classifyInputs() {
  // Right operands of products need no place in the iteration space, unless they have other uses.
  llvm::DenseMap<Value, unsigned> productUses;
  for (auto product : op_.getBody().front().getOps<tok::MatmulOp>()) {
    if (!isRowProduct(product))
      continue;
    ProductOperand operand = productOperand(product);
    if (!operand.input)
      return op_.emitOpError("the right operand of a product of rows must be an input");
    if (!operand.isTransposed)
      ++productUses[operand.input];
  }
  for (auto transpose : op_.getBody().front().getOps<tok::TransposeOp>())
    if (isa<BlockArgument>(transpose.getOperand()) &&
        llvm::all_of(transpose->getUses(), [](OpOperand &use) {
          auto product = dyn_cast<tok::MatmulOp>(use.getOwner());
          return product && isRowProduct(product);
        }))
      ++productUses[transpose.getOperand()];
  for (BlockArgument argument : op_.getBody().getArguments()) {
    unsigned uses = std::distance(argument.use_begin(), argument.use_end());
    // An input that is only a right operand of row products is read along the columns.
    if (uses == productUses.lookup(argument) && tok::isArray(argument.getType())) {
      extents_[argument] = Extent::Shared;
      continue;
    }
    std::optional<Extent> extent = extentFor(argument);
    if (!extent)
      return op_.emitOpError(
          "an input has neither the shape of the iteration space nor of its rows or columns");
    extents_[argument] = *extent;
  }
  return success();
}

LogicalResult KernelBody::classifyProduct(tok::MatmulOp product) {
  Value left = withoutCasts(product.getLhs());
  auto known = extents_.find(left);
  if (known == extents_.end() || !extendsOverRows(known->second))
    return op_.emitOpError("products of rows are of values that extend over rows");
  std::optional<Extent> extent = extentFor(product.getResult());
  if (!extent || !extendsOverRows(*extent))
    return op_.emitOpError(
        "a product of rows has neither one column nor a narrow or the main width");
  if (*extent == Extent::Wide && known->second == Extent::Wide && !isNarrow(columns_))
    return op_.emitOpError("a product of rows with a wide matrix is not computed in a kernel");
  if (*extent == Extent::Wide && known->second == Extent::Narrow && !isNarrow(columns_) &&
      productOperand(product).isTransposed)
    return op_.emitOpError("the right operand of a product with a wide result is not transposed");
  extents_[product.getResult()] = *extent;
  return success();
}

LogicalResult KernelBody::classifyOperation(Operation &operation, bool &needsRows) {
  auto product = dyn_cast<tok::MatmulOp>(operation);
  auto aggregate = dyn_cast<tok::AggregateOp>(operation);
  if (product && isRowProduct(product)) {
    needsRows = true;
    return classifyProduct(product);
  }
  if (aggregate && aggregate.getDirection() == AggregateDirection::Row && !isOnlyRow(aggregate)) {
    needsRows = true;
    AggregateKind kind = aggregate.getKind();
    if (kind == AggregateKind::Mean || kind == AggregateKind::Var || kind == AggregateKind::Sd)
      return op_.emitOpError("mean, var and sd are decomposed before code generation");
    auto known = extents_.find(withoutCasts(aggregate.getOperand()));
    if (known == extents_.end() || !extendsOverRows(known->second))
      return op_.emitOpError("rows are aggregated of values that extend over rows and columns");
    extents_[aggregate.getResult()] = Extent::PerRow;
    return success();
  }
  if (isCell(&operation)) {
    auto extent = extentFor(operation.getResult(0));
    if (!extent)
      return op_.emitOpError(
          "a value has neither the shape of the iteration space nor of its rows or columns");
    extents_[operation.getResult(0)] = *extent;
    return checkCell(operation, *extent);
  }
  if (auto cast = dyn_cast<tok::CastOp>(operation);
      cast ? !keepsValue(cast) : !isStructural(operation))
    return op_.emitOpError("no code for ") << operation.getName();
  return success();
}

LogicalResult KernelBody::classify() {
  if (failed(classifyInputs()))
    return failure();
  bool needsRows = false;
  for (Operation &operation : op_.getBody().front())
    if (failed(classifyOperation(operation, needsRows)))
      return failure();
  for (const Root &root : roots_)
    needsRows |=
        root.kind == Root::Kind::ColumnAggregate || root.kind == Root::Kind::TransposedProduct;
  bool sameShapes = llvm::all_of(extents_, [&](auto &entry) {
    return entry.first.use_empty() || hasShapeOfSpace(entry.first);
  });
  flat_ = sameShapes && !needsRows;
  // In a flat loop all values that are not uniform are indexed by the cell.
  if (flat_)
    for (auto &[value, extent] : extents_)
      if (extendsOverRows(extent))
        extent = Extent::Wide;
  return success();
}

// The index of an array input from which `result` is computed and that has the same outer
// dimensions; -1 if `result` is a matrix or scalar. The search follows operands with as many rows:
// operands have either all outer dimensions of the result, or only outer dimensions of 1.
int32_t KernelBody::inputWithOuterDimensionsOf(Value result) const {
  if (!tok::isTensor(result.getType()))
    return -1;
  Size rows = factsOf(result).rows();
  llvm::SmallVector<Value> pending = {result};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!tok::isArray(value.getType()) || !factsOf(value).rows().provedEqual(rows) ||
        !seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return static_cast<int32_t>(arrayIndex(argument));
    llvm::append_range(pending, value.getDefiningOp()->getOperands());
  }
  llvm_unreachable("every array is computed from an input of its size");
}

abi::KernelPlan KernelBody::describe() const {
  abi::KernelPlan plan;
  int64_t wideBytes = 0, narrowBytes = 0; // per cell of a wide row; per row of narrow arrays
  auto count = [&](Value value, Type type) {
    int64_t cellBytes = byteSize(cellsOf(type));
    if (extentOf(value) == Extent::Wide)
      wideBytes += cellBytes;
    else if (extentOf(value) == Extent::Narrow)
      narrowBytes += cellBytes * narrowColumns(value);
  };
  for (BlockArgument argument : op_.getBody().getArguments()) {
    if (tok::isArray(argument.getType())) {
      if (op_.getDriver() && *op_.getDriver() == argument.getArgNumber())
        plan.driver = static_cast<int32_t>(plan.inputs.size());
      plan.inputs.push_back({cellsOf(argument.getType()),
                             op_.isCsrOperand(argument.getArgNumber()) ? TOK_CSR : TOK_DENSE});
      count(argument, argument.getType());
    } else {
      plan.integerScalars.push_back(cellsOf(argument.getType()) == ElementType::I64);
    }
  }
  for (auto [root, result] :
       llvm::zip(roots_, op_.getBody().front().getTerminator()->getOperands())) {
    abi::KernelOutput output;
    bool array = tok::isArray(result.getType());
    output.isInteger = !isFloat(cellsOf(root.value.getType()));
    output.kind = root.kind == Root::Kind::Array ? abi::KernelOutput::Kind::Array
                  : array                        ? abi::KernelOutput::Kind::PartialArray
                                                 : abi::KernelOutput::Kind::PartialScalar;
    if (array) {
      tok::Facts facts = factsOf(result);
      output.rows = sizeAtLaunch(op_, facts.rows());
      output.columns = sizeAtLaunch(op_, facts.columns());
      output.elementType = cellsOf(result.getType());
      output.outerDimensionsOf = inputWithOuterDimensionsOf(result);
      if (op_.isCsrResult(plan.outputs.size()))
        output.layout = TOK_CSR;
    }
    if (root.kind == Root::Kind::Array)
      count(root.value, result.getType());
    plan.outputs.push_back(output);
  }
  plan.extents[0] = sizeAtLaunch(op_, rows_);
  plan.extents[1] = sizeAtLaunch(op_, columns_);
  if (flat_) {
    for (BlockArgument argument : op_.getBody().getArguments())
      if (tok::isArray(argument.getType()) && extentOf(argument) == Extent::Wide)
        plan.extents[0] = abi::cellsOfInput(arrayIndex(argument));
    plan.extents[1] = Size::constant(1);
  }
  int64_t columns = std::max<int64_t>(1, constantColumns().value_or(mostNarrowColumns));
  int64_t cellBytes = wideBytes + (narrowBytes + columns - 1) / columns;
  plan.tileBytesPerStep = cellBytes > 0 ? cellBytes : 8;
  return plan;
}
