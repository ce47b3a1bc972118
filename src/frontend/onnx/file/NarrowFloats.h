// The numbers of the floating-point types of 4, 6 and 8 bits, all of which float holds exactly.
//
//   narrowFloat(DataType::Float8E4M3FN, 0x7e) == 448.0F
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_NARROWFLOATS_H
#define TOKAMAK_FRONTEND_ONNX_FILE_NARROWFLOATS_H

#include "frontend/onnx/file/DataType.h"

namespace tokamak::onnx {

// The number with these bits; `type` is one of those whose names begin with float4, float6 or
// float8.
float narrowFloat(DataType type, unsigned bits);

// How such a number is built, float8e8m0 aside, which is an exponent alone.
struct NarrowFormat {
  // What the bits mean that don't follow the rule of sign, exponent and fraction.
  enum class Special : uint8_t {
    None,
    Nan,         // all ones but for the sign
    NegativeNan, // the bits of -0
    Ieee,        // the highest exponent: infinity or NaN
  };
  int exponentBits, fractionBits, bias;
  Special special;
};
NarrowFormat formatOf(DataType type);

// The largest finite number.
float largestNarrowFloat(DataType type);

} // namespace tokamak::onnx
#endif
