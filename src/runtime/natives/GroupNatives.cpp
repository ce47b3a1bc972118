// The native aggregate: sums, means and other aggregates of the rows of each group.
#include "base/CellOperators.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/ScalarOperations.h"

#include <atomic>
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

// Row i belongs to the group keys[i], a number of at least 1 without what is behind its point. Groups above count are
// dropped.
struct Groups {
  const double *keys;
  int64_t rows, count;
};

Groups groupsOf(ExecutionContext &context, const Array &keys, const Value &countOperand) {
  std::atomic<double> largest = 0;
  forEachRange(context, keys.cells(), parallelGrain, [&](int64_t begin, int64_t end) {
    double largestHere = 0;
    for (int64_t i = begin; i < end; ++i) {
      double cell = keys.data()[i];
      if (!(cell >= 1))
        throw Error(fmt::format("aggregate: groups must be at least 1, got {}", textOf(cell)));
      largestHere = std::max(largestHere, cell);
    }
    for (double known = largest; known < largestHere;)
      if (largest.compare_exchange_weak(known, largestHere))
        break;
  });
  return {keys.data(), keys.cells(),
          countOperand.isNothing() ? truncateToInteger(largest)
                                   : sizeOperand(countOperand, "aggregate", "groups")};
}

// The aggregates of one column, by group.
class ColumnOfGroups {
public:
  ColumnOfGroups(ExecutionContext &context, const Groups &groups, const Array &cells,
                 int64_t column, const double *weights)
      : context_(context), groups_(groups), cells_(cells), column_(column), weights_(weights) {}

  BudgetedVector<double> counts() const {
    return sumsOf([](int64_t, double, double weight) { return weight; });
  }
  BudgetedVector<double> sums() const {
    return sumsOf([](int64_t, double cell, double weight) { return cell * weight; });
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
    BudgetedVector<double> means = this->means(), counts = this->counts();
    BudgetedVector<double> rests = sumsOf(
        [&](int64_t group, double cell, double weight) { return (cell - means[group]) * weight; });
    for (size_t group = 0; group < means.size(); ++group)
      means[group] += counts[group] == 0 ? 0 : rests[group] / counts[group];
    return means;
  }
  // Sums of the powers of the differences from the mean.
  BudgetedVector<double> centralSums(int64_t order) const {
    BudgetedVector<double> centres = this->centres();
    return sumsOf([&](int64_t group, double cell, double weight) {
      double difference = cell - centres[group], power = 1;
      for (int64_t k = 0; k < order; ++k)
        power *= difference;
      return power * weight;
    });
  }
  // Minima or maxima; 0 for empty groups.
  BudgetedVector<double> extremes(BinaryOperator op) const {
    BudgetedVector<double> extremes(groups_.count, 0);
    BudgetedVector<bool> hasCell(groups_.count, false);
    forEach(0, groups_.rows, [&](int64_t group, double cell, double) {
      extremes[group] = hasCell[group] ? evaluate(op, extremes[group], cell) : cell;
      hasCell[group] = true;
    });
    return extremes;
  }

private:
  // Calls body(group, cell, weight) for each of these rows whose group is not dropped.
  template <typename Body> void forEach(int64_t begin, int64_t end, const Body &body) const {
    int64_t stride = cells_.columns();
    const double *keys = groups_.keys, *cells = cells_.data() + column_, *weights = weights_;
    double beyond = static_cast<double>(groups_.count) + 1;
    for (int64_t i = begin; i < end; ++i)
      if (keys[i] < beyond)
        body(static_cast<int64_t>(keys[i]) - 1, cells[i * stride], weights ? weights[i] : 1.0);
  }
  // Sums number(group, cell, weight) by group. The rows are added in parts whose number does not depend on that of the
  // threads, so that the result doesn't, either.
  template <typename Number> BudgetedVector<double> sumsOf(const Number &number) const {
    constexpr int64_t leastOfPart = int64_t{1} << 18, mostParts = 16;
    int64_t rows = groups_.rows,
            parts = std::clamp<int64_t>(rows / std::max(leastOfPart, groups_.count), 1, mostParts),
            size = (rows + parts - 1) / parts;
    std::vector<BudgetedVector<double>> sums(
        static_cast<size_t>(parts), BudgetedVector<double>(static_cast<size_t>(groups_.count)));
    forEachRange(context_, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        double *to = sums[part].data();
        forEach(part * size, std::min(rows, (part + 1) * size),
                [&](int64_t group, double cell, double weight) {
                  to[group] += number(group, cell, weight);
                });
      }
    });
    for (int64_t part = 1; part < parts; ++part)
      for (int64_t group = 0; group < groups_.count; ++group)
        sums[0][group] += sums[part][group];
    return std::move(sums[0]);
  }

  ExecutionContext &context_;
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

// SystemDS's scripts give it as a text, too: order="2".
int64_t orderOf(const Value &operand) {
  if (operand.isNothing())
    return 2;
  if (!operand.isString())
    return operand.asInteger();
  if (std::optional<double> order = parseDouble(operand.text()))
    return truncateToInteger(*order);
  throw Error(fmt::format("aggregate: the order must be 2, 3 or 4, got \"{}\"", operand.text()));
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
  int64_t order = orderOf(operands[5]);
  if (function == GroupFunction::CentralMoment && (order < 2 || order > 4))
    throw Error(fmt::format("aggregate: the order must be 2, 3 or 4, got {}", order));
  Groups groups = groupsOf(context, keys, operands[4]);
  ArrayPointer table = isRow ? target.reshaped({rows, 1}) : nullptr;
  const Array &cells = table ? *table : target;
  ArrayPointer result = Array::create({groups.count, columns});
  double *to = result->mutableData();
  forEachRange(context, columns, std::max<int64_t>(1, parallelGrain / std::max<int64_t>(1, rows)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t j = begin; j < end; ++j) {
                   ColumnOfGroups column(context, groups, cells, j,
                                         weights ? weights->data() : nullptr);
                   BudgetedVector<double> values = aggregateColumn(column, function, order);
                   for (int64_t group = 0; group < groups.count; ++group)
                     to[group * columns + j] = values[group];
                 }
               });
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
