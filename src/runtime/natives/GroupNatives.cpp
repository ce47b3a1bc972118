// The native aggregate: sums, means and other aggregates of the rows of each group.
#include "base/CellOperators.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/ScalarOperations.h"

#include <cmath>

namespace tokamak::runtime {
namespace {

enum class GroupFunction { Sum, Count, Mean, Variance, CentralMoment, Min, Max };

GroupFunction functionOf(const std::string &name) {
  constexpr std::pair<std::string_view, GroupFunction> functions[] = {
      {"sum", GroupFunction::Sum},
      {"count", GroupFunction::Count},
      {"mean", GroupFunction::Mean},
      {"variance", GroupFunction::Variance},
      {"min", GroupFunction::Min},
      {"max", GroupFunction::Max},
      {"centralmoment", GroupFunction::CentralMoment}};
  for (auto [known, function] : functions)
    if (known == name)
      return function;
  throw Error(fmt::format("aggregate: unknown fn \"{}\": expected sum, count, mean, variance, "
                          "centralmoment, min or max",
                          name));
}

// Row i belongs to group keys[i], counted from 0. Groups >= count are dropped.
struct Groups {
  BudgetedVector<int64_t> keys;
  int64_t count = 0;
};

Groups groupsOf(const Array &keys, const Value &countOperand) {
  Groups groups;
  groups.keys.reserve(keys.cells());
  int64_t largest = 0;
  for (int64_t i = 0; i < keys.cells(); ++i) {
    double cell = keys.data()[i];
    int64_t key = truncateToInteger(cell);
    if (key < 1)
      throw Error(fmt::format("aggregate: groups must be at least 1, got {}", textOf(cell)));
    largest = std::max(largest, key);
    groups.keys.push_back(key - 1);
  }
  groups.count =
      countOperand.isNothing() ? largest : sizeOperand(countOperand, "aggregate", "groups");
  return groups;
}

// The aggregates of one column, by group.
class ColumnOfGroups {
public:
  ColumnOfGroups(const Groups &groups, const Array &cells, int64_t column, const double *weights)
      : groups_(groups), cells_(cells), column_(column), weights_(weights) {}

