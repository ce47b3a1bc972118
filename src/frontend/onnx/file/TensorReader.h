// Reads the tensors of a file, and counts what is read from it.
//
//   Source source = {"input_0.pb", bytes};
//   Tensor tensor = readTensor(source);
//
// Cells stay where they are (TensorCells.h). All functions throw Error with the place in the file
// where the bytes stop making sense.
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_TENSORREADER_H
#define TOKAMAK_FRONTEND_ONNX_FILE_TENSORREADER_H

#include "frontend/onnx/file/MessageReader.h"
#include "frontend/onnx/file/Model.h"

namespace tokamak::onnx {

// Two bytes are enough for a node, which takes a hundred times as many in memory. A file with more
// nodes, attributes, tensors, values, types and sizes of dimensions than this is an error.
constexpr int64_t mostParts = int64_t{1} << 22;

// For readers of messages that contain tensors.
class TensorReader {
public:
  explicit TensorReader(const Source &source) : source_(source) {}

  // The reader of a message that becomes a part of the result.
  MessageReader part(std::string_view bytes, const char *name);
  // The same for messages that contain themselves, `depth` of them around this one; `what` they are
  // is said if they are too many.
  MessageReader nestedPart(std::string_view bytes, const char *name, int depth, const char *what);
  // Fails if there will be too many with `count` more.
  void expectParts(const MessageReader &reader, int64_t count) const;
  KeyAndValue keyAndValue(std::string_view bytes);
  Tensor tensor(std::string_view bytes);
  SparseTensor sparseTensor(std::string_view bytes);

private:
  const Source &source_;
  int64_t parts_ = 0;
};

// Graphs in attributes of nodes of graphs, or types of elements of types: deeper ones are errors.
constexpr int mostNested = 64;

// A TensorProto on its own.
Tensor readTensor(const Source &source);

} // namespace tokamak::onnx
#endif
