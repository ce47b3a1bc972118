#include "reference/ConstructionMeaning.h"

#include "base/CellOperators.h"
#include "reference/MatrixAccess.h"
#include "runtime/ScalarOperations.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tokamak::reference {
namespace {

std::vector<std::string> splitAt(char separator, const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// Keys or weights of table: the k-th cell of a vector, or a scalar that is the same for all.
class TableColumn {
public:
  TableColumn(const Value &value, int64_t count) : value_(value) {
    if (!value.isArray())
      return;
    const Array &array = matrixOf(value, "table");
    if (array.cells() != count)
      throw Error(fmt::format("table: expected as many cells as the first operand's {}, got a matrix of {}", count,
                              array.shape().text()));
  }
  double operator[](int64_t k) const { return value_.isArray() ? value_.array()->data()[k] : value_.asDouble(); }

private:
  const Value &value_;
};

int64_t checkedKey(double key, int64_t k) {
  int64_t integer = truncateToInteger(key);
  if (integer < 1)
    throw Error(fmt::format("table: keys must be at least 1, got {} in row {}", runtime::textOf(key), k + 1));
  return integer;
}

} // namespace

Value fill(const Value &value, const Value &rows, const Value &columns) {
  if (value.isString())
    return parseMatrix(value, rows, columns);
  return Array::filled({rows.asInteger(), columns.asInteger()}, value.asDouble());
}

Value parseMatrix(const Value &text, const Value &rows, const Value &columns) {
  ArrayPointer result = Array::create({rows.asInteger(), columns.asInteger()});
  std::vector<double> numbers;
  for (const std::string &word : splitAt(' ', text.asText())) {
    if (word.empty())
      continue;
    std::optional<double> number = runtime::parseDouble(word);
    if (!number)
      throw Error(fmt::format("matrix: '{}' is not a number", word));
    numbers.push_back(*number);
  }
  if (static_cast<int64_t>(numbers.size()) != result->cells())
    throw Error(fmt::format("matrix: the text holds {} numbers, but {} has {} cells", numbers.size(),
                            result->shape().text(), result->cells()));
  std::copy(numbers.begin(), numbers.end(), result->mutableData());
  return result;
}

Value seq(const Value &fromValue, const Value &toValue, const Value &byValue) {
  double from = fromValue.asDouble(), to = toValue.asDouble();
  double by = !byValue.isNothing() ? byValue.asDouble() : from > to ? -1 : 1;
  bool finite = std::isfinite(from) && std::isfinite(to) && std::isfinite(by);
  bool leadsAway = by == 0 || (from < to && by < 0) || (from > to && by > 0);
  if (!finite || leadsAway)
    throw Error(fmt::format("seq: an increment of {} does not lead from {} to {}", runtime::textOf(by),
                            runtime::textOf(from), runtime::textOf(to)));
  double steps = std::floor(to / by - from / by);
  double next = from + (steps + 1) * by;
  if (by > 0 ? next <= to : next >= to)
    steps += 1;
  if (!(steps < 0x1p62))
    throw Error(fmt::format("seq: too many values from {} to {}", runtime::textOf(from), runtime::textOf(to)));
  ArrayPointer result = Array::create({1 + static_cast<int64_t>(steps), 1});
  double value = from;
  for (int64_t i = 0; i < result->rows(); ++i) {
    cellOf(*result, i, 0) = value;
    value += by;
  }
  return result;
}

Value table(const Value &rowKeyValue, const Value &columnKeyValue, const Value &weightValue, const Value &rows,
            const Value &columns) {
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
    entries.push_back({checkedKey(rowKeys[k], k), checkedKey(columnKeys[k], k), weights[k]});
    largestRow = std::max(largestRow, entries.back().row);
    largestColumn = std::max(largestColumn, entries.back().column);
  }

  int64_t rowCount = rows.isNothing() ? largestRow : rows.asInteger();
  int64_t columnCount = columns.isNothing() ? largestColumn : columns.asInteger();
  ArrayPointer result = Array::filled({rowCount, columnCount}, 0);
  for (const Entry &entry : entries)
    if (entry.row <= rowCount && entry.column <= columnCount)
      cellOf(*result, entry.row - 1, entry.column - 1) += entry.weight;
  return result;
}

Value list(std::span<const Value> operands) {
  auto result = std::make_shared<runtime::List>();
  result->elements.assign(operands.begin() + 1, operands.end());
  if (!operands[0].isNothing())
    result->names = splitAt(',', operands[0].text());
  return std::shared_ptr<const runtime::List>(result);
}

} // namespace tokamak::reference
