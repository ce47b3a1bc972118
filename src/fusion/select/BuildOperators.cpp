#include "fusion/select/BuildOperators.h"

#include "fusion/explore/Notation.h"
#include "fusion/select/OperatorOrder.h"
#include "ir/plan/BodyBuilder.h"
#include "ir/tok/SizesAttribute.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

plan::BodyKind fusion::kindOf(const OperatorPool &pool, int id) {
  const FusedOperator &op = pool[id];
  const Shape &space = pool.frameOf(id).space;
  AxisSet single = (space.hasOneRow() ? AxisSet(Axis::Rows) : AxisSet()) |
                   (space.hasOneColumn() ? AxisSet(Axis::Columns) : AxisSet());
  AxisSet all = (Axis::Rows | Axis::Columns).without(single);
  bool isRow = false, isAggregate = op.roots.size() > 1;
  for (int member : op.members.set_bits()) {
    const MemoGroup &group = *pool.memo().find(member, op.frame);
    bool isReduced = !group.reduced.isEmpty();
    if (group.isSampled && isReduced)
      return plan::BodyKind::Outer;
    AxisSet kept = group.over.without(group.reduced).without(single);
    isRow |= !kept.isEmpty() && (isReduced || kept != all);
    isAggregate &= !op.isRoot(member) || (isReduced && kept.isEmpty());
  }
  return isRow         ? plan::BodyKind::Row
         : isAggregate ? plan::BodyKind::MultiAgg
                       : plan::BodyKind::Cell;
}

std::string fusion::describeMember(const OperatorPool &pool, int member) {
  Value result = pool.graph()[member].operation->getResult(0);
  std::string variable = variableOf(result);
  return (variable.empty() ? "" : variable + " = ") + expression(result);
}

// The label of an operator, for --stats: its results, shortened.
static std::string labelOf(const OperatorPool &pool, int id) {
  constexpr size_t longest = 80;
  std::string label;
  for (int root : pool[id].roots)
    label += (label.empty() ? "" : "; ") + describeMember(pool, root);
  return label.size() > longest ? label.substr(0, longest - 3) + "..." : label;
}

namespace {

// The values that were created for values of the block so far.
struct Made {
  IRMapping replaced;                      // original values -> results of operators
  llvm::DenseMap<Value, Value> transposed; // original values -> their transposed copies
};

// Builds one plan.operator.
class OperatorBuilder {
public:
  OperatorBuilder(const OperatorPool &pool, int id, OpBuilder &builder, Made &made)
      : pool_(pool), graph_(pool.graph()), op_(pool[id]), frame_(pool.frameOf(id)), id_(id),
        builder_(builder), made_(made) {
    collectInputs();
  }

  // Returns the operator's results, in the order of its roots.
  SmallVector<Value> build() {
    SmallVector<Value> operands;
    SmallVector<Attribute> operandSizes, resultSizes;
    for (const Input &input : inputs_) {
      operands.push_back(operandFor(input));
      operandSizes.push_back(sizesAttribute(input.value, input.turned));
    }
    SmallVector<Type> types;
    for (int root : op_.roots) {
      Value result = resultOf(root);
      types.push_back(result.getType());
      resultSizes.push_back(sizesAttribute(result, isWrittenTransposed(root)));
    }
    Location location = graph_[op_.roots.back()].operation->getLoc();
    auto result = builder_.create<plan::OperatorOp>(
        location, types, operands, builder_.getArrayAttr(operandSizes),
        builder_.getArrayAttr(resultSizes), /*axis_sizes=*/builder_.getArrayAttr({}),
        builder_.getStringAttr(labelOf(pool_, id_)), /*sparse=*/builder_.getDenseI64ArrayAttr({}),
        /*drivers=*/builder_.getDenseI64ArrayAttr({}),
        /*sparse_results=*/builder_.getDenseI64ArrayAttr({}));
    result->setAttr("predicted_ns", builder_.getF64FloatAttr(op_.nanoseconds));
    if (frame_.driver) {
      describeSparsity(result);
      if (llvm::any_of(op_.members.set_bits(), [&](int member) { return leavesOutNan(member); }))
        result->setAttr(zeroRuleAttributeName, builder_.getUnitAttr());
    }
    buildBody(result);
    SmallVector<Value> results(result.getResults());
    for (auto [root, value] : llvm::zip(op_.roots, results))
      if (isWrittenTransposed(root))
        value = builder_.create<tok::TransposeOp>(location, value.getType(), value);
    return results;
  }

private:
  // An input that is read along the columns (the right operand of a product) is a separate operand,
  // even if the value is read in other ways, too. `turned`: the operand is the value's transpose.
  struct Input {
    Value value;
    bool alongColumns = false;
    bool turned = false;
    bool operator==(const Input &other) const = default;
  };

