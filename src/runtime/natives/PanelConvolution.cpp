#include "runtime/natives/PanelConvolution.h"

#include "runtime/natives/Blas.h"

#include <optional>

namespace tokamak::runtime {
namespace {

// The least work for a task, in floating-point operations; writing a cell of a panel or of the result takes as long as a
// few.
constexpr double smallestTask = 2e6, workOfPanelCell = 16, workOfResultCell = 32;
// With fewer tasks, parts of the filters are tasks, so that several threads have about as much to do.
constexpr int64_t fewestTasks = 8;
// The bytes of panels that are multiplied with some filters before others: what the second-level cache
// holds. Results are then written in longer pieces.
constexpr int64_t bytesTogether = int64_t{128} << 10, mostTogether = 16;
constexpr int64_t filtersOfTiles = 24; // tiles have six or eight

// The items of a task, of `items` that are so much work together: tasks are about equal.
int64_t itemsOfTask(int64_t items, double work) {
  auto tasks = std::max<int64_t>(1, static_cast<int64_t>(work / smallestTask));
  return (items + tasks - 1) / tasks;
}

// Calls body(i, begin, end) for each i below `count` and the pieces of `all` that begin at multiples of
// `multiple`, neighbouring ones in one call; all of it is so much work.
template <typename Body>
void forEachPiece(ExecutionContext &context, int64_t count, int64_t all, int64_t multiple,
                  double work, const Body &body) {
  int64_t pieces = (all + multiple - 1) / multiple, items = count * pieces;
  forEachRange(context, items, itemsOfTask(items, work), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t first = begin % pieces, last = std::min(pieces, first + end - begin);
      body(begin / pieces, first * multiple, std::min(all, last * multiple));
      begin += last - first;
    }
  });
}

} // namespace

template <typename Number>
PanelConvolution<Number>::PanelConvolution(const Array &image, const Array &weights, int64_t groups,
                                           const WindowRows &windows, Number *result,
                                           PanelProduct<Number> product)
    : product_(product), image_(image), weights_(weights), windows_(windows), groups_(groups),
      channels_(weights.shape()[1]), filters_(weights.shape()[0] / groups), result_(result) {
  int64_t channels = image.shape()[0] * image.shape()[1];
  strides_.channel = image.cells() / channels;
  strides_.image = strides_.channel * image.shape()[1];
}

// Of multiplying all panels.
template <typename Number> double PanelConvolution<Number>::work() const {
  double results = static_cast<double>(image_.shape()[0] * windows_.windows()) *
                   static_cast<double>(groups_ * filters_);
  return results * (2.0 * static_cast<double>(inner()) + workOfResultCell);
}

template <typename Number> auto PanelConvolution<Number>::parts() const -> std::vector<Part> {
  std::vector<Part> parts;
  int64_t columns = image_.shape()[0] * windows_.windows();
  for (int64_t first = 0; first < columns; first += parts.back().count) {
    int64_t width = product_.width(columns - first);
    parts.push_back({first, std::min(width, columns - first), width});
  }
  return parts;
}

// Whether its panel is a part of the image, so that nothing needs to be written down. Of many channels
// the cells, which are far apart, would compete for the same cache sets.
template <typename Number> bool PanelConvolution<Number>::isInImage(const Part &part) const {
  constexpr int64_t mostChannels = 128;
  return windows_.areCells() && channels_ <= mostChannels && part.count == part.width &&
         part.first / windows_.windows() == (part.first + part.count - 1) / windows_.windows();
}

// Of the first image.
template <typename Number> const Number *PanelConvolution<Number>::cellsOf(int64_t group) const {
  return image_.cellsAs<Number>() + group * channels_ * strides_.channel;
}

template <typename Number>
WindowPanel<Number> PanelConvolution<Number>::windowsOf(const Part &part) const {
  return {windows_, strides_, part.first, part.count, part.width};
}

template <typename Number>
void PanelConvolution<Number>::add(const Part &part, int64_t group, const Panel<Number> &panel,
                                   Factors &factors) const {
  int64_t windows = windows_.windows();
  factors.panels.push_back(panel);
  for (int64_t column = 0; column < part.count; column += factors.runs.back().count) {
    int64_t image = (part.first + column) / windows, window = (part.first + column) % windows;
    factors.runs.push_back({column, std::min(windows - window, part.count - column),
                            result_ + (image * groups_ + group) * filters_ * windows + window});
  }
  factors.runsEnd.push_back(factors.runs.size());
}

template <typename Number> void PanelConvolution<Number>::compute(ExecutionContext &context) const {
  if (int64_t columns = image_.shape()[0] * windows_.windows(); columns <= mostSeparateVectors)
    return computeFew(context, columns);
  std::vector<Part> parts = this->parts();
  auto count = static_cast<int64_t>(parts.size());
  int64_t bytes = inner() * product_.widest() * static_cast<int64_t>(sizeof(Number));
  int64_t most = std::max<int64_t>(1, count * groups_ / fewestTasks);
  if (count * groups_ < fewestTasks)
    computeTogether(context, parts);
  else
    computeOneByOne(context, parts,
                    std::clamp<int64_t>(bytesTogether / bytes, 1, std::min(most, mostTogether)));
}

