// Overlapping parts (windows) of the last dimensions of an array: where each place of each window lies. Natives of
// windows take six numbers for each of these dimensions (base/Natives.def).
//
//   WindowPlaces along(numbers, size, stride, "windows");
//   along.at(window, place)        // the cell's distance from the beginning, along this dimension; -1 outside
#ifndef TOKAMAK_RUNTIME_NATIVES_WINDOWPLACES_H
#define TOKAMAK_RUNTIME_NATIVES_WINDOWPLACES_H

#include "runtime/natives/NativeOperands.h"

#include <vector>

namespace tokamak::runtime {

class WindowPlaces {
public:
  // `size` of the array's dimension, and the distance `stride` between neighbours along it, in cells.
  // Throws Error for sizes that there can't be, and for numbers that no array has room for.
  WindowPlaces(std::span<const Value> numbers, int64_t size, int64_t stride,
               std::string_view native);

  int64_t windows() const { return windows_; }
  int64_t places() const { return places_; }
  int64_t at(int64_t window, int64_t place) const {
    int64_t at = first_ + window * step_ + place * spacing_;
    if (distance_ != 1) {
      if (at % distance_ != 0)
        return -1;
      at /= distance_;
    }
    return at >= 0 && at < size_ ? at * stride_ : -1;
  }
  // Whether the dimension has one cell, and one window that is this cell.
  bool isOneCell() const { return size_ == 1 && windows_ == 1 && places_ == 1 && at(0, 0) == 0; }
  // Whether each window is a cell, one after the other.
  bool isEachCell() const {
    return windows_ == size_ && places_ == 1 && first_ == 0 && step_ == 1 && distance_ == 1;
  }
  // Whether windows follow each other at a constant distance in the array, which is `step()` cells times the
  // stride, from the first one whose place is inside to the last one.
  bool isEven() const { return distance_ == 1 && step_ >= 1; }
  int64_t first() const { return first_; } // where the first place of the first window is, from 0
  int64_t step() const { return step_; }
  // Of neighbouring places of a window, in cells, if isEven().
  int64_t distanceOfPlaces() const { return spacing_ * stride_; }
  // The windows whose place is inside, if isEven().
  struct Range {
    int64_t begin, end;
  };
  Range windowsInside(int64_t place) const;

  // Of `size` cells, each a window.
  static WindowPlaces ofCells(int64_t size);

private:
  WindowPlaces() = default;

  int64_t windows_, places_, first_, step_, spacing_, distance_, size_, stride_;
};

// The places of the last dimensions of `shape`, for which there are six numbers each.
std::vector<WindowPlaces> windowPlacesOf(const Shape &shape, std::span<const Value> numbers,
                                         std::string_view native);

} // namespace tokamak::runtime
#endif
