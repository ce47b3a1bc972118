#include "runtime/io/FrameCells.h"

#include "base/Error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tokamak::runtime {

FrameCells::FrameCells(const std::string &path, const MatrixMetadata &metadata)
    : path_(path), metadata_(metadata),
      missing_(metadata.naStrings.value_or(std::vector<std::string>())) {}

void FrameCells::set(int64_t row, int64_t column, const std::string &field) {
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

FramePointer FrameCells::frame(int64_t rows, int64_t columns, std::vector<std::string> names) {
  std::vector<FrameType> schema = parseSchema(metadata_.schema.value_or("string"), columns, "read");
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

ColumnPointer FrameCells::typedColumn(FrameColumn::Texts cells, FrameType type,
                                      int64_t number) const {
  if (type == FrameType::String)
    return std::make_shared<const FrameColumn>(std::move(cells));
  auto column = std::make_shared<FrameColumn>(type, static_cast<int64_t>(cells.size()));
  for (size_t i = 0; i < cells.size(); ++i)
    setCell(*column, static_cast<int64_t>(i), cells[i] ? Value(*cells[i]) : Value(), path_, number);
  return column;
}

void checkFrameSize(const std::string &path, std::string_view what, std::optional<int64_t> expected,
                    int64_t found) {
  if (expected && *expected != found)
    throw Error(fmt::format("{}: the file has {} {}, expected {}", path, found, what, *expected));
}

} // namespace tokamak::runtime
