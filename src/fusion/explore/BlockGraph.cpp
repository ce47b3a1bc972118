#include "fusion/explore/BlockGraph.h"

#include "fusion/explore/Notation.h"
#include "ir/tok/ElementTypes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

//===- what can be generated -----------------------------------------------------------------===//

// Whether kernels compute with all arrays of the operation. Sets the node's element types.
static bool haveElementTypes(Node &node) {
  SmallVector<Type, 4> types(node.operation->getOperandTypes());
  llvm::append_range(types, node.operation->getResultTypes());
  llvm::erase_if(types, [](Type type) { return !isa<RankedTensorType>(type); });
  if (types.empty() || !llvm::all_of(types, tok::elementTypeOf))
    return false;
  node.cells = *tok::elementTypeOf(types.front());
  Type element = getElementTypeOrSelf(types.front());
  if ((element.isF64() || element.isF32()) &&
      llvm::all_of(types, [&](Type type) { return getElementTypeOrSelf(type) == element; }))
    node.elementType = element;
  return true;
}

// Names the operand whose size is not proved to be that of the result, and another operand of a
// different size, preferably one that is not 1 and so can't be repeated.
static std::string refusalOfSizes(const BlockFacts &facts, const Node &node, Value operand,
                                  Size Shape::*size) {
  auto sizeOf = [&](Value array) { return facts.shapeOf(array).*size; };
  Value left = operand, right;
  for (Value other : node.operands)
    if (tok::isArray(other.getType()) && sizeOf(other) != sizeOf(operand) &&
        (!right || sizeOf(right).isConstant(1)))
      right = other;
  if (!right)
    right = node.result();
  if (llvm::find(node.operands, right) < llvm::find(node.operands, left))
    std::swap(left, right);
  std::string what = size == &Shape::rows ? "rows of " : "columns of ";
  return "sizes not proved equal: " + what + notation(left) + " and " + what + notation(right);
}

static void classifyElementwise(const BlockFacts &facts, Node &node) {
  Value result = node.result();
  if (!tok::isArray(result.getType()))
    return;
  // A sparse array that is only converted stays sparse; a cast of a scalar makes an array of one cell.
  if (isa<tok::CastOp>(node.operation) &&
      (!tok::isArray(node.operands[0].getType()) || facts.isSparse(node.operands[0]) ||
       node.operands[0].getType() == result.getType()))
    return;
  const Shape &shape = facts.shapeOf(result);
  for (Value operand : node.operands) {
    if (!tok::isArray(operand.getType())) {
      if (!tok::isNumber(operand.getType()) && !isa<tok::ScalarType>(operand.getType()))
        return;
      continue;
    }
    const Shape &own = facts.shapeOf(operand);
    bool haveRows = own.repeatsAlongRowsOf(shape);
    bool haveColumns = own.columns == shape.columns || own.hasOneColumn();
    if (!haveRows || !haveColumns) {
      node.refusal =
          refusalOfSizes(facts, node, operand, haveRows ? &Shape::columns : &Shape::rows);
      return;
    }
  }
  auto binary = dyn_cast<tok::BinaryOp>(node.operation);
  auto choice = dyn_cast<tok::IfElseOp>(node.operation);
  if ((binary && binary.getOneRepeated()) || (choice && choice.getOneWhole())) {
    auto arrays = llvm::make_filter_range(
        node.operands, [](Value operand) { return tok::isArray(operand.getType()); });
    if (llvm::none_of(arrays, [&](Value array) { return facts.shapeOf(array) == shape; })) {
      Value first = *arrays.begin();
      bool haveRows = facts.shapeOf(first).hasRowsOf(shape);
      node.refusal = refusalOfSizes(facts, node, first, haveRows ? &Shape::columns : &Shape::rows);
      return;
    }
  }
  node.kind = NodeKind::Elementwise;
  node.spaces = {shape};
}

