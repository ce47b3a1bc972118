// The format libsvm: a line for each row, which begins with the label and goes on with the features
// that are not 0 as index:value, counted from 1. The label is the last column of the matrix.
//
//   1 1:0.5 7:2      the features 1 and 7, in the columns 1 and 7, and the label 1
//
// The format: Chang and Lin, "LIBSVM: a library for support vector machines", 2011. Text behind '#' is a comment.
#include "runtime/io/CsvFields.h"
#include "runtime/io/Format.h"
#include "runtime/io/RowWriter.h"
#include "runtime/sparse/CellCollector.h"
#include "runtime/values/ScalarOperations.h"

namespace tokamak::runtime {
namespace {

// What stands between the fields of a line, and between an index and its value.
struct Separators {
  std::string field, index;

  Separators(std::string_view operation, const std::optional<std::string> &separator,
             const std::optional<std::string> &indexSeparator, std::string_view fallback)
      : index(indexSeparator.value_or(":")) {
    field = separator ? *separator : std::string(index == fallback ? " " : fallback);
    checkCsvSeparator(operation, field);
    bool isUsable = !index.empty() && index.find_first_of(" \t\r\n#") == index.npos &&
                    index != field && !isDigit(index[0]) && index[0] != '.' && index[0] != '-';
    if (!isUsable)
      throw Error(fmt::format("{}: indSep cannot be {}: an index and its value could not be told "
                              "apart",
                              operation, quotedField(index)));
  }
};

constexpr int64_t labelColumn = -1; // until the number of columns is known

// The cells of one piece of the text; rows count from the piece's first line.
class PieceRows {
public:
  PieceRows(const MatrixFile &file, const Separators &separators)
      : file_(file), separators_(separators) {}

  BudgetedVector<Cell> cells;
  int64_t lastIndex = 0; // the largest one

  void parse(const TextPiece &piece, const std::string &path) {
    path_ = path;
    number_ = piece.firstLine;
    std::string_view rest = piece.text;
    for (int64_t row = 0; row < piece.lines; ++row) {
      size_t end = std::min(rest.find('\n'), rest.size());
      position_ = rest.data();
      end_ = rest.data() + end;
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ++number_;
      parseLine(row);
    }
  }

private:
  void parseLine(int64_t row) {
    if (!skipToField())
      fail(": it is empty, but begins with a label");
    const char *begin = position_;
    add(row, labelColumn, number(begin, "the label is missing"));
    while (skipToField()) {
      int64_t index = takeIndex();
      const char *value = position_;
      add(row, index - 1, number(value, fmt::format("the value of index {} is missing", index)));
      lastIndex = std::max(lastIndex, index);
    }
  }

  // Moves to the next field; false at the end of the line or at a comment.
  bool skipToField() {
    while (position_ != end_ && isBetweenFields())
      position_ += isBlank(*position_) ? 1 : separators_.field.size();
    return position_ != end_ && *position_ != '#';
  }
  static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  bool isBetweenFields() const {
    return isBlank(*position_) || std::string_view(position_, end_).starts_with(separators_.field);
  }

  int64_t takeIndex() {
    std::string_view field = restOfField();
    size_t mark = field.find(separators_.index);
    if (mark == field.npos)
      fail(fmt::format(": {} is not an index, '{}' and a value", quotedField(field),
                       separators_.index));
    std::optional<int64_t> index = fieldInteger(field.substr(0, mark));
    if (!index)
      fail(fmt::format(": the index {} is not an integer", quotedField(field.substr(0, mark))));
    if (*index < 1)
      fail(fmt::format(": the index {} is less than 1", *index));
    if (file_.columns ? *index >= *file_.columns : *index >= largestSize)
      fail(file_.columns ? fmt::format(": the index {} is outside of a matrix of {} column{}, of "
                                       "which the last one is the label",
                                       *index, *file_.columns, *file_.columns == 1 ? "" : "s")
                         : fmt::format(": the index {} is too large", *index));
    position_ += mark + separators_.index.size();
    return *index;
  }

