#include "fusion/select/BuildOperators.h"

#include "fusion/explore/Notation.h"
#include "fusion/select/NativePrice.h"
#include "fusion/select/OperatorOrder.h"
#include "ir/plan/BodyBuilder.h"
#include "ir/tok/SizesAttribute.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// The label of an operator, for --stats: its results, shortened.
static std::string labelOf(const BlockGraph &graph, const FusedOperator &op) {
  constexpr size_t longest = 80;
  std::string label;
  for (int root : op.roots)
    label += (label.empty() ? "" : "; ") + definition(graph[root].result());
  return label.size() > longest ? label.substr(0, longest - 3) + "..." : label;
}

static void notePrediction(Operation *operation, const Prediction &prediction) {
  Builder builder(operation->getContext());
  operation->setAttr("predicted_ns", builder.getF64FloatAttr(prediction.nanoseconds));
  operation->setAttr("predicted_in_parallel_ns", builder.getF64FloatAttr(prediction.inParallel));
  operation->setAttr("predicted_threads", builder.getF64FloatAttr(prediction.threads));
  operation->setAttr("predicted_at_peak", builder.getF64FloatAttr(prediction.atPeak));
  operation->setAttr("predicted_limit",
                     builder.getI64IntegerAttr(static_cast<int64_t>(prediction.limit)));
  if (prediction.bytes == 0)
    return;
  SmallVector<double> figures{prediction.bytes};
  for (const Prediction::Time &time : prediction.ofOtherSizes)
    figures.append({time.nanoseconds, time.inParallel});
  operation->setAttr("predicted_of_sizes", builder.getDenseF64ArrayAttr(figures));
}

void fusion::forgetPrediction(Operation *operation) {
  for (NamedAttribute attribute : llvm::to_vector(operation->getAttrs()))
    if (attribute.getName().strref().starts_with("predicted_"))
      operation->removeAttr(attribute.getName());
}