  // Whether the operation leaves out zeros (outside the entries) times values that may not be
  // finite, which would be NaN.
  bool leavesOutNan(int member) const {
    const Node &node = graph_[member];
    auto isZeroBeside = [&](int operand) {
      return graph_.facts().whereZero(frame_.driver, node.operands[operand]).isZero();
    };
    auto mayBeNan = [&](int operand) {
      return !graph_.facts().everywhere(node.operands[operand]).isFinite();
    };
    auto product = dyn_cast<tok::BinaryOp>(node.operation);
    bool multiplies =
        product ? product.getKind() == BinaryOperator::Mul
                : node.kind == NodeKind::Product || node.kind == NodeKind::TransposedProduct;
    return multiplies && !groupOf(member).isSampled &&
           ((isZeroBeside(0) && !isZeroBeside(1) && mayBeNan(1)) ||
            (isZeroBeside(1) && !isZeroBeside(0) && mayBeNan(0)));
  }

  const MemoGroup &groupOf(int member) const { return *pool_.memo().find(member, op_.frame); }

  static bool isConstant(Value value) {
    return value.getDefiningOp<tok::ConstantOp>() && !tok::isArray(value.getType());
  }

  bool isInside(int member, int operand) const {
    int producer = graph_[member].producers[operand];
    return producer >= 0 && op_.members[producer];
  }

  Value resultOf(int member) const { return graph_[member].operation->getResult(0); }

  Attribute sizesAttribute(Value value, bool turned) const {
    SmallVector<Size> sizes(graph_.facts().sizesOf(value));
    if (turned)
      std::swap(sizes[sizes.size() - 2], sizes.back());
    return tok::sizesAttribute(builder_.getContext(), sizes);
  }

  // Whether the right factor of a product is read from its transpose.
  bool isReadTransposed(int member) const {
    const Node &node = graph_[member];
    if (groupOf(member).isSampled)
      return true;
    if (frame_.loops == Loops::AnyAxes)
      return bool(node.operands[1].getDefiningOp<tok::TransposeOp>());
    // Only if the product's rows are narrower than those of the left operand.
    const Size &from = graph_.shapeOf(node.operands[0]).columns,
               &to = graph_.shapeOf(node.operands[1]).columns;
    return node.operands[1].getDefiningOp<tok::TransposeOp>() && !frame_.driver &&
           to.isConstant() && (!from.isConstant() || from.constantValue() > to.constantValue());
  }

  // Sums over rows of products of an entry with a narrow row lie in memory in the order of the
  // entry's columns.
  bool isWrittenTransposed(int root) const {
    const Node &node = graph_[root];
    return frame_.driver && node.kind == NodeKind::TransposedProduct &&
           graph_.shapeOf(node.operands[0]) != frame_.space &&
           !graph_.shapeOf(node.operands[0]).hasOneColumn() &&
           !graph_.shapeOf(node.operands[1]).hasOneColumn();
  }

  Input inputOf(int member, int operand) const {
    const Node &node = graph_[member];
    Value value = node.operands[operand];
    if (node.kind != NodeKind::Product || operand == 0)
      return {value};
    auto transpose = value.getDefiningOp<tok::TransposeOp>();
    bool turned = isReadTransposed(member) != bool(transpose);
    return {transpose ? transpose.getOperand() : value, true, turned};
  }

  // The driver first, then arrays, then scalars, each in the order of their first use.
  void collectInputs() {
    for (Value array : frame_.driver.arrays)
      inputs_.push_back({array});
    for (bool arrays : {true, false})
      op_.forEachInput(graph_, [&](Use use) {
        Input input = inputOf(use.user, use.operand);
        if (tok::isArray(input.value.getType()) == arrays &&
            isTaken(graph_[use.user], use.operand) && !isConstant(input.value) &&
            !llvm::is_contained(inputs_, input))
          inputs_.push_back(input);
      });
  }

  // Kernels only compute with numbers, so a scalar of unknown type is converted first.
  Value operandFor(const Input &input) {
    Value operand = made_.replaced.lookupOrDefault(input.value);
    if (input.turned) {
      Value &turned = made_.transposed[input.value];
      if (!turned)
        turned = builder_.create<tok::TransposeOp>(operand.getLoc(), operand.getType(), operand);
      return turned;
    }
    if (!isa<tok::ScalarType>(operand.getType()))
      return operand;
    return builder_.create<tok::CastOp>(operand.getLoc(), builder_.getF64Type(), operand);
  }

  void describeSparsity(plan::OperatorOp result) {
    SmallVector<int64_t> sparse, drivers, sparseResults;
    for (auto [number, input] : llvm::enumerate(inputs_)) {
      if (input.alongColumns || graph_.shapeOf(input.value) != frame_.space ||
          !graph_.facts().isSparse(input.value))
        continue;
      sparse.push_back(number);
      if (frame_.driver.contains(input.value))
        drivers.push_back(number);
    }
    for (auto [number, root] : llvm::enumerate(op_.roots)) {
      const Node &node = graph_[root];
      Value value = node.operation->getResult(0);
      // Products and column sums are dense, even if they have the driver's shape by chance.
      bool atEntries = node.kind == NodeKind::Elementwise || groupOf(root).isSampled;
      if (tok::isArray(value.getType()) && graph_.shapeOf(value) == frame_.space && atEntries)
        sparseResults.push_back(number);
    }
    result.setSparse(sparse);
    result.setDrivers(drivers);
    result.setSparseResults(sparseResults);
  }

