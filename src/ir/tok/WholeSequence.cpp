#include "ir/tok/WholeSequence.h"

#include "base/Sizes.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

static Size wholeNumber(const Facts &scalar) {
  auto number = dyn_cast_or_null<FloatAttr>(scalar.value);
  if (!number)
    return scalar.integer;
  double value = number.getValueAsDouble();
  constexpr double mostExact = 0x1p53;
  return value == std::floor(value) && std::abs(value) < mostExact
             ? Size::constant(static_cast<int64_t>(value))
             : Size::unknown();
}

std::optional<WholeSequence> tok::wholeSequence(const Facts &from, const Facts &to,
                                                const Facts &by) {
  Size first = wholeNumber(from), last = wholeNumber(to), step = wholeNumber(by);
  bool followsEnd = isa_and_nonnull<UnitAttr>(by.value), rises = first.provedAtMost(last),
       falls = last.provedAtMost(first);
  bool isFalling = followsEnd ? falls && !rises : step.isConstant(-1);
  // A step that leads away from the end is an error when it runs.
  if (!(isFalling ? falls : rises) || (!followsEnd && !isFalling && !step.isConstant(1)))
    return std::nullopt;
  Size length = (isFalling ? first - last : last - first) + 1;
  if (length.isUnknown() || (length.isConstant() && !isSize(length.constantValue())))
    return std::nullopt;
  return WholeSequence{length, isFalling};
}
