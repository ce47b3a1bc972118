#include "runtime/CsvReader.h"

#include "runtime/NativeOperands.h"
#include "runtime/ScalarOperations.h"

#include <charconv>
#include <cstring>
#include <limits>

namespace tokamak::runtime {
namespace {

constexpr size_t pieceBytes = size_t{1} << 20;

// The first line of `text` without its end; `text` keeps the rest.
std::string_view takeLine(std::string_view &text) {
  size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view field) {
  while (!field.empty() && (field.front() == ' ' || field.front() == '\t'))
    field.remove_prefix(1);
  while (!field.empty() && (field.back() == ' ' || field.back() == '\t'))
    field.remove_suffix(1);
  return field;
}

int64_t countFields(std::string_view line, std::string_view separator) {
  int64_t count = 1;
  for (size_t at = line.find(separator); at != line.npos;
       at = line.find(separator, at + separator.size()))
    ++count;
  return count;
}

std::string counted(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// A piece of the text with whole lines.
struct Piece {
  std::string_view text;
  int64_t firstRow = 0, rows = 0;
  std::string error; // the first one
};

class CsvParser {
public:
  CsvParser(const MatrixFile &file, int64_t columns) : file_(file), columns_(columns) {}

  // Parses a line into `row`; false with `error` set where it is wrong.
  bool parseRow(std::string_view line, int64_t rowNumber, double *row, std::string &error) const {
    const char *position = line.data(), *end = line.data() + line.size();
    for (int64_t column = 0; column < columns_; ++column) {
      if (column > 0) {
        if (!startsWithSeparator(position, end)) {
          error = fieldCountMessage(line, rowNumber);
          return false;
        }
        position += file_.separator.size();
      }
      if (!parseField(position, end, row[column])) {
        bool isRagged = countFields(line, file_.separator) != columns_;
        error = isRagged ? fieldCountMessage(line, rowNumber)
                         : fmt::format("{}: row {}, column {}: {}", file_.path, rowNumber,
                                       column + 1, fieldMessage(position, end));
        return false;
      }
    }
    if (position == end)
      return true;
    error = fieldCountMessage(line, rowNumber);
    return false;
  }

private:
  bool startsWithSeparator(const char *position, const char *end) const {
    size_t size = file_.separator.size();
    return static_cast<size_t>(end - position) >= size &&
           std::memcmp(position, file_.separator.data(), size) == 0;
  }

  std::string_view fieldAt(const char *position, const char *end) const {
    std::string_view rest(position, static_cast<size_t>(end - position));
    return rest.substr(0, rest.find(file_.separator));
  }

  // Leaves `position` behind the field.
  bool parseField(const char *&position, const char *end, double &value) const {
    // Most fields are plain numbers that end at a separator.
    bool isPlain = position < end && ((*position >= '0' && *position <= '9') || *position == '-');
    if (isPlain && file_.naStrings.empty()) {
      auto [last, status] = std::from_chars(position, end, value);
      if (status == std::errc() && (last == end || startsWithSeparator(last, end))) {
        position = last;
        return true;
      }
    }
    std::string_view whole = fieldAt(position, end), field = trimmed(whole);
    if (!convert(field, value))
      return false;
    position += whole.size();
    return true;
  }

  bool convert(std::string_view field, double &value) const {
    for (const std::string &missing : file_.naStrings)
      if (field == missing) {
        value = std::numeric_limits<double>::quiet_NaN();
        return true;
      }
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
      field = field.substr(1, field.size() - 2);
    if (field.empty()) {
      value = file_.defaultValue;
      return file_.fill;
    }
    std::optional<double> number = parseDouble(field);
    value = number.value_or(0);
    return number.has_value();
  }

  std::string fieldMessage(const char *position, const char *end) const {
    std::string_view field = trimmed(fieldAt(position, end));
    return field.empty() ? "the field is empty" : fmt::format("'{}' is not a number", field);
  }

  std::string fieldCountMessage(std::string_view line, int64_t rowNumber) const {
    return fmt::format("{}: row {} has {}, expected {}", file_.path, rowNumber,
                       counted(countFields(line, file_.separator), "field"), columns_);
  }

  const MatrixFile &file_;
  int64_t columns_;
};

std::vector<Piece> cutIntoPieces(std::string_view text) {
  std::vector<Piece> pieces;
  while (!text.empty()) {
    size_t end = text.size() > pieceBytes ? text.find('\n', pieceBytes) : text.npos;
    size_t size = end == text.npos ? text.size() : end + 1;
    pieces.emplace_back().text = text.substr(0, size);
    text.remove_prefix(size);
  }
  return pieces;
}

void checkSize(const MatrixFile &file, std::string_view what, std::optional<int64_t> expected,
               int64_t found) {
  if (expected && *expected != found)
    throw Error(fmt::format("{}: the file has {}, expected {}", file.path, counted(found, what),
                            *expected));
}

} // namespace

ArrayPointer readCsv(const MatrixFile &file, std::string_view text, ExecutionContext &context) {
  if (file.separator.empty())
    throw Error("read: sep is empty");
  if (file.header)
    takeLine(text);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  std::string_view rest = text;
  int64_t columns =
      text.empty() ? file.columns.value_or(0) : countFields(takeLine(rest), file.separator);
  checkSize(file, "column", file.columns, columns);

  std::vector<Piece> pieces = cutIntoPieces(text);
  auto count = static_cast<int64_t>(pieces.size());
  forEachRange(context, count, 1, [&](int64_t i, int64_t) {
    Piece &piece = pieces[i];
    piece.rows =
        std::count(piece.text.begin(), piece.text.end(), '\n') + !piece.text.ends_with('\n');
  });
  int64_t rows = 0;
  for (Piece &piece : pieces) {
    piece.firstRow = rows;
    rows += piece.rows;
  }

  ArrayPointer result = Array::create({rows, columns});
  CsvParser parser(file, columns);
  forEachRange(context, count, 1, [&](int64_t i, int64_t) {
    Piece &piece = pieces[i];
    std::string_view remaining = piece.text;
    for (int64_t row = piece.firstRow; row < piece.firstRow + piece.rows && piece.error.empty();
         ++row)
      parser.parseRow(takeLine(remaining), row + 1, result->mutableData() + row * columns,
                      piece.error);
  });
  for (const Piece &piece : pieces)
    if (!piece.error.empty())
      throw Error(piece.error);
  checkSize(file, "row", file.rows, rows);
  return result;
}

} // namespace tokamak::runtime
