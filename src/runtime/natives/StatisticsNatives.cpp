// Natives for order statistics, moments and the trace. Missing weights are passed as Nothing.
#include "runtime/natives/KeySort.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/ScalarOperations.h"

#include <cmath>
#include <numeric>

namespace tokamak::runtime {
namespace {

// The values of a vector in ascending order, NaN last; with weights, each value is repeated as
// often as its weight says.
class SortedValues {
public:
  SortedValues(ExecutionContext &context, const Value &values, const Value &weights,
               std::string_view native) {
    const Array &array = matrixOperand(values, native);
    if (array.cells() == 0)
      throw Error(fmt::format("{}: the vector is empty", native));
    const Array *weightArray = weights.isNothing() ? nullptr : &matrixOperand(weights, native);
    if (weightArray && weightArray->cells() != array.cells())
      throw Error(
          fmt::format("{}: {} values but {} weights", native, array.cells(), weightArray->cells()));
    SortKeys keys = sortKeys(context, array.data(), 1, array.cells(), /*decreasing=*/false);
    if (!weightArray) {
      sortKeysAlone(context, keys);
      total_ = static_cast<double>(array.cells());
    } else {
      BudgetedVector<int64_t> rows(keys.size());
      std::iota(rows.begin(), rows.end(), int64_t{0});
      sortKeysWithRows(context, keys, rows);
      for (int64_t row : rows)
        ends_.push_back(total_ += weightArray->data()[row]);
    }
    keys_ = std::move(keys);
  }

  // The number of values: the sum of the weights.
  double count() const { return total_; }
  // The value at a position, from 1; positions out of range give the first or the last value.
  double at(double position) const {
    auto last = std::ssize(keys_) - 1;
    int64_t place = ends_.empty()
                        ? static_cast<int64_t>(std::ceil(std::clamp(position, 1.0, total_))) - 1
                        : std::ranges::lower_bound(ends_, position) - ends_.begin();
    return cellOfKey(keys_[std::min(place, last)], /*decreasing=*/false);
  }
  bool isEven() const { return std::fmod(total_, 2) == 0; }

private:
  SortKeys keys_;
  BudgetedVector<double> ends_; // sums of the weights up to each value; empty without weights
  double total_ = 0;
};

} // namespace

// For an even number of values, a scalar probability averages two neighbours; a vector of
// probabilities never does.
void runQuantile(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  SortedValues values(context, operands[0], operands[1], "quantile");
  auto positionOf = [&](double p) {
    if (!(p >= 0 && p <= 1))
      throw Error(fmt::format("quantile: {} is not a probability", textOf(p)));
    return std::max(1.0, std::ceil(p * values.count()));
  };
  if (!operands[2].isArray()) {
    double position = positionOf(operands[2].asDouble()), value = values.at(position);
    bool hasNext = values.isEven() && position < values.count();
    results[0] = hasNext ? value + (values.at(position + 1) - value) / 2 : value;
    return;
  }
  const Array &probabilities = matrixOperand(operands[2], "quantile");
  ArrayPointer result = Array::create(probabilities.shape());
  for (int64_t i = 0; i < probabilities.cells(); ++i)
    result->mutableData()[i] = values.at(positionOf(probabilities.data()[i]));
  results[0] = std::move(result);
}

void runMedian(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  SortedValues values(context, operands[0], operands[1], "median");
  double position = std::ceil(values.count() / 2), value = values.at(position);
  results[0] = values.isEven() ? value + (values.at(position + 1) - value) / 2 : value;
}

// The mean of the middle half; values on its borders count in part.
void runInterQuartileMean(ExecutionContext &context, std::span<Value> operands,
                          std::span<Value> results) {
  SortedValues values(context, operands[0], operands[1], "interQuartileMean");
  double low = values.count() / 4, high = values.count() * 3 / 4, sum = 0;
  for (double position = std::floor(low) + 1; position <= std::ceil(high); ++position) {
    double share = std::min(position, high) - std::max(position - 1, low);
    if (share > 0)
      sum += share * values.at(position);
  }
  results[0] = sum / (high - low);
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

// A vector and its optional weights.
struct WeightedVector {
  WeightedVector(const Value &values, const Value &weightOperand, std::string_view native)
      : array(matrixOperand(values, native)),
        weights(weightOperand.isNothing() ? nullptr : &matrixOperand(weightOperand, native)) {
    if (weights && weights->cells() != array.cells())
      throw Error(
          fmt::format("{}: {} values but {} weights", native, array.cells(), weights->cells()));
    for (int64_t i = 0; i < array.cells(); ++i) {
      total += weight(i);
      mean += weight(i) * array.data()[i];
    }
    mean /= total;
  }
  // The mean, corrected by the mean of the remaining differences, so that the mean
  // of equal values is exact.
  double centre() const {
    double rest = 0;
    for (int64_t i = 0; i < array.cells(); ++i)
      rest += weight(i) * (array.data()[i] - mean);
    return mean + rest / total;
  }
  double weight(int64_t i) const { return weights ? weights->data()[i] : 1; }
  const Array &array;
  const Array *weights;
  double total = 0, mean = 0;
};

} // namespace

// Order 0 is the count, 1 the mean, 2 the variance (divided by n), 3 and 4 the central moments.
void runMoment(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  WeightedVector vector(operands[0], operands[1], "moment");
  int64_t order = operands[2].asInteger();
  if (order < 0 || order > 4)
    throw Error(fmt::format("moment: the order must be 0 to 4, got {}", order));
  if (order < 2) {
    results[0] = order == 0 ? vector.total : vector.mean;
    return;
  }
  double sum = 0, centre = vector.centre();
  for (int64_t i = 0; i < vector.array.cells(); ++i) {
    double difference = vector.array.data()[i] - centre, power = difference;
    for (int64_t k = 1; k < order; ++k)
      power *= difference;
    sum += vector.weight(i) * power;
  }
  results[0] = sum / vector.total;
}

void runCov(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  WeightedVector x(operands[0], operands[2], "cov"), y(operands[1], operands[2], "cov");
  if (x.array.cells() != y.array.cells())
    throw Error(fmt::format("cov: the vectors have different lengths, {} and {}", x.array.cells(),
                            y.array.cells()));
  double sum = 0, centreX = x.centre(), centreY = y.centre();
  for (int64_t i = 0; i < x.array.cells(); ++i)
    sum += x.weight(i) * (x.array.data()[i] - centreX) * (y.array.data()[i] - centreY);
  results[0] = sum / (x.total - 1);
}

} // namespace tokamak::runtime