  // Calls body(group, cell, weight) for each row whose group is not dropped.
  template <typename Body> void forEach(const Body &body) const {
    for (size_t i = 0; i < groups_.keys.size(); ++i)
      if (groups_.keys[i] < groups_.count)
        body(groups_.keys[i], cells_.data()[static_cast<int64_t>(i) * cells_.columns() + column_],
             weights_ ? weights_[i] : 1.0);
  }
  BudgetedVector<double> counts() const {
    BudgetedVector<double> counts(groups_.count);
    forEach([&](int64_t group, double, double weight) { counts[group] += weight; });
    return counts;
  }
  BudgetedVector<double> sums() const {
    BudgetedVector<double> sums(groups_.count);
    forEach([&](int64_t group, double cell, double weight) { sums[group] += cell * weight; });
    return sums;
  }
  // The mean of an empty group is 0.
  BudgetedVector<double> means() const {
    BudgetedVector<double> means = sums(), counts = this->counts();
    for (size_t group = 0; group < means.size(); ++group)
      means[group] = counts[group] == 0 ? 0 : means[group] / counts[group];
    return means;
  }
  // The means, corrected by the mean of the remaining differences, so that the mean
  // of equal cells is exact.
  BudgetedVector<double> centres() const {
    BudgetedVector<double> means = this->means(), counts = this->counts(), rests(groups_.count);
    forEach([&](int64_t group, double cell, double weight) {
      rests[group] += (cell - means[group]) * weight;
    });
    for (size_t group = 0; group < means.size(); ++group)
      means[group] += counts[group] == 0 ? 0 : rests[group] / counts[group];
    return means;
  }
  // Sums of the powers of the differences from the mean.
  BudgetedVector<double> centralSums(int64_t order) const {
    BudgetedVector<double> centres = this->centres(), sums(groups_.count);
    forEach([&](int64_t group, double cell, double weight) {
      double difference = cell - centres[group], power = 1;
      for (int64_t k = 0; k < order; ++k)
        power *= difference;
      sums[group] += power * weight;
    });
    return sums;
  }
  // Minima or maxima; 0 for empty groups.
  BudgetedVector<double> extremes(BinaryOperator op) const {
    BudgetedVector<double> extremes(groups_.count, 0);
    BudgetedVector<bool> hasCell(groups_.count, false);
    forEach([&](int64_t group, double cell, double) {
      extremes[group] = hasCell[group] ? evaluate(op, extremes[group], cell) : cell;
      hasCell[group] = true;
    });
    return extremes;
  }

private:
  const Groups &groups_;
  const Array &cells_;
  int64_t column_;
  const double *weights_;
};

BudgetedVector<double> aggregateColumn(const ColumnOfGroups &column, GroupFunction function,
                                       int64_t order) {
  switch (function) {
  case GroupFunction::Sum:
    return column.sums();
  case GroupFunction::Count:
    return column.counts();
  case GroupFunction::Mean:
    return column.means();
  case GroupFunction::Min:
    return column.extremes(BinaryOperator::Min);
  case GroupFunction::Max:
    return column.extremes(BinaryOperator::Max);
  case GroupFunction::Variance:
  case GroupFunction::CentralMoment:
    break;
  }
  // The variance of fewer than two rows is 0, a moment of none is NaN.
  bool isVariance = function == GroupFunction::Variance;
  BudgetedVector<double> sums = column.centralSums(isVariance ? 2 : order),
                         counts = column.counts();
  for (size_t group = 0; group < sums.size(); ++group)
    if (isVariance)
      sums[group] = counts[group] <= 1 ? 0 : sums[group] / (counts[group] - 1);
    else
      sums[group] /= counts[group];
  return sums;
}

} // namespace

// aggregate(target, groups, fn, weights, ngroups, order): a row for each group, a column for each
// column of the target.
void runAggregate(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &target = matrixOperand(operands[0], "aggregate"),
              &keys = matrixOperand(operands[1], "aggregate");
  GroupFunction function = functionOf(textOperand(operands[2], "aggregate", "fn"));
  bool isRow = target.rows() == 1 && keys.cells() == target.cells();
  int64_t rows = isRow ? target.cells() : target.rows(), columns = isRow ? 1 : target.columns();
  if (keys.cells() != rows)
    throw Error(fmt::format("aggregate: {} groups for the rows of a {} matrix", keys.cells(),
                            target.shape().text()));
  const Array *weights =
      operands[3].isNothing() ? nullptr : &matrixOperand(operands[3], "aggregate");
  if (weights && weights->cells() != rows)
    throw Error(fmt::format("aggregate: {} weights for {} rows", weights->cells(), rows));
  int64_t order = operands[5].isNothing() ? 2 : operands[5].asInteger();
  if (function == GroupFunction::CentralMoment && (order < 2 || order > 4))
    throw Error(fmt::format("aggregate: the order must be 2, 3 or 4, got {}", order));
  Groups groups = groupsOf(keys, operands[4]);
  ArrayPointer table = isRow ? target.reshaped({rows, 1}) : nullptr;
  const Array &cells = table ? *table : target;
  ArrayPointer result = Array::create({groups.count, columns});
  forEachRange(context, columns, std::max<int64_t>(1, parallelGrain / std::max<int64_t>(1, rows)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t j = begin; j < end; ++j) {
                   ColumnOfGroups column(groups, cells, j, weights ? weights->data() : nullptr);
                   BudgetedVector<double> values = aggregateColumn(column, function, order);
                   for (int64_t group = 0; group < groups.count; ++group)
                     result->mutableData()[group * columns + j] = values[group];
                 }
               });
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
