#include "runtime/MatrixReader.h"

#include "base/NearestNames.h"
#include "runtime/CsvReader.h"
#include "runtime/FileAccess.h"
#include "runtime/NativeOperands.h"
#include "runtime/ScalarOperations.h"

#include <algorithm>
#include <fstream>

namespace tokamak::runtime {
namespace {

// Lines of blank-separated numbers, with their numbers for messages.
class CellLines {
public:
  CellLines(const std::string &path, std::string_view text) : path_(path), rest_(text) {}

  // The next line that is neither empty nor a comment ('%'); false at the end.
  bool next() {
    while (!rest_.empty()) {
      size_t end = rest_.find('\n');
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
      ++number_;
      skipBlanks();
      if (!line_.empty() && line_.front() != '%')
        return true;
    }
    return false;
  }

  std::string_view word() {
    skipBlanks();
    size_t end = 0;
    while (end < line_.size() && !isBlank(line_[end]))
      ++end;
    std::string_view word = line_.substr(0, end);
    line_.remove_prefix(end);
    return word;
  }

  int64_t integer() {
    std::string_view text = word();
    std::optional<int64_t> number = parseInteger(text);
    if (!number)
      fail(fmt::format("'{}' is not an integer", text));
    return *number;
  }

  double number() {
    std::string_view text = word();
    std::optional<double> number = parseDouble(text);
    if (!number)
      fail(fmt::format("'{}' is not a number", text));
    return *number;
  }

  void expectEnd() {
    skipBlanks();
    if (!line_.empty())
      fail(fmt::format("'{}' is one field too many", word()));
  }

  [[noreturn]] void fail(const std::string &message) const {
    throw Error(fmt::format("{}: line {}: {}", path_, number_, message));
  }

private:
  static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skipBlanks() {
    while (!line_.empty() && isBlank(line_.front()))
      line_.remove_prefix(1);
  }

  const std::string &path_;
  std::string_view rest_, line_;
  int64_t number_ = 0;
};

void setCell(CellLines &lines, Array &result, int64_t row, int64_t column, double value) {
  if (row < 1 || row > result.rows() || column < 1 || column > result.columns())
    lines.fail(
        fmt::format("cell ({}, {}) is outside of a {} matrix", row, column, result.shape().text()));
  result.mutableData()[(row - 1) * result.columns() + column - 1] = value;
}

ArrayPointer readCells(const MatrixFile &file, std::string_view text) {
  if (!file.rows || !file.columns)
    throw Error(fmt::format("read: {}: a file of the format text needs rows and cols", file.path));
  ArrayPointer result = Array::filled({*file.rows, *file.columns}, 0);
  CellLines lines(file.path, text);
  while (lines.next()) {
    int64_t row = lines.integer(), column = lines.integer();
    double value = lines.number();
    lines.expectEnd();
    bool marksEmptyMatrix = row == 0 && column == 0 && value == 0;
    if (!marksEmptyMatrix)
      setCell(lines, *result, row, column, value);
  }
  return result;
}

// The words of the line "%%MatrixMarket matrix coordinate real general".
struct MatrixMarketHeader {
  bool isCoordinate = true, isPattern = false, isSymmetric = false, isSkew = false;
};

MatrixMarketHeader parseHeader(const MatrixFile &file, std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  std::transform(line.begin(), line.end(), line.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  auto has = [&](std::string_view word) { return line.find(word) != line.npos; };
  if (!line.starts_with("%%matrixmarket") || !has("matrix") || has("complex") || has("hermitian"))
    throw Error(fmt::format("{}: line 1: not a MatrixMarket header of a real matrix", file.path));
  return {has("coordinate"), has("pattern"), has("symmetric"), has("skew-symmetric")};
}

ArrayPointer readMatrixMarket(const MatrixFile &file, std::string_view text) {
  MatrixMarketHeader header = parseHeader(file, text);
  CellLines lines(file.path, text);
  if (!lines.next())
    throw Error(fmt::format("{}: the sizes are missing", file.path));
  int64_t rows = lines.integer(), columns = lines.integer();
  auto check = [&](std::string_view what, std::optional<int64_t> expected, int64_t found) {
    if (expected && *expected != found)
      throw Error(
          fmt::format("{}: the file has {} {}, expected {}", file.path, found, what, *expected));
  };
  check("rows", file.rows, rows);
  check("columns", file.columns, columns);
  int64_t expected = header.isCoordinate ? lines.integer() : 0;
  ArrayPointer result = Array::filled({rows, columns}, 0);
  auto set = [&](int64_t row, int64_t column, double value) {
    setCell(lines, *result, row, column, value);
    if (header.isSymmetric && row != column)
      setCell(lines, *result, column, row, header.isSkew ? -value : value);
  };
  if (!header.isCoordinate) { // all cells by columns; of a symmetric matrix the lower triangle
    for (int64_t column = 1; column <= columns; ++column)
      for (int64_t row = header.isSymmetric ? column + header.isSkew : 1; row <= rows; ++row) {
        if (!lines.next())
          throw Error(fmt::format("{}: the file ends before all cells were read", file.path));
        set(row, column, lines.number());
      }
    return result;
  }
  int64_t found = 0;
  for (; lines.next(); ++found) {
    int64_t row = lines.integer(), column = lines.integer();
    set(row, column, header.isPattern ? 1 : lines.number());
    lines.expectEnd();
  }
  if (found != expected)
    throw Error(fmt::format("{}: the file has {} cells, expected {}", file.path, found, expected));
  return result;
}

} // namespace

bool isMatrixMarket(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line.starts_with("%%MatrixMarket");
}

ArrayPointer readMatrix(const MatrixFile &file, ExecutionContext &context) {
  FileContents contents(file.path);
  if (file.format == "csv")
    return readCsv(file, contents.text(), context);
  if (file.format == "text")
    return readCells(file, contents.text());
  if (file.format == "mm")
    return readMatrixMarket(file, contents.text());
  const std::vector<std::string> later = {"binary",     "libsvm", "jsonl",   "hdf5",  "cog",
                                          "compressed", "delta",  "parquet", "proto", "federated"};
  if (std::find(later.begin(), later.end(), file.format) != later.end())
    throw Error(fmt::format("read: the format \"{}\" is not supported yet", file.format));
  std::vector<std::string> known = {"csv", "text", "mm"};
  std::vector<std::string> candidates = nearestCandidates(file.format, known, 1);
  throw Error(fmt::format("read: unknown format \"{}\"{}", file.format,
                          candidates.empty()
                              ? ": expected csv, text or mm"
                              : fmt::format("; did you mean \"{}\"?", candidates[0])));
}

} // namespace tokamak::runtime
