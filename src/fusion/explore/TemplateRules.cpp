#include "fusion/explore/TemplateRules.h"

#include "fusion/explore/Notation.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

Extent fusion::extentOf(Shape value, Shape space) {
  if (value == space)
    return Extent::Wide;
  if (value == Shape{space.rows, 1})
    return Extent::PerRow;
  if (value == Shape{1, space.columns})
    return Extent::PerColumn;
  return value == Shape{1, 1} ? Extent::Single : Extent::None;
}

static bool isIndexAggregate(const Node &node) {
  auto aggregate = dyn_cast<tok::AggregateOp>(node.operation);
  return aggregate && (aggregate.getKind() == AggregateKind::IndexMax ||
                       aggregate.getKind() == AggregateKind::IndexMin);
}

static uint8_t arrayOperands(const BlockGraph &graph, const Node &node) {
  uint8_t mask = 0;
  for (auto [index, operand] : llvm::enumerate(node.operands))
    if (tok::isArray(operand.getType()))
      mask |= 1u << index;
  return mask;
}

static Verdict judgeElementwise(const BlockGraph &graph, const Node &node,
                                FusionTemplate fusionTemplate, Shape space) {
  Extent extent = extentOf(node.space, space);
  bool cell = fusionTemplate == FusionTemplate::Cell;
  Verdict verdict;
  // In a Cell operator a vector is a side value, computed again in every cell.
  verdict.legal =
      cell ? extent != Extent::None
           : extent == Extent::Wide || extent == Extent::PerRow || extent == Extent::PerColumn;
  verdict.open = true;
  verdict.storable = extent == Extent::Wide || (!cell && extent == Extent::PerRow);
  verdict.fusable = arrayOperands(graph, node);
  return verdict;
}

static Verdict judgeAggregate(const BlockGraph &graph, const Node &node,
                              FusionTemplate fusionTemplate, Shape space) {
  Extent operand = extentOf(node.space, space);
  bool cell = fusionTemplate == FusionTemplate::Cell,
       vectorSpace = space.rows == 1 || space.columns == 1;
  Verdict verdict{.legal = operand == Extent::Wide, .open = false, .storable = true, .fusable = 1};
  switch (node.kind) {
  case NodeKind::FullAggregate:
    verdict.legal |= !cell && operand == Extent::PerRow;
    break;
  case NodeKind::RowAggregate:
    // Over real rows the Row template does it; its result goes on row by row.
    verdict.legal &= isIndexAggregate(node) ? !cell : cell == vectorSpace;
    verdict.open = !cell && !vectorSpace;
    break;
  default:
    verdict.legal &= cell == vectorSpace;
    break;
  }
  return verdict;
}

static Verdict judgeProduct(const BlockGraph &graph, const Node &node,
                            FusionTemplate fusionTemplate, Shape space) {
  bool cell = fusionTemplate == FusionTemplate::Cell;
  Verdict verdict{.legal = node.space == space, .open = false, .storable = true, .fusable = 3};
  if (node.kind == NodeKind::DotProduct) {
    verdict.legal &= cell;
    return verdict;
  }
  verdict.legal &= !cell;
  if (node.kind == NodeKind::RowsTimesVector) {
    verdict.open = true;
    verdict.fusable = 1; // the vector must be complete before the first row
  }
  return verdict;
}

Verdict fusion::judge(const BlockGraph &graph, int index, FusionTemplate fusionTemplate,
                      Shape space) {
  const Node &node = graph[index];
  // Rows of one cell and columns of one row leave nothing to do for the Row template, but finding
  // an index in a row.
  if (fusionTemplate == FusionTemplate::Row && (space.rows == 1 || space.columns == 1) &&
      !isIndexAggregate(node))
    return {};
  Verdict verdict;
  switch (node.kind) {
  case NodeKind::None:
    return {};
  case NodeKind::Elementwise:
    verdict = judgeElementwise(graph, node, fusionTemplate, space);
    break;
  case NodeKind::FullAggregate:
  case NodeKind::RowAggregate:
  case NodeKind::ColumnAggregate:
    verdict = judgeAggregate(graph, node, fusionTemplate, space);
    break;
  default:
    verdict = judgeProduct(graph, node, fusionTemplate, space);
    break;
  }
  return verdict.legal ? verdict : Verdict();
}

double fusion::evaluations(const BlockGraph &graph, int index, FusionTemplate fusionTemplate,
                           Shape space) {
  const Node &node = graph[index];
  if (fusionTemplate == FusionTemplate::Cell)
    return graph.cells(space);
  switch (extentOf(node.space, space)) {
  case Extent::PerRow:
    return graph.estimate(space.rows);
  case Extent::PerColumn: // once per panel of eight rows
    return graph.cells(space) / 8;
  default:
    return graph.cells(space);
  }
}

std::string fusion::refusalOfEdge(const BlockGraph &graph, Use use) {
  const Node &user = graph[use.user];
  const Node &producer = graph[user.producers[use.operand]];
  std::string reader = "read by " + notation(user.operation->getResult(0));
  if (user.kind == NodeKind::RowsTimesVector && use.operand == 1)
    return reader + ": the right operand of a product must be complete before the first row";
  switch (producer.kind) {
  case NodeKind::FullAggregate:
  case NodeKind::DotProduct:
    return reader + ": an aggregate is complete only after the last cell";
  case NodeKind::ColumnAggregate:
  case NodeKind::TransposedTimesVector:
  case NodeKind::VectorTimesRows:
    return reader + ": a sum over rows is complete only after the last row";
  case NodeKind::RowAggregate:
    if (producer.space.rows == 1 || producer.space.columns == 1)
      return reader + ": an aggregate is complete only after the last cell";
    break;
  default:
    break;
  }
  return reader + ": they do not iterate over the same rows";
}
