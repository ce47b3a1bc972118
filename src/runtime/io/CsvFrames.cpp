#include "runtime/io/CsvFrames.h"

#include "runtime/io/FrameCells.h"

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
    beginsQuoted_ = rest_.starts_with('"');
    do
      fields.push_back(takeField(fields.size() + 1));
    while (takeSeparator());
    takeLineEnd();
    return true;
  }

  // Whether the first field of the last row was in quotes.
  bool beginsQuoted() const { return beginsQuoted_; }

private:
  std::string takeField(size_t column) {
    std::string field;
    if (rest_.starts_with('"'))
      field = takeQuoted(column);
    std::string_view line = restOfLine();
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
  // Its end is looked for once in a line, and again behind a quoted field that goes on in other lines.
  std::string_view restOfLine() {
    if (!lineEnd_ || rest_.data() > lineEnd_)
      lineEnd_ = rest_.data() + std::min(rest_.find('\n'), rest_.size());
    return {rest_.data(), lineEnd_};
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
  const char *lineEnd_ = nullptr;
  bool beginsQuoted_ = false;
  const std::string &separator_;
};

// Lines of metadata before the rows, as SystemDS writes them: what stands for missing cells (Frame::replacement), with a
// field for each column behind the tag. Other lines of the kind have numbers of distinct values, which the rows give, too. A
// text of a row that begins with the tag is in quotes.
constexpr std::string_view metadataTag = "#Meta\u00b7", replacementsTag = "#Meta\u00b7MV";
constexpr const char *noReplacement = "null";

bool takeMetadata(const std::vector<std::string> &fields, FrameCells &cells) {
  if (!fields[0].starts_with(metadataTag))
    return false;
  if (fields[0] == replacementsTag) {
    Frame::Replacements replacements;
    for (size_t j = 1; j < fields.size(); ++j)
      replacements.push_back(fields[j] == noReplacement ? std::nullopt : std::optional(fields[j]));
    cells.setReplacements(std::move(replacements));
  }
  return true;
}

std::vector<std::string> readRows(const std::string &path, std::string_view text,
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
    if (row == 1 && !rows.beginsQuoted() && takeMetadata(fields, cells))
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

// Quotes a field if necessary: also if it contains any character of the separator, since the end of
// the field and the next separator might otherwise form a separator together.
std::string csvField(const std::string &text, const std::string &separator) {
  bool isPlain = text.find_first_of(separator) == text.npos &&
                 text.find_first_of("\"\r\n") == text.npos && !text.starts_with(metadataTag);
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

} // namespace

FramePointer readCsvFrame(const std::string &path, const MatrixMetadata &metadata,
                          TextSource &source) {
  FrameCells cells(path, metadata);
  std::vector<std::string> names = readRows(path, source.takeRest(), metadata, cells);
  int64_t columns = std::max(cells.columns(), static_cast<int64_t>(names.size()));
  // Rows without columns are written as empty lines.
  bool areEmptyLines = columns == 0 && metadata.columns == 0;
  int64_t rows = areEmptyLines ? metadata.rows.value_or(0) : cells.rows();
  checkFrameSize(path, "rows", metadata.rows, rows);
  checkFrameSize(path, "columns", metadata.columns, columns);
  return cells.frame(rows, columns, std::move(names));
}

void writeCsvFrame(const Frame &frame, const WriteOptions &options, FileWriter &file) {
  std::string separator = options.separator.value_or(",");
  checkSeparator("write", separator);
  std::string text;
  if (options.header)
    appendCsvRow(frame.columns(), separator, [&](int64_t j) { return frame.name(j); }, text);
  if (frame.hasReplacements()) {
    text += replacementsTag;
    for (int64_t j = 0; j < frame.columns(); ++j)
      text += separator + csvField(frame.replacement(j).value_or(noReplacement), separator);
    text += "\n";
  }
  writeFrameRows(frame, file, text, [&](int64_t i, std::string &rows) {
    appendCsvRow(
        frame.columns(), separator, [&](int64_t j) { return frame.column(j)->text(i); }, rows);
  });
}

} // namespace tokamak::runtime
