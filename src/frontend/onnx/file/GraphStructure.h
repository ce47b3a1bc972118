// Verifies a graph, the graphs within its nodes, and the bodies of functions: the part of
// ModelStructure.h that is about names, nodes and attributes.
//
//   FunctionCalls calls(model.functions);
//   GraphStructure(model.operatorSets, nullptr, calls, &external, errors).verify(graph);
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_GRAPHSTRUCTURE_H
#define TOKAMAK_FRONTEND_ONNX_FILE_GRAPHSTRUCTURE_H

#include "frontend/onnx/file/ExternalData.h"
#include "frontend/onnx/file/FunctionCalls.h"
#include "frontend/onnx/file/ModelErrors.h"
#include "frontend/onnx/file/NameTable.h"
#include "frontend/onnx/file/NodeOrder.h"

#include <map>
#include <optional>

namespace tokamak::onnx {

class GraphStructure {
public:
  // `function` is null for the model's graph. `calls` learns which functions the nodes call.
  GraphStructure(const std::vector<OperatorSet> &operatorSets, const Function *function,
                 FunctionCalls &calls, ExternalData *external, ModelErrors &errors);

  // Each sorts nodes where the file doesn't have them in order.
  void verify(Graph &graph);
  void verifyBody(Function &function);

private:
  // The graph that is looked at, or one around it.
  struct Level {
    const std::vector<Node> *nodes = nullptr;
    size_t current = 0;              // which node is looked at,
    std::string_view attribute = {}; // and in which attribute the next level is
    std::vector<NodeOrder::Edge> uses = {};
  };

  // A part of a node or a graph as messages name it: "input 2", "attribute 'axis'". It becomes text
  // only when something is wrong with it.
  struct Subject {
    const char *word;
    std::optional<size_t> number = {};
    std::string_view name = {}; // if there is no number
    const char *owner = "";
    std::string text() const;
  };

  std::string place() const; // of what is looked at
  std::string placeOfNode(const Level &level, size_t index) const;
  std::string describe(const Definition &definition) const;
  void add(const std::string &message, const std::vector<std::string> &candidates = {}) {
    errors_.add(place(), message, candidates);
  }
  template <typename Names>
  std::vector<std::string> candidatesFor(std::string_view name, const Names &names);

  void defineInput(std::string_view name, size_t number);
  void defineInitializer(std::string_view name, const Subject &what);
  void defineOutputs(const std::vector<Node> &nodes);
  void define(std::string_view name, Definition definition, const Subject &what);
  void verifyNodes(std::vector<Node> &nodes);
  void verifyNode(Node &node);
  void verifyCall(const Node &node, const Function &callee);
  void verifyOutputs(const std::vector<std::string_view> &names);
  void verifyAttributes(std::vector<Attribute> &attributes);
  void verifyValue(Attribute &attribute, const Subject &what);
  void verifyTensor(const Tensor &tensor, const Subject &what);
  void verifySparse(const SparseTensor &tensor, const Subject &what);
  void verifyType(const Type &type, const Subject &what);
  void use(std::string_view name, const Subject &what);
  void sort(std::vector<Node> &nodes, const std::vector<NodeOrder::Edge> &uses);

  std::map<std::string_view, int64_t> versions_; // by domain
  const Function *function_;
  FunctionCalls &calls_;
  ExternalData *external_;
  ModelErrors &errors_;
  NameTable names_;
  std::vector<Level> levels_;
  bool isInNode_ = false; // place() is that of the current node
  // Candidates for names are looked for by comparing letters, as long as some are left of so many
  // pairs: a file may have a million names that are wrong.
  size_t comparisons_ = 20000000;
};

} // namespace tokamak::onnx
#endif
