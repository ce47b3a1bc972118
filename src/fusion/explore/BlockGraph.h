// A straight-line block as a graph of operations, seen with fusion's eyes: which operations a
// kernel could be generated for, what they iterate over, who reads their results, and which order
// has to be kept.
//
//   BlockGraph graph(function, facts);
//   for (int index : graph.nodes())
//     graph[index].space            // sizes of what the operation iterates over
#ifndef TOKAMAK_FUSION_EXPLORE_BLOCKGRAPH_H
#define TOKAMAK_FUSION_EXPLORE_BLOCKGRAPH_H

#include "ir/plan/PlanDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace tokamak::fusion {

using FactsFunction = llvm::function_ref<const tok::Facts &(mlir::Value)>;

// Rows and columns as plan::encodeSize writes them: a constant, or a negative number that names a
// symbol. Equal numbers are proved equal; different ones are taken to be different, and a symbol is
// never 0 or 1.
struct Shape {
  int64_t rows = 0, columns = 0;
  bool operator==(const Shape &other) const = default;
};

enum class NodeKind : uint8_t {
  None,        // not generated: a native, a scalar operation, an operation whose sizes do not agree
  Elementwise, // unary, binary, ifelse with an array among the operands
  FullAggregate,         // over all cells
  RowAggregate,          // of each row
  ColumnAggregate,       // of each column
  RowsTimesVector,       // X %*% v, v n×1
  TransposedTimesVector, // t(X) %*% u, u m×1
  VectorTimesRows,       // t(u) %*% X, u m×1
  DotProduct,            // t(u) %*% v, both m×1
};

struct Use {
  int user;    // index of the operation
  int operand; // index of its operand
};

struct Node {
  mlir::Operation *operation = nullptr;
  NodeKind kind = NodeKind::None;
  // The operands; those that a product reads transposed are replaced by what was transposed.
  llvm::SmallVector<mlir::Value, 3> operands;
  llvm::SmallVector<int, 3> producers; // of the operands: indices of operations, -1 for arguments
  Shape space;                         // what a node iterates over
  double flops = 0; // per cell of `space` (of the operand's m×1 space for full aggregates of it)
  bool live = true;
  bool leavesBlock = false;        // a result is returned
  llvm::SmallVector<Use, 2> users; // live ones
  llvm::SmallVector<int, 2>
      before;          // operations that must be executed earlier though no value says so
  std::string refusal; // why an operation on arrays is not generated
};

class BlockGraph {
public:
  // `function` has one block. `facts` is asked for arguments and results of operations, once each.
  BlockGraph(mlir::func::FuncOp function, FactsFunction facts);

  int size() const { return static_cast<int>(operations_.size()); }
  const Node &operator[](int index) const { return operations_[index]; }
  bool isNode(int index) const { return index >= 0 && operations_[index].kind != NodeKind::None; }
  // Live operations that kernels can be generated for, in program order.
  llvm::ArrayRef<int> nodes() const { return nodes_; }
  // Operations that read the result, and the block's end.
  int consumers(int index) const;
  mlir::Block &block() const { return *block_; }

  // Of an array; rows and columns 0 for anything else.
  Shape shapeOf(mlir::Value value) const { return shapes_.lookup(value); }
  // Estimated number of rows or columns, of cells.
  double estimate(int64_t size) const;
  double cells(Shape shape) const { return estimate(shape.rows) * estimate(shape.columns); }

private:
  void recordShapes(FactsFunction facts);
  int64_t sizeOf(tok::Dimension dimension);
  void classify(Node &node);
  void classifyElementwise(Node &node);
  void classifyAggregate(Node &node);
  void classifyProduct(Node &node);
  void connect();
  void keepOrderOfEffects();

  mlir::Block *block_;
  std::vector<Node> operations_;
  llvm::SmallVector<int> nodes_;
  llvm::DenseMap<mlir::Value, Shape> shapes_;
  llvm::DenseMap<int64_t, int64_t> estimates_;
  int64_t nextSymbol_ = 0;
};

// Whether the operation's k-th operand enters it transposed, see Node::operands.
bool readsTransposed(const Node &node, int operand);

} // namespace tokamak::fusion
#endif
