// The types of the cells of arrays, and how a cell of one type becomes a cell of another.
//
//   byteSize(ElementType::BF16) == 2
//   nameOf(ElementType::U8) == "ui8"                        // as in the text of the dialect
//   convertCell<int8_t>(-300.7) == -128                     // truncated, then saturated
//   withCellType(ElementType::F64, []<typename Cell>() { return sizeof(Cell); });   // of a double
//
// Conversions, the same in the reference, the runtime and generated code, as a table:
//   to f64, f32        the nearest number; ties go to the even one
//   to f16, bf16       first to f32, then to the nearest number of the type
//   float to integer   towards zero; what doesn't fit becomes the nearest integer that does; NaN
//                      becomes 0
//   integer to integer the lowest bits are kept (the value modulo a power of 2)
//   to i1              whether the cell is not 0 (NaN is not)
#ifndef TOKAMAK_BASE_ELEMENTTYPE_H
#define TOKAMAK_BASE_ELEMENTTYPE_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tokamak {

// The values are those of TokElementType (abi/Kernel.h).
enum class ElementType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Bool
};
constexpr int elementTypeCount = 13;

// IEEE 754 binary16, and the upper half of a binary32.
using Float16 = _Float16;
class BFloat16 {
public:
  BFloat16() = default;
  explicit BFloat16(float value) {
    auto bits = std::bit_cast<uint32_t>(value);
    bits_ = std::isnan(value) ? static_cast<uint16_t>(bits >> 16 | 0x40)
                              : static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits_) << 16);
  }

private:
  uint16_t bits_;
};

constexpr bool isFloat(ElementType type) { return type <= ElementType::BF16; }
constexpr bool isHalf(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16;
}
constexpr bool isSignedInteger(ElementType type) {
  return type >= ElementType::I8 && type <= ElementType::I64;
}
constexpr bool isUnsignedInteger(ElementType type) {
  return type >= ElementType::U8 && type <= ElementType::U64;
}
constexpr bool isInteger(ElementType type) {
  return isSignedInteger(type) || isUnsignedInteger(type);
}
// The element types of sparse matrices.
constexpr bool mayBeSparse(ElementType type) {
  return type == ElementType::F64 || type == ElementType::F32;
}

constexpr int64_t byteSize(ElementType type) {
  constexpr int8_t sizes[elementTypeCount] = {8, 4, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  return sizes[static_cast<int>(type)];
}

// As MLIR spells it: "f64", "bf16", "i8", "ui8", "i1".
std::string_view nameOf(ElementType type);
// Nothing if no type has this name.
std::optional<ElementType> elementTypeNamed(std::string_view name);

template <typename Cell> constexpr bool isFloatCell = !std::is_integral_v<Cell>;

// Calls body.operator()<Cell>() for the C++ type of the cells.
template <typename Body> decltype(auto) withCellType(ElementType type, const Body &body) {
  switch (type) {
  case ElementType::F64:
    return body.template operator()<double>();
  case ElementType::F32:
    return body.template operator()<float>();
  case ElementType::F16:
    return body.template operator()<Float16>();
  case ElementType::BF16:
    return body.template operator()<BFloat16>();
  case ElementType::I8:
    return body.template operator()<int8_t>();
  case ElementType::I16:
    return body.template operator()<int16_t>();
  case ElementType::I32:
    return body.template operator()<int32_t>();
  case ElementType::I64:
    return body.template operator()<int64_t>();
  case ElementType::U8:
    return body.template operator()<uint8_t>();
  case ElementType::U16:
    return body.template operator()<uint16_t>();
  case ElementType::U32:
    return body.template operator()<uint32_t>();
  case ElementType::U64:
    return body.template operator()<uint64_t>();
  case ElementType::Bool:
    return body.template operator()<bool>();
  }
  __builtin_unreachable();
}

// Calls body.operator()<Cell>() for an unsigned integer as large as a cell: for code that moves
// cells.
template <typename Body> decltype(auto) withCellSize(ElementType type, const Body &body) {
  switch (byteSize(type)) {
  case 1:
    return body.template operator()<uint8_t>();
  case 2:
    return body.template operator()<uint16_t>();
  case 4:
    return body.template operator()<uint32_t>();
  default:
    return body.template operator()<uint64_t>();
  }
}

// See the rules at the top of this file.
template <typename To, typename From> To convertCell(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, BFloat16> || std::is_same_v<From, Float16>) {
    return convertCell<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, BFloat16> || std::is_same_v<To, Float16>) {
    return static_cast<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    if (std::isnan(value))
      return 0;
    // 2^digits and -2^digits are numbers of every float type; the largest integer may not be.
    From beyond = std::ldexp(From(1), std::numeric_limits<To>::digits);
    From least = std::is_signed_v<To> ? -beyond : From(0);
    if (value >= beyond)
      return std::numeric_limits<To>::max();
    return value < least ? std::numeric_limits<To>::min() : static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// The number, rounded to a type of floats, as a double.
double roundedTo(ElementType type, double value);

// A cell of an integer type or i1 as 64 bits; those of a ui64 are read as an int64_t. These are
// the same conversions as convertCell's.
int64_t integerOf(ElementType type, double value);
int64_t wrappedTo(ElementType type, int64_t value);
double doubleOf(ElementType type, int64_t cell);
int64_t leastInteger(ElementType type);
int64_t largestInteger(ElementType type);

} // namespace tokamak
#endif
