// Natives for order statistics, moments and the trace. Missing weights are passed as Nothing.
#include "runtime/natives/CellSort.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tokamak::runtime {
namespace {

// The values of a vector in ascending order, NaN last; with weights, each value is repeated as
// often as its weight says.
class SortedValues {
public:
  SortedValues(ExecutionContext &context, const Value &values, const Value &weights,
               std::string_view native)
      : context_(context), values_(matrixOperand(values, native)) {
    if (values_.cells() == 0)
      throw Error(fmt::format("{}: the vector is empty", native));
    total_ = static_cast<double>(values_.cells());
    if (weights.isNothing())
      return;
    const Array &counts = matrixOperand(weights, native);
    if (counts.cells() != values_.cells())
      throw Error(
          fmt::format("{}: {} values but {} weights", native, values_.cells(), counts.cells()));
    weighted_ = rowsInOrder(context, values_.data(), 1, values_.cells(), /*decreasing=*/false);
    total_ = 0;
    for (const RowKey &key : weighted_)
      ends_.push_back(total_ += counts.data()[key.row]);
  }

  // The number of values: the sum of the weights.
  double count() const { return total_; }
  bool isEven() const { return std::fmod(total_, 2) == 0; }
  // The values at positions, from 1; positions out of range give the first or the last value.
  std::vector<double> at(std::span<const double> positions) const {
    int64_t last = values_.cells() - 1;
    std::vector<int64_t> places;
    for (double position : positions) {
      int64_t place = weighted_.empty()
                          ? static_cast<int64_t>(std::ceil(std::clamp(position, 1.0, total_))) - 1
                          : std::ranges::lower_bound(ends_, position) - ends_.begin();
      places.push_back(std::min(place, last));
    }
    std::vector<double> cells;
    if (weighted_.empty()) {
      cells = selectCells(context_, values_.data(), values_.cells(), places);
      if (std::ranges::find(cells, 0.0) != cells.end())
        restoreSigns(places, cells);
      return cells;
    }
    for (int64_t place : places)
      cells.push_back(values_.data()[weighted_[place].row]);
    return cells;
  }
  // The integral from one position to another one of the values, each of which is as wide as its weight.
  double between(double low, double high) const {
    if (weighted_.empty())
      return sumOfMiddle(low, high);
    double sum = 0, begin = 0;
    for (size_t i = 0; i < ends_.size(); begin = ends_[i++])
      if (double share = std::min(ends_[i], high) - std::max(begin, low); share > 0)
        sum += share * values_.data()[weighted_[i].row];
    return sum;
  }
  // The value at a position or, where it is the lower one of a middle pair, their mean.
  double centerAt(double position) const {
    if (!isEven() || position >= total_)
      return at(std::array{position})[0];
    std::vector<double> pair = at(std::array{position, position + 1});
    return pair[0] + (pair[1] - pair[0]) / 2;
  }

private:
  double sumOfMiddle(double low, double high) const {
    std::vector<double> positions, shares;
    for (double position = std::floor(low) + 1; position <= std::ceil(high); ++position)
      if (double share = std::min(position, high) - std::max(position - 1, low); share > 0) {
        positions.push_back(position);
        shares.push_back(share);
      }
    std::vector<double> middle = at(positions);
    return std::inner_product(middle.begin(), middle.end(), shares.begin(), 0.0);
  }
  // Makes selected zeros those that a stable sort leaves at their places.
  void restoreSigns(std::span<const int64_t> places, std::span<double> selected) const {
    std::span<const double> cells(values_.data(), static_cast<size_t>(values_.cells()));
    auto isNegativeZero = [](double cell) { return cell == 0 && std::signbit(cell); };
    if (std::ranges::none_of(cells, isNegativeZero))
      return;
    int64_t place = std::ranges::count_if(cells, [](double cell) { return cell < 0; });
    for (double cell : cells)
      if (cell == 0) {
        if (isNegativeZero(cell))
          for (size_t i = 0; i < places.size(); ++i)
            if (places[i] == place)
              selected[i] = cell;
        ++place;
      }
  }

  ExecutionContext &context_;
  const Array &values_;
  RowKeys weighted_;            // the values in their order, if there are weights
  BudgetedVector<double> ends_; // sums of the weights up to each of them
  double total_ = 0;
};

} // namespace

// For an even number of values, a scalar probability averages two neighbours, but 0 does not; a
// vector of probabilities never does.
void runQuantile(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  SortedValues values(context, operands[0], operands[1], "quantile");
  auto positionOf = [&](double p) {
    if (!(p >= 0 && p <= 1))
      throw Error(fmt::format("quantile: {} is not a probability", textOf(p)));
    return std::max(1.0, std::ceil(p * values.count()));
  };
  if (!operands[2].isArray()) {
    double p = operands[2].asDouble(), position = positionOf(p);
    results[0] = p > 0 ? values.centerAt(position) : values.at(std::array{position})[0];
    return;
  }
  const Array &probabilities = matrixOperand(operands[2], "quantile");
  std::vector<double> positions;
  for (int64_t i = 0; i < probabilities.cells(); ++i)
    positions.push_back(positionOf(probabilities.data()[i]));
  ArrayPointer result = Array::create(probabilities.shape());
  std::ranges::copy(values.at(positions), result->mutableData());
  results[0] = std::move(result);
}

