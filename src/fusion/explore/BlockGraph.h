// A straight-line block as a graph of operations. For each operation it says whether a kernel can
// be generated for it, what it iterates over, which operations read its results, and which have to
// be executed before it.
//
//   BlockGraph graph(function, factsOf);
//   for (int index : graph.nodes())
//     for (Shape space : graph[index].spaces)   // what the operation may iterate over
//       double cells = graph.cells(space);
#ifndef TOKAMAK_FUSION_EXPLORE_BLOCKGRAPH_H
#define TOKAMAK_FUSION_EXPLORE_BLOCKGRAPH_H

#include "fusion/explore/BlockFacts.h"
#include "ir/plan/BodyBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace tokamak::fusion {

// In this order: from Slice on, natives may compute the operations, too.
enum class NodeKind : uint8_t {
  None,              // no kernel: a native, a scalar operation, an operation with mismatched sizes
  Elementwise,       // unary, binary, ifelse, cast, with an array among the operands
  Aggregate,         // over all cells, of each row or of each column
  Product,           // X %*% B
  TransposedProduct, // t(A) %*% B, A m×a, B m×b
  Slice,             // X[a:b, c:d], proved to be inside of X
  Columns,           // cbind
  Scan,              // cumsum and its like
  Convolution,       // of all channels or of each one alone, with windows at places that are known
  Sequence,          // seq of whole numbers, one after the other
};

struct Use {
  int user;    // index of the operation
  int operand; // index of its operand
};

struct Node {
  mlir::Operation *operation = nullptr;
  NodeKind kind = NodeKind::None;
  // The operands. If a product reads the transpose of a value, the value itself; of a convolution image and weights.
  llvm::SmallVector<mlir::Value, 3> operands;
  llvm::SmallVector<int, 3> producers; // of the operands: indices of operations, -1 for arguments
  // The shapes that a kernel may iterate over as rows and columns. For X %*% B: that of X, and that
  // of the result, whose cells are products of a row and a column. For t(A) %*% B: those of A and B.
  // None if it takes loops over other axes.
  llvm::SmallVector<Shape, 2> spaces;
  ElementType cells = {}; // that the operation computes in: those of its first array
  mlir::Type elementType; // of all arrays among operands and results: f64 or f32; else null
  bool live = true;
  bool leavesBlock = false;         // a result is returned
  llvm::SmallVector<Use, 2> users;  // live ones
  llvm::SmallVector<int, 2> before; // must be executed earlier because of side effects
  llvm::SmallVector<plan::WindowedDimension, 0> windows; // of a convolution, by dimension
  std::string refusal; // why no kernel is generated for an operation on arrays

  mlir::Value result() const { return operation->getResult(0); }
  // Whether a cell (or a row) of the result is computed from the operand's cell (row) at its place.
  // The right factor of a product is read along its columns, a slice and the windows of an image at other places.
  bool readsInPlace(int operand) const {
    return kind != NodeKind::Slice && kind != NodeKind::Convolution &&
           (kind != NodeKind::Product || operand == 0);
  }
  // Whether the operation reads the transpose of operands[operand].
  bool readsTransposed(int operand) const {
    return kind == NodeKind::TransposedProduct && operand == 0;
  }
  // Of an aggregate.
  AggregateKind aggregation() const { return mlir::cast<tok::AggregateOp>(operation).getKind(); }
};

// Integer attribute of functions that are executed in a loop: how many operations on arrays it has, with those of functions
// that it calls.
inline constexpr llvm::StringLiteral loopOperationsAttributeName = "tok.loop_operations";
// Integer attribute of functions: what code around them touches (runtime/image/SurroundingBytes.h).
inline constexpr llvm::StringLiteral surroundingBytesAttributeName = "tok.surrounding_bytes";

class BlockGraph {
public:
  // `function` has one block. `facts` is called once for each argument and result.
  BlockGraph(mlir::func::FuncOp function, FactsFunction facts);

  int size() const { return static_cast<int>(operations_.size()); }
  const Node &operator[](int index) const { return operations_[index]; }
  bool isNode(int index) const { return index >= 0 && operations_[index].kind != NodeKind::None; }
  // Live operations that kernels can be generated for, in program order.
  llvm::ArrayRef<int> nodes() const { return nodes_; }
  // The number of operations that read the result; the block's terminator counts as one.
  int consumers(int index) const;
  mlir::Block &block() const { return *block_; }
  // Of the innermost loop around the block; nullopt if it is in none.
  std::optional<int64_t> loopOperations() const;
  // 0 if it is not known.
  double surroundingBytes() const;

  const BlockFacts &facts() const { return facts_; }
  const Shape &shapeOf(mlir::Value value) const { return facts_.shapeOf(value); }
  double cells(const Shape &shape) const { return facts_.cells(shape); }

private:
  void connect();
  void keepOrderOfEffects();

  mlir::Block *block_;
  BlockFacts facts_;
  std::vector<Node> operations_;
  llvm::SmallVector<int> nodes_;
};

// Whether the block convolves images without a constant number of windows along each dimension: there are kernels only for
// constant ones.
bool convolvesUnknownWindows(mlir::func::FuncOp block, FactsFunction facts);

// Whether `columns` is a constant from 1 to plan::mostNarrowColumns: such rows can be computed
// together with the rows of a matrix.
bool isNarrow(const Size &columns);

} // namespace tokamak::fusion
#endif
