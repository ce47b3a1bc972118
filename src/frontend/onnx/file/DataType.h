// The types that cells of ONNX tensors have, and what Tokamak keeps such cells in.
//
//   nameOf(DataType::Float8E4M3FN) == "float8e4m3fn"
//   elementTypeOf(DataType::Int4) == std::nullopt                 // Tokamak has no such cells,
//   widenedElementTypeOf(DataType::Int4) == ElementType::I8       // but these hold all its numbers,
//   heldElementTypeOf(DataType::Int4) == ElementType::I8          // so that arrays of them are kept in these
//
// The numbers are those of the format, in which files write them.
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_DATATYPE_H
#define TOKAMAK_FRONTEND_ONNX_FILE_DATATYPE_H

#include "base/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tokamak::onnx {

enum class DataType : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,  // two floats, the real part first
  Complex128 = 15, // two doubles
  BFloat16 = 16,
  Float8E4M3FN = 17,   // NaN, no infinity
  Float8E4M3FNUZ = 18, // the same without a negative zero
  Float8E5M2 = 19,     // as IEEE 754
  Float8E5M2FNUZ = 20, // NaN, neither infinity nor negative zero
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23, // neither NaN nor infinity, as in the two types of six bits
  Float8E8M0 = 24, // powers of 2, and NaN
  UInt2 = 25,
  Int2 = 26,
  Float6E2M3 = 27,
  Float6E3M2 = 28,
};

// Whether the number is that of a type that tensors may have; a file may hold any number.
constexpr bool isKnown(DataType type) {
  return type > DataType::Undefined && type <= DataType::Float6E3M2;
}

// As ONNX names it, in lower case: "float", "uint4"; "no type" or "type 99" if it has none.
std::string nameOf(DataType type);

// The bits of a cell in raw data, both parts of complex numbers together; 0 for strings and for
// unknown types.
int bitsOf(DataType type);

constexpr bool isComplex(DataType type) {
  return type == DataType::Complex64 || type == DataType::Complex128;
}

// The same type among Tokamak's, or nothing.
std::optional<ElementType> elementTypeOf(DataType type);

// The same type or else the narrowest of Tokamak's that holds every number of `type`: i8 for int4,
// f16 for floats of 4 to 8 bits (bf16 for float8e8m0, whose powers go further), f32 or f64 for the
// parts of complex numbers. Nothing for strings and unknown types.
std::optional<ElementType> widenedElementTypeOf(DataType type);

// Whether arrays of such cells are kept in a wider type: numbers of 2 to 8 bits that Tokamak doesn't have.
bool isNarrow(DataType type);

// What arrays of such cells are kept in: the same type, or the one to which a narrow one is widened. Nothing for
// strings, complex numbers and unknown types.
std::optional<ElementType> heldElementTypeOf(DataType type);

} // namespace tokamak::onnx
#endif
