// The windows of an image, in row-major order of all but its last dimension: rows of windows.
//
//   std::vector<WindowPlaces> along = windowPlacesOf(shape, numbers, "convolve");
//   WindowRows windows(along);          // `along` must outlive it
//   windows.forEachPlace(0, [&](int64_t number, int64_t place, int64_t base) {
//     windows.forEachInside(place, 0, windows.columns(), [&](int64_t window, int64_t cell) { sum += cells[base + cell]; });
//   });
#ifndef TOKAMAK_RUNTIME_NATIVES_WINDOWROWS_H
#define TOKAMAK_RUNTIME_NATIVES_WINDOWROWS_H

#include "runtime/natives/WindowPlaces.h"

namespace tokamak::runtime {

class WindowRows {
public:
  explicit WindowRows(std::span<const WindowPlaces> along) : along_(along), last_(along.back()) {
    for (const WindowPlaces &dimension : along) {
      windows_ *= dimension.windows();
      places_ *= dimension.places();
    }
    for (int64_t place = 0; place < last_.places() && last_.isEven(); ++place) {
      auto [begin, end] = last_.windowsInside(place);
      insides_.push_back({begin, end, begin < end ? last_.at(begin, place) : 0});
    }
  }

  // Whether the windows are the cells of the image, one after the other.
  bool areCells() const {
    return std::ranges::all_of(along_, [](const WindowPlaces &one) { return one.isEachCell(); });
  }
  int64_t windows() const { return windows_; }
  int64_t places() const { return places_; }
  int64_t columns() const { return last_.windows(); }
  int64_t rows() const { return columns() == 0 ? 0 : windows_ / columns(); }

  // The distance of cells that a place other than the last coordinate adds for the windows of a row; -1 if all are
  // outside. `outerPlace` counts the places of all dimensions but the last.
  int64_t base(int64_t row, int64_t outerPlace) const {
    int64_t base = 0;
    for (size_t i = along_.size() - 1; i-- > 0;) {
      int64_t windows = along_[i].windows(), places = along_[i].places();
      int64_t at = along_[i].at(row % windows, outerPlace % places);
      if (at < 0)
        return -1;
      base += at;
      row /= windows;
      outerPlace /= places;
    }
    return base;
  }
  int64_t outerPlaces() const { return last_.places() == 0 ? 0 : places_ / last_.places(); }
  const WindowPlaces &last() const { return last_; }
  // The windows of a row whose place of the last dimension is inside, and where that of the first one is along it, if
  // last().isEven().
  struct Inside {
    int64_t begin, end, cell;
  };
  const Inside &inside(int64_t place) const { return insides_[place]; }

  // Calls visit(number of a place, its place along the last dimension, base) for all places of the windows of a row,
  // but for those of which base() says that they are outside.
  template <typename Visit> void forEachPlace(int64_t row, const Visit &visit) const {
    int64_t number = 0;
    for (int64_t outer = 0; outer < outerPlaces(); ++outer, number += last_.places())
      if (int64_t base = this->base(row, outer); base >= 0)
        for (int64_t place = 0; place < last_.places(); ++place)
          visit(number + place, place, base);
  }

  // Calls visit(window, cell) for the windows from `begin` to `end` of one row whose place `place` of the last
  // dimension is inside; `cell` is the distance along this dimension.
  template <typename Visit>
  void forEachInside(int64_t place, int64_t begin, int64_t end, const Visit &visit) const {
    if (last_.isEven()) {
      const Inside &inside = insides_[place];
      int64_t step = last_.step(), skipped = std::max<int64_t>(0, begin - inside.begin);
      begin = inside.begin + skipped;
      end = std::min(end, inside.end);
      int64_t cell = inside.cell + skipped * step;
      // Two loops, so that the compiler makes vectors of the first one.
      if (step == 1)
        for (int64_t window = begin; window < end; ++window)
          visit(window, cell + (window - begin));
      else
        for (int64_t window = begin; window < end; ++window)
          visit(window, cell + (window - begin) * step);
      return;
    }
    for (int64_t window = begin; window < end; ++window)
      if (int64_t cell = last_.at(window, place); cell >= 0)
        visit(window, cell);
  }

private:
  std::span<const WindowPlaces> along_;
  const WindowPlaces &last_;
  std::vector<Inside> insides_; // of each place of the last dimension, if that is even
  int64_t windows_ = 1, places_ = 1;
};

} // namespace tokamak::runtime
#endif
