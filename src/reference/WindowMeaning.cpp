#include "reference/WindowMeaning.h"

#include "base/CellOperators.h"
#include "reference/MatrixAccess.h"

#include <limits>
#include <optional>
#include <vector>

namespace tokamak::reference {
namespace {

using runtime::Shape;
using Sizes = std::vector<int64_t>;

// One dimension of windows.
struct Windowed {
  int64_t windows, places, first, step, spacing, distance;

  // Where the place of a window is along this dimension of an array; nothing outside of it.
  std::optional<int64_t> at(int64_t window, int64_t place, int64_t size) const {
    int64_t at = first - 1 + window * step + place * spacing;
    if (at < 0 || at % distance != 0 || at / distance >= size)
      return std::nullopt;
    return at / distance;
  }
};

std::vector<Windowed> windowedOf(const Shape &shape, std::span<const Value> numbers,
                                 std::string_view operation) {
  if (numbers.size() < 6 || numbers.size() / 6 > static_cast<size_t>(shape.rank()))
    throw Error(fmt::format("{}: {} dimensions of an array of {}", operation, numbers.size() / 6,
                            shape.text()));
  std::vector<Windowed> all;
  for (size_t i = 0; i + 5 < numbers.size(); i += 6) {
    for (size_t number = 2; number < 6; ++number) {
      constexpr int64_t largest = int64_t{1} << 30;
      if (int64_t value = numbers[i + number].asInteger(); value > largest || value < -largest)
        throw Error(
            fmt::format("{}: no array has room for windows {} cells apart", operation, value));
    }
    all.push_back({sizeOf(numbers[i], operation, "windows"),
                   sizeOf(numbers[i + 1], operation, "places"), numbers[i + 2].asInteger(),
                   numbers[i + 3].asInteger(), numbers[i + 4].asInteger(),
                   numbers[i + 5].asInteger()});
    if (int64_t count = all.back().windows;
        count > 0 && all.back().places > (int64_t{1} << 28) / count)
      throw Error(fmt::format("{}: {} windows of {} places are too many", operation, count,
                              all.back().places));
    if (all.back().distance < 1)
      throw Error(fmt::format("{}: the distance between cells is less than 1", operation));
  }
  return all;
}

// Calls visit(place) for all places of an array of these sizes, in row-major order.
template <typename Visit> void forEachPlace(const Sizes &sizes, const Visit &visit) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  Sizes place(sizes.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t dimension = sizes.size(); dimension-- > 0; rest /= sizes[dimension])
      place[dimension] = rest % sizes[dimension];
    visit(place);
  }
}

// The cell at `leading` and the places of a window; nothing outside.
std::optional<double> cellIn(const Array &x, Sizes leading, const std::vector<Windowed> &along,
                             std::span<const int64_t> window, std::span<const int64_t> place) {
  for (size_t i = 0; i < along.size(); ++i) {
    auto at = along[i].at(window[i], place[i], x.shape()[static_cast<int>(leading.size())]);
    if (!at)
      return std::nullopt;
    leading.push_back(*at);
  }
  int64_t cell = 0;
  for (size_t i = 0; i < leading.size(); ++i)
    cell = cell * x.shape()[static_cast<int>(i)] + leading[i];
  return x.data()[cell];
}

template <typename Number>
Sizes sizesFrom(const std::vector<Windowed> &along, Number Windowed::*which, Sizes sizes = {}) {
  for (const Windowed &dimension : along)
    sizes.push_back(dimension.*which);
  return sizes;
}

// An array whose cell at each place is the one that `from` gives.
template <typename From> ArrayPointer filledBy(const Sizes &sizes, const From &from) {
  ArrayPointer result = Array::create(Shape(std::span<const int64_t>(sizes)));
  int64_t next = 0;
  forEachPlace(sizes,
               [&](const Sizes &place) { result->mutableData()[next++] = from(std::span(place)); });
  return result;
}

} // namespace

