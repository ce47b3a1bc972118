#include "fusion/select/OperatorCost.h"

#include "fusion/select/CellWork.h"
#include "ir/tok/ElementTypes.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// In a sparse array an entry also has a column index, and each row the offset of its first entry.
static constexpr double bytesPerColumnNumber = 4, bytesPerRowOffset = 8;
// Finding another sparse array's cell at an entry takes so many times as long as finding the next entry.
static constexpr double entriesPerMatch = 3;
// A native dense product packs both factors first and goes over the result several times, which dominates
// if one of the three is narrow. Transposed products of many rows are not packed
// (runtime/natives/TransposedProduct.h), but computed in tiles of the result, of t(X) %*% X in those of one half. A product of two sparse
// arrays takes `flopsPerSparseProduct` per multiplication.
static constexpr double fewestRowsUnpacked = 64, fewestColumnsUnpacked = 8;
static constexpr double sideOfTile = 8; // where vectors have 64 bytes
static constexpr double flopsPerSparseProduct = 8;
static constexpr double rowsOfPanel = 8;   // as kernels compute them, on every machine
static constexpr double vectorsAtOnce = 4; // of a wide row, without a mask
// Sums of the columns of narrow rows wait for each other, too.
static constexpr double additionsOfNarrowSum = 2;
// Operators from so many additions on are expensive (schedule/Instructions.h).
static constexpr double fewestExpensiveAdditions = 8;
// Kernels don't use tiles of registers for a product whose left factor they compute of other things than
// products, nor for several products that are results: each multiplication takes that many more times as long.
static constexpr double slownessWithoutTiles = 12;

static double bytesPerCell(Value array) {
  return static_cast<double>(byteSize(*tok::elementTypeOf(array.getType())));
}
static double bytesPerEntry(Value array) { return bytesPerCell(array) + bytesPerColumnNumber; }

static double denseBytesOf(const BlockFacts &facts, Value value) {
  return bytesPerCell(value) * facts.cells(facts.shapeOf(value));
}

double fusion::bytesOf(const BlockFacts &facts, Value value) {
  return facts.isSparse(value) ? bytesPerEntry(value) * facts.entriesOf(value)
                               : denseBytesOf(facts, value);
}