static void classifyAggregate(const BlockFacts &facts, Node &node) {
  AggregateKind kind = node.aggregation();
  if (kind == AggregateKind::Mean || kind == AggregateKind::Var || kind == AggregateKind::Sd) {
    node.refusal = "mean, var and sd are generated only after they were decomposed into sums";
    return;
  }
  node.kind = NodeKind::Aggregate;
  node.spaces = {facts.shapeOf(node.operands[0])};
}

bool fusion::isNarrow(const Size &columns) {
  return columns.isConstant() && columns.constantValue() >= 1 &&
         columns.constantValue() <= plan::mostNarrowColumns;
}

// Finds the products that kernels can compute: one factor is narrow, or a sparse array is involved,
// or the left factor is read row by row. All other products are left to natives.
static void classifyProduct(const BlockFacts &facts, Node &node) {
  if (!node.elementType) {
    node.refusal = "products in kernels are of f64 or f32";
    return;
  }
  Value left = node.operands[0], right = node.operands[1];
  ArrayRef<Size> leftSizes = facts.sizesOf(left), rightSizes = facts.sizesOf(right);
  const Shape &leftShape = facts.shapeOf(left), &rightShape = facts.shapeOf(right);
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
    if (!wide.hasOneRow() && !wide.hasOneColumn() &&
        (isNarrow(other.columns) || facts.hasSparseArrayOf(wide)) &&
        !llvm::is_contained(node.spaces, wide))
      node.spaces.push_back(wide);
  };
  node.kind = NodeKind::Product;
  bool isBatched = leftSizes.size() > 2; // computed row by row, if at all
  bool isByRows = !facts.isSparse(left) && !facts.isSparse(right) && !rightShape.hasOneColumn() &&
                  !leftShape.hasOneRow();
  if (auto transpose = left.getDefiningOp<tok::TransposeOp>();
      transpose && !rightShape.hasOneRow() && !isBatched) {
    const Shape &inner = facts.shapeOf(transpose.getOperand());
    node.kind = NodeKind::TransposedProduct;
    node.operands[0] = transpose.getOperand();
    addSpace(inner, rightShape);
    addSpace(rightShape, inner);
    if (inner.hasOneColumn() && rightShape.hasOneColumn())
      node.spaces = {rightShape};
    isByRows = false;
  } else if (!isBatched) {
    Shape result{leftShape.rows, rightShape.columns};
    addSpace(leftShape, result);
    if (!leftShape.hasOneColumn() || facts.hasSparseArrayOf(result))
      addSpace(result, leftShape);
  }
  if (!node.spaces.empty() || isByRows)
    return;
  node.kind = NodeKind::None;
  node.operands[0] = left;
  node.refusal = "matmul: no operand has at most " + std::to_string(plan::mostNarrowColumns) +
                 " columns or is sparse";
}

static bool movesDenseCells(const BlockFacts &facts, const Node &node) {
  auto isDense = [&](Value value) {
    return isRealArray(value) && facts.sizesOf(value).size() == 2 && !facts.isSparse(value);
  };
  return isDense(node.result()) && llvm::all_of(node.operands, [&](Value operand) {
           return isDense(operand) || operand.getType().isInteger(64);
         });
}

// Whether the operation reads and writes several rows of dense matrices, beside integers.
static bool movesRows(const BlockFacts &facts, const Node &node) {
  return movesDenseCells(facts, node) && !facts.shapeOf(node.result()).hasOneRow();
}

// A kernel does not check ranges, and knows the sizes of X only.
static void classifySlice(const BlockFacts &facts, Node &node) {
  if (!movesDenseCells(facts, node))
    return;
  ArrayRef<Size> sizes = facts.sizesOf(node.operands[0]);
  auto isKnown = [&](const Size &size) {
    return !size.isUnknown() && size.everySymbol([&](int64_t id) {
      return llvm::is_contained(sizes, Size::symbol(id));
    });
  };
  for (unsigned dimension : {0, 1}) {
    Size begin = facts.integerOf(node.operands[1 + 2 * dimension]),
         length = facts.sizesOf(node.result())[dimension], one = Size::constant(1);
    if (!isKnown(begin) || !isKnown(length) || !one.provedAtMost(begin) ||
        !one.provedAtMost(length) || !(begin + length - 1).provedAtMost(sizes[dimension]))
      return;
  }
  node.kind = NodeKind::Slice;
}

