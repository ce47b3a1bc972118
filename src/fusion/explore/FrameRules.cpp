#include "fusion/explore/FrameRules.h"

#include "fusion/explore/Notation.h"
#include "ir/tok/CellFacts.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr AxisSet space = Axis::Rows | Axis::Columns;
static constexpr AxisSet narrow = Axis::Rows | Axis::Other;

static bool isVectorSpace(const Shape &shape) { return shape.hasOneRow() || shape.hasOneColumn(); }

std::optional<AxisSet> fusion::axesOf(const Shape &value, const Frame &frame) {
  std::optional<AxisSet> axes = plan::axesOf(value, frame.space);
  if (!axes || !axes->has(Axis::Other))
    return axes;
  // Next to dense rows, loops over narrow rows are unrolled, so the width must be a constant.
  bool isComputed = frame.loops == Loops::Rows && axes->has(Axis::Rows) &&
                    (isNarrow(value.columns) || (frame.driver && !value.columns.isConstant()));
  return isComputed ? axes : std::nullopt;
}

static bool isIndexAggregate(const Node &node) {
  auto aggregate = dyn_cast<tok::AggregateOp>(node.operation);
  return aggregate && (aggregate.getKind() == AggregateKind::IndexMax ||
                       aggregate.getKind() == AggregateKind::IndexMin);
}

static uint8_t arrayOperands(const Node &node) {
  uint8_t mask = 0;
  for (auto [index, operand] : llvm::enumerate(node.operands))
    if (tok::isArray(operand.getType()))
      mask |= 1u << index;
  return mask;
}

namespace {

// The rules for one operation in one frame.
class Judge {
public:
  Judge(const BlockGraph &graph, const Node &node, const Frame &frame)
      : graph_(graph), node_(node), frame_(frame), cell_(frame.loops == Loops::Cells),
        vectorSpace_(isVectorSpace(frame.space)) {}

  Verdict judge() const {
    if (frame_.loops == Loops::AnyAxes)
      return judgeByRows();
    if (frame_.loops == Loops::Scans)
      return judgeAlongRows();
    switch (node_.kind) {
    case NodeKind::None:
    case NodeKind::Slice:
    case NodeKind::Columns:
    case NodeKind::Scan:
      return {};
    case NodeKind::Elementwise:
      return judgeElementwise();
    case NodeKind::FullAggregate:
    case NodeKind::RowAggregate:
    case NodeKind::ColumnAggregate:
      return judgeAggregate();
    case NodeKind::Product:
      return judgeProduct();
    case NodeKind::TransposedProduct:
      return judgeTransposedProduct();
    case NodeKind::DotProduct:
      return judgeDotProduct();
    }
    llvm_unreachable("all kinds are handled");
  }

private:
  bool isSparse() const { return bool(frame_.driver); }
  std::optional<AxisSet> axesOf(Value value) const {
    return fusion::axesOf(graph_.shapeOf(value), frame_);
  }
  static bool isPerRow(std::optional<AxisSet> axes) { return axes == Axis::Rows || axes == narrow; }
  // Only the driver's entries are visited, so the value must be zero in all other cells.
  bool isZeroElsewhere(Value value) const {
    return !isSparse() || graph_.facts().whereZero(frame_.driver, value).isZero();
  }

  // Products at the driver's entries leave out zero * other, which is NaN if `other` is not finite.
  // This is allowed if all cells of `other` are finite or the operation's zero rule permits it.
  bool mayLeaveOutZeros(Value other) const {
    return !isSparse() || tok::zeroRuleOf(*node_.operation) == ZeroRule::Sparse ||
           graph_.facts().everywhere(other).isFinite();
  }

  Verdict judgeElementwise() const {
    std::optional<AxisSet> axes = fusion::axesOf(node_.spaces[0], frame_);
    // In a loop over cells a vector is recomputed in every cell.
    if (!axes || (!cell_ && axes->isEmpty()))
      return {};
    bool wide = axes == space;
    Verdict verdict{.isLegal = true, .over = *axes, .open = true, .natural = wide};
    verdict.storable =
        wide ? isZeroElsewhere(node_.operation->getResult(0)) : !cell_ && isPerRow(axes);
    verdict.fusable = arrayOperands(node_);
    return verdict;
  }

