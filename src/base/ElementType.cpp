#include "base/ElementType.h"

#include <algorithm>
#include <iterator>

namespace tokamak {

static constexpr std::string_view names[elementTypeCount] = {
    "f64", "f32", "f16", "bf16", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "i1"};

std::string_view nameOf(ElementType type) { return names[static_cast<int>(type)]; }

std::optional<ElementType> elementTypeNamed(std::string_view name) {
  const auto *found = std::find(std::begin(names), std::end(names), name);
  return found == std::end(names)
             ? std::nullopt
             : std::optional(static_cast<ElementType>(found - std::begin(names)));
}

double roundedTo(ElementType type, double value) {
  switch (type) {
  case ElementType::F32:
    return static_cast<double>(static_cast<float>(value));
  case ElementType::F16:
    return static_cast<double>(convertCell<Float16>(value));
  case ElementType::BF16:
    return static_cast<double>(static_cast<float>(convertCell<BFloat16>(value)));
  default:
    return value;
  }
}

int64_t integerOf(ElementType type, double value) {
  return withCellType(type, [&]<typename Cell>() -> int64_t {
    if constexpr (isFloatCell<Cell>)
      return 0;
    else
      return static_cast<int64_t>(convertCell<Cell>(value));
  });
}

int64_t wrappedTo(ElementType type, int64_t value) {
  return withCellType(type, [&]<typename Cell>() -> int64_t {
    if constexpr (isFloatCell<Cell>)
      return value;
    else
      return static_cast<int64_t>(convertCell<Cell>(value));
  });
}

// A limit of the type, which `limit` is called for with the C++ type of the cells.
template <typename Limit> static int64_t limitOf(ElementType type, Limit limit) {
  return withCellType(type, [&]<typename Cell>() -> int64_t {
    if constexpr (isFloatCell<Cell>)
      return 0;
    else
      return static_cast<int64_t>(limit(std::numeric_limits<Cell>()));
  });
}
int64_t leastInteger(ElementType type) {
  return limitOf(type, [](auto limits) { return limits.min(); });
}
int64_t largestInteger(ElementType type) {
  return limitOf(type, [](auto limits) { return limits.max(); });
}

double doubleOf(ElementType type, int64_t cell) {
  return type == ElementType::U64 ? static_cast<double>(static_cast<uint64_t>(cell))
                                  : static_cast<double>(cell);
}

} // namespace tokamak