Value windows(const Value &operand, const Value &outside, std::span<const Value> numbers) {
  const Array &x = arrayOf(operand, "windows");
  std::vector<Windowed> along = windowedOf(x.shape(), numbers, "windows");
  size_t windowed = along.size(), leading = x.shape().sizes().size() - windowed;
  Sizes sizes(x.shape().sizes().begin(), x.shape().sizes().end() - windowed);
  sizes = sizesFrom(along, &Windowed::places, sizesFrom(along, &Windowed::windows, sizes));
  return filledBy(sizes, [&](std::span<const int64_t> place) {
    Sizes first(place.begin(), place.begin() + leading);
    return cellIn(x, first, along, place.subspan(leading, windowed), place.last(windowed))
        .value_or(outside.asDouble());
  });
}

Value convolve(const Value &imageOperand, const Value &weightsOperand, const Value &groupsOperand,
               std::span<const Value> numbers) {
  const Array &image = arrayOf(imageOperand, "convolve"),
              &weights = arrayOf(weightsOperand, "convolve");
  std::vector<Windowed> along = windowedOf(image.shape(), numbers, "convolve");
  auto spatial = static_cast<int>(along.size());
  Sizes places = sizesFrom(along, &Windowed::places);
  bool arePlaces = image.shape().rank() == spatial + 2 && weights.shape().rank() == spatial + 2;
  for (int i = 0; arePlaces && i < spatial; ++i)
    arePlaces = places[i] == weights.shape()[i + 2];
  if (!arePlaces)
    throw Error(fmt::format("convolve: an image of {} and weights of {} don't go together",
                            image.shape().text(), weights.shape().text()));
  int64_t groups = groupsOperand.asInteger(), filters = weights.shape()[0],
          channels = weights.shape()[1];
  if (groups < 1 || filters % groups != 0 || image.shape()[1] != channels * groups)
    throw Error(fmt::format("convolve: the {} channels of the image and weights of {} are not "
                            "those of {} groups",
                            image.shape()[1], weights.shape().text(), groups));
  Sizes sizes = sizesFrom(along, &Windowed::windows, {image.shape()[0], filters});
  return filledBy(sizes, [&](std::span<const int64_t> place) {
    int64_t filter = place[1], group = filter / (filters / groups), weight = 0;
    double sum = 0;
    for (int64_t channel = 0; channel < channels; ++channel)
      forEachPlace(places, [&](const Sizes &inside) {
        auto cell =
            cellIn(image, {place[0], group * channels + channel}, along, place.subspan(2), inside);
        int64_t cellsOfFilter = weights.cells() / filters;
        if (cell)
          sum += *cell * weights.data()[filter * cellsOfFilter + weight];
        ++weight;
      });
    return sum;
  });
}

Value pool(const Value &operand, const Value &kind, std::span<const Value> numbers) {
  // Doubles hold all cells that are pooled, whatever their type.
  runtime::ArrayReference wide = runtime::Array::withElementType(operand.array(), ElementType::F64);
  const Array &x = *wide;
  bool isMaximum = kind.text() == "max";
  if (!isMaximum && kind.text() != "sum")
    throw Error(fmt::format("pool: there is no kind '{}', but max and sum", kind.text()));
  std::vector<Windowed> along = windowedOf(x.shape(), numbers, "pool");
  size_t leading = x.shape().sizes().size() - along.size();
  Sizes first(x.shape().sizes().begin(), x.shape().sizes().begin() + leading);
  return filledBy(sizesFrom(along, &Windowed::windows, first), [&](std::span<const int64_t> place) {
    double soFar = isMaximum ? -std::numeric_limits<double>::infinity() : 0;
    forEachPlace(sizesFrom(along, &Windowed::places), [&](const Sizes &inside) {
      auto cell = cellIn(x, Sizes(place.begin(), place.begin() + leading), along,
                         place.subspan(leading), inside);
      if (cell)
        soFar = evaluate(isMaximum ? BinaryOperator::Max : BinaryOperator::Add, soFar, *cell);
    });
    return soFar;
  });
}

} // namespace tokamak::reference