static void classifyColumns(const BlockFacts &facts, Node &node) {
  constexpr size_t mostParts = 8;
  const Shape &result = facts.shapeOf(node.result());
  Size columns = Size::constant(0);
  for (Value part : node.operands) {
    if (part.getType() != node.result().getType() || !(facts.shapeOf(part).rows == result.rows))
      return;
    columns = columns + facts.shapeOf(part).columns;
  }
  if (movesRows(facts, node) && columns.provedEqual(result.columns) &&
      node.operands.size() <= mostParts)
    node.kind = NodeKind::Columns;
}

static void classifyScan(const BlockFacts &facts, Node &node) {
  if (cast<tok::CallNativeOp>(node.operation).getCumulativeKind() && movesRows(facts, node))
    node.kind = NodeKind::Scan;
}

// An operator takes sizes that are no numbers from the arrays that it reads, so each user has to need
// another one of as many rows.
static void classifySequence(const BlockFacts &facts, Node &node) {
  const Shape &shape = facts.shapeOf(node.result());
  auto isBesideArray = [&](Operation *user) {
    return llvm::any_of(user->getOperands(), [&](Value operand) {
      return tok::isArray(operand.getType()) && !operand.getDefiningOp<tok::SeqOp>() &&
             facts.shapeOf(operand).rows == shape.rows;
    });
  };
  if (!node.elementType || shape.hasOneRow() ||
      !facts.wholeSequenceOf(cast<tok::SeqOp>(node.operation)) ||
      (!shape.rows.isConstant() && !llvm::all_of(node.result().getUsers(), isBesideArray)))
    return;
  node.kind = NodeKind::Sequence;
  node.spaces = {shape};
}

// Kernels are made for windows that lie at the same places whatever the image is, and for rows of windows of constant
// length, which vectors run along: of one group of channels, or with a filter for each channel. With a few filters there
// is little that they share, and a few windows fill no vector: natives do as well.
static void classifyConvolution(const BlockFacts &facts, Node &node) {
  constexpr int64_t fewestFilters = 8, fewestWindows = 16, numbersOfDimension = 6;
  // Behind the number of windows (base/Natives.def).
  enum { Places = 1, First, Step, Spacing, Distance };
  Value image = node.operands[0], weights = node.operands[1];
  ArrayRef<Size> given = facts.sizesOf(image), filters = facts.sizesOf(weights),
                 results = facts.sizesOf(node.result());
  auto numbers = ArrayRef(node.operands).drop_front(3);
  auto isConstantFrom = [](const Size &size, int64_t least) {
    return size.isConstant() && size.constantValue() >= least;
  };
  if (!node.elementType || given.size() < 3 || given.size() != filters.size() ||
      given.size() != results.size() || !given[0].provedEqual(results[0]) ||
      numbers.size() != numbersOfDimension * (given.size() - 2) || facts.isSparse(image) ||
      facts.isSparse(weights))
    return;
  const Size groups = facts.integerOf(node.operands[2]);
  bool isWhole = groups.isConstant(1) && given[1].provedEqual(filters[1]) &&
                 isConstantFrom(filters[0], fewestFilters),
       isByChannel = isConstantFrom(groups, 2) && groups == given[1] && groups == filters[0] &&
                     filters[1].isConstant(1);
  if (!isWhole && !isByChannel)
    return;
  SmallVector<plan::WindowedDimension, 0> windows;
  int64_t windowsOfImage = 1;
  for (size_t dimension = 2; dimension < given.size(); ++dimension) {
    SmallVector<Size> known;
    for (Value number : numbers.slice(numbersOfDimension * (dimension - 2), numbersOfDimension))
      known.push_back(facts.integerOf(number));
    if (!llvm::all_of(known, [](const Size &number) { return number.isConstant(); }) ||
        known[Step].constantValue() < 1 || known[Spacing].constantValue() < 1 ||
        !known[Distance].isConstant(1) || !(known[Places] == filters[dimension]) ||
        given[dimension].isUnknown() || !isConstantFrom(results[dimension], 1))
      return;
    windows.push_back({known[First].constantValue() - 1, known[Step].constantValue(),
                       known[Spacing].constantValue()});
    windowsOfImage *= results[dimension].constantValue();
  }
  if (windowsOfImage < fewestWindows)
    return;
  node.kind = NodeKind::Convolution;
  node.windows = std::move(windows);
  node.operands = {image, weights};
}

