// Writes windows of images down as a panel of a product (PanelProduct.h): a row for each channel and
// place, a column for each window. Where the cells of the windows lie is found once for all channels.
//
//   WindowPanel<float> panel(windows, strides, first, count, width);
//   panel.write(cells, end, 0, channels, buffer, false); // channels * places * width cells, and `slack` more
//
// Columns count the windows of the first image, then those of the next one, and so on.
#ifndef TOKAMAK_RUNTIME_NATIVES_WINDOWPANEL_H
#define TOKAMAK_RUNTIME_NATIVES_WINDOWPANEL_H

#include "runtime/natives/WindowRows.h"

#include <vector>

namespace tokamak::runtime {

// Distances between neighbouring channels and images, in cells.
struct ImageStrides {
  int64_t channel, image;
};

// `count` cells of one channel that are neighbours in a row of the panel or, by columns, in the window; zeros if `from` is
// -1.
struct PanelMove {
  int64_t to, from, count;
};

template <typename Number> class WindowPanel {
public:
  // Cells behind the panel that write() may change.
  static constexpr int64_t slack = 64 / sizeof(Number);

  // `count` columns from `first` on, and zeros up to `width`.
  WindowPanel(const WindowRows &windows, const ImageStrides &strides, int64_t first, int64_t count,
              int64_t width);

  // Writes the rows of the channels from `begin` to `end` to where they are in `panel`; if more channels
  // follow, `isPart`, it doesn't touch theirs. `cells`: the first channel of the first image; nothing lies at `cellsEnd`
  // or behind it.
  void write(const Number *cells, const Number *cellsEnd, int64_t begin, int64_t end, Number *panel,
             bool isPart) const;

private:
  // Neighbouring windows of a row of them.
  struct Piece {
    int64_t column, image, row, begin, end;
  };

  std::vector<Piece> piecesOf(const WindowRows &windows, int64_t first, int64_t count) const;
  void addMoves(const WindowRows &windows, std::span<const Piece> pieces, int64_t width);
  void addMove(int64_t to, int64_t from, int64_t count);
  void addColumns(const WindowRows &windows, std::span<const Piece> pieces, int64_t width);
  bool areTile(size_t first) const;
  void writeColumns(const Number *from, Number *to) const;

  ImageStrides strides_;
  int64_t step_, distance_; // of windows along a row, and of their places, in cells of the image
  int64_t width_, cellsOfChannel_; // of the panel
  bool isByColumns_;
  int64_t last_ = 0;     // the largest PanelMove::from
  int64_t longest_ = 0;  // by columns: the largest PanelMove::count
  bool hasGaps_ = false; // by columns: cells of the panel that no move writes
  std::vector<PanelMove>
      moves_; // of one channel, in the order of the panel, of at most `slack` cells
};

} // namespace tokamak::runtime
#endif
