// Reads the protobuf of a model. It checks that the bytes are protobuf and that their parts are as
// many and as deep as limits allow; what they say is checked by ModelStructure.h.
//
//   Source source = {"model.onnx", bytes};
//   Model model = readModel(source);
//
// The model is a view into the bytes. Time and memory are bounded by the size of the file and by
// `mostParts` and `mostNested` (TensorReader.h) and `mostFunctions`.
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_MODELREADER_H
#define TOKAMAK_FRONTEND_ONNX_FILE_MODELREADER_H

#include "frontend/onnx/file/MessageReader.h"
#include "frontend/onnx/file/Model.h"

namespace tokamak::onnx {

// Exporters write hundreds. Tables of functions take far more memory than empty ones in a file.
constexpr size_t mostFunctions = 1 << 16;

// Throws Error with the place in the file where the bytes stop making sense.
Model readModel(const Source &source);

} // namespace tokamak::onnx
#endif
