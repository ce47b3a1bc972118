#include "fusion/explore/TemplateRules.h"

#include "fusion/explore/Notation.h"
#include "ir/tok/CellFacts.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static bool isVectorSpace(const Shape &space) {
  return space.rows.isConstant(1) || space.columns.isConstant(1);
}

Extent fusion::extentOf(const Shape &value, const Frame &frame) {
  const Shape &space = frame.space;
  bool oneColumn = value.columns.isConstant(1), oneRow = value.rows.isConstant(1);
  if (value == space)
    return Extent::Wide;
  if (oneColumn && value.rows == space.rows)
    return Extent::PerRow;
  if (oneRow && value.columns == space.columns)
    return Extent::PerColumn;
  if (oneRow && oneColumn)
    return Extent::Single;
  // Next to dense rows, loops over narrow rows are unrolled, so the width must be a constant.
  if (frame.fusionTemplate == FusionTemplate::Row && value.rows == space.rows &&
      ((isNarrow(value.columns) && !oneColumn) || (frame.driver && !value.columns.isConstant())))
    return Extent::Narrow;
  return Extent::None;
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
      : graph_(graph), node_(node), frame_(frame),
        cell_(frame.fusionTemplate == FusionTemplate::Cell),
        vectorSpace_(isVectorSpace(frame.space)) {}

  Verdict judge() const {
    switch (node_.kind) {
    case NodeKind::None:
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
  Extent extentOf(Value value) const { return fusion::extentOf(graph_.shapeOf(value), frame_); }
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
    Extent extent = fusion::extentOf(node_.spaces[0], frame_);
    bool wide = extent == Extent::Wide, perRow = extent == Extent::PerRow,
         narrow = extent == Extent::Narrow;
    // In a Cell operator a vector is recomputed in every cell.
    bool legal =
        cell_ ? extent != Extent::None : wide || perRow || narrow || extent == Extent::PerColumn;
    if (!legal)
      return {};
    Verdict verdict{.role = Role::Elementwise, .open = true, .natural = wide};
    verdict.storable =
        wide ? isZeroElsewhere(node_.operation->getResult(0)) : !cell_ && (perRow || narrow);
    verdict.fusable = arrayOperands(node_);
    return verdict;
  }

  Verdict judgeAggregate() const {
    Extent operand = fusion::extentOf(node_.spaces[0], frame_);
    bool wide = operand == Extent::Wide, narrow = operand == Extent::Narrow,
         perRow = operand == Extent::PerRow;
    if (wide && !isZeroElsewhere(node_.operands[0]))
      return {};
    Verdict verdict{.role = Role::Aggregate, .storable = true, .natural = wide, .fusable = 1};
    bool legal = wide || narrow;
    switch (node_.kind) {
    case NodeKind::FullAggregate:
      legal |= !cell_ && perRow;
      break;
    case NodeKind::RowAggregate:
      // Over rows with several cells this needs the Row template, and the
      // result can be used row by row.
      legal &= isIndexAggregate(node_) ? !cell_ && !isSparse() : cell_ == vectorSpace_;
      verdict.open = !cell_ && !vectorSpace_;
      break;
    default:
      legal &= cell_ == vectorSpace_;
      // The number of zeros in a column is not known, so only sums, which
      // ignore them, are possible.
      if (isSparse() && wide)
        legal &= cast<tok::AggregateOp>(node_.operation).getKind() == AggregateKind::Sum;
      break;
    }
    return legal ? verdict : Verdict();
  }

  // A product of wide rows may only be wide itself if the space has few columns.
  bool isNarrowSpace() const {
    return isNarrow(frame_.space.columns) && !frame_.space.columns.isConstant(1);
  }

  // Only the left operand is fusable: the right one must be complete before the first row.
  Verdict judgeProduct() const {
    if (cell_)
      return {};
    const Shape &left = graph_.shapeOf(node_.operands[0]),
                &right = graph_.shapeOf(node_.operands[1]);
    Shape product{left.rows, right.columns};
    Extent from = fusion::extentOf(left, frame_), to = fusion::extentOf(product, frame_);
    Verdict rows{.role = Role::RowsTimes, .open = true, .storable = true, .fusable = 1};
    rows.natural = from == Extent::Wide || to == Extent::Wide;
    bool perRow = to == Extent::PerRow || to == Extent::Narrow;
    if (!isSparse()) {
      bool legal = from == Extent::Wide     ? perRow || (to == Extent::Wide && isNarrowSpace())
                   : from == Extent::Narrow ? perRow || to == Extent::Wide
                                            : false;
      return legal ? rows : Verdict();
    }
    if (from == Extent::Wide && perRow && isZeroElsewhere(node_.operands[0]))
      return mayLeaveOutZeros(node_.operands[1]) ? rows : Verdict();
    if (to == Extent::Wide && from != Extent::Wide)
      return {.role = Role::Sampled, .open = true, .natural = true};
    return {};
  }

  Verdict judgeTransposedProduct() const {
    if (cell_)
      return {};
    Value a = node_.operands[0], b = node_.operands[1];
    Extent left = extentOf(a), right = extentOf(b);
    auto isPerRow = [](Extent extent) {
      return extent == Extent::PerRow || extent == Extent::Narrow;
    };
    Verdict verdict{.storable = true, .natural = true, .fusable = 3};
    if (left == Extent::Wide && isPerRow(right) && isZeroElsewhere(a) && mayLeaveOutZeros(b)) {
      verdict.role = Role::TransposedTimes;
    } else if (right == Extent::Wide && isPerRow(left) && isZeroElsewhere(b) &&
               mayLeaveOutZeros(a)) {
      verdict.role = Role::NarrowTimes;
      verdict.flipped = isSparse() && left == Extent::Narrow;
    } else if (left == Extent::Wide && right == Extent::Wide && !isSparse() && isNarrowSpace()) {
      verdict.role = Role::TransposedTimes;
    } else if (isPerRow(left) && isPerRow(right) &&
               (!isSparse() || left == Extent::PerRow || right == Extent::PerRow)) {
      verdict.role = Role::Dot;
      verdict.natural = false;
      verdict.flipped = isSparse() && left == Extent::PerRow;
    }
    return verdict.isLegal() ? verdict : Verdict();
  }

  Verdict judgeDotProduct() const {
    Extent extent = fusion::extentOf(node_.spaces[0], frame_);
    if (extent != (cell_ ? Extent::Wide : Extent::PerRow))
      return {};
    return {.role = Role::Dot, .storable = true, .natural = cell_, .fusable = 3};
  }

  const BlockGraph &graph_;
  const Node &node_;
  const Frame &frame_;
  bool cell_, vectorSpace_;
};

} // namespace

