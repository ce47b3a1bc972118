#include "fusion/select/OperatorCost.h"

#include "base/Natives.h"
#include "cost/CellCost.h"
#include "ir/tok/ElementTypes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// In a sparse array an entry also has a column index, and each row the offset of its first entry.
static constexpr double bytesPerColumnNumber = 4, bytesPerRowOffset = 8;
// Costs of finding the next entry, and of finding another sparse array's cell at this entry.
static constexpr double flopsPerEntry = 2, flopsPerMatch = 6;
// A native dense product comes closer to the machine's peak than kernels (base/Natives.def), but
// packs both factors first and goes over the result several times: `flopsPerPackedCell` for each
// cell of the three, which dominates if one of them is narrow. Transposed products of many rows are
// not packed (runtime/natives/TransposedProduct.h), and only half of t(X) %*% X is computed. A
// product of two sparse arrays takes `flopsPerSparseProduct` per multiplication.
static constexpr double flopsPerPackedCell = 24;
static constexpr double fewestRowsUnpacked = 64, fewestColumnsUnpacked = 8;
static constexpr double flopsPerSparseProduct = 8;
static constexpr double rowsOfPanel = 8; // as kernels compute them, on every machine
// The share of a cache for all cores that one of them finds its arrays in.
static constexpr double shareOfCache = 0.25;

static double bytesPerCell(Value array) {
  return static_cast<double>(byteSize(*tok::elementTypeOf(array.getType())));
}
static double bytesPerEntry(Value array) { return bytesPerCell(array) + bytesPerColumnNumber; }

static double denseBytesOf(const BlockFacts &facts, Value value) {
  return bytesPerCell(value) * facts.cells(facts.shapeOf(value));
}

static double bytesOf(const BlockFacts &facts, Value value) {
  return facts.isSparse(value) ? bytesPerEntry(value) * facts.entriesOf(value)
                               : denseBytesOf(facts, value);
}

double fusion::pointsOf(const BlockFacts &facts, const Frame &frame, Axes axes,
                        const Shape &shape) {
  double all = frame.driver ? facts.entriesOf(frame.driver) : facts.cells(frame.space);
  if (frame.loops == Loops::AnyAxes)
    return facts.cells(shape);
  if (frame.loops == Loops::Cells || has(axes, Axes::Rows | Axes::Columns))
    return all;
  if (has(axes, Axes::Rows))
    return has(axes, Axes::Other) ? facts.cells(shape) : facts.estimate(frame.space.rows);
  return frame.driver ? all : all / rowsOfPanel; // values along columns are computed once per panel
}

namespace {

// Adds up the work of an operator in a frame.
class Account {
public:
  Account(const BlockFacts &facts, const cost::MachineModel &machine, const Frame &frame)
      : facts_(facts), machine_(machine), frame_(frame),
        entries_(frame.driver ? facts.entriesOf(frame.driver) : 0) {}

  cost::Work work;

  //===- what a member computes --------------------------------------------------------------===//

  void addMember(const Node &node, const Verdict &verdict) {
    bool isAtEntries = frame_.driver && has(verdict.over, Axes::Rows | Axes::Columns);
    if (frame_.isNative) {
      addNative(node);
    } else if (isa<tok::MatmulOp>(node.operation)) {
      if (isAtEntries)
        addProductAtEntries(node, verdict);
      else
        addProduct(node);
    } else {
      bool isAggregate = node.kind == NodeKind::Aggregate;
      const Shape &shape = facts_.shapeOf(isAggregate ? node.operands[0] : node.result());
      // The number of a row stays while a loop goes along it.
      work.flops += node.kind == NodeKind::Sequence
                        ? facts_.estimate(frame_.space.rows)
                        : node.flops * pointsOf(facts_, frame_, verdict.over, shape);
      // The column index of an entry selects the sum that it is added to.
      if (isAtEntries && verdict.reduced == Axes::Rows)
        work.gathers += entries_;
    }
  }

  //===- what an operator reads and writes ---------------------------------------------------===//

