#include "fusion/select/OperatorCost.h"

#include "base/Natives.h"
#include "cost/CellCost.h"
#include "ir/tok/ElementTypes.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// In a sparse array an entry also has a column index, and each row the offset of its first entry.
static constexpr double bytesPerColumnNumber = 4, bytesPerRowOffset = 8;
// Costs of finding the next entry, and of finding another sparse array's cell at this entry.
static constexpr double flopsPerEntry = 2, flopsPerMatch = 6;
// Products are faster than cell operators, because a fused multiply-add is one instruction. A
// native dense product comes closer to the machine's peak (base/Natives.def), but packs both factors
// first and goes over the result several times: `flopsPerPackedCell` for each cell of the three, which dominates
// if one of them is narrow. Transposed products of many rows are not packed
// (runtime/natives/TransposedProduct.h), and only half of t(X) %*% X is computed. A product of two sparse
// arrays takes `flopsPerSparseProduct` per multiplication.
static constexpr double productSpeed = 2, flopsPerPackedCell = 24;
static constexpr double fewestRowsUnpacked = 64, fewestColumnsUnpacked = 8;
static constexpr double flopsPerSparseProduct = 8;
static constexpr double rowsOfPanel = 8; // as kernels compute them, on every machine
// The share of a cache for all cores that one of them finds its arrays in.
static constexpr double shareOfCache = 0.25;

static ElementType cellsOf(Type elementType) {
  return tok::elementTypeOf(elementType).value_or(ElementType::F64);
}
static double bytesPerCell(Type elementType) {
  return static_cast<double>(byteSize(cellsOf(elementType)));
}
static double bytesPerCell(Value array) { return bytesPerCell(array.getType()); }
static double bytesPerEntry(Value array) { return bytesPerCell(array) + bytesPerColumnNumber; }

double OperatorCost::denseBytesOf(Value value) const {
  return bytesPerCell(value) * graph_.cells(graph_.shapeOf(value));
}

double OperatorCost::bytesOf(Value value) const {
  return graph_.facts().isSparse(value) ? bytesPerEntry(value) * graph_.facts().entriesOf(value)
                                        : denseBytesOf(value);
}

// The multiplications of a product m×k times k×n.
double OperatorCost::multiplications(const Node &node) const {
  return graph_.cells(graph_.shapeOf(node.operands[0])) *
         graph_.estimate(graph_.shapeOf(node.operands[1]).columns);
}

// Its cost, in additions of doubles: products compute and accumulate in the type of their cells.
double OperatorCost::productFlops(const Node &node) const {
  return 2 / productSpeed * multiplications(node) * cost::additionsOf(cellsOf(node.elementType));
}

// The cache lines touched by `accesses` accesses to rows with this number of columns of the node's
// element type; 0 if `array` fits the first-level cache.
double OperatorCost::gathersOf(double accesses, const Node &node, Value array,
                               const Size &columns) const {
  if (array && denseBytesOf(array) <= machine_.nearestCacheBytes)
    return 0;
  double rowBytes = bytesPerCell(node.elementType) * graph_.estimate(columns);
  return accesses * std::max(1.0, rowBytes / machine_.cacheLineBytes);
}

//===- what a member computes ----------------------------------------------------------------===//

double OperatorCost::points(AxisSet axes, const Shape &shape, const Frame &frame) const {
  double all = frame.driver ? graph_.facts().entriesOf(frame.driver) : graph_.cells(frame.space);
  if (frame.loops == Loops::AnyAxes)
    return graph_.cells(shape);
  if (frame.loops == Loops::Cells || axes.has(Axis::Rows | Axis::Columns))
    return all;
  if (axes.has(Axis::Rows))
    return axes.has(Axis::Other) ? graph_.cells(shape) : graph_.estimate(frame.space.rows);
  return frame.driver ? all : all / rowsOfPanel; // values along columns are computed once per panel
}

void OperatorCost::addMember(int member, const MemoGroup &group, cost::Work &work) const {
  const Node &node = graph_[member];
  const Frame &frame = memo_.frames[group.frame];
  if (frame.isNative)
    return addNative(member, work);
  switch (node.kind) {
  case NodeKind::None:
  case NodeKind::Elementwise:
  case NodeKind::FullAggregate:
  case NodeKind::RowAggregate:
  case NodeKind::ColumnAggregate:
    work.flops += node.flops * points(group.over, node.spaces[0], frame);
    // The column index of an entry selects the sum that it is added to.
    if (frame.driver && node.kind == NodeKind::ColumnAggregate &&
        group.over.has(Axis::Rows | Axis::Columns))
      work.gathers += graph_.facts().entriesOf(frame.driver);
    break;
  case NodeKind::Slice:
  case NodeKind::Columns:
  case NodeKind::Scan:
    work.flops += graph_.cells(graph_.shapeOf(node.operation->getResult(0)));
    break;
  default:
    if (frame.driver && group.over.has(Axis::Rows | Axis::Columns))
      addProductAtEntries(node, group, frame, work);
    else if (frame.loops == Loops::AnyAxes)
      addProductByRows(node, work);
    else
      work.flops += productFlops(node);
    break;
  }
}

