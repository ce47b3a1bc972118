// The numbers of the floating-point types of 4, 6 and 8 bits, all of which float holds exactly.
//
//   narrowFloat(DataType::Float8E4M3FN, 0x7e) == 448.0F
//
#ifndef TOKAMAK_FRONTEND_ONNX_NARROWFLOATS_H
#define TOKAMAK_FRONTEND_ONNX_NARROWFLOATS_H

#include "frontend/onnx/DataType.h"

namespace tokamak::onnx {

// The number with these bits; `type` is one of those whose names begin with float4, float6 or
// float8.
float narrowFloat(DataType type, unsigned bits);

} // namespace tokamak::onnx
#endif