  Verdict judgeAggregate() const {
    std::optional<AxisSet> operand = fusion::axesOf(node_.spaces[0], frame_);
    bool wide = operand == space;
    if (wide && !isZeroElsewhere(node_.operands[0]))
      return {};
    bool legal = wide || operand == narrow;
    AxisSet reduced = operand.value_or(AxisSet());
    bool open = false;
    switch (node_.kind) {
    case NodeKind::FullAggregate:
      legal |= !cell_ && operand == Axis::Rows;
      break;
    case NodeKind::RowAggregate:
      // Over rows with several cells this needs loops over rows, and the result can be used row by
      // row.
      legal &= isIndexAggregate(node_) ? !cell_ && !isSparse() : cell_ == vectorSpace_;
      open = !cell_ && !vectorSpace_;
      reduced = reduced.without(Axis::Rows);
      break;
    default:
      legal &= cell_ == vectorSpace_;
      reduced = Axis::Rows;
      // The number of zeros in a column is not known, so only sums, which ignore them, are possible.
      if (isSparse() && wide)
        legal &= cast<tok::AggregateOp>(node_.operation).getKind() == AggregateKind::Sum;
      break;
    }
    if (!legal)
      return {};
    return {.isLegal = true,
            .over = *operand,
            .reduced = reduced,
            .open = open,
            .storable = true,
            .natural = wide,
            .fusable = 1};
  }

  // A product of wide rows may only be wide itself if the space has few columns.
  bool isNarrowSpace() const {
    return isNarrow(frame_.space.columns) && !frame_.space.hasOneColumn();
  }

  // Only the left operand is fusable: the right one must be complete before the first row.
  Verdict judgeProduct() const {
    if (cell_)
      return {};
    const Shape &left = graph_.shapeOf(node_.operands[0]),
                &right = graph_.shapeOf(node_.operands[1]);
    Shape product{left.rows, right.columns};
    std::optional<AxisSet> from = fusion::axesOf(left, frame_),
                           to = fusion::axesOf(product, frame_);
    Verdict rows{.isLegal = true, .open = true, .storable = true, .fusable = 1};
    rows.over = from.value_or(AxisSet()) | to.value_or(AxisSet());
    rows.reduced = from == space ? Axis::Columns : Axis::Other;
    rows.natural = from == space || to == space;
    if (!isSparse()) {
      bool legal = from == space    ? isPerRow(to) || (to == space && isNarrowSpace())
                   : from == narrow ? isPerRow(to) || to == space
                                    : false;
      return legal ? rows : Verdict();
    }
    if (from == space && isPerRow(to) && isZeroElsewhere(node_.operands[0]))
      return mayLeaveOutZeros(node_.operands[1]) ? rows : Verdict();
    // A product of two rows at each entry, of any length.
    AxisSet inner = left.hasOneColumn() ? AxisSet() : AxisSet(Axis::Other);
    if (to == space && from != space)
      return {.isLegal = true,
              .over = space | inner,
              .reduced = inner,
              .open = true,
              .natural = true,
              .isSampled = true};
    return {};
  }

  Verdict judgeTransposedProduct() const {
    if (cell_)
      return {};
    Value a = node_.operands[0], b = node_.operands[1];
    std::optional<AxisSet> left = axesOf(a), right = axesOf(b);
    Verdict verdict{
        .isLegal = true, .reduced = Axis::Rows, .storable = true, .natural = true, .fusable = 3};
    verdict.over = left.value_or(AxisSet()) | right.value_or(AxisSet());
    if (left == space && isPerRow(right))
      return isZeroElsewhere(a) && mayLeaveOutZeros(b) ? verdict : Verdict();
    if (right == space && isPerRow(left))
      return isZeroElsewhere(b) && mayLeaveOutZeros(a) ? verdict : Verdict();
    if (left == space && right == space)
      return !isSparse() && isNarrowSpace() ? verdict : Verdict();
    verdict.natural = false;
    bool legal = isPerRow(left) && isPerRow(right) &&
                 (!isSparse() || left == Axis::Rows || right == Axis::Rows);
    return legal ? verdict : Verdict();
  }

  Verdict judgeDotProduct() const {
    if (fusion::axesOf(node_.spaces[0], frame_) != (cell_ ? space : AxisSet(Axis::Rows)))
      return {};
    AxisSet over = cell_ ? space : AxisSet(Axis::Rows);
    return {.isLegal = true,
            .over = over,
            .reduced = over,
            .storable = true,
            .natural = cell_,
            .fusable = 3};
  }

  bool hasAllRows(Value value) const { return graph_.shapeOf(value).hasRowsOf(frame_.space); }

