#include "runtime/io/CsvFields.h"

#include "base/Error.h"
#include "base/WidestVectors.h"
#include "runtime/io/TextSource.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace tokamak::runtime {
namespace {

bool isBlank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view field) {
  while (!field.empty() && isBlank(field.front()))
    field.remove_prefix(1);
  while (!field.empty() && isBlank(field.back()))
    field.remove_suffix(1);
  return field;
}

// The position behind the quote that closes the quote at `position`, or npos.
size_t endOfQuote(std::string_view line, size_t position) {
  for (size_t at = line.find('"', position + 1); at != line.npos; at = line.find('"', at + 2))
    if (at + 1 == line.size() || line[at + 1] != '"') // "" stands for a quote in the field
      return at + 1;
  return line.npos;
}

// The size of the first field; if it is less than the line's, a separator follows. A quoted field
// may contain separators; after an unclosed quote the field is the rest of the line.
size_t sizeOfField(std::string_view line, std::string_view separator) {
  size_t begin = 0;
  while (begin < line.size() && isBlank(line[begin]) && !line.substr(begin).starts_with(separator))
    ++begin;
  size_t end = begin < line.size() && line[begin] == '"' ? endOfQuote(line, begin) : begin;
  return end == line.npos ? line.size() : std::min(line.find(separator, end), line.size());
}

// Calls visit(field) on each field until it returns false.
template <typename Visit>
void forEachField(std::string_view line, std::string_view separator, const Visit &visit) {
  for (;;) {
    size_t size = sizeOfField(line, separator);
    if (!visit(line.substr(0, size)) || size == line.size())
      return;
    line.remove_prefix(size + separator.size());
  }
}

bool isQuoted(std::string_view field) {
  return field.size() >= 2 && endOfQuote(field, 0) == field.size();
}

// The text between the quotes, with doubled quotes replaced by single ones.
std::string unquoted(std::string_view field) {
  std::string text;
  for (size_t i = 1; i + 1 < field.size(); ++i) {
    text += field[i];
    i += field[i] == '"'; // skip the second quote of a pair
  }
  return text;
}

} // namespace

// The characters that a quoted field begins with or that numbers consist of.
constexpr std::string_view numberCharacters = "0123456789+-.eE\"";

void checkCsvSeparator(std::string_view operation, std::string_view separator) {
  if (separator.empty())
    throw Error(fmt::format("{}: sep is empty", operation));
  constexpr std::string_view lettersOfWords = "nNaAiIfFtTyY"; // of NaN and Infinity
  if (numberCharacters.find(separator.front()) != numberCharacters.npos ||
      lettersOfWords.find(separator.front()) != lettersOfWords.npos ||
      separator.find_first_of("\r\n") != separator.npos)
    throw Error(fmt::format("{}: sep cannot be {}: fields could not be told apart", operation,
                            quotedField(separator)));
}

CsvFields::CsvFields(const MatrixFile &file, int64_t columns)
    : file_(file), columns_(columns), separator_(csvSeparator(file)) {
  checkCsvSeparator("read", separator_);
  firstOfSeparator_ = separator_.front();
  mayReadNumbersAhead_ =
      std::none_of(file.naStrings.begin(), file.naStrings.end(), [&](const std::string &text) {
        return !text.empty() && numberCharacters.find(text.front()) != numberCharacters.npos;
      });
}

int64_t CsvFields::count(std::string_view line, std::string_view separator) {
  int64_t count = 0;
  forEachField(line, separator, [&](std::string_view) { return ++count, true; });
  return count;
}

bool CsvFields::endsInQuote(std::string_view line, std::string_view separator) {
  std::string_view last;
  forEachField(line, separator, [&](std::string_view field) { return last = field, true; });
  last = trimmed(last);
  return last.starts_with('"') && endOfQuote(last, 0) == last.npos;
}

// Reads numbers from the field `column` on that begins at `position`, up to one that isn't plain, where both are then.
TOKAMAK_WIDEST_VECTORS static void readPlainFields(const char *&position, const char *end,
                                                   char separator, int64_t columns, int64_t &column,
                                                   double *row) {
  const char *field = position;
  int64_t next = column;
  for (; next < columns; ++next) {
    const char *last = readPlainNumber(field, row[next]);
    bool isLast = next + 1 == columns;
    if (!last || (isLast ? last != end : last >= end || *last != separator))
      break;
    field = last + !isLast;
  }
  position = field;
  column = next;
}

bool CsvFields::parseRow(std::string_view line, const PlainNumberRange &range, double *row) const {
  const char *position = line.data(), *end = position + line.size();
  bool mayBePlain = mayReadNumbersAhead_ && separator_.size() == 1 && range.contains(position) &&
                    range.contains(end);
  for (int64_t column = 0; column < columns_; ++column) {
    if (mayBePlain) {
      readPlainFields(position, end, firstOfSeparator_, columns_, column, row);
      if (column == columns_)
        break;
    }
    if (!parseField(position, end, row[column]))
      return false;
    if (column + 1 == columns_)
      break;
    if (!isSeparator(position, end))
      return false;
    position += separator_.size();
  }
  return position == end;
}

bool CsvFields::parseField(const char *&position, const char *end, double &value) const {
  // Most fields are numbers that end at a separator.
  if (mayReadNumbersAhead_) {
    const char *last = readNumber(position, end, value);
    if (last == end || (last && isSeparator(last, end))) {
      position = last;
      return true;
    }
  }
  std::string_view field(position, sizeOfField({position, end}, separator_));
  position += field.size();
  return convert(trimmed(field), value);
}

bool CsvFields::convert(std::string_view field, double &value) const {
  std::string inside;
  if (isQuoted(field)) {
    inside = unquoted(field);
    field = trimmed(inside);
  }
  if (std::find(file_.naStrings.begin(), file_.naStrings.end(), field) != file_.naStrings.end()) {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (field.empty()) {
    value = file_.defaultValue;
    return file_.fill;
  }
  std::optional<double> number = fieldNumber(field);
  value = number.value_or(0);
  return number.has_value();
}

std::string CsvFields::fieldComplaint(std::string_view field) const {
  if (field.empty())
    return "the field is empty, and fill is FALSE";
  if (field.starts_with('"') && endOfQuote(field, 0) == field.npos)
    return fmt::format("the quote of {} is not closed", quotedField(field));
  return fmt::format("{} is not a number", quotedField(field));
}

std::string CsvFields::complaint(std::string_view line) const {
  int64_t fields = count(line, separator_), column = 0;
  std::string wrong;
  forEachField(line, separator_, [&](std::string_view field) {
    double value = 0;
    ++column;
    if (!convert(trimmed(field), value))
      wrong = fmt::format(", column {}: {}", column, fieldComplaint(trimmed(field)));
    return wrong.empty();
  });
  // Separators after an unclosed quote are part of the field, so the quote is the error to report.
  bool isOpenQuote = endsInQuote(line, separator_);
  if (fields == columns_ || isOpenQuote)
    return wrong;
  return fmt::format(" has {} field{}, expected {}", fields, fields == 1 ? "" : "s", columns_);
}

} // namespace tokamak::runtime