  // Adds the cost of reading an operand, and of converting it if the frame can't read its layout.
  void addOperand(const Node &node, Value operand) {
    const Shape &shape = facts_.shapeOf(operand);
    double dense = denseBytesOf(facts_, operand), stored = bytesOf(facts_, operand);
    bool isSparse = facts_.isSparse(operand);
    if (node.kind == NodeKind::Slice) { // of each row at least one cache line
      const Shape &part = facts_.shapeOf(node.result());
      double rowBytes = bytesPerCell(operand) * facts_.estimate(part.columns);
      work.readBytes +=
          std::min(dense, facts_.estimate(part.rows) * std::max(rowBytes, machine_.cacheLineBytes));
    } else if (frame_.isNative) {
      work.readBytes += stored;
    } else if (frame_.driver.contains(operand)) {
      work.readBytes +=
          bytesPerEntry(operand) * entries_ + bytesPerRowOffset * facts_.estimate(shape.rows);
      work.flops += flopsPerEntry * entries_;
      if (frame_.driver.arrays.size() > 1) { // its values are copied to the united entries
        work.readBytes += 2 * stored;
        work.writtenBytes += bytesPerEntry(operand) * entries_;
        work.flops += flopsPerMatch * (entries_ + facts_.entriesOf(operand));
      }
    } else if (frame_.driver && shape == frame_.space) {
      if (isSparse) {
        work.readBytes += stored;
        work.flops += flopsPerMatch * (entries_ + facts_.entriesOf(operand));
      } else {
        work.readBytes += std::min(dense, machine_.cacheLineBytes * entries_);
        work.gathers += entries_;
      }
    } else {
      work.readBytes += dense;
      if (isSparse) { // it is converted before
        work.readBytes += stored;
        work.writtenBytes += dense;
      }
      // Loops over rows transpose blocks of them into lanes.
      if (frame_.loops == Loops::Rows && shape.rows == frame_.space.rows && !shape.hasOneColumn())
        work.flops +=
            cost::additionsOf(*tok::elementTypeOf(operand.getType())) * facts_.cells(shape);
    }
  }

  void addResult(Value result) {
    double dense = denseBytesOf(facts_, result);
    if (frame_.driver && facts_.shapeOf(result) == frame_.space) {
      work.writtenBytes += bytesPerCell(result) * entries_; // column indices are the driver's
      return;
    }
    work.writtenBytes += dense;
    if (facts_.isSparse(result) && !frame_.isNative) { // it is converted after the operator
      work.readBytes += dense;
      work.writtenBytes += bytesOf(facts_, result);
    }
  }

private:
  double cells(Value value) const { return facts_.cells(facts_.shapeOf(value)); }

  // The multiplications of a product m×k times k×n.
  double multiplications(const Node &node) const {
    return cells(node.operands[0]) * facts_.estimate(facts_.shapeOf(node.operands[1]).columns);
  }

  // The cache lines touched by `accesses` accesses to rows with this number of columns of the
  // node's element type; 0 if `array` fits the first-level cache.
  double gathersOf(double accesses, const Node &node, Value array, const Size &columns) const {
    if (array && denseBytesOf(facts_, array) <= machine_.nearestCacheBytes)
      return 0;
    double rowBytes = bytesPerCell(node.result()) * facts_.estimate(columns);
    return accesses * std::max(1.0, rowBytes / machine_.cacheLineBytes);
  }

  void addProduct(const Node &node) {
    work.flops += node.flops * multiplications(node);
    double bytes = denseBytesOf(facts_, node.operands[1]);
    // In loops over any axes the right factor is read again for each panel of rows.
    if (frame_.loops == Loops::AnyAxes && bytes > shareOfCache * machine_.cacheBytes)
      work.flops += bytes * facts_.estimate(facts_.shapeOf(node.operands[0]).rows) / rowsOfPanel *
                    machine_.flopsPerNanosecond / machine_.cacheReadBytesPerNanosecond;
  }

  // The column index of an entry selects a row of the other factor, or of the result.
  void addProductAtEntries(const Node &node, const Verdict &verdict) {
    Value right = node.operands[1];
    const Shape &shape = facts_.shapeOf(right);
    bool isProduct = node.kind == NodeKind::Product;
    const Size &columns = verdict.isSampled ? shape.rows
                          : !isProduct && shape == frame_.space
                              ? facts_.shapeOf(node.operands[0]).columns
                              : shape.columns;
    work.flops += entries_ * facts_.estimate(columns);
    work.gathers += gathersOf(entries_, node, isProduct ? right : Value(), columns);
    if (!verdict.isSampled || right.getDefiningOp<tok::TransposeOp>())
      return; // the kernel reads the operand of the transpose
    bool isMadeAnyway =
        llvm::any_of(right.getUsers(), [](Operation *user) { return isa<tok::TransposeOp>(user); });
    if (!isMadeAnyway) {
      work.readBytes += bytesOf(facts_, right);
      work.writtenBytes += denseBytesOf(facts_, right);
    }
  }

  // Whether the native computes this transposed product without packing its factors.
  bool isUnpacked(const Node &node) const {
    return node.kind == NodeKind::TransposedProduct &&
           llvm::all_of(node.operands, [&](Value operand) {
             const Shape &shape = facts_.shapeOf(operand);
             return facts_.estimate(shape.rows) >= fewestRowsUnpacked &&
                    facts_.estimate(shape.columns) >= fewestColumnsUnpacked;
           });
  }

