#include "reference/StatisticMeaning.h"

#include "base/CellOperators.h"
#include "reference/MatrixAccess.h"
#include "reference/MatrixMeaning.h"
#include "reference/ScalarMeaning.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tokamak::reference {
namespace {

struct Weighted {
  double value, weight;
};

std::vector<Weighted> weightedValues(const Value &values, const Value &weights,
                                     std::string_view operation) {
  std::span<const double> cells = cellsOf(matrixOf(values, operation));
  if (!weights.isNothing() && matrixOf(weights, operation).cells() != std::ssize(cells))
    throw Error(fmt::format("{}: {} values but {} weights", operation, cells.size(),
                            weights.array()->cells()));
  std::vector<Weighted> result;
  for (size_t i = 0; i < cells.size(); ++i)
    result.push_back({cells[i], weights.isNothing() ? 1 : cellsOf(*weights.array())[i]});
  return result;
}

double totalWeight(const std::vector<Weighted> &values) {
  double total = 0;
  for (const Weighted &value : values)
    total += value.weight;
  return total;
}

double meanOf(const std::vector<Weighted> &values) {
  double sum = 0;
  for (const Weighted &value : values)
    sum += value.weight * value.value;
  return sum / totalWeight(values);
}

// The mean, corrected by the mean of the distances from it, so that the mean of equal values is
// exact.
double centreOf(const std::vector<Weighted> &values) {
  double mean = meanOf(values);
  std::vector<Weighted> rest = values;
  for (Weighted &value : rest)
    value.value -= mean;
  return mean + meanOf(rest);
}

// NaN sorts after all other values.
bool comesBefore(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

std::vector<Weighted> sortedValues(const Value &values, const Value &weights,
                                   std::string_view operation) {
  std::vector<Weighted> sorted = weightedValues(values, weights, operation);
  if (sorted.empty())
    throw Error(fmt::format("{}: the vector is empty", operation));
  // Equal values stay in order: zeros may differ in sign.
  std::stable_sort(sorted.begin(), sorted.end(), [](const Weighted &a, const Weighted &b) {
    return comesBefore(a.value, b.value);
  });
  return sorted;
}

// The value at a position (from 1) in the sequence where each value is repeated by its weight.
double valueAt(const std::vector<Weighted> &sorted, double position) {
  double reached = 0;
  for (const Weighted &value : sorted) {
    reached += value.weight;
    if (reached >= position)
      return value.value;
  }
  return sorted.back().value;
}

double positionOf(double probability, double count) {
  if (!(probability >= 0 && probability <= 1))
    throw Error(fmt::format("quantile: {} is not a probability", runtime::textOf(probability)));
  return std::max(1.0, std::ceil(probability * count));
}

double halfway(double a, double b) { return a + (b - a) / 2; }

//===- distinct values -----------------------------------------------------------------------===//

bool isSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::vector<double> distinctOf(std::vector<double> cells) {
  std::sort(cells.begin(), cells.end(), comesBefore);
  std::vector<double> distinct;
  for (double cell : cells)
    if (distinct.empty() || !isSame(distinct.back(), cell))
      distinct.push_back(cell);
  return distinct;
}

// The distinct values of each row.
std::vector<std::vector<double>> distinctOfRows(const Array &x) {
  std::vector<std::vector<double>> result;
  for (int64_t i = 0; i < x.rows(); ++i) {
    std::vector<double> row;
    for (int64_t j = 0; j < x.columns(); ++j)
      row.push_back(x.at(i, j));
    result.push_back(distinctOf(row));
  }
  return result;
}

void checkDirection(const std::string &direction, std::string_view operation) {
  if (direction != "rc" && direction != "r" && direction != "c")
    throw Error(
        fmt::format("{}: unknown direction \"{}\": expected rc, r or c", operation, direction));
}

//===- groups --------------------------------------------------------------------------------===//

double centralSum(const std::vector<Weighted> &values, int64_t order) {
  double centre = centreOf(values), sum = 0;
  for (const Weighted &value : values)
    sum += value.weight * std::pow(value.value - centre, static_cast<double>(order));
  return sum;
}

double aggregateGroup(const std::vector<Weighted> &values, const std::string &fn, int64_t order) {
  double count = totalWeight(values);
  double extreme = std::numeric_limits<double>::infinity() * (fn == "min" ? 1 : -1), sum = 0;
  for (const Weighted &value : values) {
    sum += value.value * value.weight;
    extreme =
        evaluate(fn == "min" ? BinaryOperator::Min : BinaryOperator::Max, extreme, value.value);
  }
  if (fn == "sum")
    return sum;
  if (fn == "count")
    return count;
  if (fn == "min" || fn == "max")
    return values.empty() ? 0 : extreme;
  if (fn == "mean")
    return count == 0 ? 0 : sum / count;
  if (fn == "variance")
    return count <= 1 ? 0 : centralSum(values, 2) / (count - 1);
  return centralSum(values, order) / count;
}

void checkFunction(const std::string &fn, int64_t order) {
  for (const char *known : {"sum", "count", "mean", "variance", "centralmoment", "min", "max"})
    if (fn == known) {
      if (fn == "centralmoment" && (order < 2 || order > 4))
        throw Error(fmt::format("aggregate: the order must be 2, 3 or 4, got {}", order));
      return;
    }
  throw Error(fmt::format("aggregate: unknown fn \"{}\": expected sum, count, mean, variance, "
                          "centralmoment, min or max",
                          fn));
}

} // namespace

Value quantile(const Value &values, const Value &weights, const Value &probabilities) {
  std::vector<Weighted> sorted = sortedValues(values, weights, "quantile");
  double count = totalWeight(sorted);
  if (probabilities.isArray()) {
    const Array &p = matrixOf(probabilities, "quantile");
    ArrayPointer result = Array::create(p.shape());
    for (int64_t i = 0; i < p.rows(); ++i)
      for (int64_t j = 0; j < p.columns(); ++j)
        cellOf(*result, i, j) = valueAt(sorted, positionOf(p.at(i, j), count));
    return result;
  }
  // For a single probability, but 0, and an even number of values, averages two neighbours.
  double position = positionOf(probabilities.asDouble(), count), value = valueAt(sorted, position);
  bool hasNext = std::fmod(count, 2) == 0 && position < count && probabilities.asDouble() > 0;
  return hasNext ? halfway(value, valueAt(sorted, position + 1)) : value;
}

Value median(const Value &values, const Value &weights) {
  std::vector<Weighted> sorted = sortedValues(values, weights, "median");
  double count = totalWeight(sorted), position = std::ceil(count / 2);
  double value = valueAt(sorted, position);
  return std::fmod(count, 2) == 0 ? halfway(value, valueAt(sorted, position + 1)) : value;
}

Value interQuartileMean(const Value &values, const Value &weights) {
  std::vector<Weighted> sorted = sortedValues(values, weights, "interQuartileMean");
  double count = totalWeight(sorted), low = count / 4, high = 3 * count / 4, begin = 0, sum = 0;
  for (const Weighted &value : sorted) {
    double end = begin + value.weight;
    double share = std::min(end, high) - std::max(begin, low);
    if (share > 0)
      sum += share * value.value;
    begin = end;
  }
  return sum / (high - low);
}

Value moment(const Value &values, const Value &weights, const Value &orderValue) {
  std::vector<Weighted> all = weightedValues(values, weights, "moment");
  int64_t order = orderValue.asInteger();
  if (order < 0 || order > 4)
    throw Error(fmt::format("moment: the order must be 0 to 4, got {}", order));
  if (order == 0)
    return totalWeight(all);
  return order == 1 ? meanOf(all) : centralSum(all, order) / totalWeight(all);
}

Value covariance(const Value &xValues, const Value &yValues, const Value &weights) {
  std::vector<Weighted> x = weightedValues(xValues, weights, "cov"),
                        y = weightedValues(yValues, weights, "cov");
  if (x.size() != y.size())
    throw Error(
        fmt::format("cov: the vectors have different lengths, {} and {}", x.size(), y.size()));
  double centreX = centreOf(x), centreY = centreOf(y), sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += x[i].weight * (x[i].value - centreX) * (y[i].value - centreY);
  return sum / (totalWeight(x) - 1);
}

// Rows or columns with fewer distinct values are padded with zeros.
Value unique(const Value &operand, const Value &directionValue) {
  const std::string direction = directionValue.asText();
  const Array &x = matrixOf(operand, "unique");
  checkDirection(direction, "unique");
  if (direction == "c")
    return transpose(unique(transpose(operand), Value("r")));
  if (direction == "rc") {
    std::span<const double> cells = cellsOf(x);
    std::vector<double> distinct = distinctOf({cells.begin(), cells.end()});
    ArrayPointer result = Array::create({std::ssize(distinct), 1});
    for (size_t i = 0; i < distinct.size(); ++i)
      cellOf(*result, static_cast<int64_t>(i), 0) = distinct[i];
    return result;
  }
  std::vector<std::vector<double>> rows = distinctOfRows(x);
  size_t longest = 0;
  for (const std::vector<double> &row : rows)
    longest = std::max(longest, row.size());
  ArrayPointer result = Array::filled({x.rows(), static_cast<int64_t>(longest)}, 0);
  for (int64_t i = 0; i < x.rows(); ++i)
    for (size_t j = 0; j < rows[i].size(); ++j)
      cellOf(*result, i, static_cast<int64_t>(j)) = rows[i][j];
  return result;
}

Value countDistinct(const Value &operand, const Value &directionValue) {
  const std::string direction = directionValue.asText();
  const Array &x = matrixOf(operand, "countDistinct");
  checkDirection(direction, "countDistinct");
  if (direction == "c")
    return transpose(countDistinct(transpose(operand), Value("r")));
  if (direction == "rc") {
    std::span<const double> cells = cellsOf(x);
    return static_cast<int64_t>(distinctOf({cells.begin(), cells.end()}).size());
  }
  std::vector<std::vector<double>> rows = distinctOfRows(x);
  ArrayPointer result = Array::create({x.rows(), 1});
  for (int64_t i = 0; i < x.rows(); ++i)
    cellOf(*result, i, 0) = static_cast<double>(rows[i].size());
  return result;
}

Value contains(const Value &operand, const Value &patternValue) {
  const Array &x = matrixOf(operand, "contains");
  if (!patternValue.isArray() || patternValue.array()->cells() == 1) {
    double pattern = patternValue.asDouble();
    for (double cell : cellsOf(x))
      if (isSame(cell, pattern))
        return true;
    return false;
  }
  const Array &pattern = matrixOf(patternValue, "contains");
  if (pattern.columns() != x.columns())
    throw Error(fmt::format("contains: a pattern of {} columns cannot occur in a {} matrix",
                            pattern.columns(), x.shape().text()));
  for (int64_t wanted = 0; wanted < pattern.rows(); ++wanted) {
    bool found = false;
    for (int64_t i = 0; i < x.rows(); ++i) {
      bool same = true;
      for (int64_t j = 0; j < x.columns(); ++j)
        same &= isSame(x.at(i, j), pattern.at(wanted, j));
      found |= same;
    }
    if (!found)
      return false;
  }
  return true;
}

Value aggregateGroups(const Value &target, const Value &groups, const Value &fnValue,
                      const Value &weights, const Value &groupCount, const Value &orderValue) {
  const std::string fn = fnValue.asText();
  const Array &x = matrixOf(target, "aggregate"), &keys = matrixOf(groups, "aggregate");
  int64_t order = orderValue.isNothing() ? 2 : castToInteger(orderValue).asInteger();
  checkFunction(fn, order);
  // A row vector is treated as a column.
  bool isRow = x.rows() == 1 && keys.cells() == x.cells();
  int64_t rows = isRow ? x.cells() : x.rows(), columns = isRow ? 1 : x.columns();
  if (keys.cells() != rows)
    throw Error(fmt::format("aggregate: {} groups for the rows of a {} matrix", keys.cells(),
                            x.shape().text()));
  if (!weights.isNothing() && matrixOf(weights, "aggregate").cells() != rows)
    throw Error(fmt::format("aggregate: {} weights for {} rows", weights.array()->cells(), rows));
  int64_t count = 0;
  for (double key : cellsOf(keys)) {
    if (truncateToInteger(key) < 1)
      throw Error(
          fmt::format("aggregate: groups must be at least 1, got {}", runtime::textOf(key)));
    count = std::max(count, truncateToInteger(key));
  }
  if (!groupCount.isNothing())
    count = sizeOf(groupCount, "aggregate", "groups");
  ArrayPointer result = Array::create({count, columns});
  for (int64_t group = 0; group < count; ++group)
    for (int64_t j = 0; j < columns; ++j) {
      std::vector<Weighted> members;
      for (int64_t i = 0; i < rows; ++i)
        if (truncateToInteger(cellsOf(keys)[i]) == group + 1)
          members.push_back({isRow ? x.at(0, i) : x.at(i, j),
                             weights.isNothing() ? 1 : cellsOf(*weights.array())[i]});
      cellOf(*result, group, j) = aggregateGroup(members, fn, order);
    }
  return result;
}

} // namespace tokamak::reference