double fusion::bytesOfUnknownSize(ArrayRef<Value> values, const BlockFacts &facts) {
  double bytes = 0;
  bool isKnown = true;
  llvm::SmallPtrSet<Value, 8> seen;
  for (Value value : values) {
    if (!tok::isArray(value.getType()) || !seen.insert(value).second)
      continue;
    bytes += bytesOf(facts, value);
    isKnown &=
        llvm::all_of(facts.sizesOf(value), [](const Size &size) { return size.isConstant(); });
  }
  return isKnown ? 0 : bytes;
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
  Account(const BlockFacts &facts, const cost::MachineModel &machine, const Frame &frame,
          bool hasExpensive)
      : facts_(facts), machine_(machine), frame_(frame), hasExpensive_(hasExpensive),
        entries_(frame.driver ? facts.entriesOf(frame.driver) : 0),
        isCompact_(!frame.isNative && frame.loops <= Loops::Rows && !frame.driver &&
                   plan::hasFewPlaces({frame.space.rows, frame.space.columns})),
        isNarrow_(frame.loops == Loops::Rows && frame.space.columns.isConstant() &&
                  frame.space.columns.constantValue() <= plan::mostColumnsAcross) {}

  cost::Work work;

  //===- what a member computes --------------------------------------------------------------===//

  // `isRowRead`: an operator with this product at entries has the row of its factor in the nearest cache.
  void addMember(const Node &node, double additions, const Verdict &verdict, bool isRowRead) {
    bool isAtEntries = frame_.driver && has(verdict.over, Axes::Rows | Axes::Columns);
    if (frame_.isNative) {
      addNative(node, additions);
    } else if (isa<tok::MatmulOp>(node.operation)) {
      if (isAtEntries)
        addProductAtEntries(node, verdict, isRowRead);
      else
        addProduct(node, additions);
    } else if (node.kind == NodeKind::Convolution) {
      work.flops += additions * multiplicationsOfConvolution(node.operation, facts_) *
                    slownessOfWindows(node);
    } else {
      bool isAggregate = node.kind == NodeKind::Aggregate;
      const Shape &shape = facts_.shapeOf(isAggregate ? node.operands[0] : node.result());
      // In rows or not, it is one loop.
      if (isAggregate && isCompact_ && verdict.reduced == verdict.over)
        additions = std::max(additions, waitingFor(node.aggregation()));
      // The number of a row stays while a loop goes along it.
      work.flops += node.kind == NodeKind::Sequence
                        ? facts_.estimate(frame_.space.rows)
                        : additions * slownessOf(verdict.over, node, shape) *
                              pointsOf(facts_, frame_, verdict.over, shape);
      // The column index of an entry selects the sum that it is added to.
      if (isAtEntries && verdict.reduced == Axes::Rows)
        work.gathering += gatheringOf(entries_, denseBytesOf(facts_, node.result()));
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
      work.flops += machine_.entryAdditions * entries_;
      if (frame_.driver.arrays.size() > 1) { // its values are copied to the united entries
        work.readBytes += 2 * stored;
        work.writtenBytes += bytesPerEntry(operand) * entries_;
        work.flops +=
            entriesPerMatch * machine_.entryAdditions * (entries_ + facts_.entriesOf(operand));
      }
    } else if (frame_.driver && shape == frame_.space) {
      if (isSparse) {
        work.readBytes += stored;
        work.flops +=
            entriesPerMatch * machine_.entryAdditions * (entries_ + facts_.entriesOf(operand));
      } else {
        work.readBytes += std::min(dense, machine_.cacheLineBytes * entries_);
        work.gathering += gatheringOf(entries_, dense);
      }
    } else {
      work.readBytes += dense;
      if (isSparse) // it is converted before
        addConversion({.readBytes = stored, .writtenBytes = dense});
      // Loops over narrow rows transpose blocks of them into lanes.
      if (isNarrow_ && !hasRowsAlone() && shape.rows == frame_.space.rows && !shape.hasOneColumn())
        work.flops +=
            cost::additionsOf(*tok::elementTypeOf(operand.getType())) * facts_.cells(shape);
      // Loops over cells go along rows only where something is repeated.
      if (frame_.loops == Loops::Cells && shape != frame_.space)
        addEndsOfRows(operand);
    }
  }

  void addResult(Value result) {
    double dense = denseBytesOf(facts_, result);
    if (frame_.driver && facts_.shapeOf(result) == frame_.space) {
      work.writtenBytes += bytesPerCell(result) * entries_; // column indices are the driver's
      return;
    }
    work.writtenBytes += dense;
    const Shape &shape = facts_.shapeOf(result);
    if (isNarrow_ && !hasRowsAlone() && shape.rows == frame_.space.rows && !shape.hasOneColumn())
      work.flops += machine_.narrowWriteAdditions * facts_.cells(shape) *
                    cost::additionsOf(*tok::elementTypeOf(result.getType()));
    if (frame_.loops == Loops::Rows && shape == frame_.space)
      addEndsOfRows(result);
    if (facts_.isSparse(result) && !frame_.isNative) // it is converted after the operator
      addConversion({.readBytes = dense, .writtenBytes = bytesOf(facts_, result)});
  }

private:
  // A pass over an array, while nothing else is done.
  void addConversion(const cost::Work &pass) {
    work.waiting += cost::partsOf(machine_, pass).total();
  }

  double cells(Value value) const { return facts_.cells(facts_.shapeOf(value)); }

  // The multiplications of a product m×k times k×n.
  double multiplications(const Node &node) const {
    return cells(node.operands[0]) * facts_.estimate(facts_.shapeOf(node.operands[1]).columns);
  }

  double waitingFor(AggregateKind kind) const {
    return kind == AggregateKind::Sum || kind == AggregateKind::Prod
               ? machine_.compactSumAdditions
               : machine_.compactExtremeAdditions;
  }

  // Of writing cells like this value's along wide rows, of which several vectors at a time are computed.
  void addEndsOfRows(Value value) {
    const Size &columns = frame_.space.columns;
    if (frame_.driver || frame_.isNative || isNarrow_ || columns.isConstant(1))
      return;
    double lanes = bytesPerCell(value) == 8 ? rowsOfPanel : 2 * rowsOfPanel;
    double masked = std::ceil(std::fmod(facts_.estimate(columns), vectorsAtOnce * lanes) / lanes);
    work.flops += masked * machine_.maskedVectorNanoseconds * machine_.flopsPerNanosecond *
                  facts_.estimate(frame_.space.rows);
  }

  // Whether compact loops compute rows one by one, so that a cell takes as long as a vector.
  bool hasRowsAlone() const {
    return isCompact_ && isNarrow_ &&
           (facts_.estimate(frame_.space.rows) <= plan::mostCompactRows || !hasExpensive_);
  }

  // How many times as long as in full vectors a cell takes that is computed along these axes.
  double slownessOf(Axes over, const Node &node, const Shape &shape) const {
    if (frame_.loops == Loops::AnyAxes && has(over, Axes::Other))
      return slownessOfRows(shape.columns, lanesOf(node));
    if (frame_.loops != Loops::Rows || frame_.driver || !has(over, Axes::Columns))
      return 1;
    if (isNarrow_)
      return hasRowsAlone() ? machine_.compactRowSlowness : 1;
    return slownessOfRows(frame_.space.columns, lanesOf(node));
  }

  // The same of windows: kernels read the rows of all channels where they lie, which the first-level cache may not hold,
  // and cells of neighbouring windows that are apart one by one.
  double slownessOfWindows(const Node &node) const {
    constexpr double linesOfFirstLevel = 512; // 32 KiB
    constexpr double slownessOfSteps = 2;
    const Size &columns = facts_.shapeOf(node.result()).columns;
    if (hasFiltersOfOneChannel(node, facts_))
      return slownessOfRows(columns, rowsOfPanel);
    double slowness = slownessOfRows(columns, lanesOf(node));
    double rows = 1; // of a window, in all channels
    for (const Size &size : facts_.sizesOf(node.operands[1]).drop_front().drop_back())
      rows *= facts_.estimate(size);
    slowness *= 1 + std::min(1.0, rows / linesOfFirstLevel);
    return node.windows.back().step > 1 ? slownessOfSteps * slowness : slowness;
  }

  static double lanesOf(const Node &node) {
    return byteSize(node.cells) == 8 ? rowsOfPanel : 2 * rowsOfPanel;
  }

  // The last vector of a row may have few cells.
  double slownessOfRows(const Size &columns, double lanes) const {
    double cells = std::max(1.0, facts_.estimate(columns));
    return std::ceil(cells / lanes) * lanes / cells;
  }

  // Nanoseconds of `accesses` accesses to cells in an array of so many bytes.
  double gatheringOf(double accesses, double arrayBytes) const {
    return accesses * cost::gatherNanoseconds(machine_, arrayBytes);
  }

  // The same of rows with this number of columns of the array's element type.
  double gatheringOfRows(double accesses, Value array, const Size &columns) const {
    return accesses * cost::gatherRowNanoseconds(machine_, denseBytesOf(facts_, array),
                                                 bytesPerCell(array) * facts_.estimate(columns));
  }

  // Products of several columns are computed in tiles of registers; others like a sum.
  double additionsOfMultiplying(const Node &node, double additionsInTiles) const {
    double addition = cost::additionsOf(node.cells);
    const Size &columns = facts_.shapeOf(node.operands[1]).columns;
    bool isTransposed = node.kind == NodeKind::TransposedProduct;
    if (hasRowsAlone())
      return addition * machine_.compactRowSlowness;
    if (columns.isConstant(1) && frame_.loops != Loops::Rows)
      return addition;
    if (columns.isConstant(1)) // narrow rows wait for the sums
      return addition * (!isNarrow_     ? slownessOfRows(frame_.space.columns, lanesOf(node))
                         : isTransposed ? additionsOfNarrowSum
                                        : 1);
    bool isAlongResult = frame_.loops != Loops::Rows || (isNarrow_ && !isTransposed);
    return additionsInTiles *
           slownessOfRows(isAlongResult ? columns : frame_.space.columns, lanesOf(node));
  }

  // Of the vectors of a symmetric matrix of n columns, those that end behind the diagonal.
  static double upperShare(double n, double lanes) {
    double whole = std::ceil(n / lanes) - 1; // vectors, before the last one
    return (n + lanes * whole * (whole + 1) / 2) / (n * (whole + 1));
  }

  void addProduct(const Node &node, double additionsInTiles) {
    if (frame_.loops == Loops::Rows && !frame_.driver && isSymmetricProduct(node, facts_))
      additionsInTiles *= upperShare(
          std::max(1.0, facts_.estimate(facts_.shapeOf(node.result()).columns)), lanesOf(node));
    work.flops += additionsOfMultiplying(node, additionsInTiles) * multiplications(node);
    if (!facts_.shapeOf(node.operands[1]).columns.isConstant(1))
      work.flops += machine_.productResultNanoseconds * machine_.flopsPerNanosecond *
                    cost::additionsOf(node.cells) * cells(node.result());
    if (frame_.loops == Loops::AnyAxes)
      addFactor(node);
  }

  // In loops over any axes the right factor is read again for each panel of rows, from the caches of all cores if that of one
  // does not hold it. Long rows of it, and those that are read as columns, are copied for each tile before, in the order of
  // their vectors.
  void addFactor(const Node &node) {
    constexpr double rowsOfCopy = 256, longRow = 64; // abi::KernelPlan::rowsPerCopy, axisOfPacking
    Value factor = node.operands[1];
    double factorCells = std::max(1.0, cells(factor)),
           rows =
               multiplications(node) / factorCells, // that one matrix of a stack is multiplied with
        bytes = bytesPerCell(factor) * factorCells,
           reading = bytes / machine_.sharedReadBytesPerNanosecond;
    double stacked =
        std::max(1.0, facts_.estimate(facts_.shapeOf(node.operands[0]).rows) / std::max(1.0, rows));
    double nanoseconds = rows / rowsOfPanel * reading *
                         cost::shareBeyond(machine_.privateCacheBytes, bytes / stacked);
    const Size &columns = facts_.shapeOf(factor).columns;
    bool isByColumns = factor.getDefiningOp<tok::TransposeOp>() != nullptr;
    if (isByColumns || !(columns.isConstant() && columns.constantValue() <= longRow))
      nanoseconds += std::ceil(rows / rowsOfCopy) *
                     (reading + bytes / machine_.privateWriteBytesPerNanosecond);
    work.flops += nanoseconds * machine_.flopsPerNanosecond;
  }

  // The column index of an entry selects a row of the other factor, or of the result.
  void addProductAtEntries(const Node &node, const Verdict &verdict, bool isRowRead) {
    Value right = node.operands[1];
    const Shape &shape = facts_.shapeOf(right);
    bool isProduct = node.kind == NodeKind::Product;
    const Size &columns = verdict.isSampled ? shape.rows
                          : !isProduct && shape == frame_.space
                              ? facts_.shapeOf(node.operands[0]).columns
                              : shape.columns;
    work.flops += entries_ * facts_.estimate(columns);
    if (!isRowRead)
      work.gathering += gatheringOfRows(entries_, isProduct ? right : node.result(), columns);
    if (!verdict.isSampled || right.getDefiningOp<tok::TransposeOp>())
      return; // the kernel reads the operand of the transpose
    bool isMadeAnyway =
        llvm::any_of(right.getUsers(), [](Operation *user) { return isa<tok::TransposeOp>(user); });
    if (!isMadeAnyway)
      addConversion(
          {.readBytes = bytesOf(facts_, right), .writtenBytes = denseBytesOf(facts_, right)});
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

  // Of the result of a product that is not packed, in all tiles that are computed.
  double cellsInTiles(Value left, Value right) const {
    auto tiles = [&](Value factor) {
      return std::ceil(facts_.estimate(facts_.shapeOf(factor).columns) / sideOfTile);
    };
    double count = left == right ? tiles(left) * (tiles(left) + 1) / 2 : tiles(left) * tiles(right);
    return count * sideOfTile * sideOfTile;
  }

  void addNative(const Node &node, double additions) {
    if (node.kind == NodeKind::Convolution) {
      if (hasFiltersOfOneChannel(node, facts_)) // goes over rows once for each place
        work.flops += 2 * multiplicationsOfConvolution(node.operation, facts_) * additions;
      else
        work.flops += flopsOfNativeConvolution(node.operation, node.cells, facts_, machine_);
      return;
    }
    if (node.kind >= NodeKind::Slice) { // others than scans only copy rows
      work.flops += node.kind == NodeKind::Scan ? cells(node.result()) : 0;
      return;
    }
    Value left = node.operands[0], right = node.operands[1];
    bool leftSparse = facts_.isSparse(left), rightSparse = facts_.isSparse(right);
    double dense = nativeProduct(node, multiplications(node));
    if (leftSparse && rightSparse) {
      double products = multiplications(node) * facts_.densityOf(left) * facts_.densityOf(right);
      work.flops += flopsPerSparseProduct * products;
      work.gathering += gatheringOf(products, denseBytesOf(facts_, right));
    } else if (leftSparse || rightSparse) {
      Value sparse = leftSparse ? left : right, other = leftSparse ? right : left;
      work.flops += multiplications(node) * facts_.densityOf(sparse) +
                    machine_.entryAdditions * facts_.entriesOf(sparse);
      work.gathering +=
          gatheringOfRows(facts_.entriesOf(sparse), other, facts_.shapeOf(other).columns);
    } else if (isUnpacked(node)) {
      work.flops += nativeProduct(node, cellsInTiles(left, right) *
                                            facts_.estimate(facts_.shapeOf(left).rows));
    } else {
      work.flops += dense + packing(node, cells(left) + cells(right) + cells(node.result()));
    }
  }

  double nativeProduct(const Node &node, double multiplications) const {
    return machine_.flopsPerNanosecond * multiplications /
           (node.cells == ElementType::F32 ? machine_.singleNativeProductsPerNanosecond
                                           : machine_.nativeProductsPerNanosecond);
  }
  double packing(const Node &node, double cells) const {
    double nanoseconds = node.cells == ElementType::F32
                             ? machine_.singlePackedCellNanoseconds
                             : machine_.packedCellNanoseconds * cost::additionsOf(node.cells);
    return nanoseconds * machine_.flopsPerNanosecond * cells;
  }

  const BlockFacts &facts_;
  const cost::MachineModel &machine_;
  const Frame &frame_;
  bool hasExpensive_; // the frame allows an operator of many instructions, or a product of rows
  double entries_;    // of the driver
  bool isCompact_, isNarrow_; // loops over few places; over rows of at most mostColumnsAcross
};

// The bytes of all arrays that the block takes and returns, and of those that natives read and write, as far as
// their sizes are known or estimated: most of unknown size are small.
double bytesTouchedBy(const BlockGraph &graph) {
  double bytes = 0;
  llvm::SmallPtrSet<Value, 16> seen;
  auto touch = [&](Value value) {
    if (tok::isArray(value.getType()) && seen.insert(value).second &&
        llvm::all_of(graph.facts().sizesOf(value),
                     [](const Size &size) { return size.estimate(-1) >= 0; }))
      bytes += bytesOf(graph.facts(), value);
  };
  for (int index = 0; index < graph.size(); ++index) {
    const Node &node = graph[index];
    if (!node.live || node.kind == NodeKind::Slice)
      continue;
    for (auto [operand, producer] : llvm::zip(node.operands, node.producers))
      if (producer < 0 || !graph.isNode(index))
        touch(operand);
    for (Value result : node.operation->getResults())
      if (node.leavesBlock || !graph.isNode(index))
        touch(result);
  }
  return bytes;
}

// The machine as the block's operators find it, if the block touches so many bytes.
cost::MachineModel machineFor(const BlockGraph &graph, const cost::MachineModel &machine,
                              double touchedBytes) {
  return cost::inBlock(machine, std::max(touchedBytes, graph.surroundingBytes()),
                       graph.loopOperations());
}

// Whether what the product multiplies is computed of a sampled product with the same factor V, as in
// (X * f(U %*% t(V))) %*% V: where the frame allows both, each entry reads one row of V for them.
bool followsSampledProduct(const BlockGraph &graph, ArrayRef<const MemoGroup *> groups,
                           int product) {
  if (graph[product].kind != NodeKind::Product)
    return false;
  Value factor = graph[product].operands[1];
  llvm::SmallSetVector<int, 8> computed;
  computed.insert(graph[product].producers[0]);
  for (size_t next = 0; next < computed.size(); ++next) { // the set grows meanwhile
    int index = computed[next];
    if (!graph.isNode(index) || !groups[index])
      continue;
    auto transpose = graph[index].operands.size() == 2
                         ? graph[index].operands[1].getDefiningOp<tok::TransposeOp>()
                         : tok::TransposeOp();
    if (groups[index]->isSampled && transpose && transpose.getOperand() == factor)
      return true;
    computed.insert(graph[index].producers.begin(), graph[index].producers.end());
  }
  return false;
}

// Of arrays that the block is given.
cost::Work found(cost::Work work) {
  work.foundBytes += std::exchange(work.readBytes, 0);
  return work;
}

// Whether two slices are nearly the same part of one array, shifted by a few cells, as the neighbours of a picture's cells are: an
// operator that goes through both reads from memory once.
bool overlap(const BlockFacts &facts, const Node &first, const Node &second) {
  constexpr double leastShare = 7.0 / 8;
  if (first.operands[0] != second.operands[0] ||
      facts.shapeOf(first.result()) != facts.shapeOf(second.result()))
    return false;
  return llvm::all_of(llvm::seq(2), [&](int dimension) {
    auto begin = [&](const Node &node) {
      return facts.estimate(facts.integerOf(node.operands[1 + 2 * dimension]));
    };
    double length = facts.estimate(facts.sizesOf(first.result())[dimension]);
    return length - std::abs(begin(first) - begin(second)) >= leastShare * length;
  });
}

} // namespace