  void buildBody(plan::OperatorOp result) {
    OpBuilder::InsertionGuard guard(builder_);
    Block *block = builder_.createBlock(&result.getBody());
    for (Value operand : result.getInputs())
      block->addArgument(operand.getType(), operand.getLoc());
    auto sizesOf = [this](Value value) { return graph_.facts().sizesOf(value); };
    SmallVector<Operation *> operations;
    for (int member : op_.members.set_bits())
      operations.push_back(graph_[member].operation);
    plan::BodyBuilder body(result, frame_.space, operations, sizesOf);
    for (int member : op_.members.set_bits()) {
      const Node &node = graph_[member];
      SmallVector<plan::BodyOperand> operands;
      for (int operand = 0; operand < static_cast<int>(node.operands.size()); ++operand)
        operands.push_back(operandInBody(block, member, operand));
      if (readsTransposed(node, 0))
        body.addTransposedProduct(cast<tok::MatmulOp>(node.operation), operands[0], operands[1]);
      else if (node.kind == NodeKind::Slice)
        body.addSlice(cast<tok::SliceOp>(node.operation), operands[0],
                      graph_.facts().integerOf(node.operands[1]) - 1,
                      graph_.facts().integerOf(node.operands[3]) - 1);
      else
        body.add(node.operation, operands);
    }
    for (int root : op_.roots)
      body.write(resultOf(root), isWrittenTransposed(root));
    body.finish();
  }

  plan::BodyOperand operandInBody(Block *block, int member, int operand) const {
    Value value = graph_[member].operands[operand];
    if (isInside(member, operand) || isConstant(value) || !isTaken(graph_[member], operand))
      return {value};
    Input input = inputOf(member, operand);
    bool isProductFactor = graph_[member].kind == NodeKind::Product && operand == 1;
    return {value, block->getArgument(llvm::find(inputs_, input) - inputs_.begin()),
            isProductFactor && isReadTransposed(member)};
  }

  const OperatorPool &pool_;
  const BlockGraph &graph_;
  const FusedOperator &op_;
  const Frame &frame_;
  int id_;
  OpBuilder &builder_;
  Made &made_;
  SmallVector<Input> inputs_;
};

// Clones an operation that is left to the native.
Value buildNative(const Node &node, OpBuilder &builder, Made &made) {
  Operation *clone = node.operation->clone();
  SmallVector<Value> operands;
  for (auto [number, original] : llvm::enumerate(node.operands)) {
    Value operand = made.replaced.lookupOrDefault(original);
    if (readsTransposed(node, static_cast<int>(number)))
      operand = builder.create<tok::TransposeOp>(clone->getLoc(), operand.getType(), operand);
    operands.push_back(operand);
  }
  clone->setOperands(operands);
  return builder.insert(clone)->getResult(0);
}

// Moves an operation that remains in the block to its new place. A transpose of which a copy exists
// already is replaced by that copy.
void place(Operation *operation, Operation *end, Made &made) {
  operation->moveBefore(end);
  auto transpose = dyn_cast<tok::TransposeOp>(operation);
  if (!transpose)
    return;
  Value &known = made.transposed[transpose.getOperand()];
  if (known)
    made.replaced.map(transpose.getResult(), known);
  else
    known = transpose.getResult();
}

} // namespace

void fusion::buildOperators(const OperatorPool &pool, ArrayRef<int> operators) {
  const BlockGraph &graph = pool.graph();
  OperatorOrder order(pool, operators);
  SmallVector<int> sequence = order.sequence();
  Operation *end = graph.block().getTerminator();
  OpBuilder builder(end);
  Made made;
  for (int unit : sequence) {
    if (unit >= order.operatorCount()) {
      place(graph[unit - order.operatorCount()].operation, end, made);
      continue;
    }
    int id = operators[unit];
    SmallVector<Value> results;
    if (pool.frameOf(id).isNative)
      results = {buildNative(graph[pool[id].roots.front()], builder, made)};
    else
      results = OperatorBuilder(pool, id, builder, made).build();
    for (auto [root, result] : llvm::zip(pool[id].roots, results))
      made.replaced.map(graph[root].operation->getResult(0), result);
  }
  for (auto [before, after] : made.replaced.getValueMap())
    Value(before).replaceAllUsesWith(after);
  // Transposes that were only read by fused products are not needed any more.
  for (int index = graph.size() - 1; index >= 0; --index) {
    Operation *operation = graph[index].operation;
    bool isUnused = isa<tok::TransposeOp>(operation) && operation->use_empty();
    if (graph.isNode(index) || !graph[index].live || isUnused)
      operation->erase();
  }
}
