#include "runtime/natives/WindowPanel.h"

#include "base/WidestVectors.h"
#include "runtime/natives/CellTransposition.h"
#include "runtime/natives/PanelProduct.h"

#include <cstring>

namespace tokamak::runtime {
namespace {

// Of fewer windows in a row a vector that skips every other cell copies few.
constexpr int64_t fewestInRow = 8;

// Copies `Count` cells at a time, often more than the move's: those behind them are written later.
template <typename Number, int64_t Count>
[[gnu::always_inline]] inline void copyVectors(const PanelMove *moves, size_t count, int64_t step,
                                               const Number *from, Number *to) {
  for (const PanelMove *move = moves; move < moves + count; ++move) {
    Number *into = to + move->to;
    const Number *source = from + move->from;
    if (move->from < 0)
      std::memset(into, 0, Count * sizeof(Number));
    else if (step == 1)
      std::memcpy(into, source, Count * sizeof(Number));
    else
      for (int64_t i = 0; i < Count; ++i) // two cells apart, so that there are vectors
        into[i] = source[2 * i];
  }
}

TOKAMAK_WIDEST_VECTORS void copyMoves(const PanelMove *moves, size_t count, int64_t step,
                                      const float *from, float *to) {
  copyVectors<float, WindowPanel<float>::slack>(moves, count, step, from, to);
}

TOKAMAK_WIDEST_VECTORS void copyMoves(const PanelMove *moves, size_t count, int64_t step,
                                      const double *from, double *to) {
  copyVectors<double, WindowPanel<double>::slack>(moves, count, step, from, to);
}

template <typename Number>
void copyExactly(std::span<const PanelMove> moves, int64_t step, const Number *from, Number *to) {
  for (const PanelMove &move : moves)
    if (move.from < 0)
      std::fill_n(to + move.to, move.count, Number());
    else
      for (int64_t i = 0; i < move.count; ++i)
        to[move.to + i] = from[move.from + i * step];
}

} // namespace

template <typename Number>
WindowPanel<Number>::WindowPanel(const WindowRows &windows, const ImageStrides &strides,
                                 int64_t first, int64_t count, int64_t width)
    : strides_(strides), step_(windows.last().isEven() ? windows.last().step() : 1),
      distance_(windows.last().distanceOfPlaces()), width_(width),
      cellsOfChannel_(windows.places() * width),
      isByColumns_(step_ > 2 || (step_ == 2 && windows.columns() < fewestInRow)) {
  std::vector<Piece> pieces = piecesOf(windows, first, count);
  if (isByColumns_)
    addColumns(windows, pieces, width);
  else
    addMoves(windows, pieces, width);
}

template <typename Number>
auto WindowPanel<Number>::piecesOf(const WindowRows &windows, int64_t first, int64_t count) const
    -> std::vector<Piece> {
  std::vector<Piece> pieces;
  for (int64_t column = 0; column < count; column += pieces.back().end - pieces.back().begin) {
    int64_t window = first + column, ofImage = window % windows.windows();
    int64_t begin = ofImage % windows.columns();
    pieces.push_back({column, window / windows.windows(), ofImage / windows.columns(), begin,
                      std::min(windows.columns(), begin + count - column)});
  }
  return pieces;
}

template <typename Number>
void WindowPanel<Number>::addMoves(const WindowRows &windows, std::span<const Piece> pieces,
                                   int64_t width) {
  const WindowPlaces &last = windows.last();
  std::vector<int64_t> bases(pieces.size());
  int64_t row = 0; // of the panel
  for (int64_t outer = 0; outer < windows.outerPlaces(); ++outer) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      bases[i] = windows.base(pieces[i].row, outer);
      if (bases[i] >= 0)
        bases[i] += pieces[i].image * strides_.image;
    }
    for (int64_t place = 0; place < last.places(); ++place, row += width) {
      int64_t written = row;
      auto addCells = [&](const Piece &piece, int64_t from, int64_t begin, int64_t end) {
        int64_t to = row + piece.column + begin - piece.begin;
        addMove(written, -1, to - written);
        addMove(to, from, end - begin);
        written = to + end - begin;
      };
      for (size_t i = 0; i < pieces.size(); ++i) {
        const Piece &piece = pieces[i];
        if (bases[i] < 0)
          continue;
        if (last.isEven()) {
          const WindowRows::Inside &inside = windows.inside(place);
          int64_t begin = std::max(piece.begin, inside.begin),
                  end = std::min(piece.end, inside.end);
          if (begin < end)
            addCells(piece, bases[i] + inside.cell + (begin - inside.begin) * step_, begin, end);
          continue;
        }
        for (int64_t window = piece.begin; window < piece.end; ++window)
          if (int64_t cell = last.at(window, place); cell >= 0)
            addCells(piece, bases[i] + cell, window, window + 1);
      }
      addMove(written, -1, row + width - written);
    }
  }
}

