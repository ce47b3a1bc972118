// Reads the types of values. The numbers of fields are those of onnx.proto.
//
//   TensorReader tensors(source);
//   ValueInfo value = TypeReader(tensors).valueInfo(bytes);
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_TYPEREADER_H
#define TOKAMAK_FRONTEND_ONNX_FILE_TYPEREADER_H

#include "frontend/onnx/file/TensorReader.h"

namespace tokamak::onnx {

class TypeReader {
public:
  // The other reader, which counts parts, outlives this one.
  explicit TypeReader(TensorReader &tensors) : tensors_(tensors) {}

  ValueInfo valueInfo(std::string_view bytes);
  // `depth` types around this one, itself included, have it for an element.
  Type type(std::string_view bytes, int depth);

private:
  Type tensorType(MessageReader &typeReader, Type::Kind kind, const Type &before);
  Type typeOfElements(MessageReader &typeReader, Type::Kind kind, const Type &before, int depth);
  std::vector<Dimension> shape(std::string_view bytes);
  Dimension dimension(std::string_view bytes);

  TensorReader &tensors_;
};

} // namespace tokamak::onnx
#endif
