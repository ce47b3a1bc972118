#include "reference/ConstructionMeaning.h"

#include "base/CellOperators.h"
#include "reference/MatrixAccess.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace tokamak::reference {
namespace {

// The words between blanks; consecutive blanks separate only once.
std::vector<std::string> splitAtBlanks(const std::string &text) {
  std::vector<std::string> words(1);
  for (char c : text) {
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty())
    words.pop_back();
  return words;
}

// Keys or weights of table: a vector indexed by k, or a scalar that is the same for all k.
class TableColumn {
public:
  TableColumn(const Value &value, int64_t count) : value_(value) {
    if (!value.isArray())
      return;
    const Array &array = matrixOf(value, "table");
    if (array.cells() != count)
      throw Error(fmt::format("table: the vectors have different lengths, {} and {}", count,
                              array.cells()));
  }
  double operator[](int64_t k) const {
    return value_.isArray() ? value_.array()->data()[k] : value_.asDouble();
  }

private:
  const Value &value_;
};

int64_t checkedKey(double key) {
  int64_t integer = truncateToInteger(key);
  if (integer < 1)
    throw Error(fmt::format("table: keys must be at least 1, got {}", runtime::textOf(key + 0.0)));
  return integer;
}

} // namespace

Value fill(const Value &value, const Value &rows, const Value &columns) {
  if (value.isString())
    return parseMatrix(value, rows, columns);
  return Array::filled({sizeOf(rows, "matrix", "rows"), sizeOf(columns, "matrix", "columns")},
                       value.asDouble());
}

Value parseMatrix(const Value &text, const Value &rows, const Value &columns) {
  ArrayPointer result =
      Array::create({sizeOf(rows, "matrix", "rows"), sizeOf(columns, "matrix", "columns")});
  std::vector<double> numbers;
  for (const std::string &word : splitAtBlanks(text.asText())) {
    std::optional<double> number = runtime::parseDouble(word);
    if (!number)
      throw Error(fmt::format("matrix: '{}' in the text is not a number", word));
    numbers.push_back(*number);
  }
  if (numbers.size() == 1)
    numbers.resize(static_cast<size_t>(result->cells()), numbers[0]);
  if (static_cast<int64_t>(numbers.size()) != result->cells())
    throw Error(fmt::format("matrix: the text has {} numbers, {} needs {}", numbers.size(),
                            result->shape().text(), result->cells()));
  std::copy(numbers.begin(), numbers.end(), result->mutableData());
  return result;
}

Value seq(const Value &fromValue, const Value &toValue, const Value &byValue) {
  double from = fromValue.asDouble(), to = toValue.asDouble();
  double by = !byValue.isNothing() ? byValue.asDouble() : from > to ? -1 : 1;
  if (std::isnan(from) || std::isnan(to) || std::isnan(by))
    throw Error("seq: from, to and the increment must be numbers, not NaN");
  if (by == 0)
    throw Error("seq: the increment is zero");
  if ((from < to && by < 0) || (from > to && by > 0))
    throw Error(fmt::format("seq: the increment {} does not lead from {} to {}",
                            runtime::textOf(by), runtime::textOf(from), runtime::textOf(to)));
  double steps = std::floor(to / by - from / by);
  if (!(steps < 0x1p53))
    throw Error(fmt::format("seq: too many values from {} to {}", runtime::textOf(from),
                            runtime::textOf(to)));
  // Rounding may leave the quotient just below an integer.
  double next = from + (steps + 1) * by;
  bool oneMore = by > 0 ? next <= to : next >= to;
  ArrayPointer result = Array::create({1 + static_cast<int64_t>(steps) + oneMore, 1});
  double value = from;
  for (int64_t i = 0; i < result->rows(); ++i) {
    cellOf(*result, i, 0) = value;
    value += by;
  }
  return result;
}

Value table(const Value &rowKeyValue, const Value &columnKeyValue, const Value &weightValue,
            const Value &rows, const Value &columns) {
  int64_t count = matrixOf(rowKeyValue, "table").cells();
  Value one = 1.0;
  TableColumn rowKeys(rowKeyValue, count), columnKeys(columnKeyValue, count);
  TableColumn weights(weightValue.isNothing() ? one : weightValue, count);

  struct Entry {
    int64_t row, column;
    double weight;
  };
  std::vector<Entry> entries;
  int64_t largestRow = 0, largestColumn = 0;
  for (int64_t k = 0; k < count; ++k) {
    if (std::isnan(rowKeys[k]) || std::isnan(columnKeys[k]))
      continue;
    entries.push_back({checkedKey(rowKeys[k]), checkedKey(columnKeys[k]), weights[k]});
    largestRow = std::max(largestRow, entries.back().row);
    largestColumn = std::max(largestColumn, entries.back().column);
  }

  int64_t rowCount = rows.isNothing() ? largestRow : sizeOf(rows, "table", "rows");
  int64_t columnCount = columns.isNothing() ? largestColumn : sizeOf(columns, "table", "columns");
  ArrayPointer result = Array::filled({rowCount, columnCount}, 0);
  for (const Entry &entry : entries)
    if (entry.row <= rowCount && entry.column <= columnCount)
      cellOf(*result, entry.row - 1, entry.column - 1) += entry.weight;
  return result;
}

} // namespace tokamak::reference
