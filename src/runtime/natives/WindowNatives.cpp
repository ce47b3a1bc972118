// Natives of windows of an array: those that write them down, and those that reduce them at once, convolutions and pools. Tasks are cut by sizes alone,
// so that the bits of a result do not depend on the number of threads.
#include "runtime/natives/Blas.h"
#include "runtime/natives/IntegerProduct.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/natives/PanelConvolution.h"
#include "runtime/natives/RowPool.h"
#include "runtime/natives/WindowRows.h"

namespace tokamak::runtime {
namespace {

// The least work for a task, in floating-point operations.
constexpr double smallestTaskFlops = 1e6;
// The cells of a panel of windows that are multiplied at once: what the second-level cache holds, but no narrower than
// what amortises that the product packs all weights for each panel.
constexpr int64_t cellsOfPanel = int64_t{1} << 17, leastPanelColumns = 512;
// With fewer filters windows of one channel are not copied: the product would read them as often as the loops.
constexpr int64_t fewestFilters = 4;

// Sizes of `leading` dimensions, and how many windows there are along the others.
Shape shapeOfWindows(std::span<const int64_t> leading, std::span<const WindowPlaces> along) {
  std::array<int64_t, Shape::maxRank> sizes{};
  auto end = std::copy(leading.begin(), leading.end(), sizes.begin());
  for (const WindowPlaces &dimension : along)
    *end++ = dimension.windows();
  return Shape(std::span<const int64_t>(sizes.data(), leading.size() + along.size()));
}

//===- convolutions --------------------------------------------------------------------------===//

template <typename Number> class Convolution {
public:
  Convolution(const Array &image, const Array &weights, int64_t groups, const WindowRows &windows,
              Array &result)
      : image_(image), weights_(weights), windows_(windows), groups_(groups),
        channels_(weights.shape()[1]), filters_(weights.shape()[0] / groups),
        imageCells_(image.shape()[0] * image.shape()[1] == 0
                        ? 0
                        : image.cells() / (image.shape()[0] * image.shape()[1])),
        result_(result.mutableCellsAs<Number>()) {}

  void compute(ExecutionContext &context) const {
    int64_t images = image_.shape()[0], pieces = images * groups_;
    if (inner() == 0)
      return void(std::fill_n(result_, images * groups_ * filters_ * windows_.windows(), Number()));
    if (channels_ == 1 && filters_ < fewestFilters) {
      double flops = 2.0 * static_cast<double>(inner() * windows_.windows());
      auto grain = static_cast<int64_t>(smallestTaskFlops / std::max(1.0, flops));
      return forEachRange(context, pieces * filters_, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          filterChannel(i);
      });
    }
    if constexpr (std::is_floating_point_v<Number>)
      if (PanelProduct<Number>::isAvailable())
        return PanelConvolution<Number>(image_, weights_, groups_, windows_, result_)
            .compute(context);
    int64_t columns = columnsOfPanel(), panels = (windows_.windows() + columns - 1) / columns;
    forEachRange(context, pieces * panels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t first = i % panels * columns;
        multiply(i / panels, first, std::min(columns, windows_.windows() - first));
      }
    });
  }

private:
  int64_t inner() const { return channels_ * windows_.places(); }
  int64_t columnsOfPanel() const {
    int64_t columns = std::max(leastPanelColumns, cellsOfPanel / inner() / 8 * 8);
    // Not a narrow rest behind few wide ones.
    return windows_.windows() < columns + columns / 2 ? std::max<int64_t>(1, windows_.windows())
                                                      : columns;
  }
  const Number *channel(int64_t piece) const {
    return image_.cellsAs<Number>() + piece * channels_ * imageCells_;
  }
  // All filters of the piece's group at `width` windows, which are written down first: a row for each channel
  // and place. `piece` counts images, and groups of channels of each.
  void multiply(int64_t piece, int64_t first, int64_t width) const {
    const Number *image = channel(piece);
    ArrayPointer buffer = Array::create({inner(), width}, image_.elementType());
    auto *cells = buffer->template mutableCellsAs<Number>();
    Number *row = cells;
    for (int64_t c = 0; c < channels_; ++c)
      for (int64_t outer = 0; outer < windows_.outerPlaces(); ++outer)
        for (int64_t place = 0; place < windows_.last().places(); ++place, row += width)
          copyRow(image + c * imageCells_, outer, place, first, width, row);
    const Number *weights = weights_.cellsAs<Number>() + piece % groups_ * filters_ * inner();
    gemm({.rows = filters_, .columns = width, .inner = inner()}, weights, inner(), cells, width,
         result_ + piece * filters_ * windows_.windows() + first, windows_.windows());
  }

  void copyRow(const Number *image, int64_t outer, int64_t place, int64_t first, int64_t width,
               Number *to) const {
    int64_t columns = windows_.columns();
    std::fill_n(to, width, Number());
    for (int64_t row = first / columns; row * columns < first + width; ++row) {
      int64_t base = windows_.base(row, outer);
      if (base < 0)
        continue;
      int64_t begin = std::max<int64_t>(0, first - row * columns),
              end = std::min(columns, first + width - row * columns);
      Number *into = to + row * columns - first;
      const Number *from = image + base;
      windows_.forEachInside(place, begin, end,
                             [=](int64_t window, int64_t cell) { into[window] = from[cell]; });
    }
  }

  // One filter over one channel: its number counts images, groups and filters.
  void filterChannel(int64_t number) const {
    const Number *image = channel(number / filters_);
    const Number *weight =
        weights_.cellsAs<Number>() + number % (groups_ * filters_) * windows_.places();
    int64_t columns = windows_.columns();
    Number *to = result_ + number * windows_.windows();
    std::fill_n(to, windows_.windows(), Number());
    for (int64_t row = 0; row < windows_.rows(); ++row, to += columns)
      windows_.forEachPlace(row, [&](int64_t number, int64_t place, int64_t base) {
        Number factor = weight[number], *into = to;
        const Number *from = image + base;
        windows_.forEachInside(place, 0, columns, [=](int64_t window, int64_t cell) {
          into[window] = static_cast<Number>(into[window] + factor * from[cell]);
        });
      });
  }

  const Array &image_, &weights_;
  const WindowRows &windows_;
  int64_t groups_, channels_, filters_; // of channels and of filters those of one group
  int64_t imageCells_;                  // of one channel
  Number *result_;
};

