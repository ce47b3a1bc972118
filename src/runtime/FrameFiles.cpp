#include "runtime/FrameFiles.h"

#include "base/Error.h"
#include "base/FileFormats.h"
#include "runtime/ScalarOperations.h"
#include "runtime/TextSource.h"

#include <algorithm>
#include <fmt/format.h>

namespace tokamak::runtime {
namespace {

// Splits a csv text into rows of fields.
class CsvText {
public:
  CsvText(std::string_view text, const std::string &separator)
      : rest_(text), separator_(separator) {}

  // False at the end; blank lines at the end are no rows.
  bool nextRow(std::vector<std::string> &fields) {
    if (rest_.find_first_not_of("\r\n") == rest_.npos)
      return false;
    fields.clear();
    do
      fields.push_back(takeField());
    while (takeSeparator());
    takeLineEnd();
    return true;
  }

private:
  std::string takeField() {
    std::string field;
    if (rest_.starts_with('"')) {
      rest_.remove_prefix(1);
      while (!rest_.empty()) {
        char c = rest_.front();
        rest_.remove_prefix(1);
        if (c == '"' && !rest_.starts_with('"'))
          break;
        if (c == '"')
          rest_.remove_prefix(1);
        field += c;
      }
    }
    size_t end = std::min({rest_.find(separator_), rest_.find('\n'), rest_.size()});
    std::string_view plain = rest_.substr(0, end);
    rest_.remove_prefix(end);
    bool endsLine = rest_.empty() || rest_.front() == '\n';
    if (endsLine && plain.ends_with('\r'))
      plain.remove_suffix(1);
    return field += plain;
  }
  bool takeSeparator() {
    bool found = rest_.starts_with(separator_);
    if (found)
      rest_.remove_prefix(separator_.size());
    return found;
  }
  void takeLineEnd() {
    if (rest_.starts_with('\n'))
      rest_.remove_prefix(1);
  }

  std::string_view rest_;
  const std::string &separator_;
};

// Collects the cells of a frame whose size is not known before it has been read.
class FrameCells {
public:
  FrameCells(const std::string &path, const MatrixMetadata &metadata)
      : path_(path), missing_(metadata.naStrings.value_or(std::vector<std::string>())) {}

  // Counted from 1.
  void set(int64_t row, int64_t column, const std::string &field) {
    if (column > static_cast<int64_t>(columns_.size()))
      columns_.resize(column);
    FrameColumn::Texts &cells = columns_[column - 1];
    if (row > static_cast<int64_t>(cells.size()))
      cells.resize(row);
    bool isMissing =
        field.empty() || std::find(missing_.begin(), missing_.end(), field) != missing_.end();
    if (!isMissing)
      cells[row - 1] = field;
    rows_ = std::max(rows_, row);
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return static_cast<int64_t>(columns_.size()); }

  FramePointer frame(int64_t rows, int64_t columns, const std::vector<FrameType> &schema,
                     std::vector<std::string> names) {
    columns_.resize(columns);
    std::vector<ColumnPointer> typed;
    for (int64_t j = 0; j < columns; ++j) {
      columns_[j].resize(rows);
      typed.push_back(typedColumn(std::move(columns_[j]), schema[j], j + 1));
    }
    return std::make_shared<const Frame>(rows, std::move(typed), std::move(names));
  }

private:
  ColumnPointer typedColumn(FrameColumn::Texts cells, FrameType type, int64_t number) const {
    if (type == FrameType::String)
      return std::make_shared<const FrameColumn>(std::move(cells));
    auto column = std::make_shared<FrameColumn>(type, static_cast<int64_t>(cells.size()));
    for (size_t i = 0; i < cells.size(); ++i) {
      try {
        column->set(static_cast<int64_t>(i), cells[i] ? Value(*cells[i]) : Value());
      } catch (const Error &error) {
        throw Error(
            fmt::format("{}: row {}, column {}: {}", path_, i + 1, number, error.message()));
      }
    }
    return column;
  }