  void addNative(const Node &node) {
    if (node.kind >= NodeKind::Slice) { // others than scans only copy rows
      work.flops += node.kind == NodeKind::Scan ? cells(node.result()) : 0;
      return;
    }
    Value left = node.operands[0], right = node.operands[1];
    bool leftSparse = facts_.isSparse(left), rightSparse = facts_.isSparse(right);
    double dense = rowOf(NativeKind::Matmul).flops * node.flops * multiplications(node);
    if (leftSparse && rightSparse) {
      double products = multiplications(node) * facts_.densityOf(left) * facts_.densityOf(right);
      work.flops += flopsPerSparseProduct * products;
      work.gathers += products;
    } else if (leftSparse || rightSparse) {
      Value sparse = leftSparse ? left : right, other = leftSparse ? right : left;
      work.flops += multiplications(node) * facts_.densityOf(sparse) +
                    flopsPerEntry * facts_.entriesOf(sparse);
      work.gathers +=
          gathersOf(facts_.entriesOf(sparse), node, other, facts_.shapeOf(other).columns);
    } else if (isUnpacked(node)) {
      work.flops += (left == right ? 0.5 : 1) * dense;
    } else {
      double packed = cells(left) + cells(right) + cells(node.result());
      work.flops += dense + flopsPerPackedCell * packed * node.flops;
    }
  }

  const BlockFacts &facts_;
  const cost::MachineModel &machine_;
  const Frame &frame_;
  double entries_; // of the driver
};

} // namespace

OperatorCost::OperatorCost(const BlockGraph &graph, const MemoTable &memo,
                           const cost::MachineModel &machine)
    : graph(graph), memo(memo), machine(machine), inputsOf_(graph.size()) {
  llvm::SmallDenseMap<Value, int> numbers;
  SmallVector<int> readers; // by input: the first node that reads it
  for (int index : graph.nodes())
    for (auto [value, producer] : llvm::zip(graph[index].operands, graph[index].producers)) {
      auto next = static_cast<int>(inputs_.size());
      int number = graph[index].kind == NodeKind::Slice
                       ? next
                       : numbers.try_emplace(value, next).first->second;
      inputsOf_[index].push_back(number);
      if (number < next)
        continue;
      inputs_.push_back({value, producer, tok::isArray(value.getType())});
      readers.push_back(index);
    }
  for (auto [number, frame] : llvm::enumerate(memo.frames)) {
    auto accountOf = [&] { return Account(graph.facts(), machine, frame); };
    std::vector<cost::Work> &reading = reading_.emplace_back(inputs_.size());
    for (auto [input, work] : llvm::enumerate(reading))
      if (Account account = accountOf(); inputs_[input].isArray) {
        account.addOperand(graph[readers[input]], inputs_[input].value);
        work = account.work;
      }
    std::vector<const MemoGroup *> &groups = groups_.emplace_back(graph.size());
    std::vector<cost::Work> &computing = computing_.emplace_back(graph.size());
    std::vector<cost::Work> &storing = storing_.emplace_back(graph.size());
    for (int node : graph.nodes()) {
      groups[node] = memo.find(node, static_cast<int>(number));
      if (!groups[node])
        continue;
      Account computed = accountOf(), stored = accountOf();
      computed.addMember(graph[node], *groups[node]);
      computing[node] = computed.work;
      if (tok::isArray(graph[node].result().getType()))
        stored.addResult(graph[node].result());
      storing[node] = stored.work;
    }
  }
}

void OperatorCost::price(FusedOperator &candidate) const {
  cost::Work work;
  BitVector seen(inputs_.size());
  for (int member : candidate.members.set_bits()) {
    work += computing(member, candidate.frame);
    for (int input : inputsOf(member))
      if (int producer = inputs_[input].producer; producer < 0 || !candidate.members[producer])
        seen.set(input);
  }
  candidate.reads.clear();
  candidate.arrays = 0;
  for (int number : seen.set_bits()) {
    const OperatorInput &input = inputs_[number];
    work += reading(number, candidate.frame);
    if (graph.isNode(input.producer) && !llvm::is_contained(candidate.reads, input.producer))
      candidate.reads.push_back(input.producer);
    candidate.arrays += input.isArray;
  }
  for (int root : candidate.roots) {
    work += storing(root, candidate.frame);
    candidate.arrays += tok::isArray(graph[root].result().getType());
  }
  candidate.nanoseconds = cost::nanoseconds(machine, work);
}
