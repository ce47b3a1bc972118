#include "runtime/natives/NarrowConvolution.h"

#include "runtime/natives/Blas.h"
#include "runtime/natives/IntegerProduct.h"

namespace tokamak::runtime {
namespace {

// The least work for a task: floating-point operations, which amortise that each task packs the windows for its product, and cells that
// are copied.
constexpr double smallestTaskFlops = 4e6;
constexpr int64_t smallestTaskCells = int64_t{1} << 15;
// The cells of windows that are multiplied at once: what the second-level cache holds.
constexpr int64_t mostCells = int64_t{1} << 17;
// Parts of products are multiples of what kernels compute at once.
constexpr int64_t filtersOfKernel = 8;

// A call takes longer than to copy a few cells.
template <typename Cell> void copyFew(const Cell *from, int64_t count, Cell *to) {
  constexpr int64_t mostCells = 8;
  if (count > mostCells)
    return void(std::copy_n(from, count, to));
#pragma clang loop vectorize(disable) unroll(disable)
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i];
}

} // namespace

template <typename Number>
NarrowConvolution<Number>::NarrowConvolution(const Array &image, const Array &weights,
                                             int64_t groups, const WindowRows &windows,
                                             Number *result)
    : image_(image), weights_(weights), windows_(windows), groups_(groups),
      channels_(weights.shape()[1]), filters_(weights.shape()[0] / groups),
      imageCells_(image.cells() / (image.shape()[0] * image.shape()[1])),
      spacing_(windows.last().distanceOfPlaces()), result_(result) {
  for (int64_t window = 0; window < windows.windows(); ++window)
    for (int64_t outer = 0; outer < windows.outerPlaces(); ++outer)
      runs_.push_back(runOf(window, outer));
}

template <typename Number>
auto NarrowConvolution<Number>::runOf(int64_t window, int64_t outerPlace) const -> Run {
  int64_t base = windows_.base(window / windows_.columns(), outerPlace),
          column = window % windows_.columns();
  const WindowPlaces &last = windows_.last();
  if (base < 0)
    return {};
  int64_t begin = 0, end = last.places();
  while (begin < end && last.at(column, begin) < 0)
    ++begin;
  while (begin < end && last.at(column, end - 1) < 0)
    --end;
  if (begin == end)
    return {};
  return {begin, end - begin, base + last.at(column, begin)};
}

template <typename Number> double NarrowConvolution<Number>::flopsOf(int64_t images) const {
  return 2.0 * static_cast<double>(inner() * windows_.windows()) *
         static_cast<double>(filters_ * images);
}

template <typename Number>
void NarrowConvolution<Number>::compute(ExecutionContext &context) const {
  int64_t images = image_.shape()[0],
          together = std::clamp<int64_t>(mostCells / (inner() * windows_.windows()), 1, images),
          parts = (images + together - 1) / together;
  auto grain = static_cast<int64_t>(smallestTaskFlops / flopsOf(together));
  forEachRange(context, groups_ * parts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i % parts * together;
      computeImages(context, i / parts, first, std::min(together, images - first));
    }
  });
}

// `images` of one group from `first` on.
template <typename Number>
void NarrowConvolution<Number>::computeImages(ExecutionContext &context, int64_t group,
                                              int64_t first, int64_t images) const {
  int64_t windows = windows_.windows(), columns = images * windows;
  auto piece = [&](int64_t image) { return (first + image) * groups_ + group; };
  ArrayPointer panel = Array::create({columns, inner()}, image_.elementType());
  auto *cells = panel->template mutableCellsAs<Number>();
  forEachRange(context, columns, smallestTaskCells / inner(), [&](int64_t begin, int64_t end) {
    for (int64_t column = begin; column < end; ++column)
      writeWindow(image_.cellsAs<Number>() + piece(column / windows) * channels_ * imageCells_,
                  column % windows, cells + column * inner());
  });
  ArrayPointer several =
      images == 1 ? nullptr : Array::create({filters_, columns}, image_.elementType());
  Number *products = several ? several->template mutableCellsAs<Number>()
                             : result_ + piece(0) * filters_ * windows;
  const Number *weights = weights_.cellsAs<Number>() + group * filters_ * inner();
  auto grain =
      static_cast<int64_t>(smallestTaskFlops * static_cast<double>(filters_) / flopsOf(images)) /
          filtersOfKernel * filtersOfKernel +
      filtersOfKernel;
  forEachRange(context, filters_, grain, [&](int64_t begin, int64_t end) {
    gemm({.rhsTransposed = true, .rows = end - begin, .columns = columns, .inner = inner()},
         weights + begin * inner(), inner(), cells, inner(), products + begin * columns, columns);
    if (several)
      for (int64_t image = 0; image < images; ++image)
        for (int64_t filter = begin; filter < end; ++filter)
          copyFew(products + filter * columns + image * windows, windows,
                  result_ + (piece(image) * filters_ + filter) * windows);
  });
}

template <typename Number>
void NarrowConvolution<Number>::writeWindow(const Number *image, int64_t window, Number *to) const {
  int64_t places = windows_.last().places(), outerPlaces = windows_.outerPlaces();
  const Run *runs = runs_.data() + window * outerPlaces;
  for (int64_t channel = 0; channel < channels_; ++channel, image += imageCells_)
    for (int64_t outer = 0; outer < outerPlaces; ++outer, to += places) {
      const Run &run = runs[outer];
      const Number *from = image + run.cell;
      if (run.count < places)
        std::fill_n(to, places, Number());
      if (spacing_ == 1)
        copyFew(from, run.count, to + run.begin);
      else
        for (int64_t i = 0; i < run.count; ++i)
          to[run.begin + i] = from[i * spacing_];
    }
}

template class NarrowConvolution<float>;
template class NarrowConvolution<double>;
template class NarrowConvolution<uint8_t>;
template class NarrowConvolution<uint16_t>;
template class NarrowConvolution<uint32_t>;
template class NarrowConvolution<uint64_t>;

} // namespace tokamak::runtime