OperatorCost::OperatorCost(const BlockGraph &graph, const MemoTable &memo,
                           const cost::MachineModel &machine)
    : OperatorCost(graph, memo, machine, bytesTouchedBy(graph)) {}

OperatorCost::OperatorCost(const BlockGraph &graph, const MemoTable &memo,
                           const cost::MachineModel &machine, double touchedBytes)
    : graph(graph), memo(memo), machine(machineFor(graph, machine, touchedBytes)), unused_(machine),
      touchedBytes_(touchedBytes), inputsOf_(graph.size()) {
  llvm::SmallDenseMap<Value, int> numbers;
  SmallVector<int> readers;                // by input: the first node that reads it
  SmallVector<std::pair<int, int>> slices; // nodes, and the inputs that they read
  for (int index : graph.nodes())
    for (auto [value, producer] : llvm::zip(graph[index].operands, graph[index].producers)) {
      auto next = static_cast<int>(inputs_.size());
      int number = next;
      if (graph[index].kind != NodeKind::Slice) {
        number = numbers.try_emplace(value, next).first->second;
      } else if (tok::isArray(value.getType())) {
        auto *other = llvm::find_if(slices, [&](auto slice) {
          return overlap(graph.facts(), graph[slice.first], graph[index]);
        });
        number = other == slices.end() ? next : other->second;
        slices.push_back({index, number});
      }
      inputsOf_[index].push_back(number);
      if (number < next)
        continue;
      inputs_.push_back({value, producer, tok::isArray(value.getType())});
      readers.push_back(index);
    }
  additions_.resize(graph.size());
  for (int node : graph.nodes())
    additions_[node] = additionsOf(graph[node], graph.facts(), machine);
  for (auto [number, frame] : llvm::enumerate(memo.frames)) {
    bool hasExpensive = llvm::any_of(graph.nodes(), [&, number = number](int node) {
      const MemoGroup *group = memo.find(node, static_cast<int>(number));
      bool isOfRows = group && has(group->over, Axes::Rows | Axes::Columns | Axes::Other);
      return group && (isOfRows || (graph[node].kind == NodeKind::Elementwise &&
                                    additions_[node] >= fewestExpensiveAdditions));
    });
    auto accountOf = [&] { return Account(graph.facts(), machine, frame, hasExpensive); };
    std::vector<cost::Work> &reading = reading_.emplace_back(inputs_.size());
    for (auto [input, work] : llvm::enumerate(reading))
      if (Account account = accountOf(); inputs_[input].isArray) {
        account.addOperand(graph[readers[input]], inputs_[input].value);
        work = inputs_[input].producer < 0 ? found(account.work) : account.work;
        work.overhead += this->machine.arrayNanoseconds;
      }
    std::vector<const MemoGroup *> &groups = groups_.emplace_back(graph.size());
    std::vector<cost::Work> &computing = computing_.emplace_back(graph.size());
    std::vector<cost::Work> &storing = storing_.emplace_back(graph.size());
    for (int node : graph.nodes()) {
      groups[node] = memo.find(node, static_cast<int>(number));
      if (!groups[node])
        continue;
      Account computed = accountOf(), stored = accountOf();
      computed.addMember(graph[node], additions_[node], *groups[node],
                         followsSampledProduct(graph, groups, node));
      computing[node] = computed.work;
      if (!tok::isArray(graph[node].result().getType()))
        continue;
      stored.addResult(graph[node].result());
      storing[node] = stored.work;
      storing[node].overhead += this->machine.arrayNanoseconds;
      storing[node].waiting += cost::firstTouchNanoseconds(this->machine, stored.work.writtenBytes);
    }
  }
}