// Of windows far apart the places of each lie together: they are copied to a column of the panel.
template <typename Number>
void WindowPanel<Number>::addColumns(const WindowRows &windows, std::span<const Piece> pieces,
                                     int64_t width) {
  const WindowPlaces &last = windows.last();
  for (const Piece &piece : pieces)
    for (int64_t outer = 0; outer < windows.outerPlaces(); ++outer) {
      int64_t base = windows.base(piece.row, outer);
      for (int64_t window = piece.begin; base >= 0 && window < piece.end; ++window) {
        int64_t begin = 0, end = last.places();
        while (begin < end && last.at(window, begin) < 0)
          ++begin;
        while (begin < end && last.at(window, end - 1) < 0)
          --end;
        if (begin < end)
          moves_.push_back(
              {(outer * last.places() + begin) * width + piece.column + window - piece.begin,
               piece.image * strides_.image + base + last.at(window, begin), end - begin});
      }
    }
  int64_t written = 0;
  for (const PanelMove &move : moves_) {
    written += move.count;
    longest_ = std::max(longest_, move.count);
  }
  hasGaps_ = written < cellsOfChannel_;
}

template <typename Number>
void WindowPanel<Number>::addMove(int64_t to, int64_t from, int64_t count) {
  for (int64_t i = 0; i < count; i += slack) {
    int64_t begin = from < 0 ? -1 : from + i * step_;
    moves_.push_back({to + i, begin, std::min(slack, count - i)});
    last_ = std::max(last_, begin);
  }
}

template <typename Number>
void WindowPanel<Number>::write(const Number *cells, const Number *cellsEnd, int64_t begin,
                                int64_t end, Number *panel, bool isPart) const {
  int64_t cellsOfMove = slack * step_; // in the image
  for (int64_t channel = begin; channel < end; ++channel) {
    const Number *from = cells + channel * strides_.channel;
    Number *to = panel + channel * cellsOfChannel_;
    bool isLast = isPart && channel + 1 == end; // what lies behind it may be another thread's
    if (isByColumns_)
      writeColumns(from, to);
    else if (isLast || cellsEnd - from < last_ + cellsOfMove)
      copyExactly<Number>(moves_, step_, from, to);
    else
      copyMoves(moves_.data(), moves_.size(), step_, from, to);
  }
}

// Whether the move and those behind it are whole columns of a tile, from cells that are neighbours.
template <typename Number> bool WindowPanel<Number>::areTile(size_t first) const {
  if (sizeof(Number) != sizeof(uint32_t) || distance_ != 1 || longest_ < rowsOfTile ||
      moves_.size() - first < static_cast<size_t>(rowsOfTile))
    return false;
  for (int64_t i = 1; i < rowsOfTile; ++i)
    if (const PanelMove &move = moves_[first + i];
        move.to != moves_[first].to + i || move.count != moves_[first].count)
      return false;
  return true;
}

template <typename Number>
void WindowPanel<Number>::writeColumns(const Number *from, Number *to) const {
  if (hasGaps_)
    std::fill_n(to, cellsOfChannel_, Number());
  for (int64_t begin = 0; begin < longest_; begin += rowsTogether)
    for (size_t number = 0; number < moves_.size();) {
      const PanelMove &move = moves_[number];
      int64_t end = std::min(move.count, begin + rowsTogether);
      if (areTile(number)) {
        std::array<const uint32_t *, rowsOfTile> rows;
        for (const uint32_t *&row : rows)
          row = reinterpret_cast<const uint32_t *>(from + moves_[number++].from + begin);
        transposeTileRows(rows, end - begin,
                          reinterpret_cast<uint32_t *>(to + move.to + begin * width_), width_);
        continue;
      }
      for (int64_t i = begin; i < end; ++i)
        to[move.to + i * width_] = from[move.from + i * distance_];
      ++number;
    }
}

template class WindowPanel<float>;
template class WindowPanel<double>;

} // namespace tokamak::runtime