// The right factor is read again for each panel of rows.
void OperatorCost::addProductByRows(const Node &node, cost::Work &work) const {
  work.flops += productFlops(node);
  double bytes = denseBytesOf(node.operands[1]);
  if (bytes > shareOfCache * machine_.cacheBytes)
    work.flops += bytes * graph_.estimate(graph_.shapeOf(node.operands[0]).rows) / rowsOfPanel *
                  machine_.flopsPerNanosecond / machine_.cacheReadBytesPerNanosecond;
}

// The column index of an entry selects a row of the other factor, or of the result.
void OperatorCost::addProductAtEntries(const Node &node, const Verdict &verdict, const Frame &frame,
                                       cost::Work &work) const {
  double entries = graph_.facts().entriesOf(frame.driver);
  Value right = node.operands[1];
  const Shape &shape = graph_.shapeOf(right);
  bool isRightWide = node.kind == NodeKind::TransposedProduct && shape == frame.space;
  const Size &columns = verdict.isSampled ? shape.rows
                        : isRightWide     ? graph_.shapeOf(node.operands[0]).columns
                                          : shape.columns;
  bool readsFactor = node.kind == NodeKind::Product;
  work.flops += 2 / productSpeed * entries * graph_.estimate(columns);
  work.gathers += gathersOf(entries, node, readsFactor ? right : Value(), columns);
  if (!verdict.isSampled || right.getDefiningOp<tok::TransposeOp>())
    return; // the kernel reads the operand of the transpose
  bool isMadeAnyway =
      llvm::any_of(right.getUsers(), [](Operation *user) { return isa<tok::TransposeOp>(user); });
  if (!isMadeAnyway) {
    work.readBytes += bytesOf(right);
    work.writtenBytes += denseBytesOf(right);
  }
}

bool OperatorCost::isUnpacked(const Node &node) const {
  return node.kind == NodeKind::TransposedProduct &&
         llvm::all_of(node.operands, [&](Value operand) {
           const Shape &shape = graph_.shapeOf(operand);
           return graph_.estimate(shape.rows) >= fewestRowsUnpacked &&
                  graph_.estimate(shape.columns) >= fewestColumnsUnpacked;
         });
}

void OperatorCost::addNative(int member, cost::Work &work) const {
  const Node &node = graph_[member];
  if (node.kind >= NodeKind::Slice) {
    work.flops += node.flops * graph_.cells(graph_.shapeOf(node.operation->getResult(0)));
    return;
  }
  const BlockFacts &facts = graph_.facts();
  Value left = node.operands[0], right = node.operands[1];
  bool leftSparse = facts.isSparse(left), rightSparse = facts.isSparse(right);
  double dense = rowOf(NativeKind::Matmul).flops * productFlops(node);
  if (leftSparse && rightSparse) {
    double products = multiplications(node) * facts.densityOf(left) * facts.densityOf(right);
    work.flops += flopsPerSparseProduct * products;
    work.gathers += products;
  } else if (leftSparse || rightSparse) {
    Value sparse = leftSparse ? left : right, other = leftSparse ? right : left;
    work.flops += 2 / productSpeed * multiplications(node) * facts.densityOf(sparse) +
                  flopsPerEntry * facts.entriesOf(sparse);
    work.gathers += gathersOf(facts.entriesOf(sparse), node, other, graph_.shapeOf(other).columns);
  } else if (isUnpacked(node)) {
    work.flops += (left == right ? 0.5 : 1) * dense;
  } else {
    double packed = graph_.cells(graph_.shapeOf(left)) + graph_.cells(graph_.shapeOf(right)) +
                    graph_.cells(graph_.shapeOf(node.operation->getResult(0)));
    work.flops +=
        dense + flopsPerPackedCell * packed * cost::additionsOf(cellsOf(node.elementType));
  }
}

//===- what an operator reads and writes -----------------------------------------------------===//