static bool mayHaveTiles(NodeKind kind) {
  return kind == NodeKind::Product || kind == NodeKind::Convolution;
}

// Whether its products, if it has any, are computed in tiles of registers.
bool OperatorCost::hasTiles(const FusedOperator &candidate) const {
  if (memo.frames[candidate.frame].loops != Loops::AnyAxes)
    return true;
  int products = 0;
  bool computesFactor = false;
  for (int member : candidate.members.set_bits())
    if (mayHaveTiles(graph[member].kind)) {
      ++products;
      int producer = graph[member].producers[0];
      computesFactor |= producer >= 0 && candidate.members[producer];
    }
  return products == 0 || (products == 1 ? !computesFactor : candidate.roots.size() == 1);
}

cost::Work OperatorCost::workOf(FusedOperator &candidate) const {
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
  if (!hasTiles(candidate))
    for (int member : candidate.members.set_bits())
      if (mayHaveTiles(graph[member].kind))
        work.flops += slownessWithoutTiles * computing(member, candidate.frame).flops;
  return work;
}

void OperatorCost::price(FusedOperator &candidate) const {
  candidate.nanoseconds = cost::nanoseconds(machine, workOf(candidate));
}

Prediction OperatorCost::predict(FusedOperator candidate) const {
  cost::Work work = workOf(candidate);
  SmallVector<Value> touched;
  candidate.forEachInput(
      graph, [&](Use input) { touched.push_back(graph[input.user].operands[input.operand]); });
  for (int root : candidate.roots)
    touched.push_back(graph[root].result());
  return prediction(machine, work, bytesOfUnknownSize(touched, graph.facts()));
}