  const std::string &path_;
  std::vector<std::string> missing_;
  std::vector<FrameColumn::Texts> columns_;
  int64_t rows_ = 0;
};

void checkSize(const std::string &path, std::string_view what, std::optional<int64_t> expected,
               int64_t found) {
  if (expected && *expected != found)
    throw Error(fmt::format("{}: the file has {} {}, expected {}", path, found, what, *expected));
}

std::vector<std::string> readCsv(const std::string &path, const std::string &text,
                                 const MatrixMetadata &metadata, FrameCells &cells) {
  std::string separator = metadata.separator.value_or(",");
  if (separator.empty() || separator.find_first_of("\"\n") != separator.npos)
    throw Error(
        fmt::format("read: the separator of {} can't be empty, a quote or a line end", path));
  CsvText rows(text, separator);
  std::vector<std::string> names, fields;
  if (metadata.header.value_or(false))
    rows.nextRow(names);
  for (int64_t row = 1; rows.nextRow(fields); ++row) {
    size_t expected = row > 1         ? static_cast<size_t>(cells.columns())
                      : names.empty() ? fields.size()
                                      : names.size();
    if (fields.size() != expected)
      throw Error(
          fmt::format("{}: row {} has {} fields, expected {}", path, row, fields.size(), expected));
    for (size_t j = 0; j < fields.size(); ++j)
      cells.set(row, static_cast<int64_t>(j) + 1, fields[j]);
  }
  return names;
}

// The value is what follows the second blank, blanks and all.
void readText(const std::string &path, std::string_view text, FrameCells &cells) {
  for (int64_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    auto takeIndex = [&]() {
      size_t blank = std::min(rest.find(' '), rest.size());
      std::optional<int64_t> index = parseInteger(rest.substr(0, blank));
      rest.remove_prefix(std::min(blank + 1, rest.size()));
      if (!index || *index < 1)
        throw Error(fmt::format("{}: line {}: expected a row, a column and a value", path, line));
      return *index;
    };
    if (rest.empty())
      continue;
    int64_t row = takeIndex(), column = takeIndex();
    cells.set(row, column, std::string(rest));
  }
}

std::string csvField(const std::string &text, const std::string &separator) {
  bool isPlain = text.find(separator) == text.npos && text.find_first_of("\"\r\n") == text.npos;
  if (isPlain)
    return text;
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

} // namespace

FramePointer readFrame(const std::string &path, const MatrixMetadata &metadata) {
  if (!metadata.format)
    throw Error(fmt::format(
        "read: the format of {} is not known: there is no {}.mtd, and format is not given", path,
        path));
  FrameCells cells(path, metadata);
  std::vector<std::string> names;
  std::string text = wholeText(path);
  int64_t rows = 0, columns = 0;
  if (*metadata.format == "csv") {
    names = readCsv(path, text, metadata, cells);
    rows = cells.rows();
    columns = std::max(cells.columns(), static_cast<int64_t>(names.size()));
    checkSize(path, "rows", metadata.rows, rows);
    checkSize(path, "columns", metadata.columns, columns);
  } else if (*metadata.format == "text") {
    if (!metadata.rows || !metadata.columns)
      throw Error(fmt::format("read: {}: a file of the format text needs rows and cols", path));
    readText(path, text, cells);
    rows = *metadata.rows;
    columns = *metadata.columns;
    if (cells.rows() > rows || cells.columns() > columns)
      throw Error(
          fmt::format("{}: the file has cells outside of a {}x{} frame", path, rows, columns));
  } else {
    throw Error(unsupportedFormat("read", *metadata.format, FormatUse::Frame));
  }
  std::vector<FrameType> schema = parseSchema(metadata.schema.value_or("string"), columns, "read");
  return cells.frame(rows, columns, schema, std::move(names));
}

void writeFrame(const Frame &frame, const FrameFormat &format, FileWriter &file) {
  bool isCsv = format.format == "csv";
  if (!isCsv && format.format != "text")
    throw Error(unsupportedFormat("write", format.format, FormatUse::Frame));
  std::string text;
  if (isCsv && format.header)
    for (int64_t j = 0; j < frame.columns(); ++j)
      text += csvField(frame.name(j), format.separator) +
              (j + 1 < frame.columns() ? format.separator : "\n");
  for (int64_t i = 0; i < frame.rows(); ++i)
    for (int64_t j = 0; j < frame.columns(); ++j) {
      std::string cell = frame.column(j)->text(i);
      if (isCsv)
        text +=
            csvField(cell, format.separator) + (j + 1 < frame.columns() ? format.separator : "\n");
      else if (!cell.empty())
        text += fmt::format("{} {} {}\n", i + 1, j + 1, cell);
    }
  file.write(text);
}

} // namespace tokamak::runtime