void runMedian(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  SortedValues values(context, operands[0], operands[1], "median");
  results[0] = values.centerAt(std::ceil(values.count() / 2));
}

// The mean of the middle half; values on its borders count in part.
void runInterQuartileMean(ExecutionContext &context, std::span<Value> operands,
                          std::span<Value> results) {
  SortedValues values(context, operands[0], operands[1], "interQuartileMean");
  double low = values.count() / 4, high = values.count() * 3 / 4;
  results[0] = values.between(low, high) / (high - low);
}

void runTrace(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &source = matrixOperand(operands[0], "trace");
  if (source.rows() != source.columns())
    throw Error(fmt::format("trace: expected a square matrix, got {}", source.shape().text()));
  double sum = 0;
  for (int64_t i = 0; i < source.rows(); ++i)
    sum += source.at(i, i);
  results[0] = sum;
}

namespace {

// In blocks of a fixed size, so that rounding errors hardly grow with the length, and the sum doesn't depend on the
// number of threads.
template <typename Term> double sumOf(ExecutionContext &context, int64_t count, const Term &term) {
  constexpr int64_t block = 4096, lanes = 16;
  int64_t blocks = (count + block - 1) / block;
  BudgetedVector<double> sums(static_cast<size_t>(blocks));
  forEachRange(context, blocks, parallelGrain / block, [&](int64_t first, int64_t last) {
    for (int64_t number = first; number < last; ++number) {
      int64_t i = number * block, end = std::min(count, i + block);
      double inLanes[lanes] = {}, sum = 0;
      for (; i + lanes <= end; i += lanes)
        for (int64_t lane = 0; lane < lanes; ++lane)
          inLanes[lane] += term(i + lane);
      for (; i < end; ++i)
        sum += term(i);
      sums[number] = std::accumulate(inLanes, inLanes + lanes, sum);
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// A vector and its optional weights.
class WeightedVector {
public:
  WeightedVector(ExecutionContext &context, const Value &values, const Value &weights,
                 std::string_view native)
      : context_(context), array_(matrixOperand(values, native)), cells_(array_.data()),
        weights_(weights.isNothing() ? nullptr : matrixOperand(weights, native).data()) {
    if (int64_t count = weights_ ? weights.array()->cells() : cells(); count != cells())
      throw Error(fmt::format("{}: {} values but {} weights", native, cells(), count));
    total_ = weights_ ? sumOf(context, cells(), [&](int64_t i) { return weights_[i]; })
                      : static_cast<double>(cells());
    mean_ = weightedSum([&](int64_t i) { return cells_[i]; }) / total_;
  }
  // Of the terms, each as often as its weight says.
  template <typename Term> double weightedSum(const Term &term) const {
    if (!weights_)
      return sumOf(context_, cells(), term);
    return sumOf(context_, cells(), [&](int64_t i) { return weights_[i] * term(i); });
  }
  // The mean, corrected by the mean of the remaining differences, so that the mean
  // of equal values is exact.
  double centre() const {
    return mean_ + weightedSum([&](int64_t i) { return cells_[i] - mean_; }) / total_;
  }
  int64_t cells() const { return array_.cells(); }
  const double *data() const { return cells_; }
  double total() const { return total_; }
  double mean() const { return mean_; }

private:
  ExecutionContext &context_;
  const Array &array_;
  const double *cells_, *weights_;
  double total_, mean_;
};

} // namespace

// Order 0 is the count, 1 the mean, 2 the variance (divided by n), 3 and 4 the central moments.
void runMoment(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  WeightedVector vector(context, operands[0], operands[1], "moment");
  int64_t order = operands[2].asInteger();
  if (order < 0 || order > 4)
    throw Error(fmt::format("moment: the order must be 0 to 4, got {}", order));
  if (order < 2) {
    results[0] = order == 0 ? vector.total() : vector.mean();
    return;
  }
  double centre = vector.centre();
  auto powers = [&](auto raise) {
    return vector.weightedSum([&](int64_t i) { return raise(vector.data()[i] - centre); });
  };
  double sum = order == 2   ? powers([](double x) { return x * x; })
               : order == 3 ? powers([](double x) { return x * x * x; })
                            : powers([](double x) { return x * x * x * x; });
  results[0] = sum / vector.total();
}

void runCov(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  WeightedVector x(context, operands[0], operands[2], "cov"),
      y(context, operands[1], operands[2], "cov");
  if (x.cells() != y.cells())
    throw Error(
        fmt::format("cov: the vectors have different lengths, {} and {}", x.cells(), y.cells()));
  double centreX = x.centre(), centreY = y.centre();
  double sum =
      x.weightedSum([&](int64_t i) { return (x.data()[i] - centreX) * (y.data()[i] - centreY); });
  results[0] = sum / (x.total() - 1);
}

} // namespace tokamak::runtime
