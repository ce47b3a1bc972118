// What an import rule sees of a node: operands, attributes, results; and how it says what it can't do.
//
//   mlir::Value slope = node.graph().real(node.real("alpha", 0.01));      // of LeakyRelu
//   node.setResult(0, node.graph().binary(BinaryOperator::Mul, node.operand(0), slope));
//
// A rule that finds something wrong throws Error; the message is completed with the node's place.
#ifndef TOKAMAK_FRONTEND_ONNX_NODEIMPORTER_H
#define TOKAMAK_FRONTEND_ONNX_NODEIMPORTER_H

#include "frontend/onnx/ImportedValue.h"
#include "frontend/onnx/file/Model.h"

#include "llvm/ADT/StringSet.h"

namespace tokamak::onnx {

class GraphImporter;

// Thrown instead of Error where everything that is wrong was added to the errors already.
struct AlreadyReported {};

class NodeImporter {
public:
  // `importer` is that of the node's graph.
  NodeImporter(const Node &node, GraphImporter &importer);

  GraphBuilder &graph() { return graph_; }
  int64_t version() const { return version_; } // of the operator set

  // Operands count from 0. One that is an absent optional, or that a call leaves out, is none.
  size_t operandCount() const { return node_.inputs.size(); }
  bool hasOperand(size_t number) const;
  ImportedValue &value(size_t number);
  mlir::Value operand(size_t number); // a tensor
  Values operands();                  // all of them
  int64_t rank(size_t number);
  ElementType elementType(size_t number);
  // That of an operand with narrow cells, which are held in a wider type; else Undefined.
  DataType narrowType(size_t number) { return tensorAt(number).narrow; }
  bool isScalar(size_t number) { return rank(number) == 0; }
  // The cells of an operand of integers with at most one dimension, if its size is known.
  std::optional<Values> cells(size_t number) { return cellsOf(tensorAt(number)); }
  // The same of cells of i64, of which setCells may make a result.
  std::optional<Values> wholeCells(size_t number) {
    return elementType(number) == ElementType::I64 ? cells(number) : std::nullopt;
  }
  // The same of cells of i64 and i32, which a rule moves without computing.
  std::optional<Values> movableCells(size_t number) {
    bool isMovable = elementType(number) == ElementType::I64 ||
                     (elementType(number) == ElementType::I32 && !isNarrow(narrowType(number)));
    return isMovable ? cells(number) : std::nullopt;
  }
  // The same where all are numbers of the model. Throws Error if they are not.
  Numbers constants(size_t number, llvm::StringRef what);
  std::optional<Numbers> constantsIfKnown(size_t number) { return constantsOf(tensorAt(number)); }
  // The same of other tensors: results of inner graphs, elements of sequences.
  std::optional<Values> cellsOf(ImportedValue &tensor);
  std::optional<Numbers> constantsOf(ImportedValue &tensor);
  // The only cell of a tensor as a scalar of the program: a double of floats, else an integer or a boolean.
  mlir::Value scalarOf(ImportedValue &tensor);
  mlir::Value scalarAt(size_t number) { return scalarOf(tensorAt(number)); }
  // The size of a dimension, if it is known before any data.
  std::optional<int64_t> knownSize(size_t number, int64_t dimension);
  // The cells of an operand that says sizes: known ones, or read from an array whose size is known.
  std::optional<Values> sizesAt(size_t number);
  // The cells of an operand of floats, if they are numbers of the model. Throws Error if they are not.
  llvm::SmallVector<double> realConstants(size_t number, llvm::StringRef what);

  // Attributes, with what they are where the node doesn't have them. Those that no rule has asked for, here or by
  // ignore(), are refused when the rule has run.
  bool has(llvm::StringRef attribute) const { return find(attribute) != nullptr; }
  int64_t integer(llvm::StringRef attribute, int64_t otherwise) const;
  double real(llvm::StringRef attribute, double otherwise) const;
  llvm::StringRef text(llvm::StringRef attribute, llvm::StringRef otherwise) const;
  Numbers integers(llvm::StringRef attribute, Numbers otherwise = {}) const;
  llvm::SmallVector<double> reals(llvm::StringRef attribute) const;
  llvm::SmallVector<llvm::StringRef> texts(llvm::StringRef attribute) const;
  const Tensor *tensor(llvm::StringRef attribute) const;
  const Graph &innerGraph(llvm::StringRef attribute) const;
  // Writes the nodes of a graph in an attribute where the builder stands. `arguments` are its inputs; the values of
  // its outputs are returned. Throws AlreadyReported if one of
  // the graph's nodes was refused.
  std::vector<ImportedValue> importGraph(llvm::StringRef attribute,
                                         std::vector<ImportedValue> arguments);
  // Names attributes that change nothing of what is computed here: hints, and what matters to training or in other cases
  // alone.
  void ignore(llvm::ArrayRef<llvm::StringRef> attributes) const;
  // Attributes from before a version, an operand since then: axes of reductions, sizes of parts …
  std::optional<Numbers> integersOrOperand(llvm::StringRef attribute, size_t operand);

  // What another operator of the same version makes of an array, with these attributes.
  mlir::Value applied(llvm::StringRef opType, mlir::Value array,
                      llvm::ArrayRef<std::pair<llvm::StringRef, double>> attributes);

  // An axis of an array of this rank, from its end if it is negative.
  int64_t axis(int64_t number, int64_t rank) const;
  Numbers axes(llvm::ArrayRef<int64_t> numbers, int64_t rank) const;

  void setValue(size_t number, ImportedValue value);
  void setValues(std::vector<ImportedValue> values); // of all results
  void setResult(size_t number, mlir::Value array);
  // Integers of the program that are cells of this type: i64, or i32, in which they must fit.
  void setCells(size_t number, Values cells, bool isScalar, ElementType type = ElementType::I64);
  bool wantsResult(size_t number) const;
  size_t resultCount() const { return node_.outputs.size(); }

  // Counts work that is more than the node against what the import may take (GraphImporter.h).
  void spend(int64_t nodes);

  // What the rule has asked for so far.
  bool hasAskedFor(llvm::StringRef attribute) const { return asked_.contains(attribute); }
  std::vector<std::string> askedFor() const;

  // Throws Error: "no rule for ...".
  [[noreturn]] void refuse(const std::string &what) const;

private:
  ImportedValue &tensorAt(size_t number);
  const Attribute *find(llvm::StringRef name) const;

  const Node &node_;
  GraphImporter &importer_;
  GraphBuilder &graph_;
  const int64_t version_;
  mutable llvm::StringSet<> asked_; // names of attributes
};

} // namespace tokamak::onnx
#endif