  // In loops over any axes: what is complete for each row. Nothing is summed up over rows.
  Verdict judgeByRows() const {
    Value result = node_.operation->getResult(0);
    Verdict rows{.isLegal = true, .over = narrow, .open = true, .storable = true};
    rows.fusable = arrayOperands(node_);
    switch (node_.kind) {
    case NodeKind::Elementwise:
      if (graph_.shapeOf(result).hasOneColumn())
        rows.over = Axis::Rows;
      break;
    case NodeKind::RowAggregate:
      if (isIndexAggregate(node_))
        return {};
      rows.reduced = Axis::Other;
      break;
    case NodeKind::Product:
      if (llvm::any_of(node_.operands,
                       [&](Value factor) { return graph_.facts().isSparse(factor); }))
        return {};
      rows.reduced = Axis::Other;
      rows.natural = node_.spaces.empty();
      rows.fusable = 1;
      break;
    case NodeKind::Slice:
      rows.natural = true;
      rows.fusable = 0;
      break;
    case NodeKind::Columns: // no operation reads what is written in parts
      rows.natural = true;
      rows.open = false;
      break;
    default:
      return {};
    }
    return hasAllRows(result) ? rows : Verdict();
  }

  // In loops along the rows: cells of the space, and what each row has one of.
  Verdict judgeAlongRows() const {
    std::optional<AxisSet> axes = axesOf(node_.operation->getResult(0));
    if (axes != space && axes != Axis::Rows)
      return {};
    Verdict cells{.isLegal = true, .over = *axes, .open = true};
    cells.storable = axes == space;
    cells.natural = axes == space && node_.kind == NodeKind::Scan;
    if (node_.kind == NodeKind::Elementwise || cells.natural)
      cells.fusable = arrayOperands(node_);
    else if (node_.kind != NodeKind::Slice)
      return {};
    return cells;
  }

  const BlockGraph &graph_;
  const Node &node_;
  const Frame &frame_;
  bool cell_, vectorSpace_;
};

// Whether a native may compute the operation, too. A product with a vector is a pass over the matrix,
// which kernels do as well.
bool hasNative(const BlockGraph &graph, const Node &node) {
  auto isVector = [&](int operand) { return graph.shapeOf(node.operands[operand]).hasOneColumn(); };
  switch (node.kind) {
  case NodeKind::Product:
    return !isVector(1);
  case NodeKind::TransposedProduct:
    return !isVector(0) && !isVector(1);
  default:
    return node.kind >= NodeKind::Slice;
  }
}

} // namespace

Verdict fusion::judge(const BlockGraph &graph, int index, const Frame &frame) {
  const Node &node = graph[index];
  // The entries of drivers, and what is computed at them, are of one type.
  if (frame.driver &&
      node.elementType != getElementTypeOrSelf(frame.driver.arrays.front().getType()))
    return {};
  if (frame.isNative)
    return hasNative(graph, node) ? Verdict{.isLegal = true, .storable = true, .natural = true}
                                  : Verdict();
  // Over vectors loops over rows are only needed for index aggregates; one over cells does the rest.
  if (frame.loops == Loops::Rows && isVectorSpace(frame.space) && !isIndexAggregate(node))
    return {};
  // An operator can't compute its own driver: the entries must be known before.
  if (frame.driver.contains(node.operation->getResult(0)))
    return {};
  if (frame.loops >= Loops::AnyAxes && frame.space.hasOneRow())
    return {};
  return Judge(graph, node, frame).judge();
}

std::string fusion::refusalOfEdge(const BlockGraph &graph, Use use) {
  const Node &user = graph[use.user];
  const Node &producer = graph[user.producers[use.operand]];
  std::string reader = "read by " + notation(user.operation->getResult(0));
  if (user.kind == NodeKind::Product && use.operand == 1)
    return reader + ": the right operand of a product must be complete before the first row";
  if (user.kind == NodeKind::Slice)
    return reader + ": a slice is read at other places";
  switch (producer.kind) {
  case NodeKind::Columns:
    return reader + ": what is written in parts is complete only after the last one";
  case NodeKind::FullAggregate:
  case NodeKind::DotProduct:
    return reader + ": an aggregate is complete only after the last cell";
  case NodeKind::ColumnAggregate:
  case NodeKind::TransposedProduct:
    return reader + ": a sum over rows is complete only after the last row";
  case NodeKind::RowAggregate:
    if (isVectorSpace(producer.spaces[0]))
      return reader + ": an aggregate is complete only after the last cell";
    break;
  default:
    break;
  }
  return reader + ": they do not iterate over the same rows";
}