static bool isConvolution(tok::CallNativeOp native) { return native.getNative() == "convolve"; }

bool fusion::convolvesUnknownWindows(func::FuncOp block, FactsFunction facts) {
  return llvm::any_of(block.getOps<tok::CallNativeOp>(), [&](tok::CallNativeOp native) {
    return isConvolution(native) &&
           !llvm::all_of(facts(native.getResult(0)).dims,
                         [](const Size &size) { return size.isConstant(); });
  });
}

static void classifyNative(const BlockFacts &facts, Node &node) {
  if (isConvolution(cast<tok::CallNativeOp>(node.operation)))
    classifyConvolution(facts, node);
  else
    classifyScan(facts, node);
}

static void classify(const BlockFacts &facts, Node &node) {
  if (haveElementTypes(node))
    llvm::TypeSwitch<Operation *>(node.operation)
        .Case<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::CastOp>(
            [&](auto) { classifyElementwise(facts, node); })
        .Case([&](tok::AggregateOp) { classifyAggregate(facts, node); })
        .Case([&](tok::MatmulOp) { classifyProduct(facts, node); })
        .Case([&](tok::SliceOp) { classifySlice(facts, node); })
        .Case([&](tok::CbindOp) { classifyColumns(facts, node); })
        .Case([&](tok::SeqOp) { classifySequence(facts, node); })
        .Case([&](tok::CallNativeOp) { classifyNative(facts, node); });
}

//===- the graph -----------------------------------------------------------------------------===//

BlockGraph::BlockGraph(func::FuncOp function, FactsFunction facts)
    : block_(&function.getBody().front()), facts_(*block_, facts) {
  for (Operation &operation : block_->without_terminator()) {
    Node &node = operations_.emplace_back();
    node.operation = &operation;
    node.operands.assign(operation.operand_begin(), operation.operand_end());
    classify(facts_, node);
  }
  connect();
  keepOrderOfEffects();
}

int BlockGraph::consumers(int index) const {
  llvm::SmallSet<int, 4> readers;
  for (Use use : operations_[index].users)
    readers.insert(use.user);
  return static_cast<int>(readers.size()) + operations_[index].leavesBlock;
}

std::optional<int64_t> BlockGraph::loopOperations() const {
  auto count = block_->getParentOp()->getAttrOfType<IntegerAttr>(loopOperationsAttributeName);
  return count ? std::optional(count.getInt()) : std::nullopt;
}

double BlockGraph::surroundingBytes() const {
  auto bytes = block_->getParentOp()->getAttrOfType<IntegerAttr>(surroundingBytesAttributeName);
  return bytes ? static_cast<double>(bytes.getInt()) : 0;
}

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
    bool isEffect = !isMemoryEffectFree(node.operation);
    if (node.kind != NodeKind::None || (!isEffect && isSpeculatable(node.operation)))
      continue;
    if (lastEffect >= 0)
      node.before.push_back(lastEffect);
    if (isEffect) {
      node.before.append(std::exchange(sinceLastEffect, {}));
      lastEffect = index;
    } else {
      sinceLastEffect.push_back(index);
    }
  }
}
