// Types of values as messages say them.
//
//   typeText(input.type) // "float [1, 3, height, ?]"
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_TYPETEXT_H
#define TOKAMAK_FRONTEND_ONNX_FILE_TYPETEXT_H

#include "frontend/onnx/file/Model.h"

#include <string>

namespace tokamak::onnx {

std::string typeText(const Type &type);

} // namespace tokamak::onnx
#endif