Prediction fusion::predictionOf(Operation *operation) {
  auto figure = [&](StringRef name, double otherwise) {
    auto attribute = operation->getAttrOfType<FloatAttr>(name);
    return attribute ? attribute.getValueAsDouble() : otherwise;
  };
  auto limit = operation->getAttrOfType<IntegerAttr>("predicted_limit");
  Prediction prediction{figure("predicted_ns", 0), figure("predicted_in_parallel_ns", 0),
                        figure("predicted_threads", 1), figure("predicted_at_peak", 0),
                        limit ? static_cast<Limit>(limit.getInt()) : Limit::Moving};
  if (auto ofSizes = operation->getAttrOfType<DenseF64ArrayAttr>("predicted_of_sizes")) {
    ArrayRef<double> figures = ofSizes.asArrayRef();
    prediction.bytes = figures.front();
    for (auto [number, time] : llvm::enumerate(prediction.ofOtherSizes))
      time = {figures[1 + 2 * number], figures[2 + 2 * number]};
  }
  return prediction;
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
      : pool_(pool), graph_(pool.graph()), op_(pool[id]), frame_(pool.frameOf(id)),
        builder_(builder), made_(made) {
    collectInputs();
  }

  // Returns the operator, and stores its results as those of its roots.
  Operation *build() {
    SmallVector<Value> operands;
    SmallVector<Attribute> operandSizes, resultSizes;
    SmallVector<int64_t> sparse, drivers, sparseResults;
    for (auto [number, input] : llvm::enumerate(inputs_)) {
      operands.push_back(operandFor(input));
      operandSizes.push_back(sizesAttribute(input.value, input.turned));
      if (input.alongColumns || !isAtEntries(input.value) || !graph_.facts().isSparse(input.value))
        continue;
      sparse.push_back(number);
      if (frame_.driver.contains(input.value))
        drivers.push_back(number);
    }
    SmallVector<Type> types;
    for (auto [number, root] : llvm::enumerate(op_.roots)) {
      const Node &node = graph_[root];
      types.push_back(node.result().getType());
      resultSizes.push_back(sizesAttribute(node.result(), isWrittenTransposed(root)));
      // Products and column sums are dense, even if they have the driver's shape by chance.
      bool isCell = node.kind == NodeKind::Elementwise || groupOf(root).isSampled;
      if (isCell && isAtEntries(node.result()))
        sparseResults.push_back(number);
    }
    Location location = graph_[op_.roots.back()].operation->getLoc();
    auto result = builder_.create<plan::OperatorOp>(
        location, types, operands, builder_.getArrayAttr(operandSizes),
        builder_.getArrayAttr(resultSizes), /*axis_sizes=*/builder_.getArrayAttr({}),
        builder_.getStringAttr(labelOf(graph_, op_)), builder_.getDenseI64ArrayAttr(sparse),
        builder_.getDenseI64ArrayAttr(drivers), builder_.getDenseI64ArrayAttr(sparseResults));
    notePrediction(result, pool_.cost().predict(op_));
    if (frame_.driver &&
        llvm::any_of(op_.members.set_bits(), [&](int member) { return leavesOutNan(member); }))
      result->setAttr(zeroRuleAttributeName, builder_.getUnitAttr());
    buildBody(result);
    for (auto [root, value] : llvm::zip(op_.roots, result.getResults())) {
      Value stored = value;
      if (isWrittenTransposed(root))
        stored = builder_.create<tok::TransposeOp>(location, value.getType(), value);
      made_.replaced.map(graph_[root].result(), stored);
    }
    return result;
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
    auto leavesOut = [&](int zero, int other) {
      return isZeroBeside(zero) && !isZeroBeside(other) &&
             !graph_.facts().everywhere(node.operands[other]).isFinite();
    };
    auto product = dyn_cast<tok::BinaryOp>(node.operation);
    bool multiplies = product ? product.getKind() == BinaryOperator::Mul
                              : isa<tok::MatmulOp>(node.operation) && !groupOf(member).isSampled;
    return multiplies && has(groupOf(member).over, Axes::Rows | Axes::Columns) &&
           (leavesOut(0, 1) || leavesOut(1, 0));
  }

  const MemoGroup &groupOf(int member) const { return *pool_.memo().find(member, op_.frame); }

  bool isAtEntries(Value value) const {
    return frame_.driver && tok::isArray(value.getType()) && graph_.shapeOf(value) == frame_.space;
  }

  Attribute sizesAttribute(Value value, bool turned) const {
    SmallVector<Size> sizes(graph_.facts().sizesOf(value));
    if (turned)
      std::swap(sizes[sizes.size() - 2], sizes.back());
    return tok::sizesAttribute(builder_.getContext(), sizes);
  }

  // Whether the right factor of a product is read from its transpose.
  bool isReadTransposed(int member) const {
    const Node &node = graph_[member];
    bool isTranspose(node.operands[1].getDefiningOp<tok::TransposeOp>());
    if (groupOf(member).isSampled || frame_.loops == Loops::AnyAxes)
      return groupOf(member).isSampled || isTranspose;
    // Only if the product's rows are narrower than those of the left operand.
    const Size &from = graph_.shapeOf(node.operands[0]).columns,
               &to = graph_.shapeOf(node.operands[1]).columns;
    return isTranspose && !frame_.driver && to.isConstant() &&
           (!from.isConstant() || from.constantValue() > to.constantValue());
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

  // The driver first, then arrays, then scalars, each in the order of their first use. Literals,
  // and where a slice begins and ends, are part of the kernel's code.
  void collectInputs() {
    for (Value array : frame_.driver.arrays)
      inputs_.push_back({array});
    for (bool arrays : {true, false})
      op_.forEachInput(graph_, [&](Use use) {
        Input input = inputOf(use.user, use.operand);
        bool isArray = tok::isArray(input.value.getType());
        bool isLiteral = !isArray && input.value.getDefiningOp<tok::ConstantOp>();
        NodeKind kind = graph_[use.user].kind;
        bool isRange = use.operand > 0 && (kind == NodeKind::Slice || kind == NodeKind::Sequence);
        if (isArray != arrays || isLiteral || isRange)
          return;
        auto known = llvm::find(inputs_, input);
        numberOf_[{use.user, use.operand}] = known - inputs_.begin();
        if (known == inputs_.end())
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

  void buildBody(plan::OperatorOp result) {
    OpBuilder::InsertionGuard guard(builder_);
    Block *block = builder_.createBlock(&result.getBody());
    for (Value operand : result.getInputs())
      block->addArgument(operand.getType(), operand.getLoc());
    SmallVector<plan::BodyStep> steps;
    for (int member : op_.members.set_bits()) {
      const Node &node = graph_[member];
      plan::BodyStep &step = steps.emplace_back(node.operation);
      for (int operand = 0; operand < static_cast<int>(node.operands.size()); ++operand)
        step.operands.push_back(operandInBody(block, member, operand));
      if (auto sequence = dyn_cast<tok::SeqOp>(node.operation))
        step.isFalling = graph_.facts().wholeSequenceOf(sequence)->isFalling;
      step.windows = node.windows;
      if (node.kind == NodeKind::Slice)
        step.begin = {graph_.facts().integerOf(node.operands[1]) - 1,
                      graph_.facts().integerOf(node.operands[3]) - 1};
    }
    auto results = llvm::map_to_vector(op_.roots, [&](int root) {
      return plan::BodyResult{graph_[root].result(), isWrittenTransposed(root)};
    });
    plan::buildBody(result, frame_.space, steps, results,
                    [this](Value value) { return graph_.facts().sizesOf(value); });
  }

  plan::BodyOperand operandInBody(Block *block, int member, int operand) const {
    Value value = graph_[member].operands[operand];
    auto number = numberOf_.find({member, operand});
    if (number == numberOf_.end())
      return {value};
    bool isProductFactor = graph_[member].kind == NodeKind::Product && operand == 1;
    return {value, block->getArgument(number->second), isProductFactor && isReadTransposed(member)};
  }

  const OperatorPool &pool_;
  const BlockGraph &graph_;
  const FusedOperator &op_;
  const Frame &frame_;
  OpBuilder &builder_;
  Made &made_;
  SmallVector<Input> inputs_;
  llvm::DenseMap<std::pair<int, int>, unsigned> numberOf_; // of inputs, by member and operand
};

// Clones an operation that is left to the native.
Operation *buildNative(const Node &node, OpBuilder &builder, Made &made) {
  Operation *clone = node.operation->clone(made.replaced);
  if (node.readsTransposed(0)) {
    Value operand = made.replaced.lookupOrDefault(node.operands[0]);
    clone->setOperand(
        0, builder.create<tok::TransposeOp>(clone->getLoc(), operand.getType(), operand));
  }
  return builder.insert(clone);
}

// Moves an operation that remains in the block to its new place. A transpose of which a copy exists
// already is replaced by that copy.
void moveBefore(Operation *end, Operation *operation, Made &made) {
  operation->moveBefore(end);
  if (auto transpose = dyn_cast<tok::TransposeOp>(operation)) {
    Value result = transpose.getResult();
    auto [known, isNew] = made.transposed.try_emplace(transpose.getOperand(), result);
    if (!isNew)
      made.replaced.map(result, known->second);
  }
}

} // namespace

void fusion::buildOperators(const OperatorPool &pool, ArrayRef<int> operators,
                            llvm::function_ref<void(ArrayRef<BuiltOperator>)> whenBuilt) {
  const BlockGraph &graph = pool.graph();
  OperatorOrder order(pool, operators);
  Operation *end = graph.block().getTerminator();
  OpBuilder builder(end);
  Made made;
  SmallVector<BuiltOperator> built;
  for (int place : order.sequence()) {
    int id = order.operatorAt(place);
    if (id < 0) {
      Operation *operation = graph[place].operation;
      if (auto work = workOfNative(operation, graph.facts(), pool.machine()))
        notePrediction(operation,
                       pool.cost().predict(*work, bytesOfUnknownSize(operation, graph.facts())));
      moveBefore(end, operation, made);
    } else if (pool.frameOf(id).isNative) {
      Operation *native = buildNative(graph[place], builder, made);
      notePrediction(native, pool.cost().predict(pool[id]));
      built.push_back({id, native});
    } else {
      built.push_back({id, OperatorBuilder(pool, id, builder, made).build()});
    }
  }
  whenBuilt(built);
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
