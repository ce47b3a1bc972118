#include "runtime/io/CsvReader.h"

#include "runtime/io/CsvFields.h"

#include <algorithm>
#include <cstring>

namespace tokamak::runtime {
namespace {

// Removes the first line from `text` and returns it without its line end.
std::string_view takeLine(std::string_view &text) {
  const void *found = text.empty() ? nullptr : std::memchr(text.data(), '\n', text.size());
  size_t end = found ? static_cast<const char *>(found) - text.data() : text.size();
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

// Reads the header and returns its number of columns; quoted names may contain line ends.
int64_t takeHeader(TextSource &source, const MatrixFile &file, int64_t &lines) {
  std::string_view separator = csvSeparator(file);
  int64_t columns = 0;
  std::string_view line;
  for (lines = 0; source.takeLine(line);) {
    // If the previous line left a quote open, this line is counted as if it began with a quote.
    bool isOpen = lines > 0;
    std::string text = isOpen ? fmt::format("\"{}", line) : std::string(line);
    columns += CsvFields::count(text, separator) - isOpen;
    ++lines;
    if (!CsvFields::endsInQuote(text, separator))
      return text.empty() ? 0 : columns;
  }
  if (lines > 0)
    throw Error(fmt::format("{}: a quote of the header is not closed", file.path));
  return 0;
}

// Parses pieces of a source into arrays of rows.
class CsvPieces {
public:
  CsvPieces(const MatrixFile &file, const TextSource &source, int64_t columns, int64_t headerLines)
      : source_(source), columns_(columns), headerLines_(headerLines), fields_(file, columns) {}

  ArrayPointer parse(const std::vector<TextPiece> &pieces, ExecutionContext &context) const {
    std::vector<int64_t> firstRows(pieces.size() + 1, 0);
    for (size_t i = 0; i < pieces.size(); ++i)
      firstRows[i + 1] = firstRows[i] + pieces[i].lines;
    ArrayPointer result = Array::create({firstRows.back(), columns_});
    double *cells = result->mutableData();
    forEachPiece(context, pieces, [&](const TextPiece &piece, size_t i) {
      std::string_view rest = piece.text;
      PlainNumberRange range(piece.text);
      double *row = cells + firstRows[i] * columns_;
      for (int64_t line = 0; line < piece.lines; ++line, row += columns_)
        if (std::string_view text = takeLine(rest); !fields_.parseRow(text, range, row))
          throw Error(place(piece, line) + fields_.complaint(text));
    });
    return result;
  }

private:
  // Rows count from 1 in each file, without the header.
  std::string place(const TextPiece &piece, int64_t line) const {
    int64_t row = piece.firstLine + line + 1 - (piece.part == 0 ? headerLines_ : 0);
    return fmt::format("{}: row {}", source_.pathOf(piece.part), row);
  }

  const TextSource &source_;
  int64_t columns_, headerLines_;
  CsvFields fields_;
};

// Concatenates the blocks' rows; frees each block as soon as it is copied.
ArrayPointer joined(std::vector<ArrayPointer> blocks, int64_t columns, ExecutionContext &context) {
  if (blocks.size() == 1)
    return blocks.front();
  int64_t rows = 0;
  for (const ArrayPointer &block : blocks)
    rows += block->rows();
  ArrayPointer result = Array::create({rows, columns});
  double *destination = result->mutableData();
  for (ArrayPointer &block : blocks) {
    forEachRange(context, block->cells(), parallelGrain, [&](int64_t begin, int64_t end) {
      std::copy(block->data() + begin, block->data() + end, destination + begin);
    });
    destination += block->cells();
    block.reset();
  }
  return result;
}

} // namespace

ArrayPointer readCsv(const MatrixFile &file, TextSource &source, ExecutionContext &context) {
  checkCsvSeparator("read", csvSeparator(file)); // before the header is parsed
  int64_t headerLines = 0;
  int64_t columns = file.header ? takeHeader(source, file, headerLines) : 0;
  // Blank lines at the end are rows only if the number of rows is known, and a row has one column.
  bool mayEndBlank = file.columns == 1 && file.rows;
  BlankEnd blankEnd = mayEndBlank ? BlankEnd::Keep : BlankEnd::Drop;
  std::vector<ArrayPointer> blocks;
  std::optional<CsvPieces> parser;
  for (auto pieces = source.nextPieces(context, blankEnd); !pieces.empty();
       pieces = source.nextPieces(context, blankEnd)) {
    if (!parser) {
      std::string_view text = pieces.front().text;
      columns = CsvFields::count(takeLine(text), csvSeparator(file));
      checkSize(file, "column", file.columns, columns);
      parser.emplace(file, source, columns, headerLines);
    }
    blocks.push_back(parser->parse(pieces, context));
  }
  if (blocks.empty()) {
    // Rows without columns are written as empty lines.
    int64_t rows = columns == 0 && file.columns == 0 ? file.rows.value_or(0) : 0;
    blocks.push_back(Array::create({rows, columns > 0 ? columns : file.columns.value_or(0)}));
  }
  ArrayPointer result = joined(std::move(blocks), columns, context);
  checkSize(file, "column", file.columns, result->columns());
  checkSize(file, "row", file.rows, result->rows());
  return result;
}

} // namespace tokamak::runtime
