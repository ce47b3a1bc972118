// Writes the nodes of one graph where the builder stands: of the model's graph, of a graph in an attribute of a
// node, or of the body of a function, which is written in place of each call.
//
//   GraphImporter importer(shared);
//   importer.scope().define("x", ImportedValue::ofArray(x));
//   importer.importNodes(model.graph.nodes);
//   ImportedValue *y = importer.scope().find("y");
//
#ifndef TOKAMAK_FRONTEND_ONNX_GRAPHIMPORTER_H
#define TOKAMAK_FRONTEND_ONNX_GRAPHIMPORTER_H

#include "frontend/onnx/ImportModel.h"
#include "frontend/onnx/ImportedValue.h"
#include "frontend/onnx/file/FunctionCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tokamak::onnx {

class NodeImporter;
struct ImportRule;

// What the graphs of a model share while they are imported.
struct SharedImport {
  ModelFile &file;
  KnownInputs &inputs;
  ModelErrors &errors;
  LargeWeights largeWeights;
  ImportedModel imported = {};
  GraphBuilder graph;
  mlir::func::FuncOp function = {}; // "main"
  FunctionCalls calls{file.model().functions};
  llvm::DenseMap<const Tensor *, mlir::Value> weights{}; // those that are parameters
  // How many nodes of bodies and elements of sequences may still be written: where loops are written out, they may
  // be more than the file has.
  int64_t nodesLeft = 1 << 17;
  // How many values may still be looked at for what decides a size.
  int64_t visitsLeft = 1 << 20;
  // The same for numbers that follow from others.
  int64_t evaluationsLeft = 1 << 20;
};

class GraphImporter {
public:
  // Of the model's graph.
  explicit GraphImporter(SharedImport &shared)
      : GraphImporter(shared, shared.file.model().operatorSets, nullptr, nullptr, "") {}

  GraphBuilder &graph() { return shared_.graph; }
  ImportScope &scope() { return scope_; }
  int64_t versionOf(const Node &node) const; // of its operators

  // What is wrong is added to the errors; results of a node that was refused are Failed.
  void importNodes(const std::vector<Node> &nodes);
  // Defines a tensor of the model: a literal, or a parameter of the program if it is large.
  void defineWeight(const Tensor &weight);

  // An attribute of a node: in the body of a function perhaps one of the call. Null if there is none.
  struct BoundAttribute {
    const Attribute *attribute = nullptr;
    GraphImporter *importer = nullptr; // of the graph in which it is written
  };
  BoundAttribute attributeOf(const Node &node, llvm::StringRef name);

  // Writes a graph in an attribute of a node of this graph. Returns the values of its outputs.
  std::vector<ImportedValue> importInner(const Graph &inner, const Node &node,
                                         llvm::StringRef attribute,
                                         std::vector<ImportedValue> arguments);

  // Writes a node of the standard's operators with one operand and one result, whatever they are called. Throws
  // Error if it is refused.
  mlir::Value importAlone(const Node &node, mlir::Value operand);

  // Notes that the import depends on cells of this array, if it is an input of the model.
  void want(mlir::Value array);
  // Notes that it depends on what decides the sizes of this array, or the cells of an array of integers: lists of
  // integers from which it is computed, and sizes of all inputs.
  void wantBehind(mlir::Value array);
  // How many values may still be looked at for numbers that follow from others.
  int64_t &evaluationsLeft() { return shared_.evaluationsLeft; }
  // Counts work against what the import may take. Throws Error if it is too much.
  void spend(int64_t nodes);

private:
  using BoundAttributes = std::map<std::string_view, BoundAttribute>;

  GraphImporter(SharedImport &shared, const std::vector<OperatorSet> &operatorSets,
                const BoundAttributes *attributes, const ImportScope *outer, std::string place,
                int depth = 0)
      : shared_(shared), operatorSets_(operatorSets), attributes_(attributes), scope_(outer),
        place_(std::move(place)), depth_(depth) {}

  const ValueInfo *inputOf(mlir::Value array) const; // null if it is none of the model's
  void importNode(const Node &node);
  void importBy(const ImportRule &rule, const Node &node);
  void refuseUnknownAttributes(const Node &node, const NodeImporter &importer);
  void importCall(const Node &node, const Function &callee);
  bool dependsOnFailed(const Node &node);
  BoundAttribute bound(const Attribute &attribute);
  std::vector<ImportedValue> valuesOf(llvm::ArrayRef<std::string_view> names);
  std::string placeOf(const Node &node) const;
  int deeper()
      const; // the depth of a graph or a body within this one; throws Error if it is too deep

  SharedImport &shared_;
  const std::vector<OperatorSet> &operatorSets_;
  const BoundAttributes *attributes_; // of the function whose body this is; null if it is none
  ImportScope scope_;
  const std::string place_; // in messages: before that of a node
  const int depth_;         // 0: the model's graph
};

} // namespace tokamak::onnx
#endif