void checkSizes(const Shape &image, const Shape &weights, int64_t groups,
                std::span<const WindowPlaces> along) {
  auto spatial = static_cast<int>(along.size());
  bool arePlaces = image.rank() == spatial + 2 && weights.rank() == spatial + 2;
  for (int i = 0; arePlaces && i < spatial; ++i)
    arePlaces = along[i].places() == weights[i + 2];
  if (!arePlaces)
    throw Error(fmt::format("convolve: an image of {} and weights of {} don't go together",
                            image.text(), weights.text()));
  if (groups < 1 || weights[0] % groups != 0 || image[1] != weights[1] * groups)
    throw Error(fmt::format("convolve: the {} channels of the image and weights of {} are not "
                            "those of {} groups",
                            image[1], weights.text(), groups));
}

//===- pools ---------------------------------------------------------------------------------===//

// Pools one row of windows after the other.
template <typename Cell> class Pool {
public:
  Pool(const WindowRows &windows, int64_t width, PoolKind kind)
      : windows_(windows), width_(width), kind_(kind),
        byLines_(std::is_floating_point_v<Cell> && RowPool<Cell>::suits(windows.last(), width)) {}

  void compute(ExecutionContext &context, const Array &source, Array &result) const {
    int64_t rows = windows_.rows(), rowCells = windows_.columns();
    int64_t images = rows == 0 ? 0 : result.cells() / (rows * rowCells);
    int64_t imageCells = images == 0 ? 0 : source.cells() / images;
    const auto *cells = source.cellsAs<Cell>();
    auto *into = result.mutableCellsAs<Cell>();
    forEachRowRange(context, images * rows, rowCells * windows_.places(),
                    [&](int64_t begin, int64_t end) {
                      auto image = [&](int64_t row) { return cells + row / rows * imageCells; };
                      if constexpr (std::is_floating_point_v<Cell>)
                        if (byLines_)
                          return poolLines(begin, end, image, cells + source.cells(), into);
                      for (int64_t row = begin; row < end; ++row)
                        poolCells(image(row), row % rows, into + row * rowCells);
                    });
  }

private:
  template <typename Image>
  void poolLines(int64_t begin, int64_t end, const Image &image, const Cell *cellsEnd,
                 Cell *into) const {
    RowPool<Cell> pool(kind_, windows_.last(), width_);
    int64_t outerPlaces = windows_.outerPlaces(), rows = windows_.rows();
    // Of the first rows, which those of other images repeat.
    std::vector<int64_t> bases(std::min(rows, end - begin) * outerPlaces);
    for (size_t i = 0; i < bases.size(); ++i)
      bases[i] = windows_.base((begin + static_cast<int64_t>(i) / outerPlaces) % rows,
                               static_cast<int64_t>(i) % outerPlaces);
    std::vector<const Cell *> lines;
    int64_t known = 0;
    for (int64_t row = begin; row < end; ++row, known += outerPlaces) {
      if (known == static_cast<int64_t>(bases.size()))
        known = 0;
      lines.clear();
      for (int64_t outer = 0; outer < outerPlaces; ++outer)
        if (int64_t base = bases[known + outer]; base >= 0)
          lines.push_back(image(row) + base);
      pool.run(lines, cellsEnd, into + row * windows_.columns());
    }
  }

  void poolCells(const Cell *image, int64_t row, Cell *to) const {
    std::fill_n(to, windows_.columns(), neutralCell<Cell>(kind_));
    windows_.forEachPlace(row, [&](int64_t, int64_t place, int64_t base) {
      windows_.forEachInside(place, 0, windows_.columns(), [&](int64_t window, int64_t cell) {
        to[window] = combined(kind_, to[window], image[base + cell]);
      });
    });
  }

  const WindowRows &windows_;
  int64_t width_; // of a line: the last dimension of the array
  PoolKind kind_;
  bool byLines_;
};

} // namespace

