// The mistakes in a model, each with its place, to be told at once.
//
//   ModelErrors errors("model.onnx");
//   errors.add(placeOf(node, 11), "input 1 is 'W1', which nothing defines", {"W"});
//   errors.throwIfAny();
//
// throws, as text:
//
//   model.onnx: node 17 'conv1' (Conv, opset 11): input 1 is 'W1', which nothing defines; did you
//   mean 'W'?
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_MODELERRORS_H
#define TOKAMAK_FRONTEND_ONNX_FILE_MODELERRORS_H

#include "frontend/onnx/file/Model.h"

#include <string>
#include <vector>

namespace tokamak::onnx {

// How messages name a node, given the version of its domain's operators: "node 17 'conv1' (Conv,
// opset 11)", or "(com.acme.Conv, opset 1)". Its number counts from 0, as in model.graph.node[17].
std::string placeOf(const Node &node, std::optional<int64_t> version);

class ModelErrors {
public:
  // More than these are not collected: a file can hold millions, and nobody reads them.
  static constexpr size_t most = 100;

  explicit ModelErrors(std::string path) : path_(std::move(path)) {}

  // A mistake at a place in the model, or in the model as a whole where it is "". `candidates` are
  // names that may have been meant.
  void add(const std::string &place, const std::string &message,
           const std::vector<std::string> &candidates = {});

  bool empty() const { return messages_.empty(); }
  void clear() { messages_.clear(); }
  // Whether there are so many that looking for more is idle.
  bool areEnough() const { return messages_.size() >= most; }

  // One for each mistake, with the model's path and the place; in the order of finding.
  const std::vector<std::string> &messages() const { return messages_; }

  // Throws Error with all messages, a line for each.
  void throwIfAny() const;

private:
  std::string path_;
  std::vector<std::string> messages_;
};

} // namespace tokamak::onnx
#endif
