#include "frontend/onnx/NarrowCells.h"

#include "base/Error.h"
#include "frontend/onnx/file/NarrowFloats.h"
#include "frontend/onnx/file/QuotedName.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

NarrowUse onnx::narrowUseOf(StringRef opType) {
  return llvm::StringSwitch<NarrowUse>(opType)
      .Cases("Cast", "CastLike", "DequantizeLinear", "QuantizeLinear", NarrowUse::Converts)
      .Cases("Flatten", "Identity", "Pad", "Reshape", "Squeeze", "Transpose", "Unsqueeze",
             NarrowUse::Moves)
      .Cases("Shape", "Size", NarrowUse::Moves)
      .Default(NarrowUse::None);
}

bool onnx::isNarrowInteger(DataType type) {
  return type == DataType::Int4 || type == DataType::Int2 || type == DataType::UInt4 ||
         type == DataType::UInt2;
}

static bool isSigned(DataType type) { return type == DataType::Int4 || type == DataType::Int2; }

int64_t onnx::leastNarrowInteger(DataType type) {
  return isSigned(type) ? -(int64_t{1} << (bitsOf(type) - 1)) : 0;
}
int64_t onnx::largestNarrowInteger(DataType type) {
  return (int64_t{1} << (bitsOf(type) - (isSigned(type) ? 1 : 0))) - 1;
}

namespace {

Value number(GraphBuilder &graph, double value) {
  return graph.filled(value, graph.builder().getF64Type());
}

Value integersOf(GraphBuilder &graph, Value x, DataType type) {
  Value bits = graph.binary(Binary::BitwAnd, graph.cast(x, ElementType::I32),
                            graph.integer((int64_t{1} << bitsOf(type)) - 1));
  if (isSigned(type)) {
    Value sign = graph.integer(int64_t{1} << (bitsOf(type) - 1));
    bits = graph.binary(Binary::Sub, graph.binary(Binary::BitwXor, bits, sign), sign);
  }
  return graph.cast(bits, *heldElementTypeOf(type));
}

// Of doubles that are not negative, the largest power of 2 that is not above them; 0 of 0. Exact in the arithmetic of
// doubles below 2^970 (S. M. Rump, T. Ogita, S. Oishi: Accurate floating-point summation, part I, section 3).
Value firstPlace(GraphBuilder &graph, Value x) {
  Value grown = graph.binary(Binary::Mul, x, graph.real(0x1p52 + 1));
  Value less = graph.binary(Binary::Mul, grown, graph.real(1 - 0x1p-53));
  return graph.unary(Unary::Abs, graph.binary(Binary::Sub, grown, less));
}

// Magnitudes up to a bound.
Value bounded(GraphBuilder &graph, Value x, double bound) {
  Value magnitude = graph.unary(Unary::Abs, x);
  Value isBeyond = graph.binary(Binary::Gt, magnitude, graph.real(bound));
  return graph.select(isBeyond, number(graph, bound), magnitude);
}

Value isNan(GraphBuilder &graph, Value x) {
  return graph.cast(graph.unary(Unary::IsNan, x), ElementType::Bool);
}

// Signed numbers: multiples of the last place that the fraction has.
Value floatsOf(GraphBuilder &graph, Value x, DataType type, bool saturates) {
  NarrowFormat format = formatOf(type);
  double largest = largestNarrowFloat(type), infinity = std::numeric_limits<double>::infinity(),
         nan = std::numeric_limits<double>::quiet_NaN();
  bool hasNan = format.special != NarrowFormat::Special::None;
  double beyond = saturates || !hasNan                            ? largest
                  : format.special == NarrowFormat::Special::Ieee ? infinity
                                                                  : nan;
  Value magnitude = bounded(graph, x, 4 * largest);
  Value place = graph.binary(Binary::Max, firstPlace(graph, magnitude),
                             graph.real(std::ldexp(1.0, 1 - format.bias)));
  Value step = graph.binary(Binary::Mul, place, graph.real(std::ldexp(1.0, -format.fractionBits)));
  Value rounded = graph.binary(Binary::Mul,
                               graph.roundToEven(graph.binary(Binary::Div, magnitude, step)), step);
  Value isBeyond = graph.binary(Binary::Gt, rounded, graph.real(largest));
  rounded = graph.select(isBeyond, number(graph, beyond), rounded);
  Value isNegative = graph.binary(Binary::Lt, x, graph.real(0));
  rounded = graph.select(isNegative, graph.unary(Unary::Neg, rounded), rounded);
  return graph.select(isNan(graph, x), number(graph, hasNan ? nan : 0), rounded);
}

// Powers of 2 from 2^-127 to 2^127, of magnitudes.
Value powersOf(GraphBuilder &graph, Value x, const Narrowing &narrowing) {
  constexpr double least = 0x1p-127, largest = 0x1p127;
  Value magnitude = bounded(graph, x, 4 * largest);
  Value place = graph.binary(Binary::Max, firstPlace(graph, magnitude), graph.real(least));
  Value isMore;
  if (narrowing.rounding == "up")
    isMore = graph.binary(Binary::Gt, magnitude, place);
  else if (narrowing.rounding == "nearest")
    isMore = graph.binary(Binary::Ge, magnitude, graph.binary(Binary::Mul, place, graph.real(1.5)));
  else if (narrowing.rounding != "down")
    throw Error(fmt::format("there is no rounding mode {}", quotedName(narrowing.rounding)));
  if (isMore)
    place = graph.select(isMore, graph.binary(Binary::Mul, place, graph.real(2)), place);
  Value nan = number(graph, std::numeric_limits<double>::quiet_NaN());
  Value isBeyond = graph.binary(Binary::Gt, place, graph.real(largest));
  place = graph.select(isBeyond, narrowing.saturates ? number(graph, largest) : nan, place);
  Value isInfinite = graph.cast(graph.unary(Unary::IsInfinite, x), ElementType::Bool);
  return graph.select(graph.binary(Binary::Or, isInfinite, isNan(graph, x)), nan, place);
}

} // namespace

Value onnx::narrowed(GraphBuilder &graph, Value array, DataType type, const Narrowing &narrowing) {
  if (isNarrowInteger(type))
    return integersOf(graph, array, type);
  Value wide = graph.cast(array, ElementType::F64);
  Value numbers = type == DataType::Float8E8M0 ? powersOf(graph, wide, narrowing)
                                               : floatsOf(graph, wide, type, narrowing.saturates);
  return graph.cast(numbers, *heldElementTypeOf(type));
}
