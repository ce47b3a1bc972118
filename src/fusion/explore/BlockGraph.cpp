#include "fusion/explore/BlockGraph.h"

#include "fusion/explore/Notation.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// What a size without an estimate is taken to be.
static constexpr int64_t guessedSize = 1000;

static bool isMatrix(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 2 && type.getElementType().isF64();
}

static Value transposedOperand(Value value) {
  auto transpose = value.getDefiningOp<tok::TransposeOp>();
  return transpose ? transpose.getOperand() : Value();
}

bool fusion::readsTransposed(const Node &node, int operand) {
  switch (node.kind) {
  case NodeKind::TransposedTimesVector:
  case NodeKind::VectorTimesRows:
  case NodeKind::DotProduct:
    return operand == 0;
  default:
    return false;
  }
}

BlockGraph::BlockGraph(func::FuncOp function, FactsFunction facts)
    : block_(&function.getBody().front()) {
  recordShapes(facts);
  for (Operation &operation : block_->without_terminator()) {
    Node &node = operations_.emplace_back();
    node.operation = &operation;
    node.operands.assign(operation.operand_begin(), operation.operand_end());
    classify(node);
  }
  connect();
  keepOrderOfEffects();
}

int BlockGraph::consumers(int index) const {
  const Node &node = operations_[index];
  int count = node.leavesBlock, last = -1;
  for (Use use : node.users) { // the uses by one operation lie next to each other
    count += use.user != last;
    last = use.user;
  }
  return count;
}

//===- sizes
//--------------------------------------------------------------------------------------===//

int64_t BlockGraph::sizeOf(tok::Dimension dimension) {
  if (dimension.isUnknown())
    return plan::encodeSize(tok::Dimension::symbol(nextSymbol_++));
  int64_t code = plan::encodeSize(dimension);
  if (dimension.isSymbol())
    if (int64_t estimate = dimension.estimate(-1); estimate >= 0)
      estimates_[code] = estimate;
  return code;
}

double BlockGraph::estimate(int64_t size) const {
  if (size >= 0)
    return static_cast<double>(size);
  auto found = estimates_.find(size);
  return static_cast<double>(found == estimates_.end() ? guessedSize : found->second);
}

// Where the given facts leave a size open, it follows from the operands' or gets a symbol of its
// own.
void BlockGraph::recordShapes(FactsFunction facts) {
  llvm::DenseMap<Value, tok::Facts> known;
  auto note = [&](Value value) {
    const tok::Facts &given = known[value] = facts(value);
    for (tok::Dimension dimension : given.dims)
      if (dimension.isSymbol())
        nextSymbol_ = std::max(nextSymbol_, dimension.symbolId() + 1);
  };
  for (BlockArgument argument : block_->getArguments())
    note(argument);
  for (Operation &operation : *block_)
    for (Value result : operation.getResults())
      note(result);

  auto complete = [&](Value value, const tok::Facts *inferred) {
    if (!isMatrix(value))
      return;
    tok::Facts &given = known[value];
    if (!given.isMatrix())
      given = tok::Facts::matrix(tok::Dimension::unknown(), tok::Dimension::unknown());
    for (int i = 0; i < 2; ++i)
      if (given.dims[i].isUnknown() && inferred && inferred->isMatrix())
        given.dims[i] = inferred->dims[i];
    Shape shape{sizeOf(given.dims[0]), sizeOf(given.dims[1])};
    shapes_[value] = shape;
    auto decode = [&](int64_t code, tok::Dimension dimension) {
      return dimension.isUnknown() ? plan::decodeSize(code) : dimension;
    };
    given.dims = {decode(shape.rows, given.dims[0]), decode(shape.columns, given.dims[1])};
  };
  for (BlockArgument argument : block_->getArguments())
    complete(argument, nullptr);
  for (Operation &operation : *block_) {
    SmallVector<tok::Facts> inferred(operation.getNumResults());
    if (auto inference = dyn_cast<tok::FactsOpInterface>(operation)) {
      SmallVector<tok::Facts> operands;
      for (Value operand : operation.getOperands())
        operands.push_back(known.lookup(operand));
      inference.inferFacts(operands, inferred);
    }
    for (auto [result, facts] : llvm::zip(operation.getResults(), inferred))
      complete(result, &facts);
  }
}

//===- what can be generated
//----------------------------------------------------------------------===//

void BlockGraph::classify(Node &node) {
  for (Value operand : node.operation->getOperands())
    if (tok::isArray(operand.getType()) && !isMatrix(operand))
      return;
  if (isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp>(node.operation))
    classifyElementwise(node);
  else if (isa<tok::AggregateOp>(node.operation))
    classifyAggregate(node);
  else if (isa<tok::MatmulOp>(node.operation))
    classifyProduct(node);
}