// Adds the cost of reading an operand, and of converting it if the frame can't read its layout.
void OperatorCost::addOperand(const Node &node, Value operand, const Frame &frame,
                              cost::Work &work) const {
  const BlockFacts &facts = graph_.facts();
  const Shape &shape = graph_.shapeOf(operand);
  bool wide = shape == frame.space;
  if (node.kind == NodeKind::Slice) { // of each row at least one cache line
    const Shape &part = graph_.shapeOf(node.operation->getResult(0));
    double rowBytes = bytesPerCell(operand) * graph_.estimate(part.columns);
    work.readBytes +=
        std::min(denseBytesOf(operand),
                 graph_.estimate(part.rows) * std::max(rowBytes, machine_.cacheLineBytes));
    return;
  }
  if (frame.isNative) {
    work.readBytes += bytesOf(operand);
    return;
  }
  if (frame.driver && wide) {
    double entries = facts.entriesOf(frame.driver);
    if (frame.driver.contains(operand)) {
      work.readBytes +=
          bytesPerEntry(operand) * entries + bytesPerRowOffset * graph_.estimate(shape.rows);
      work.flops += flopsPerEntry * entries;
      if (frame.driver.arrays.size() > 1) { // its values are copied to the united entries
        work.readBytes += 2 * bytesOf(operand);
        work.writtenBytes += bytesPerEntry(operand) * entries;
        work.flops += flopsPerMatch * (entries + facts.entriesOf(operand));
      }
    } else if (facts.isSparse(operand)) {
      work.readBytes += bytesOf(operand);
      work.flops += flopsPerMatch * (entries + facts.entriesOf(operand));
    } else {
      work.readBytes += std::min(denseBytesOf(operand), machine_.cacheLineBytes * entries);
      work.gathers += entries;
    }
    return;
  }
  if (facts.isSparse(operand)) {
    work.readBytes += bytesOf(operand);
    work.writtenBytes += denseBytesOf(operand);
  }
  work.readBytes += denseBytesOf(operand);
  // Loops over rows transpose blocks of them into lanes.
  if (frame.loops == Loops::Rows && shape.rows == frame.space.rows)
    work.flops += shape.columns.isConstant(1)
                      ? 0
                      : cost::additionsOf(cellsOf(operand.getType())) * graph_.cells(shape);
}

void OperatorCost::addResult(int root, const Frame &frame, cost::Work &work) const {
  const BlockFacts &facts = graph_.facts();
  Value result = graph_[root].operation->getResult(0);
  if (frame.driver && graph_.shapeOf(result) == frame.space) {
    work.writtenBytes +=
        bytesPerCell(result) * facts.entriesOf(frame.driver); // column indices are the driver's
    return;
  }
  work.writtenBytes += denseBytesOf(result);
  if (facts.isSparse(result) && !frame.isNative) { // it is converted after the operator
    work.readBytes += denseBytesOf(result);
    work.writtenBytes += bytesOf(result);
  }
}

void OperatorCost::price(FusedOperator &candidate) const {
  const Frame &frame = memo_.frames[candidate.frame];
  cost::Work work;
  llvm::SmallPtrSet<Value, 16> seen;
  candidate.reads.clear();
  candidate.arrays = 0;
  for (int member : candidate.members.set_bits()) {
    const Node &node = graph_[member];
    addMember(member, *memo_.find(member, candidate.frame), work);
    for (auto [operand, producer] : llvm::zip(node.operands, node.producers)) {
      if ((producer >= 0 && candidate.members[producer]) || !seen.insert(operand).second)
        continue;
      if (graph_.isNode(producer))
        candidate.reads.push_back(producer);
      if (!tok::isArray(operand.getType()))
        continue;
      addOperand(node, operand, frame, work);
      ++candidate.arrays;
    }
  }
  for (int root : candidate.roots) {
    if (!tok::isArray(graph_[root].operation->getResult(0).getType()))
      continue;
    addResult(root, frame, work);
    ++candidate.arrays;
  }
  candidate.nanoseconds = cost::nanoseconds(machine_, work);
}

//===- bounds --------------------------------------------------------------------------------===//

double OperatorCost::leastFlops(int node) const {
  double least = std::numeric_limits<double>::infinity();
  for (const MemoGroup &group : memo_.groups[node]) {
    cost::Work work;
    addMember(node, group, work);
    least = std::min(least, work.flops);
  }
  return least;
}

double OperatorCost::leastBytesToRead(Value value) const {
  const Shape &shape = graph_.shapeOf(value);
  double least = bytesOf(value);
  for (const Frame &frame : memo_.frames)
    if (frame.driver && frame.space == shape)
      least = std::min(least, machine_.cacheLineBytes * graph_.facts().entriesOf(frame.driver));
  return least;
}

double OperatorCost::leastBytesToStore(int node) const {
  Value result = graph_[node].operation->getResult(0);
  double least = denseBytesOf(result);
  for (const Frame &frame : memo_.frames)
    if (frame.driver && frame.space == graph_.shapeOf(result))
      least = std::min(least, bytesPerCell(result) * graph_.facts().entriesOf(frame.driver));
  return least;
}
