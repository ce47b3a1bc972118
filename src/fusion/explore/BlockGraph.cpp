#include "fusion/explore/BlockGraph.h"

#include "cost/CellCost.h"
#include "fusion/explore/Notation.h"
#include "ir/tok/ElementTypes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static Value transposedOperand(Value value) {
  auto transpose = value.getDefiningOp<tok::TransposeOp>();
  return transpose ? transpose.getOperand() : Value();
}

bool fusion::readsTransposed(const Node &node, int operand) {
  return operand == 0 &&
         (node.kind == NodeKind::TransposedProduct || node.kind == NodeKind::DotProduct);
}

bool fusion::isTaken(const Node &node, int operand) {
  return node.kind != NodeKind::Slice || operand == 0;
}

BlockGraph::BlockGraph(func::FuncOp function, FactsFunction facts)
    : block_(&function.getBody().front()), facts_(*block_, facts) {
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
  for (Use use : node.users) { // uses by the same operation are adjacent
    count += use.user != last;
    last = use.user;
  }
  return count;
}

//===- what can be generated -----------------------------------------------------------------===//

void BlockGraph::classify(Node &node) {
  if (!isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::CastOp, tok::AggregateOp, tok::MatmulOp,
           tok::SliceOp, tok::CbindOp, tok::CallNativeOp>(node.operation) ||
      !haveElementTypes(node))
    return;
  if (isa<tok::SliceOp>(node.operation))
    classifySlice(node);
  else if (isa<tok::CbindOp>(node.operation))
    classifyColumns(node);
  else if (isa<tok::CallNativeOp>(node.operation))
    classifyScan(node);
  else if (isa<tok::AggregateOp>(node.operation))
    classifyAggregate(node);
  else if (isa<tok::MatmulOp>(node.operation))
    classifyProduct(node);
  else
    classifyElementwise(node);
}

// Whether kernels compute with all arrays of the operation. Sets the node's element type.
bool BlockGraph::haveElementTypes(Node &node) {
  SmallVector<Value, 4> values(node.operation->getOperands());
  llvm::append_range(values, node.operation->getResults());
  bool isOne = true, hasArrays = false;
  for (Value value : values) {
    auto array = dyn_cast<RankedTensorType>(value.getType());
    if (!array)
      continue;
    if (!tok::elementTypeOf(array))
      return false;
    isOne &=
        isRealArray(value) && (!node.elementType || node.elementType == array.getElementType());
    node.elementType = array.getElementType();
    hasArrays = true;
  }
  if (!isOne)
    node.elementType = {};
  return hasArrays;
}

// Names the operand whose size is not proved to be that of the result, and another operand of a
// different size, preferably one that is not 1 and so can't be repeated.
std::string BlockGraph::refusalOfSizes(const Node &node, Value operand, const char *what) const {
  auto sizeOf = [&](Value array) {
    const Shape &shape = shapeOf(array);
    return StringRef(what) == "rows" ? shape.rows : shape.columns;
  };
  Value left = operand, right;
  for (Value other : node.operands)
    if (tok::isArray(other.getType()) && sizeOf(other) != sizeOf(operand) &&
        (!right || sizeOf(right).isConstant(1)))
      right = other;
  if (!right)
    right = node.operation->getResult(0);
  if (llvm::find(node.operands, right) < llvm::find(node.operands, left))
    std::swap(left, right);
  return std::string("sizes not proved equal: ") + what + " of " + notation(left) + " and " + what +
         " of " + notation(right);
}

// The type that the operator computes in: that of its array operands, else of its result.
static ElementType computedIn(const Node &node) {
  for (Value operand : node.operands)
    if (auto cells = tok::elementTypeOf(operand.getType());
        cells && tok::isArray(operand.getType()))
      return *cells;
  return tok::elementTypeOf(node.operation->getResult(0).getType()).value_or(ElementType::F64);
}