  double number(const char *begin, const std::string &missing) {
    double value = 0;
    const char *last = readNumber(begin, end_, value);
    position_ = last ? last : begin;
    if (last && (last == end_ || isBetweenFields()))
      return value;
    position_ = begin;
    std::string_view field = restOfField();
    position_ = begin + field.size();
    if (field.empty())
      fail(": " + missing);
    if (std::optional<double> other = fieldNumber(field))
      return *other;
    fail(fmt::format(": {} is not a number", quotedField(field)));
  }

  // The field at the position, which stays where it is.
  std::string_view restOfField() {
    const char *begin = position_;
    while (position_ != end_ && !isBetweenFields())
      ++position_;
    return {begin, std::exchange(position_, begin)};
  }

  void add(int64_t row, int64_t column, double value) { cells.push_back({row, column, value}); }

  [[noreturn]] void fail(const std::string &message) const {
    throw Error(fmt::format("{}: row {}{}", path_, number_, message));
  }

  const MatrixFile &file_;
  const Separators &separators_;
  std::string path_;
  const char *position_ = nullptr, *end_ = nullptr;
  int64_t number_ = 0; // of the line in its file, from 1
};

ArrayReference read(const MatrixFile &file, TextSource &source, ExecutionContext &context) {
  Separators separators("read", file.separator, file.indexSeparator, ",");
  std::vector<BudgetedVector<Cell>> parsed;
  int64_t rows = 0, lastIndex = 0;
  for (auto pieces = source.nextPieces(context, BlankEnd::Drop); !pieces.empty();
       pieces = source.nextPieces(context, BlankEnd::Drop)) {
    std::vector<PieceRows> parts(pieces.size(), PieceRows(file, separators));
    forEachPiece(context, pieces, [&](const TextPiece &piece, size_t i) {
      parts[i].parse(piece, source.pathOf(piece.part));
    });
    for (size_t i = 0; i < pieces.size(); ++i) {
      for (Cell &cell : parts[i].cells)
        cell.row += rows;
      rows += pieces[i].lines;
      lastIndex = std::max(lastIndex, parts[i].lastIndex);
      parsed.push_back(std::move(parts[i].cells));
    }
  }
  int64_t columns = file.columns.value_or(rows == 0 ? 0 : lastIndex + 1);
  checkSize(file, "row", file.rows, rows);
  if (columns == 0 && rows > 0)
    throw Error(
        fmt::format("{}: the file has labels, which are a column, but cols is 0", file.path));
  CellCollector collector(rows, columns);
  for (BudgetedVector<Cell> &cells : parsed) {
    for (Cell &cell : cells)
      cell.column = cell.column == labelColumn ? columns - 1 : cell.column;
    collector.add(std::move(cells));
  }
  return collector.finish(context);
}

void write(const Array &matrix, const WriteOptions &options, ExecutionContext &context,
           FileWriter &file) {
  Separators separators("write", options.separator, options.indexSeparator, " ");
  int64_t label = matrix.columns() - 1;
  if (label < 0 && matrix.rows() > 0)
    throw Error("write: the format libsvm needs a column of labels, the last one of the matrix: it "
                "has no columns");
  writeRows(matrix, context, file, [&](int64_t row, std::string &text) {
    std::string features;
    double labelValue = 0;
    forEachNonZero(matrix, row, [&](int64_t column, double value) {
      if (column == label)
        labelValue = value;
      else
        features +=
            fmt::format("{}{}{}{}", separators.field, column + 1, separators.index, textOf(value));
    });
    text += textOf(labelValue) + features + "\n";
  });
}

void describe(const WriteOptions &options, MatrixMetadata &metadata) {
  metadata.separator = options.separator.value_or(" ");
  metadata.indexSeparator = options.indexSeparator.value_or(":");
}

} // namespace

constinit const Format LibsvmFormat = {
    .name = "libsvm", .readMatrix = read, .writeMatrix = write, .describe = describe};

} // namespace tokamak::runtime