// Natives' code is not the block's alone, so that caches hold half of it. What only makes a view touches next to nothing.
Prediction OperatorCost::predictNative(const cost::Work &work, double bytes) const {
  cost::MachineModel found = machine;
  bool isView = work.overhead == 0;
  found.launchNanoseconds = isView ? unused_.launchNanoseconds
                                   : (unused_.launchNanoseconds + machine.launchNanoseconds) / 2;
  return prediction(found, work, bytes);
}

Prediction OperatorCost::prediction(const cost::MachineModel &machine, const cost::Work &work,
                                    double bytes) const {
  cost::Parts parts = cost::partsOf(machine, work);
  double total = cost::nanoseconds(machine, work);
  bool isComputing = parts.computing > parts.moving;
  Prediction prediction{total, cost::nanosecondsInParallel(machine, work), machine.threads,
                        (cost::withAllHidden(machine, parts) - parts.overhead) /
                            std::max(total, 1e-9),
                        isComputing ? Limit::Computing : Limit::Moving};
  if (bytes == 0)
    return prediction;
  prediction.bytes = bytes;
  double others = work.waiting - cost::firstTouchNanoseconds(machine, work.writtenBytes),
         times = std::pow(Prediction::step, -Prediction::stepsDown);
  for (Prediction::Time &time : prediction.ofOtherSizes) {
    cost::MachineModel found = machineFor(graph, unused_, times * touchedBytes_);
    found.launchNanoseconds = std::min(found.launchNanoseconds, machine.launchNanoseconds);
    cost::Work scaled = work.times(times);
    scaled.waiting =
        times * std::max(others, 0.0) + cost::firstTouchNanoseconds(found, scaled.writtenBytes);
    time = {cost::nanoseconds(found, scaled), cost::nanosecondsInParallel(found, scaled)};
    times *= Prediction::step;
  }
  return prediction;
}
