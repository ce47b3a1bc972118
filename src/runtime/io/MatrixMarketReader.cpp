#include "runtime/io/MatrixMarketReader.h"

#include "runtime/io/CellReader.h"
#include "runtime/io/FieldLines.h"
#include "runtime/natives/NativeOperands.h"

#include <algorithm>
#include <cmath>

namespace tokamak::runtime {
namespace {

struct Header {
  bool isCoordinate = true;
  CellLayout layout;
  int64_t rows = 0, columns = 0;
  int64_t entries = 0; // number of lines with cells
};

[[noreturn]] void failHeader(const std::string &path, const std::string &message) {
  throw Error(fmt::format("{}: line 1: {}", path, message));
}

std::string inSmallLetters(std::string_view text) {
  std::string small(text);
  for (char &c : small)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c + ('a' - 'A'));
  return small;
}

// Parses the first line, such as "%%MatrixMarket matrix coordinate real general".
Header parseKind(const std::string &path, std::string_view line) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < line.size();) {
    size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    if (end > begin)
      words.push_back(inSmallLetters(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (words.empty() || words[0] != "%%matrixmarket")
    failHeader(path, "a Matrix Market file begins with %%MatrixMarket");
  if (words.size() != 5)
    failHeader(path, "the header must have five words, such as "
                     "'%%MatrixMarket matrix coordinate real general'");
  auto expect = [&](const std::string &word, std::initializer_list<std::string_view> known) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      failHeader(path, fmt::format("{} is not supported: expected {}", quotedField(word),
                                   fmt::join(known, ", ")));
  };
  expect(words[1], {"matrix"});
  expect(words[2], {"coordinate", "array"});
  expect(words[3], {"real", "double", "integer", "pattern"});
  expect(words[4], {"general", "symmetric", "skew-symmetric"});
  Header header;
  header.isCoordinate = words[2] == "coordinate";
  header.layout.isInteger = words[3] == "integer";
  header.layout.isPattern = words[3] == "pattern";
  if (words[4] != "general")
    header.layout.symmetry =
        words[4] == "symmetric" ? Symmetry::Symmetric : Symmetry::SkewSymmetric;
  if (header.layout.isPattern && !header.isCoordinate)
    failHeader(path, "an array cannot be a pattern: it would have no values");
  if (header.layout.isPattern && header.layout.symmetry == Symmetry::SkewSymmetric)
    failHeader(path, "a pattern cannot be skew-symmetric: all its values are 1");
  return header;
}

Header parseHeader(const MatrixFile &file, TextSource &source) {
  const std::string &path = source.pathOf(0);
  std::string_view line;
  bool found = source.takeLine(line);
  Header header = parseKind(path, found ? line : "");
  for (int64_t number = 1; source.takeLine(line); ++number) {
    TextPiece piece{line, 0, number, 1};
    FieldLines fields(piece, path);
    if (!fields.next()) // empty, or a comment
      continue;
    auto size = [&](std::string_view what) {
      int64_t value = fields.integer(what);
      if (value < 0)
        fields.fail(fmt::format("{} is negative: {}", what, value));
      return value;
    };
    header.rows = size("the number of rows");
    header.columns = size("the number of columns");
    header.entries = header.isCoordinate ? size("the number of entries") : 0;
    header.layout.mayMarkEmpty = header.isCoordinate && header.entries == 0; // as SystemDS does
    fields.expectEnd();
    if (header.layout.symmetry != Symmetry::None && header.rows != header.columns)
      fields.fail(
          fmt::format("a symmetric matrix must be square, not {}x{}", header.rows, header.columns));
    auto check = [&](std::string_view what, std::optional<int64_t> expected, int64_t found) {
      if (expected && *expected != found)
        throw Error(
            fmt::format("{}: the file has {} {}, expected {}", file.path, found, what, *expected));
    };
    check("rows", file.rows, header.rows);
    check("columns", file.columns, header.columns);
    return header;
  }
  throw Error(fmt::format("{}: the line with the numbers of rows and columns is missing", path));
}

// Iterates over the cells of an array in the order of the file: by columns; for symmetric matrices
// only cells on and below the diagonal, for skew-symmetric ones only cells below it.
class ColumnOrder {
public:
  ColumnOrder(const Header &header)
      : rows_(header.rows), columns_(header.columns),
        isTriangle_(header.layout.symmetry != Symmetry::None),
        skipped_(header.layout.symmetry == Symmetry::SkewSymmetric) {}

  int64_t row = 0, column = 0;

  int64_t cells() const { return cellsBefore(columns_); }
  int64_t cellsBefore(int64_t column) const {
    if (!isTriangle_)
      return column * rows_;
    int64_t missing = column % 2 == 0 ? column / 2 * (column - 1) : (column - 1) / 2 * column;
    return column * (rows_ - skipped_) - missing;
  }
  void moveTo(int64_t cell) {
    int64_t low = 0, high = columns_; // the column lies in [low, high)
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      (cellsBefore(middle) <= cell ? low : high) = middle;
    }
    column = low;
    row = firstRow() + (cell - cellsBefore(low));
  }
  void advance() {
    if (++row < rows_)
      return;
    ++column;
    row = firstRow();
  }

private:
  int64_t firstRow() const { return isTriangle_ ? column + skipped_ : 0; }
  int64_t rows_, columns_;
  bool isTriangle_;
  int64_t skipped_; // 1 if the diagonal is not stored, else 0
};

