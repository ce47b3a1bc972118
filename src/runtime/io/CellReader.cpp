#include "runtime/io/CellReader.h"

#include "runtime/io/FieldLines.h"
#include "runtime/natives/NativeOperands.h"

#include <cmath>

namespace tokamak::runtime {
namespace {

// The cells of one piece of the text, in the order of its lines.
class PieceCells {
public:
  PieceCells(const CellLayout &layout, int64_t rows, int64_t columns)
      : layout_(layout), rows_(rows), columns_(columns) {}

  BudgetedVector<Cell> cells;
  int64_t lines = 0;

  void parse(const TextPiece &piece, const std::string &path) {
    constexpr size_t shortestLine = 4; // "1 1" and a line end
    size_t most = std::min(static_cast<size_t>(piece.lines), piece.text.size() / shortestLine + 1);
    cells.reserve(most * (layout_.symmetry == Symmetry::None ? 1 : 2));
    FieldLines fields(piece, path);
    while (fields.next())
      lines += parseLine(fields);
  }

private:
  // Whether the line has a cell.
  bool parseLine(FieldLines &fields) {
    int64_t row = fields.integer("the row"), column = fields.integer("the column");
    auto place = [&] { return fmt::format("row {}, column {}: ", row, column); };
    double value = layout_.isPattern ? 1 : fields.number(place);
    fields.expectEnd();
    if (layout_.mayMarkEmpty && row == 0 && column == 0 && value == 0)
      return false;
    if (row < 1 || row > rows_ || column < 1 || column > columns_)
      fields.fail(
          fmt::format("cell ({}, {}) is outside of a {}x{} matrix", row, column, rows_, columns_));
    if (layout_.isInteger && value != std::trunc(value))
      fields.fail(place() + "the value is not an integer");
    add(row - 1, column - 1, value);
    if (layout_.symmetry == Symmetry::None)
      return true;
    bool isSkew = layout_.symmetry == Symmetry::SkewSymmetric;
    if (row != column)
      add(column - 1, row - 1, isSkew ? -value : value);
    else if (isSkew && value != 0)
      fields.fail(place() + "the diagonal of a skew-symmetric matrix is 0");
    return true;
  }

  void add(int64_t row, int64_t column, double value) { cells.push_back({row, column, value}); }

  const CellLayout &layout_;
  int64_t rows_, columns_;
};

} // namespace

int64_t readCells(const CellLayout &layout, TextSource &source, CellCollector &collector,
                  ExecutionContext &context) {
  // Bounds the memory for cells that are parsed but not yet in the collector.
  constexpr size_t piecesAtOnce = 32;
  int64_t lines = 0;
  for (auto pieces = source.nextPieces(context, BlankEnd::Drop); !pieces.empty();
       pieces = source.nextPieces(context, BlankEnd::Drop)) {
    for (size_t begin = 0; begin < pieces.size(); begin += piecesAtOnce) {
      std::span<const TextPiece> some(pieces.data() + begin,
                                      std::min(piecesAtOnce, pieces.size() - begin));
      std::vector<PieceCells> parsed(some.size(),
                                     PieceCells(layout, collector.rows(), collector.columns()));
      forEachPiece(context, some, [&](const TextPiece &piece, size_t i) {
        parsed[i].parse(piece, source.pathOf(piece.part));
      });
      for (PieceCells &piece : parsed) {
        lines += piece.lines;
        collector.add(std::move(piece.cells));
      }
    }
  }
  return lines;
}

} // namespace tokamak::runtime
