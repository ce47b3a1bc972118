#include "runtime/natives/RowPool.h"

#include "base/WidestVectors.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace tokamak::runtime;

namespace {

constexpr int64_t vectorBytes = 64; // on machines with shorter vectors several of them
template <typename Cell> constexpr int64_t lanes = vectorBytes / sizeof(Cell);
template <typename Cell> using Vector [[gnu::vector_size(vectorBytes)]] = Cell;

template <typename Cell>
[[gnu::always_inline]] inline void loadCells(const Cell *cells, Vector<Cell> &vector) {
  std::memcpy(&vector, cells, vectorBytes);
}

template <typename Cell>
[[gnu::always_inline]] inline void combineWith(PoolKind kind, const Vector<Cell> &cells,
                                               Vector<Cell> &combined) {
  if (kind == PoolKind::Max)
    combined = ((cells > combined) | (cells != cells)) ? cells : combined;
  else
    combined = combined + cells;
}

// Every other one of twice as many cells.
template <typename Cell, size_t... Lane>
[[gnu::always_inline]] inline void loadEvenCells(const Cell *cells, Vector<Cell> &vector,
                                                 std::index_sequence<Lane...>) {
  Vector<Cell> low, high;
  loadCells(cells, low);
  loadCells(cells + lanes<Cell>, high);
  vector = __builtin_shufflevector(low, high, (2 * Lane)...);
}

template <typename Cell> struct Line {
  PoolKind kind;
  const Cell *const *rows;
  const Cell *const *rowsEnd;
  const Cell *cellsEnd;
  Cell *begin;
  int64_t width, windows, places, first, step, distance;
  Cell *to;
};

// Combines the rows to the line, or to the result, of which nothing behind the last cell may be written.
template <typename Cell>
[[gnu::always_inline]] inline void combineRows(const Line<Cell> &line, PoolKind kind,
                                               bool isResult) {
  Cell neutral = neutralCell<Cell>(kind);
  int64_t vectors = (line.width + lanes<Cell> - 1) / lanes<Cell>;
  bool mayReadBehind = !isResult;
  for (auto row = line.rows; row < line.rowsEnd; ++row)
    mayReadBehind &= line.cellsEnd - *row >= vectors * lanes<Cell>;
  // Vectors at the end overlap those before, where they must not go beyond it.
  bool overlap = !mayReadBehind && line.width >= lanes<Cell>;
  int64_t whole = mayReadBehind || overlap ? vectors : 0;
  for (int64_t vector = 0; vector < whole; ++vector) {
    int64_t i = vector * lanes<Cell>;
    if (overlap && i > line.width - lanes<Cell>)
      i = line.width - lanes<Cell>;
    Vector<Cell> all = neutral - Vector<Cell>{}, cells;
    for (auto row = line.rows; row < line.rowsEnd; ++row) {
      loadCells(*row + i, cells);
      combineWith<Cell>(kind, cells, all);
    }
    std::memcpy(line.begin + i, &all, vectorBytes);
  }
  for (int64_t i = whole * lanes<Cell>; i < line.width; ++i) { // few cells
    line.begin[i] = neutral;
    for (auto row = line.rows; row < line.rowsEnd; ++row)
      line.begin[i] = combined(kind, line.begin[i], (*row)[i]);
  }
  for (int64_t i = 0; i < lanes<Cell> && !isResult; ++i) // which vectors have written
    line.begin[line.width + i] = neutral;
}

template <typename Cell>
[[gnu::always_inline]] inline void combinePlaces(const Line<Cell> &line, PoolKind kind) {
  const Cell *from = line.begin + line.first;
  for (int64_t window = 0; window < line.windows; window += lanes<Cell>) {
    Vector<Cell> all = neutralCell<Cell>(kind) - Vector<Cell>{}, cells;
    for (int64_t place = 0; place < line.places; ++place) {
      const Cell *at = from + window * line.step + place * line.distance;
      if (line.step == 1)
        loadCells(at, cells);
      else if (line.step == 2)
        loadEvenCells(at, cells, std::make_index_sequence<lanes<Cell>>());
      else
        for (int64_t i = 0; i < lanes<Cell>; ++i)
          cells[i] = at[i * line.step];
      combineWith<Cell>(kind, cells, all);
    }
    int64_t count = line.windows - window;
    if (count >= lanes<Cell>) {
      std::memcpy(line.to + window, &all, vectorBytes);
      continue;
    }
    std::memcpy(line.to + window, &all, count * sizeof(Cell));
  }
}

template <typename Cell>
[[gnu::always_inline]] inline void poolLine(const Line<Cell> &line, PoolKind kind) {
  bool isResult = line.begin == line.to;
  combineRows(line, kind, isResult);
  if (!isResult)
    combinePlaces(line, kind);
}

template <typename Cell> [[gnu::always_inline]] inline void poolLine(const Line<Cell> &line) {
  if (line.kind == PoolKind::Max)
    poolLine(line, PoolKind::Max);
  else
    poolLine(line, PoolKind::Sum);
}

TOKAMAK_WIDEST_VECTORS void pool(const Line<float> &line) { poolLine(line); }
TOKAMAK_WIDEST_VECTORS void pool(const Line<double> &line) { poolLine(line); }

} // namespace

// The cells of a line from the first one that a window may read, vectors being filled up, to the last one.
template <typename Cell>
static std::pair<int64_t, int64_t> cellsOfLine(const WindowPlaces &last, int64_t width) {
  int64_t filled = (last.windows() + lanes<Cell>) / lanes<Cell> * lanes<Cell>;
  int64_t first = last.first(), end = first + filled * last.step(),
          span = (last.places() - 1) * last.distanceOfPlaces();
  return {std::min<int64_t>({0, first, first + span}), std::max({width, end, end + span})};
}

template <typename Cell> bool RowPool<Cell>::suits(const WindowPlaces &last, int64_t width) {
  constexpr int64_t mostCells = int64_t{1} << 20;
  if (!last.isEven() || last.places() == 0 || last.windows() > mostCells)
    return false;
  auto [begin, end] = cellsOfLine<Cell>(last, width);
  return end - begin <= mostCells;
}

template <typename Cell>
RowPool<Cell>::RowPool(PoolKind kind, const WindowPlaces &last, int64_t width)
    : kind_(kind), width_(width), windows_(last.windows()), places_(last.places()),
      first_(last.first()), step_(last.step()), distance_(last.distanceOfPlaces()) {
  auto [begin, end] = cellsOfLine<Cell>(last, width);
  line_.assign(end - begin + 2 * lanes<Cell>, neutralCell<Cell>(kind));
  begin_ = line_.data() - begin;
}

template <typename Cell>
void RowPool<Cell>::run(std::span<const Cell *const> rows, const Cell *cellsEnd, Cell *to) {
  bool areCells = places_ == 1 && first_ == 0 && step_ == 1 && windows_ == width_;
  pool(Line<Cell>{kind_, rows.data(), rows.data() + rows.size(), cellsEnd, areCells ? to : begin_,
                  width_, windows_, places_, first_, step_, distance_, to});
}

template class tokamak::runtime::RowPool<float>;
template class tokamak::runtime::RowPool<double>;