void BlockGraph::classifyElementwise(Node &node) {
  Value result = node.operation->getResult(0);
  if (!isMatrix(result))
    return;
  Shape shape = shapeOf(result);
  bool mayBroadcast = isa<tok::BinaryOp>(node.operation);
  Value first;
  for (Value operand : node.operands) {
    if (!isMatrix(operand)) {
      if (!tok::isNumber(operand.getType()) && !isa<tok::ScalarType>(operand.getType()))
        return;
      continue;
    }
    bool broadcast = mayBroadcast && first;
    Shape own = shapeOf(operand);
    const char *differing = nullptr;
    if (own.rows != shape.rows && !(broadcast && own.rows == 1))
      differing = "rows";
    else if (own.columns != shape.columns && !(broadcast && own.columns == 1))
      differing = "columns";
    if (differing) {
      node.refusal = std::string("sizes not proved equal: ") + differing + " of " +
                     notation(first ? first : result) + " and " + differing + " of " +
                     notation(operand);
      return;
    }
    if (!first)
      first = operand;
  }
  node.kind = NodeKind::Elementwise;
  node.space = shape;
  node.flops = 1;
  if (auto unary = dyn_cast<tok::UnaryOp>(node.operation))
    node.flops = flopsOf(unary.getKind());
  if (auto binary = dyn_cast<tok::BinaryOp>(node.operation)) {
    node.flops = flopsOf(binary.getKind());
    // A square is one multiplication.
    if (auto exponent = binary.getRhs().getDefiningOp<tok::ConstantOp>();
        exponent && binary.getKind() == BinaryOperator::Pow) {
      auto real = dyn_cast<FloatAttr>(exponent.getValue());
      auto integer = dyn_cast<IntegerAttr>(exponent.getValue());
      if ((real && real.getValueAsDouble() == 2) || (integer && integer.getValue() == 2))
        node.flops = 1;
    }
  }
}

void BlockGraph::classifyAggregate(Node &node) {
  auto aggregate = cast<tok::AggregateOp>(node.operation);
  AggregateKind kind = aggregate.getKind();
  if (kind == AggregateKind::Mean || kind == AggregateKind::Var || kind == AggregateKind::Sd) {
    node.refusal = "mean, var and sd are generated only after they were decomposed into sums";
    return;
  }
  static constexpr NodeKind kinds[] = {NodeKind::FullAggregate, NodeKind::RowAggregate,
                                       NodeKind::ColumnAggregate};
  node.kind = kinds[static_cast<int>(aggregate.getDirection())];
  node.space = shapeOf(aggregate.getOperand());
  node.flops = kind == AggregateKind::IndexMax || kind == AggregateKind::IndexMin ? 2 : 1;
}

// The products whose left or right operand is a vector; everything else is a native.
void BlockGraph::classifyProduct(Node &node) {
  auto product = cast<tok::MatmulOp>(node.operation);
  Value left = product.getLhs(), right = product.getRhs(), transposed = transposedOperand(left);
  Shape leftShape = shapeOf(left), rightShape = shapeOf(right);
  if (leftShape.columns != rightShape.rows) {
    node.refusal =
        "sizes not proved equal: columns of " + notation(left) + " and rows of " + notation(right);
    return;
  }
  auto accept = [&](NodeKind kind, Value wide, Value newLeft) {
    node.kind = kind;
    node.space = shapeOf(wide);
    node.operands[0] = newLeft;
    node.flops = 2;
  };
  bool rightIsColumn = rightShape.columns == 1 && rightShape.rows != 1;
  if (transposed) {
    Shape inner = shapeOf(transposed);
    if (inner.columns == 1 && inner.rows != 1 && rightIsColumn)
      accept(NodeKind::DotProduct, right, transposed);
    else if (rightIsColumn && inner.columns != 1)
      accept(NodeKind::TransposedTimesVector, transposed, transposed);
    else if (inner.columns == 1 && inner.rows != 1 && rightShape.columns != 1)
      accept(NodeKind::VectorTimesRows, right, transposed);
  } else if (rightIsColumn && leftShape.rows != 1) {
    accept(NodeKind::RowsTimesVector, left, left);
  }
  if (node.kind == NodeKind::None)
    node.refusal = rightShape.columns != 1
                       ? "matmul: right operand is not a column vector"
                       : "matmul: no operand has several rows and several columns";
}

//===- who reads what
//-----------------------------------------------------------------------------===//

void BlockGraph::connect() {
  llvm::DenseMap<Operation *, int> indices;
  for (auto [index, node] : llvm::enumerate(operations_))
    indices[node.operation] = static_cast<int>(index);
  auto indexOf = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    return producer ? indices.lookup(producer) : -1;
  };
  for (Value result : block_->getTerminator()->getOperands())
    if (int index = indexOf(result); index >= 0)
      operations_[index].leavesBlock = true;
  // Backwards, so that what only dead operations read is dead itself.
  for (int index = size() - 1; index >= 0; --index) {
    Node &node = operations_[index];
    bool vanishes = node.kind != NodeKind::None || isa<tok::TransposeOp>(node.operation);
    node.live = !vanishes || node.leavesBlock || !node.users.empty();
    for (auto [operand, value] : llvm::enumerate(node.operands)) {
      int producer = indexOf(value);
      node.producers.push_back(producer);
      if (producer >= 0 && node.live)
        operations_[producer].users.push_back({index, static_cast<int>(operand)});
    }
  }
  for (auto [index, node] : llvm::enumerate(operations_)) {
    std::reverse(node.users.begin(), node.users.end());
    if (node.live && node.kind != NodeKind::None)
      nodes_.push_back(static_cast<int>(index));
  }
}

// Effects keep their order; what can fail stays between the effects around it.
void BlockGraph::keepOrderOfEffects() {
  int lastEffect = -1;
  SmallVector<int> sinceLastEffect;
  for (int index = 0; index < size(); ++index) {
    Node &node = operations_[index];
    if (node.kind != NodeKind::None)
      continue;
    bool effect = !isMemoryEffectFree(node.operation);
    if (!effect && isSpeculatable(node.operation))
      continue;
    if (lastEffect >= 0)
      node.before.push_back(lastEffect);
    if (!effect) {
      sinceLastEffect.push_back(index);
      continue;
    }
    node.before.append(sinceLastEffect);
    sinceLastEffect.clear();
    lastEffect = index;
  }
}
