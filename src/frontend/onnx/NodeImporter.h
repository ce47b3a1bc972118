// What an import rule sees of a node: operands, attributes, results; and how it says what it can't do.
//
//   mlir::Value slope = node.graph().real(node.real("alpha", 0.01));      // of LeakyRelu
//   node.setResult(0, node.graph().binary(BinaryOperator::Mul, node.operand(0), slope));
//
// A rule that finds something wrong throws Error; the message is completed with the node's place.
#ifndef TOKAMAK_FRONTEND_ONNX_NODEIMPORTER_H
#define TOKAMAK_FRONTEND_ONNX_NODEIMPORTER_H

#include "frontend/onnx/GraphBuilder.h"
#include "frontend/onnx/Model.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tokamak::onnx {

// A value of the graph. Arrays of sizes are known by cells, as scalars of the program; others as arrays.
struct ImportedValue {
  mlir::Value array;           // null if nobody has asked for it yet
  std::optional<Values> cells; // of an array of i64 with at most one dimension
  bool isScalar = false;       // of `cells`: there is no dimension
};

// The values by name, those of the enclosing graphs included.
using ImportedValues = llvm::StringMap<ImportedValue>;

class NodeImporter {
public:
  // `wanted` receives the names of the function's parameters whose cells a rule asks for.
  NodeImporter(const Node &node, int64_t version, GraphBuilder &graph, ImportedValues &values,
               llvm::StringSet<> &wanted)
      : node_(node), version_(version), graph_(graph), values_(values), wanted_(wanted) {}

  GraphBuilder &graph() { return graph_; }
  const Node &node() const { return node_; }
  int64_t version() const { return version_; } // of the operator set

  // Operands count from 0.
  size_t operandCount() const { return node_.inputs.size(); }
  bool hasOperand(size_t number) const;
  mlir::Value operand(size_t number);
  Values operands(); // all of them
  int64_t rank(size_t number);
  ElementType elementType(size_t number);
  bool isScalar(size_t number) { return rank(number) == 0; }
  // The cells of an operand of integers with at most one dimension, if its size is known.
  std::optional<Values> cells(size_t number);
  // The same where all are numbers of the model. Throws Error if they are not.
  Numbers constants(size_t number, llvm::StringRef what);
  std::optional<Numbers> constantsIfKnown(size_t number);
  // The cells of an operand that says sizes: known ones, or read from an array whose size is known.
  std::optional<Values> sizesAt(size_t number);
  // The only cell of an operand, as a scalar of the program: a double of floats, else an integer.
  mlir::Value scalarAt(size_t number);
  // The same of an operand of floats.
  llvm::SmallVector<double> realConstants(size_t number, llvm::StringRef what);

  // Attributes, with what they are where the node doesn't have them.
  bool has(llvm::StringRef attribute) const { return find(attribute) != nullptr; }
  int64_t integer(llvm::StringRef attribute, int64_t otherwise) const;
  double real(llvm::StringRef attribute, double otherwise) const;
  llvm::StringRef text(llvm::StringRef attribute, llvm::StringRef otherwise) const;
  Numbers integers(llvm::StringRef attribute, Numbers otherwise = {}) const;
  llvm::SmallVector<double> reals(llvm::StringRef attribute) const;
  const Tensor *tensor(llvm::StringRef attribute) const;
  // Attributes from before a version, an operand since then: axes of reductions, sizes of parts …
  std::optional<Numbers> integersOrOperand(llvm::StringRef attribute, size_t operand);

  // An axis of an array of this rank, from its end if it is negative.
  int64_t axis(int64_t number, int64_t rank) const;
  Numbers axes(llvm::ArrayRef<int64_t> numbers, int64_t rank) const;

  void setResult(size_t number, mlir::Value array);
  void setCells(size_t number, Values cells, bool isScalar);
  bool wantsResult(size_t number) const;
  size_t resultCount() const { return node_.outputs.size(); }

  // Throws Error: "no rule for ...".
  [[noreturn]] void refuse(const std::string &what) const;

private:
  const Attribute *find(llvm::StringRef name) const;
  ImportedValue &valueAt(size_t number);

  const Node &node_;
  int64_t version_;
  GraphBuilder &graph_;
  ImportedValues &values_;
  llvm::StringSet<> &wanted_;
};

} // namespace tokamak::onnx
#endif
