#include "fusion/explore/FrameRules.h"

#include "fusion/explore/Notation.h"
#include "ir/tok/CellFacts.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr Axes space = Axes::Rows | Axes::Columns;
static constexpr Axes narrow = Axes::Rows | Axes::Other;

static bool isVector(const Shape &shape) { return shape.hasOneRow() || shape.hasOneColumn(); }

static bool isIndexAggregate(const Node &node) {
  return node.kind == NodeKind::Aggregate && isIndex(node.aggregation());
}

namespace {

// The rules for one operation in one frame: which axes it runs over, and whether that is possible.
// What may be done with its result follows from the axes that are left.
class Judge {
public:
  Judge(const BlockGraph &graph, const Node &node, const Frame &frame)
      : graph_(graph), node_(node), frame_(frame), cells_(frame.loops == Loops::Cells),
        byRows_(frame.loops == Loops::AnyAxes), scans_(frame.loops == Loops::Scans),
        // Of a vector each cell is a row.
        rowsHaveCells_(byRows_ || !isVector(frame.space)) {}

  Verdict judge() const {
    Verdict verdict = axesOfOperation();
    if (!verdict.isLegal)
      return {};
    bool wide = has(verdict.over, space);
    bool isReduced = verdict.reduced != Axes();
    bool isCompletedByRows = !cells_ && rowsHaveCells_ && !has(verdict.reduced, Axes::Rows);
    // No operation reads what is written in parts.
    verdict.open = node_.kind != NodeKind::Columns && (!isReduced || isCompletedByRows);
    verdict.natural = byRows_ || node_.kind == NodeKind::Sequence ? node_.spaces.empty()
                      : scans_                                    ? node_.kind == NodeKind::Scan
                                                                  : wide;
    if (verdict.isSampled)
      return verdict;
    verdict.storable = isReduced || (wide ? isZeroElsewhere(node_.result())
                                          : !cells_ && !scans_ && isPerRow(verdict.over));
    for (auto [index, operand] : llvm::enumerate(node_.operands))
      if (tok::isArray(operand.getType()) && node_.readsInPlace(static_cast<int>(index)))
        verdict.fusable |= 1u << index;
    return verdict;
  }

private:
  // Sets isLegal, isSampled and the axes.
  Verdict axesOfOperation() const {
    // In loops over any axes everything is complete for each row, but aggregates of all cells.
    if (byRows_ && !graph_.shapeOf(node_.result()).hasRowsOf(frame_.space) && !isFullAggregate())
      return {};
    switch (node_.kind) {
    case NodeKind::Aggregate:
      return axesOfAggregate();
    case NodeKind::Product:
      return axesOfProduct();
    case NodeKind::TransposedProduct:
      return axesOfTransposedProduct();
    case NodeKind::Convolution:
      return {.isLegal = byRows_,
              .over = axesOf(node_.result()).value_or(Axes()) | Axes::Other,
              .reduced = Axes::Other};
    default:
      return axesOfCells();
    }
  }

  bool isFullAggregate() const {
    return node_.kind == NodeKind::Aggregate &&
           cast<tok::AggregateOp>(node_.operation).getDirection() == AggregateDirection::Full;
  }

  // The axes that a value of this shape runs over; nullopt if kernels of the frame don't compute
  // such values.
  std::optional<Axes> axesOf(const Shape &value) const {
    std::optional<Axes> axes = plan::axesOf(value, frame_.space);
    if (byRows_ && axes && frame_.space.hasOneRow())
      *axes = *axes | Axes::Rows; // all rows that there are
    if (!axes || !has(*axes, Axes::Other) || byRows_)
      return axes;
    // Next to dense rows, loops over narrow rows are unrolled, so the width must be a small constant.
    bool isComputed = frame_.loops == Loops::Rows && has(*axes, Axes::Rows) &&
                      (isNarrow(value.columns) || isSparse());
    return isComputed ? axes : std::nullopt;
  }
  std::optional<Axes> axesOf(Value value) const { return axesOf(graph_.shapeOf(value)); }

  bool isSparse() const { return bool(frame_.driver); }
  static bool isPerRow(std::optional<Axes> axes) { return axes == Axes::Rows || axes == narrow; }
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

  Verdict axesOfCells() const {
    std::optional<Axes> axes = axesOf(node_.result());
    bool isElementwise = node_.kind == NodeKind::Elementwise, isScan = node_.kind == NodeKind::Scan;
    bool legal = false;
    if (node_.kind == NodeKind::Sequence) // each row has a number
      return {.isLegal = !byRows_ && !isSparse() && axes && has(*axes, Axes::Rows),
              .over = axes.value_or(Axes())};
    if (byRows_)
      legal = !isScan;
    else if (scans_) // cells of the space, and what each row has one of
      legal = node_.kind != NodeKind::Columns && (axes == space || (axes == Axes::Rows && !isScan));
    else // in a loop over cells a vector is recomputed in every cell
      legal = isElementwise && axes && (cells_ || *axes != Axes());
    return {.isLegal = legal, .over = axes.value_or(Axes())};
  }