void runWindows(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseOperand(operands[0], "windows");
  std::vector<WindowPlaces> along = windowPlacesOf(source.shape(), operands.subspan(2), "windows");
  std::span<const int64_t> all = source.shape().sizes(),
                           leading = all.first(all.size() - along.size());
  if (all.size() + along.size() > Shape::maxRank)
    throw Error(fmt::format("windows: {} dimensions of an array of {}", along.size(),
                            source.shape().text()));
  Shape counts = shapeOfWindows(leading, along);
  std::array<int64_t, Shape::maxRank> sizes{};
  auto end = std::copy(counts.sizes().begin(), counts.sizes().end(), sizes.begin());
  for (const WindowPlaces &dimension : along)
    *end++ = dimension.places();
  ArrayPointer result =
      Array::create(Shape(std::span(sizes).first(all.size() + along.size())), source.elementType());
  WindowRows windows(along);
  // Rows are places along the last dimension of one window.
  int64_t columns = windows.last().places(), outerPlaces = windows.outerPlaces();
  int64_t rows = columns == 0 ? 0 : result->cells() / columns;
  int64_t imageCells = productOfSizes(all.subspan(leading.size())).value_or(0);
  withCellType(source.elementType(), [&]<typename Cell>() {
    const auto *cells = source.cellsAs<Cell>();
    auto *into = result->mutableCellsAs<Cell>();
    auto outside = cellFrom<Cell>(operands[1]);
    forEachRowRange(context, rows, columns, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t number = row / outerPlaces, window = number % windows.windows();
        int64_t base = windows.base(window / windows.columns(), row % outerPlaces);
        Cell *to = into + row * columns;
        if (base < 0) {
          std::fill_n(to, columns, outside);
          continue;
        }
        const Cell *from = cells + number / windows.windows() * imageCells + base;
        for (int64_t place = 0; place < columns; ++place) {
          int64_t at = windows.last().at(window % windows.columns(), place);
          to[place] = at < 0 ? outside : from[at];
        }
      }
    });
  });
  results[0] = std::move(result);
}

void runConvolve(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &image = denseOperand(operands[0], "convolve"),
              &weights = denseOperand(operands[1], "convolve");
  int64_t groups = operands[2].asInteger();
  std::vector<WindowPlaces> along = windowPlacesOf(image.shape(), operands.subspan(3), "convolve");
  checkSizes(image.shape(), weights.shape(), groups, along);
  int64_t leading[] = {image.shape()[0], weights.shape()[0]};
  ArrayPointer result = Array::create(shapeOfWindows(leading, along), image.elementType());
  // What remains are rows as long as possible.
  auto isOneCell = [](const WindowPlaces &one) { return one.isOneCell(); };
  if (!std::all_of(along.begin(), along.end(), isOneCell))
    std::erase_if(along, isOneCell);
  if (result->cells() > 0)
    withProductCells(image, [&]<typename Number>() {
      WindowRows windows(along);
      Convolution<Number>(image, weights, groups, windows, *result).compute(context);
    });
  results[0] = std::move(result);
}

void runPool(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &given = denseOperand(operands[0], "pool");
  const std::string &kind = textOperand(operands[1], "pool", "the kind");
  if (kind != "max" && kind != "sum")
    throw Error(fmt::format("pool: there is no kind '{}', but max and sum", kind));
  std::vector<WindowPlaces> along = windowPlacesOf(given.shape(), operands.subspan(2), "pool");
  // 16-bit floats are pooled as f32, as aggregates of them are.
  ElementType type = given.elementType();
  ArrayReference source = Array::withElementType(
      operands[0].array(), isFloat(type) && byteSize(type) < 4 ? ElementType::F32 : type);
  auto leading = given.shape().sizes().first(given.shape().rank() - along.size());
  ArrayPointer result = Array::create(shapeOfWindows(leading, along), source->elementType());
  // Rows are as long as they can be.
  int64_t width = given.shape().sizes().back();
  for (size_t last;
       (last = along.size() - 1) > 0 && along[last].isEachCell() && along[last - 1].isEachCell();) {
    width *= along[last - 1].windows();
    along.pop_back();
    along.back() = WindowPlaces::ofCells(width);
  }
  WindowRows windows(along);
  withCellType(source->elementType(), [&]<typename Cell>() {
    if constexpr (std::is_arithmetic_v<Cell>)
      Pool<Cell>(windows, width, kind == "sum" ? PoolKind::Sum : PoolKind::Max)
          .compute(context, *source, *result);
  });
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
