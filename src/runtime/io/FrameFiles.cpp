#include "runtime/io/FrameFiles.h"

#include "base/Error.h"
#include "base/FileFormats.h"
#include "runtime/io/TextSource.h"
#include "runtime/memory/MemoryCharge.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <fmt/format.h>

namespace tokamak::runtime {
namespace {

void checkSeparator(std::string_view operation, const std::string &separator) {
  if (separator.empty() || separator.find_first_of("\"\r\n") != separator.npos)
    throw Error(fmt::format("{}: sep is {}: it can't be empty or hold a quote or a line end",
                            operation, quotedField(separator)));
}

// Splits a csv text into rows of fields.
class CsvText {
public:
  CsvText(std::string_view text, const std::string &separator) : separator_(separator) {
    size_t last = text.find_last_not_of("\r\n");
    if (last != text.npos) // blank lines at the end are not rows
      rest_ = text.substr(0, last + 1);
  }

  // False at the end. Throws Error naming the column of a quote that is not closed.
  bool nextRow(std::vector<std::string> &fields) {
    if (rest_.empty())
      return false;
    fields.clear();
    do
      fields.push_back(takeField(fields.size() + 1));
    while (takeSeparator());
    takeLineEnd();
    return true;
  }

private:
  std::string takeField(size_t column) {
    std::string field;
    if (rest_.starts_with('"'))
      field = takeQuoted(column);
    std::string_view line = rest_.substr(0, rest_.find('\n'));
    bool endsLine = line.find(separator_) == line.npos;
    std::string_view plain = line.substr(0, line.find(separator_));
    rest_.remove_prefix(plain.size());
    if (endsLine && plain.ends_with('\r'))
      plain.remove_suffix(1);
    return field += plain;
  }
  std::string takeQuoted(size_t column) {
    std::string_view begin = rest_.substr(0, rest_.find_first_of("\r\n"));
    std::string field;
    for (size_t from = 1;;) {
      size_t quote = rest_.find('"', from);
      if (quote == rest_.npos)
        throw Error(
            fmt::format("column {}: the quote of {} is not closed", column, quotedField(begin)));
      field += rest_.substr(from, quote - from);
      if (!rest_.substr(quote + 1).starts_with('"')) {
        rest_.remove_prefix(quote + 1);
        return field;
      }
      field += '"'; // a doubled quote stands for one
      from = quote + 2;
    }
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

// Collects the cells of a frame whose size is known only when all have been read.
class FrameCells {
public:
  FrameCells(const std::string &path, const MatrixMetadata &metadata)
      : path_(path), missing_(metadata.naStrings.value_or(std::vector<std::string>())) {}

  // Row and column count from 1.
  void set(int64_t row, int64_t column, const std::string &field) {
    if (column > static_cast<int64_t>(columns_.size()))
      columns_.resize(column);
    FrameColumn::Texts &cells = columns_[column - 1];
    if (row > static_cast<int64_t>(cells.size()))
      cells.resize(row);
    bool isMissing =
        field.empty() || std::find(missing_.begin(), missing_.end(), field) != missing_.end();
    if (!isMissing) {
      cells[row - 1] = field;
      constexpr size_t withinCell = 15; // longer strings need memory besides their cell
      textBytes_ += field.size() > withinCell ? static_cast<int64_t>(field.size()) + 1 : 0;
      charge_.atLeast(textBytes_);
    }
    rows_ = std::max(rows_, row);
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return static_cast<int64_t>(columns_.size()); }

  // What stands for missing cells (Frame::replacement), from a line of its own in a csv file of SystemDS and of ours:
  // "#Meta·MV", then a field for each column, "null" for none. Other such lines are SystemDS's alone.
  bool takeReplacements(const std::vector<std::string> &fields) {
    constexpr std::string_view prefix = "#Meta\u00b7";
    if (!fields[0].starts_with(prefix))
      return false;
    if (std::string_view(fields[0]).substr(prefix.size()) == "MV")
      for (size_t j = 1; j < fields.size(); ++j)
        replacements_.push_back(fields[j] == "null" ? std::nullopt : std::optional(fields[j]));
    return true;
  }

  FramePointer frame(int64_t rows, int64_t columns, const std::vector<FrameType> &schema,
                     std::vector<std::string> names) {
    charge_.resize(0); // the columns charge their strings from here on
    columns_.resize(columns);
    std::vector<ColumnPointer> typed;
    for (int64_t j = 0; j < columns; ++j) {
      columns_[j].resize(rows);
      typed.push_back(typedColumn(std::move(columns_[j]), schema[j], j));
    }
    if (!replacements_.empty())
      replacements_.resize(columns);
    return std::make_shared<const Frame>(rows, std::move(typed), std::move(names),
                                         std::move(replacements_));
  }

private:
  ColumnPointer typedColumn(FrameColumn::Texts cells, FrameType type, int64_t number) const {
    if (type == FrameType::String)
      return std::make_shared<const FrameColumn>(std::move(cells));
    auto column = std::make_shared<FrameColumn>(type, static_cast<int64_t>(cells.size()));
    for (size_t i = 0; i < cells.size(); ++i)
      setCell(*column, static_cast<int64_t>(i), cells[i] ? Value(*cells[i]) : Value(), path_,
              number);
    return column;
  }

  const std::string &path_;
  std::vector<std::string> missing_;
  std::vector<FrameColumn::Texts> columns_;
  Frame::Replacements replacements_;
  int64_t rows_ = 0, textBytes_ = 0;
  MemoryCharge charge_; // of strings too long for their cells
};

void checkSize(const std::string &path, std::string_view what, std::optional<int64_t> expected,
               int64_t found) {
  if (expected && *expected != found)
    throw Error(fmt::format("{}: the file has {} {}, expected {}", path, found, what, *expected));
}

std::vector<std::string> readCsv(const std::string &path, std::string_view text,
                                 const MatrixMetadata &metadata, FrameCells &cells) {
  std::string separator = metadata.separator.value_or(",");
  checkSeparator("read", separator);
  CsvText rows(text, separator);
  std::vector<std::string> names, fields;
  auto nextRow = [&](std::vector<std::string> &row, int64_t number) {
    try {
      return rows.nextRow(row);
    } catch (const Error &error) {
      std::string place = number > 0 ? fmt::format("row {}", number) : "the header";
      throw Error(fmt::format("{}: {}, {}", path, place, error.message()));
    }
  };
  if (metadata.header.value_or(false))
    nextRow(names, 0);
  for (int64_t row = 1; nextRow(fields, row);) {
    if (cells.takeReplacements(fields))
      continue;
    size_t expected = row > 1         ? static_cast<size_t>(cells.columns())
                      : names.empty() ? fields.size()
                                      : names.size();
    if (fields.size() != expected)
      throw Error(fmt::format("{}: row {} has {} field{}, expected {}", path, row, fields.size(),
                              fields.size() == 1 ? "" : "s", expected));
    for (size_t j = 0; j < fields.size(); ++j)
      cells.set(row, static_cast<int64_t>(j) + 1, fields[j]);
    ++row;
  }
  return names;
}

// Reads lines of a row, a column and a value; the value is the rest of the line behind the second
// blank, including its blanks.
void readText(const std::string &path, std::string_view text, int64_t rows, int64_t columns,
              FrameCells &cells) {
  for (int64_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (rest.ends_with('\r'))
      rest.remove_suffix(1);
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
    if (row > rows || column > columns)
      throw Error(fmt::format("{}: line {}: cell ({}, {}) is outside of a {}x{} frame", path, line,
                              row, column, rows, columns));
    cells.set(row, column, std::string(rest));
  }
}

// Quotes a field if necessary: also if it contains any character of the separator, since the end of
// the field and the next separator might otherwise form a separator together.
std::string csvField(const std::string &text, const std::string &separator) {
  bool isPlain =
      text.find_first_of(separator) == text.npos && text.find_first_of("\"\r\n") == text.npos;
  if (isPlain)
    return text;
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

// Appends a row as csv. In a frame of one column an empty field is quoted: an empty line at the end
// of the file would not be read as a row.
template <typename Field>
void appendCsvRow(int64_t columns, const std::string &separator, const Field &field,
                  std::string &text) {
  for (int64_t j = 0; j < columns; ++j) {
    std::string cell = field(j);
    text += columns == 1 && cell.empty() ? "\"\"" : csvField(cell, separator);
    text += j + 1 < columns ? separator : "\n";
  }
}

void appendCells(const Frame &frame, int64_t row, std::string &text) {
  for (int64_t j = 0; j < frame.columns(); ++j) {
    std::string cell = frame.column(j)->text(row);
    if (cell.find_first_of("\r\n") != cell.npos)
      throw Error(
          fmt::format("write: row {}, column {}: {} has a line break, which the format text "
                      "can't hold: use csv",
                      row + 1, j + 1, quotedField(cell)));
    if (!cell.empty())
      text += fmt::format("{} {} {}\n", row + 1, j + 1, cell);
  }
}

} // namespace

FramePointer readFrame(const std::string &path, const MatrixMetadata &metadata) {
  if (!metadata.format)
    throw Error(fmt::format(
        "read: the format of {} is not known: there is no {}.mtd, and format is not given", path,
        path));
  TextSource source(path);
  return source.parse([&] {
    FrameCells cells(path, metadata);
    std::vector<std::string> names;
    int64_t rows = 0, columns = 0;
    if (*metadata.format == "csv") {
      names = readCsv(path, source.takeRest(), metadata, cells);
      columns = std::max(cells.columns(), static_cast<int64_t>(names.size()));
      // Rows without columns are written as empty lines.
      rows = columns == 0 && metadata.columns == 0 ? metadata.rows.value_or(0) : cells.rows();
      checkSize(path, "rows", metadata.rows, rows);
      checkSize(path, "columns", metadata.columns, columns);
    } else if (*metadata.format == "text") {
      if (!metadata.rows || !metadata.columns)
        throw Error(fmt::format("read: {}: a file of the format text needs rows and cols", path));
      rows = *metadata.rows;
      columns = *metadata.columns;
      readText(path, source.takeRest(), rows, columns, cells);
    } else {
      throw Error(unsupportedFormat("read", *metadata.format, FormatUse::Frame));
    }
    std::vector<FrameType> schema =
        parseSchema(metadata.schema.value_or("string"), columns, "read");
    return cells.frame(rows, columns, schema, std::move(names));
  });
}

void writeFrame(const Frame &frame, const FrameFormat &format, FileWriter &file) {
  bool isCsv = format.format == "csv";
  if (!isCsv && format.format != "text")
    throw Error(unsupportedFormat("write", format.format, FormatUse::Frame));
  if (isCsv)
    checkSeparator("write", format.separator);
  auto appendRow = [&](const auto &field, std::string &text) {
    appendCsvRow(frame.columns(), format.separator, field, text);
  };
  std::string text;
  if (isCsv && format.header)
    appendRow([&](int64_t j) { return frame.name(j); }, text);
  if (isCsv && frame.hasReplacements()) {
    text += "#Meta\u00b7MV";
    for (int64_t j = 0; j < frame.columns(); ++j)
      text += format.separator + csvField(frame.replacement(j).value_or("null"), format.separator);
    text += "\n";
  }
  constexpr size_t pieceBytes = size_t{1} << 20;
  for (int64_t i = 0; i < frame.rows(); ++i) {
    if (isCsv)
      appendRow([&](int64_t j) { return frame.column(j)->text(i); }, text);
    else
      appendCells(frame, i, text);
    if (text.size() >= pieceBytes) {
      file.writeText(text);
      text.clear();
    }
  }
  file.writeText(text);
}

} // namespace tokamak::runtime