// Parses the array format: one value per line.
class ArrayParser {
public:
  ArrayParser(const Header &header, double *result)
      : header_(header), result_(result), total_(ColumnOrder(header).cells()) {}

  int64_t total() const { return total_; }

  static int64_t countValues(const TextPiece &piece, const std::string &path) {
    int64_t values = 0;
    for (FieldLines fields(piece, path); fields.next();)
      ++values;
    return values;
  }

  // `firstCell`: number of values before this piece.
  void parse(const TextPiece &piece, const std::string &path, int64_t firstCell) const {
    ColumnOrder order(header_);
    order.moveTo(std::min(firstCell, total_));
    int64_t cell = firstCell;
    for (FieldLines fields(piece, path); fields.next(); ++cell, order.advance()) {
      if (cell >= total_)
        fields.fail(fmt::format("one value too many: a {}x{} matrix has {} of them here",
                                header_.rows, header_.columns, total_));
      auto place = [&] {
        return fmt::format("row {}, column {}: ", order.row + 1, order.column + 1);
      };
      double value = fields.number(place);
      fields.expectEnd();
      if (header_.layout.isInteger && value != std::trunc(value))
        fields.fail(place() + "the value is not an integer");
      set(order.row, order.column, value);
      if (header_.layout.symmetry != Symmetry::None && order.row != order.column)
        set(order.column, order.row,
            header_.layout.symmetry == Symmetry::SkewSymmetric ? -value : value);
    }
  }

private:
  void set(int64_t row, int64_t column, double value) const {
    result_[row * header_.columns + column] = value;
  }

  const Header &header_;
  double *result_;
  int64_t total_;
};

ArrayReference readArray(const MatrixFile &file, const Header &header, TextSource &source,
                         ExecutionContext &context) {
  ArrayPointer result = Array::filled({header.rows, header.columns}, 0);
  ArrayParser parser(header, result->mutableData());
  int64_t found = 0;
  for (auto pieces = source.nextPieces(context, BlankEnd::Drop); !pieces.empty();
       pieces = source.nextPieces(context, BlankEnd::Drop)) {
    std::vector<int64_t> firstCells(pieces.size() + 1, found);
    forEachPiece(context, pieces, [&](const TextPiece &piece, size_t i) {
      firstCells[i + 1] = ArrayParser::countValues(piece, source.pathOf(piece.part));
    });
    for (size_t i = 1; i < firstCells.size(); ++i)
      firstCells[i] += firstCells[i - 1];
    found = firstCells.back();
    forEachPiece(context, pieces, [&](const TextPiece &piece, size_t i) {
      parser.parse(piece, source.pathOf(piece.part), firstCells[i]);
    });
  }
  if (found != parser.total())
    throw Error(
        fmt::format("{}: the file ends after {} of {} values", file.path, found, parser.total()));
  return Array::inBestLayout(result);
}

} // namespace

ArrayReference readMatrixMarket(const MatrixFile &file, TextSource &source,
                                ExecutionContext &context) {
  Header header = parseHeader(file, source);
  if (!header.isCoordinate)
    return readArray(file, header, source, context);
  CellCollector collector(header.rows, header.columns);
  int64_t found = readCells(header.layout, source, collector, context);
  if (found != header.entries)
    throw Error(
        fmt::format("{}: the file has {} entries, expected {}", file.path, found, header.entries));
  return collector.finish(context);
}

} // namespace tokamak::runtime