// A task has `together` parts of a group, or several such.
template <typename Number>
void PanelConvolution<Number>::computeOneByOne(ExecutionContext &context,
                                               std::span<const Part> parts,
                                               int64_t together) const {
  int64_t cells = inner() * product_.widest() + WindowPanel<Number>::slack;
  auto count = static_cast<int64_t>(parts.size());
  int64_t pieces = (count + together - 1) / together;
  const Number *cellsEnd = image_.cellsAs<Number>() + image_.cells();
  int64_t grain = itemsOfTask(pieces * groups_, work());
  forEachRange(context, pieces * groups_, grain, [&](int64_t begin, int64_t end) {
    ArrayPointer buffer;
    std::vector<std::optional<WindowPanel<Number>>> windows(groups_ > 1 ? parts.size()
                                                                        : 0); // for all groups
    Factors factors;
    for (int64_t i = begin; i < end; ++i) {
      int64_t group = i / pieces, first = i % pieces * together,
              last = std::min(count, first + together);
      factors.panels.clear(), factors.runs.clear(), factors.runsEnd.clear();
      for (int64_t number = first; number < last; ++number) {
        const Part &part = parts[number];
        if (isInImage(part)) {
          int64_t image = part.first / windows_.windows();
          const Number *cells =
              cellsOf(group) + image * strides_.image + part.first % windows_.windows();
          add(part, group, {cells, part.width, strides_.channel}, factors);
          continue;
        }
        if (!buffer)
          buffer = Array::create({together, cells}, image_.elementType());
        auto *to = buffer->template mutableCellsAs<Number>() + (number - first) * cells;
        auto writeTo = [&](const WindowPanel<Number> &panel) {
          panel.write(cellsOf(group), cellsEnd, 0, channels_, to, false);
        };
        if (windows.empty()) {
          writeTo(windowsOf(part));
        } else {
          if (!windows[number])
            windows[number].emplace(windowsOf(part));
          writeTo(*windows[number]);
        }
        add(part, group, {to, part.width, part.width}, factors);
      }
      for (int64_t filter = 0; filter < filters_; filter += filtersOfTiles)
        multiply(group, factors, filter, std::min(filters_, filter + filtersOfTiles));
    }
  });
}

// Writes all panels down first, so that parts of the filters can be tasks.
template <typename Number>
void PanelConvolution<Number>::computeTogether(ExecutionContext &context,
                                               std::span<const Part> parts) const {
  int64_t cells = inner() * product_.widest() + WindowPanel<Number>::slack,
          count = static_cast<int64_t>(parts.size()) * groups_;
  ArrayPointer buffer = Array::create({count, cells}, image_.elementType());
  auto *panels = buffer->template mutableCellsAs<Number>();
  const Number *cellsEnd = image_.cellsAs<Number>() + image_.cells();
  forEachPiece(context, count, channels_, 1, workOfPanelCell * static_cast<double>(count * cells),
               [&](int64_t i, int64_t begin, int64_t end) {
                 windowsOf(parts[i / groups_])
                     .write(cellsOf(i % groups_), cellsEnd, begin, end, panels + i * cells,
                            end < channels_);
               });
  forEachPiece(context, count, filters_, filtersOfTiles, work(),
               [&](int64_t i, int64_t begin, int64_t end) {
                 const Part &part = parts[i / groups_];
                 Factors factors;
                 add(part, i % groups_, {panels + i * cells, part.width, part.width}, factors);
                 multiply(i % groups_, factors, begin, end);
               });
}

template <typename Number>
void PanelConvolution<Number>::computeFew(ExecutionContext &context, int64_t columns) const {
  int64_t windows = windows_.windows(), cells = inner() * columns + WindowPanel<Number>::slack;
  ArrayPointer buffer = Array::create({groups_, cells}, image_.elementType());
  auto *panels = buffer->template mutableCellsAs<Number>();
  WindowPanel<Number> panel(windows_, strides_, 0, columns, columns);
  for (int64_t group = 0; group < groups_; ++group)
    panel.write(cellsOf(group), image_.cellsAs<Number>() + image_.cells(), 0, channels_,
                panels + group * cells, false);
  forEachPiece(context, groups_, filters_, filtersOfTiles, work(),
               [&](int64_t group, int64_t begin, int64_t end) {
                 int64_t filter = group * filters_ + begin;
                 for (int64_t image = 0; image < image_.shape()[0]; ++image)
                   gemm({.rows = end - begin, .columns = windows, .inner = inner()},
                        weights_.cellsAs<Number>() + filter * inner(), inner(),
                        panels + group * cells + image * windows, columns,
                        result_ + (image * groups_ * filters_ + filter) * windows, windows);
               });
}

// The group's filters from `begin` to `end`.
template <typename Number>
void PanelConvolution<Number>::multiply(int64_t group, const Factors &factors, int64_t begin,
                                        int64_t end) const {
  const Number *weights = weights_.cellsAs<Number>() + group * filters_ * inner();
  std::span<const PanelRun<Number>> runs = factors.runs;
  size_t first = 0; // run of the panel
  for (size_t i = 0; i < factors.panels.size(); first = factors.runsEnd[i++])
    product_.multiply({weights, inner(), 1}, begin, end, inner(), factors.panels[i],
                      runs.subspan(first, factors.runsEnd[i] - first), windows_.windows());
}

template class PanelConvolution<float>;
template class PanelConvolution<double>;

} // namespace tokamak::runtime
