#include "fusion/select/BuildOperators.h"

#include "fusion/explore/Notation.h"
#include "fusion/select/OperatorOrder.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

FusionTemplate fusion::templateOf(const OperatorPool &pool, int id) {
  return pool.isMultiAggregate(id) ? FusionTemplate::MultiAgg
                                   : pool.memo().frames[pool[id].frame].fusionTemplate;
}

std::string fusion::describeMember(const OperatorPool &pool, int member) {
  Value result = pool.graph()[member].operation->getResult(0);
  std::string variable = variableOf(result);
  return (variable.empty() ? "" : variable + " = ") + expression(result);
}

// What stands behind --stats and in the name of a kernel: the results, shortened.
static std::string labelOf(const OperatorPool &pool, int id) {
  constexpr size_t longest = 80;
  std::string label;
  for (int root : pool[id].roots)
    label += (label.empty() ? "" : "; ") + describeMember(pool, root);
  return label.size() > longest ? label.substr(0, longest - 3) + "..." : label;
}

namespace {

// Makes one plan.operator.
class OperatorBuilder {
public:
  OperatorBuilder(const OperatorPool &pool, int id, OpBuilder &builder, const IRMapping &replaced)
      : pool_(pool), graph_(pool.graph()), op_(pool[id]), id_(id), builder_(builder),
        replaced_(replaced) {
    collectInputs();
  }

  plan::OperatorOp build() {
    SmallVector<Value> operands;
    SmallVector<int64_t> sizes;
    for (const Input &input : inputs_) {
      operands.push_back(operandFor(input.value));
      Shape shape = graph_.shapeOf(input.value);
      sizes.append({shape.rows, shape.columns});
    }
    SmallVector<Type> types;
    for (int root : op_.roots)
      types.push_back(graph_[root].operation->getResult(0).getType());
    Location location = graph_[op_.roots.back()].operation->getLoc();
    auto result = builder_.create<plan::OperatorOp>(
        location, types, plan::name(templateOf(pool_, id_)), operands, sizes,
        builder_.getStringAttr(labelOf(pool_, id_)));
    result->setAttr("predicted_ns", builder_.getF64FloatAttr(op_.nanoseconds));
    buildBody(result);
    return result;
  }

private:
  // A vector that is multiplied from the right is an operand of its own, whatever else it is used
  // for: it lies along the columns there.
  struct Input {
    Value value;
    bool alongColumns;
    bool operator==(const Input &other) const {
      return value == other.value && alongColumns == other.alongColumns;
    }
  };

  static bool isConstant(Value value) {
    return value.getDefiningOp<tok::ConstantOp>() && !tok::isArray(value.getType());
  }

  bool isInside(int member, int operand) const {
    int producer = graph_[member].producers[operand];
    return producer >= 0 && op_.members[producer];
  }

  Input inputOf(int member, int operand) const {
    return {graph_[member].operands[operand],
            graph_[member].kind == NodeKind::RowsTimesVector && operand == 1};
  }

  // Arrays first, then scalars, each in the order of their first use.
  void collectInputs() {
    for (bool arrays : {true, false})
      for (int member : op_.members.set_bits())
        for (int operand = 0; operand < static_cast<int>(graph_[member].operands.size());
             ++operand) {
          Input input = inputOf(member, operand);
          if (tok::isArray(input.value.getType()) == arrays && !isInside(member, operand) &&
              !isConstant(input.value) && !llvm::is_contained(inputs_, input))
            inputs_.push_back(input);
        }
  }

  // Kernels know numbers only: a scalar whose type is not known is converted before.
  Value operandFor(Value value) {
    Value operand = replaced_.lookupOrDefault(value);
    if (!isa<tok::ScalarType>(operand.getType()))
      return operand;
    return builder_.create<tok::CastOp>(operand.getLoc(), builder_.getF64Type(), operand);
  }

  void buildBody(plan::OperatorOp result) {
    OpBuilder::InsertionGuard guard(builder_);
    Block *body = builder_.createBlock(&result.getBody());
    for (Value operand : result.getInputs())
      body->addArgument(operand.getType(), operand.getLoc());
    llvm::DenseMap<Value, Value> transposed;
    for (int member : op_.members.set_bits()) {
      const Node &node = graph_[member];
      Operation *copy = node.operation->clone();
      for (int operand = 0; operand < static_cast<int>(node.operands.size()); ++operand) {
        Value value = valueInBody(body, member, operand);
        if (readsTransposed(node, operand)) {
          Value &turned = transposed[value];
          if (!turned)
            turned =
                builder_.create<tok::TransposeOp>(node.operation->getLoc(), value.getType(), value);
          value = turned;
        }
        copy->setOperand(operand, value);
      }
      builder_.insert(copy);
      inBody_[node.operation->getResult(0)] = copy->getResult(0);
    }
    SmallVector<Value> results;
    for (int root : op_.roots)
      results.push_back(inBody_[graph_[root].operation->getResult(0)]);
    builder_.create<plan::YieldOp>(result.getLoc(), results);
  }

  Value valueInBody(Block *body, int member, int operand) {
    Value value = graph_[member].operands[operand];
    if (isInside(member, operand))
      return inBody_.lookup(value);
    if (isConstant(value)) {
      Value &copy = inBody_[value];
      if (!copy)
        copy = builder_.clone(*value.getDefiningOp())->getResult(0);
      return copy;
    }
    return body->getArgument(llvm::find(inputs_, inputOf(member, operand)) - inputs_.begin());
  }

  const OperatorPool &pool_;
  const BlockGraph &graph_;
  const FusedOperator &op_;
  int id_;
  OpBuilder &builder_;
  const IRMapping &replaced_;
  SmallVector<Input> inputs_;
  llvm::DenseMap<Value, Value> inBody_;
};

} // namespace

void fusion::buildOperators(const OperatorPool &pool, ArrayRef<int> operators) {
  const BlockGraph &graph = pool.graph();
  OperatorOrder order(pool, operators);
  SmallVector<int> sequence = order.sequence();
  Operation *end = graph.block().getTerminator();
  OpBuilder builder(end);
  IRMapping replaced;
  for (int unit : sequence) {
    if (unit >= order.operatorCount()) {
      graph[unit - order.operatorCount()].operation->moveBefore(end);
      continue;
    }
    plan::OperatorOp built = OperatorBuilder(pool, operators[unit], builder, replaced).build();
    for (auto [root, result] : llvm::zip(pool[operators[unit]].roots, built.getResults()))
      replaced.map(graph[root].operation->getResult(0), result);
  }
  for (auto [before, after] : replaced.getValueMap())
    Value(before).replaceAllUsesWith(after);
  for (int index = graph.size() - 1; index >= 0; --index)
    if (graph.isNode(index) || !graph[index].live)
      graph[index].operation->erase();
}
