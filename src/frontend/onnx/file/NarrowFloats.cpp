#include "frontend/onnx/file/NarrowFloats.h"

#include "base/Error.h"

#include <cmath>
#include <limits>

namespace tokamak::onnx {
namespace {

constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();

using Special = NarrowFormat::Special;

} // namespace

NarrowFormat formatOf(DataType type) {
  switch (type) {
  case DataType::Float8E4M3FN:
    return {4, 3, 7, Special::Nan};
  case DataType::Float8E4M3FNUZ:
    return {4, 3, 8, Special::NegativeNan};
  case DataType::Float8E5M2:
    return {5, 2, 15, Special::Ieee};
  case DataType::Float8E5M2FNUZ:
    return {5, 2, 16, Special::NegativeNan};
  case DataType::Float6E2M3:
    return {2, 3, 1, Special::None};
  case DataType::Float6E3M2:
    return {3, 2, 3, Special::None};
  case DataType::Float4E2M1:
    return {2, 1, 1, Special::None};
  default:
    internalError("a type of narrow floats was expected, not " + nameOf(type));
  }
}

float largestNarrowFloat(DataType type) {
  NarrowFormat format = formatOf(type);
  unsigned all = (1U << (format.exponentBits + format.fractionBits)) - 1;
  unsigned reserved = format.special == Special::Nan    ? 1
                      : format.special == Special::Ieee ? 1U << format.fractionBits
                                                        : 0;
  return narrowFloat(type, all - reserved);
}

float narrowFloat(DataType type, unsigned bits) {
  if (type == DataType::Float8E8M0) { // an exponent alone
    constexpr unsigned nan = 255;
    constexpr int bias = 127;
    return bits == nan ? notANumber : std::ldexp(1.0F, static_cast<int>(bits) - bias);
  }
  NarrowFormat format = formatOf(type);
  unsigned magnitudeBits = static_cast<unsigned>(format.exponentBits + format.fractionBits);
  unsigned magnitude = bits & ((1U << magnitudeBits) - 1);
  bool isNegative = (bits >> magnitudeBits & 1) != 0;
  unsigned exponent = magnitude >> format.fractionBits;
  unsigned fraction = magnitude & ((1U << format.fractionBits) - 1);
  bool isHighest = exponent == (1U << format.exponentBits) - 1;
  bool isAllOnes = magnitude == (1U << magnitudeBits) - 1;

  if (format.special == Special::NegativeNan && isNegative && magnitude == 0)
    return notANumber;
  if ((format.special == Special::Nan && isAllOnes) ||
      (format.special == Special::Ieee && isHighest && fraction != 0))
    return notANumber;
  float number = std::numeric_limits<float>::infinity();
  if (format.special != Special::Ieee || !isHighest) {
    // Numbers with exponent 0 are multiples of the smallest one.
    unsigned significand = exponent == 0 ? fraction : fraction | 1U << format.fractionBits;
    int power = static_cast<int>(exponent == 0 ? 1 : exponent) - format.bias - format.fractionBits;
    number = std::ldexp(static_cast<float>(significand), power);
  }
  return isNegative ? -number : number;
}

} // namespace tokamak::onnx