Verdict fusion::judge(const BlockGraph &graph, int index, const Frame &frame) {
  const Node &node = graph[index];
  // The entries of drivers, and what is computed at them, are of one type.
  if (frame.driver &&
      node.elementType != getElementTypeOrSelf(frame.driver.arrays.front().getType()))
    return {};
  if (frame.isNative) {
    // A product with a vector is a pass over the matrix, which kernels do as well as natives.
    auto isVector = [&](int operand) {
      return graph.shapeOf(node.operands[operand]).columns.isConstant(1);
    };
    bool isMatrixProduct =
        node.kind == NodeKind::Product
            ? !isVector(1)
            : node.kind == NodeKind::TransposedProduct && !isVector(0) && !isVector(1);
    return isMatrixProduct ? Verdict{.role = Role::Native, .storable = true, .natural = true}
                           : Verdict();
  }
  // Over vectors the Row template is only needed for index aggregates; the
  // Cell template does the rest.
  if (frame.fusionTemplate == FusionTemplate::Row && isVectorSpace(frame.space) &&
      !isIndexAggregate(node))
    return {};
  // An operator can't compute its own driver: the entries must be known before.
  if (frame.driver.contains(node.operation->getResult(0)))
    return {};
  return Judge(graph, node, frame).judge();
}

double fusion::evaluations(const BlockGraph &graph, int index, const Frame &frame) {
  if (frame.fusionTemplate == FusionTemplate::Cell)
    return graph.cells(frame.space);
  double rows = graph.estimate(frame.space.rows);
  switch (extentOf(graph[index].spaces[0], frame)) {
  case Extent::PerRow:
    return rows;
  case Extent::Narrow:
    return graph.cells(graph[index].spaces[0]);
  case Extent::PerColumn: // once per panel of eight rows
    return frame.driver ? graph.facts().entriesOf(frame.driver) : graph.cells(frame.space) / 8;
  default:
    return frame.driver ? graph.facts().entriesOf(frame.driver) : graph.cells(frame.space);
  }
}

std::string fusion::refusalOfEdge(const BlockGraph &graph, Use use) {
  const Node &user = graph[use.user];
  const Node &producer = graph[user.producers[use.operand]];
  std::string reader = "read by " + notation(user.operation->getResult(0));
  if (user.kind == NodeKind::Product && use.operand == 1)
    return reader + ": the right operand of a product must be complete before the first row";
  switch (producer.kind) {
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
