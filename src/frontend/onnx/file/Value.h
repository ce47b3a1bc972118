// A value that a graph takes or gives, as the files beside a model's tests hold it.
//
//   Source source = {"input_0.pb", bytes};
//   Value value = readValue(source, model.graph.inputs[0].type.kind);
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_VALUE_H
#define TOKAMAK_FRONTEND_ONNX_FILE_VALUE_H

#include "frontend/onnx/file/TensorReader.h"

namespace tokamak::onnx {

// Views into the bytes of its file. An optional is its value, or of kind None.
struct Value {
  Type::Kind kind = Type::Kind::None;
  Tensor tensor;
  std::unique_ptr<SparseTensor> sparse;
  std::vector<Value> elements;              // of a sequence; of a map, in the order of its keys
  std::vector<int64_t> keys;                // of a map with integers,
  std::vector<std::string_view> stringKeys; // or with strings for keys
};

// A file doesn't say which kind of value it holds: `kind` is that of the type in the model. Throws
// Error with the place in the file where the bytes stop making sense.
Value readValue(const Source &source, Type::Kind kind);

} // namespace tokamak::onnx
#endif
