#include "runtime/natives/WindowPlaces.h"

namespace tokamak::runtime {

// Products of two such numbers and their sums are no longer than 64 bits.
static constexpr int64_t largestNumber = int64_t{1} << 30;
// Places of all windows along one dimension: each is looked at.
static constexpr int64_t mostPlaces = int64_t{1} << 28;

static int64_t numberOperand(const Value &value, std::string_view native) {
  int64_t number = value.asInteger();
  if (number > largestNumber || number < -largestNumber)
    throw Error(fmt::format("{}: no array has room for windows {} cells apart", native, number));
  return number;
}

WindowPlaces::WindowPlaces(std::span<const Value> numbers, int64_t size, int64_t stride,
                           std::string_view native)
    : windows_(sizeOperand(numbers[0], native, "windows")),
      places_(sizeOperand(numbers[1], native, "places")),
      first_(numberOperand(numbers[2], native) - 1), step_(numberOperand(numbers[3], native)),
      spacing_(numberOperand(numbers[4], native)), distance_(numberOperand(numbers[5], native)),
      size_(size), stride_(stride) {
  if (windows_ > 0 && places_ > mostPlaces / windows_)
    throw Error(fmt::format("{}: {} windows of {} places are too many", native, windows_, places_));
  if (distance_ < 1)
    throw Error(fmt::format("{}: the distance between cells is less than 1", native));
}

WindowPlaces WindowPlaces::ofCells(int64_t size) {
  WindowPlaces places;
  places.windows_ = places.size_ = size;
  places.places_ = places.step_ = places.spacing_ = places.distance_ = places.stride_ = 1;
  places.first_ = 0;
  return places;
}

WindowPlaces::Range WindowPlaces::windowsInside(int64_t place) const {
  int64_t first = first_ + place * spacing_;
  int64_t begin = first >= 0 ? 0 : (-first + step_ - 1) / step_;
  int64_t end = size_ <= first ? 0 : (size_ - 1 - first) / step_ + 1;
  begin = std::min(begin, windows_);
  return {begin, std::clamp(end, begin, windows_)};
}

std::vector<WindowPlaces> windowPlacesOf(const Shape &shape, std::span<const Value> numbers,
                                         std::string_view native) {
  auto windowed = static_cast<int>(numbers.size() / 6), leading = shape.rank() - windowed;
  if (windowed == 0 || leading < 0)
    throw Error(fmt::format("{}: {} dimensions of an array of {}", native, windowed, shape.text()));
  std::vector<WindowPlaces> places;
  for (int i = 0; i < windowed; ++i) {
    int64_t stride = productOfSizes(shape.sizes().subspan(leading + i + 1)).value_or(0);
    places.emplace_back(numbers.subspan(6 * i, 6), shape[leading + i], stride, native);
  }
  return places;
}

} // namespace tokamak::runtime