void BlockGraph::classifyElementwise(Node &node) {
  Value result = node.operation->getResult(0);
  if (!tok::isArray(result.getType()))
    return;
  // A sparse array that is only converted stays sparse; a cast of a scalar makes an array of one cell.
  if (isa<tok::CastOp>(node.operation) &&
      (!tok::isArray(node.operands[0].getType()) || facts_.isSparse(node.operands[0]) ||
       node.operands[0].getType() == result.getType()))
    return;
  const Shape &shape = shapeOf(result);
  auto choice = dyn_cast<tok::IfElseOp>(node.operation);
  bool mayBroadcast = !choice || !choice.getEqualSizes();
  for (Value operand : node.operands) {
    if (!tok::isArray(operand.getType())) {
      if (!tok::isNumber(operand.getType()) && !isa<tok::ScalarType>(operand.getType()))
        return;
      continue;
    }
    const Shape &own = shapeOf(operand);
    const char *differing = nullptr;
    if (!own.hasRowsOf(shape) && !(mayBroadcast && own.rows.isConstant(1)))
      differing = "rows";
    else if (!(own.columns == shape.columns) && !(mayBroadcast && own.columns.isConstant(1)))
      differing = "columns";
    if (differing) {
      node.refusal = refusalOfSizes(node, operand, differing);
      return;
    }
  }
  node.kind = NodeKind::Elementwise;
  node.spaces = {shape};
  ElementType cells = computedIn(node);
  node.flops = cost::additionsOf(cells);
  if (auto unary = dyn_cast<tok::UnaryOp>(node.operation))
    node.flops = cost::additionsOf(unary.getKind(), cells);
  if (auto binary = dyn_cast<tok::BinaryOp>(node.operation)) {
    node.flops = cost::additionsOf(binary.getKind(), cells);
    // x^2 is computed by one multiplication.
    if (auto exponent = binary.getRhs().getDefiningOp<tok::ConstantOp>();
        exponent && binary.getKind() == BinaryOperator::Pow) {
      auto real = dyn_cast<FloatAttr>(exponent.getValue());
      auto integer = dyn_cast<IntegerAttr>(exponent.getValue());
      if ((real && real.getValueAsDouble() == 2) || (integer && integer.getValue() == 2))
        node.flops = cost::additionsOf(cells);
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
  node.spaces = {shapeOf(aggregate.getOperand())};
  double steps = kind == AggregateKind::IndexMax || kind == AggregateKind::IndexMin ? 2 : 1;
  node.flops = steps * cost::additionsOfAggregating(kind, computedIn(node));
}

bool fusion::isNarrow(const Size &columns) {
  return columns.isConstant() && columns.constantValue() >= 1 &&
         columns.constantValue() <= plan::mostNarrowColumns;
}

// Finds the products that kernels can compute: one factor is narrow, or a sparse array is involved,
// or the left factor is read row by row. All other products are left to natives.
void BlockGraph::classifyProduct(Node &node) {
  if (!node.elementType) {
    node.refusal = "products in kernels are of f64 or f32";
    return;
  }
  auto product = cast<tok::MatmulOp>(node.operation);
  Value left = product.getLhs(), right = product.getRhs(), transposed = transposedOperand(left);
  ArrayRef<Size> leftSizes = facts_.sizesOf(left), rightSizes = facts_.sizesOf(right);
  const Shape &leftShape = shapeOf(left), &rightShape = shapeOf(right);
  // One matrix for each matrix of the left factor, or the same for several.
  bool haveMatrices =
      llvm::all_of(llvm::zip(leftSizes.drop_back(2), rightSizes.drop_back(2)), [](auto sizes) {
        auto [own, other] = sizes;
        return other == own || other.isConstant(1);
      });
  if (!haveMatrices || !(leftSizes.back() == rightSizes[rightSizes.size() - 2])) {
    node.refusal =
        "sizes not proved equal: columns of " + notation(left) + " and rows of " + notation(right);
    return;
  }
  // Adds the space of `wide` if its rows can be combined with rows as wide as those of `other`.
  auto addSpace = [&](const Shape &wide, const Shape &other) {
    bool isMatrix = !wide.rows.isConstant(1) && !wide.columns.isConstant(1);
    if (isMatrix && (isNarrow(other.columns) || facts_.hasSparseArrayOf(wide)) &&
        !llvm::is_contained(node.spaces, wide))
      node.spaces.push_back(wide);
  };
  bool isBatched = leftSizes.size() > 2;
  bool isByRows = !facts_.isSparse(left) && !facts_.isSparse(right) &&
                  !rightShape.columns.isConstant(1) && !leftShape.rows.isConstant(1);
  if (isBatched) {
    node.kind = NodeKind::Product;
  } else if (transposed && !rightShape.rows.isConstant(1)) {
    const Shape &inner = shapeOf(transposed);
    node.kind = NodeKind::TransposedProduct;
    node.operands[0] = transposed;
    if (inner.columns.isConstant(1) && rightShape.columns.isConstant(1)) {
      node.kind = NodeKind::DotProduct;
      node.spaces = {rightShape};
    } else {
      addSpace(inner, rightShape);
      addSpace(rightShape, inner);
    }
    isByRows = false;
  } else {
    Shape result{leftShape.rows, rightShape.columns};
    node.kind = NodeKind::Product;
    addSpace(leftShape, result);
    if (!leftShape.columns.isConstant(1) || facts_.hasSparseArrayOf(result))
      addSpace(result, leftShape);
  }
  if (!node.spaces.empty() || isByRows)
    return;
  node.kind = NodeKind::None;
  node.operands[0] = left;
  node.refusal = "matmul: no operand has at most " + std::to_string(plan::mostNarrowColumns) +
                 " columns or is sparse";
}

static bool isMatrixOfReals(const BlockFacts &facts, Value value) {
  return isRealArray(value) && facts.sizesOf(value).size() == 2 && !facts.isSparse(value);
}

// A kernel does not check ranges, and knows the sizes of X only.
void BlockGraph::classifySlice(Node &node) {
  Value from = node.operands[0], result = node.operation->getResult(0);
  if (!isMatrixOfReals(facts_, from) || !tok::isArray(result.getType()) || facts_.isSparse(result))
    return;
  ArrayRef<Size> sizes = facts_.sizesOf(from);
  auto isKnown = [&](const Size &size) {
    return !size.isUnknown() && size.everySymbol([&](int64_t id) {
      return llvm::is_contained(sizes, Size::symbol(id));
    });
  };
  for (unsigned dimension : {0, 1}) {
    Size begin = facts_.integerOf(node.operands[1 + 2 * dimension]),
         length = facts_.sizesOf(result)[dimension], one = Size::constant(1);
    if (!isKnown(begin) || !isKnown(length) || !one.provedAtMost(begin) ||
        !one.provedAtMost(length) || !(begin + length - 1).provedAtMost(sizes[dimension]))
      return;
  }
  if (!shapeOf(result).hasOneRow())
    node.kind = NodeKind::Slice;
}

void BlockGraph::classifyColumns(Node &node) {
  constexpr size_t mostParts = 8;
  Value result = node.operation->getResult(0);
  Size columns = Size::constant(0);
  for (Value part : node.operands) {
    if (!isMatrixOfReals(facts_, part) || part.getType() != result.getType() ||
        !(shapeOf(part).rows == shapeOf(result).rows))
      return;
    columns = columns + shapeOf(part).columns;
  }
  if (columns.provedEqual(shapeOf(result).columns) && !shapeOf(result).hasOneRow() &&
      !facts_.isSparse(result) && node.operands.size() <= mostParts)
    node.kind = NodeKind::Columns;
}

void BlockGraph::classifyScan(Node &node) {
  auto native = cast<tok::CallNativeOp>(node.operation);
  if (!native.getCumulativeKind() || !isMatrixOfReals(facts_, node.operands[0]) ||
      shapeOf(node.operands[0]).hasOneRow() || facts_.isSparse(native.getResult(0)))
    return;
  node.kind = NodeKind::Scan;
  node.flops = 1;
}

//===- who reads what ------------------------------------------------------------------------===//

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
  // Backwards, so that operations that are read by dead ones only are found dead, too.
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

// Operations with side effects keep their order; operations that can fail are not
// moved across side effects.
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