  Verdict axesOfAggregate() const {
    auto aggregate = cast<tok::AggregateOp>(node_.operation);
    AggregateDirection direction = aggregate.getDirection();
    bool isFull = direction == AggregateDirection::Full,
         isOfColumns = direction == AggregateDirection::Column;
    std::optional<Axes> from = axesOf(node_.operands[0]);
    bool wide = from == space;
    if (!from || scans_ || (byRows_ && isOfColumns) ||
        (wide && !isZeroElsewhere(node_.operands[0])))
      return {};
    bool legal = wide || from == narrow || (isFull && !cells_ && from == Axes::Rows);
    if (isIndexAggregate(node_))
      legal &= frame_.loops == Loops::Rows && !isSparse();
    else if (!isFull) // over rows with several cells this needs loops over rows
      legal &= cells_ != rowsHaveCells_;
    // The number of zeros in a column is not known, so only sums, which ignore them, are possible.
    if (isOfColumns && wide && isSparse())
      legal &= aggregate.getKind() == AggregateKind::Sum;
    Axes reduced = isFull ? *from : isOfColumns ? Axes::Rows : *from & ~Axes::Rows;
    return {.isLegal = legal, .over = *from, .reduced = reduced};
  }

  // Rows of the left factor times the right one, which must be complete before the first row.
  Verdict axesOfProduct() const {
    Value a = node_.operands[0], b = node_.operands[1];
    const Shape &left = graph_.shapeOf(a), &right = graph_.shapeOf(b);
    std::optional<Axes> from = axesOf(left), to = axesOf(Shape{left.rows, right.columns});
    bool legal = false;
    if (byRows_) {
      legal = !graph_.facts().isSparse(a) && !graph_.facts().isSparse(b);
    } else if (frame_.loops != Loops::Rows || node_.spaces.empty()) {
      return {};
    } else if (to != space) {
      legal = isPerRow(to) && (from == space ? isZeroElsewhere(a) && mayLeaveOutZeros(b)
                                             : from == narrow && !isSparse());
    } else if (isSparse() && from != space) { // two rows at each entry, of any length
      Axes inner = left.hasOneColumn() ? Axes() : Axes::Other;
      return {.isLegal = true, .over = space | inner, .reduced = inner, .isSampled = true};
    } else { // wide rows of wide rows only if the space has few columns
      legal = !isSparse() && (from == narrow || (from == space && isNarrow(frame_.space.columns)));
    }
    return {.isLegal = legal,
            .over = from.value_or(Axes()) | to.value_or(Axes()),
            .reduced = from == space ? Axes::Columns : Axes::Other};
  }

  Verdict axesOfTransposedProduct() const {
    Value a = node_.operands[0], b = node_.operands[1];
    std::optional<Axes> left = axesOf(a), right = axesOf(b);
    bool legal = false;
    if (byRows_ || scans_)
      return {};
    if (left == space && right == space) // of two vectors, or if the space has few columns
      legal = cells_ ? !rowsHaveCells_ : !isSparse() && isNarrow(frame_.space.columns);
    else if (cells_)
      return {};
    else if (left == space)
      legal = isPerRow(right) && isZeroElsewhere(a) && mayLeaveOutZeros(b);
    else if (right == space)
      legal = isPerRow(left) && isZeroElsewhere(b) && mayLeaveOutZeros(a);
    else
      legal = isPerRow(left) && isPerRow(right) &&
              (!isSparse() || left == Axes::Rows || right == Axes::Rows);
    return {.isLegal = legal,
            .over = left.value_or(Axes()) | right.value_or(Axes()),
            .reduced = Axes::Rows};
  }

  const BlockGraph &graph_;
  const Node &node_;
  const Frame &frame_;
  bool cells_, byRows_, scans_, rowsHaveCells_;
};

// Whether a native may compute the operation, too. A product with a vector is a pass over the matrix,
// which kernels do as well.
bool hasNative(const BlockGraph &graph, const Node &node) {
  auto isColumn = [&](int operand) { return graph.shapeOf(node.operands[operand]).hasOneColumn(); };
  if (!isa<tok::MatmulOp>(node.operation))
    return node.kind >= NodeKind::Slice;
  return !isColumn(1) && !(node.readsTransposed(0) && isColumn(0));
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
  if (frame.loops == Loops::Rows && isVector(frame.space) && !isIndexAggregate(node))
    return {};
  // An operator can't compute its own driver: the entries must be known before.
  if (frame.driver.contains(node.result()))
    return {};
  // Of one row only parts are read in place.
  bool readsParts = node.kind == NodeKind::Slice || node.kind == NodeKind::Elementwise;
  if (frame.loops >= Loops::AnyAxes && frame.space.hasOneRow() &&
      (frame.loops == Loops::Scans || !readsParts))
    return {};
  return Judge(graph, node, frame).judge();
}

std::string fusion::refusalOfEdge(const BlockGraph &graph, Use use) {
  const Node &user = graph[use.user];
  const Node &producer = graph[user.producers[use.operand]];
  if (user.kind == NodeKind::None)
    return "read by " + user.operation->getName().stripDialect().str() +
           ", for which no kernel is generated";
  std::string reader = "read by " + notation(user.result());
  if (user.kind == NodeKind::Product && use.operand == 1)
    return reader + ": the right operand of a product must be complete before the first row";
  if (user.kind == NodeKind::Slice)
    return reader + ": a slice is read at other places";
  if (user.kind == NodeKind::Convolution)
    return reader + ": image and weights of a convolution must be complete before its first cell";
  if (producer.kind == NodeKind::Columns)
    return reader + ": what is written in parts is complete only after the last one";
  auto aggregate = dyn_cast<tok::AggregateOp>(producer.operation);
  bool isTransposed = producer.kind == NodeKind::TransposedProduct;
  if (aggregate ? aggregate.getDirection() == AggregateDirection::Column
                : isTransposed && !producer.spaces[0].hasOneColumn())
    return reader + ": a sum over rows is complete only after the last row";
  if (isTransposed || (aggregate && (aggregate.getDirection() == AggregateDirection::Full ||
                                     isVector(producer.spaces[0]))))
    return reader + ": an aggregate is complete only after the last cell";
  return reader + ": they do not iterate over the same rows";
}
