// Natives for cumulative sums, products, minima and maxima along columns, and along rows for sums.
#include "base/CellOperators.h"
#include "runtime/natives/NativeOperands.h"

#include <cmath>

namespace tokamak::runtime {
namespace {

// result[i] = combine(result[i-1], source[i]) for each column; columns are
// independent, rows are not.
template <typename Combine>
void scanColumns(ExecutionContext &context, std::span<Value> operands, std::span<Value> results,
                 std::string_view native, const Combine &combine) {
  matrixOperand(operands[0], native);
  ArrayPointer result = takeOrCopy(operands[0]);
  int64_t rows = result->rows(), columns = result->columns();
  double *data = result->mutableData();
  int64_t grain = std::max<int64_t>(8, parallelGrain / std::max<int64_t>(1, rows) / 8 * 8);
  forEachRange(context, columns, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = 1; i < rows; ++i) {
      const double *previous = data + (i - 1) * columns;
      double *row = data + i * columns;
      for (int64_t j = begin; j < end; ++j)
        row[j] = combine(previous[j], row[j]);
    }
  });
  results[0] = std::move(result);
}

} // namespace

void runCumsum(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  scanColumns(context, operands, results, "cumsum", [](double a, double b) { return a + b; });
}

void runCumprod(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  scanColumns(context, operands, results, "cumprod", [](double a, double b) { return a * b; });
}

void runCummin(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  scanColumns(context, operands, results, "cummin",
              [](double a, double b) { return evaluate(BinaryOperator::Min, a, b); });
}

void runCummax(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  scanColumns(context, operands, results, "cummax",
              [](double a, double b) { return evaluate(BinaryOperator::Max, a, b); });
}

void runRowcumsum(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  matrixOperand(operands[0], "rowcumsum");
  ArrayPointer result = takeOrCopy(operands[0]);
  int64_t columns = result->columns();
  double *data = result->mutableData();
  forEachRowRange(context, result->rows(), columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 1; j < columns; ++j)
        data[i * columns + j] += data[i * columns + j - 1];
  });
  results[0] = std::move(result);
}

// y[i] = a[i] + b[i] * y[i-1], y[0] = a[0], where a and b are the columns of the operand.
void runCumsumprod(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &source = matrixOperand(operands[0], "cumsumprod");
  if (source.columns() != 2)
    throw Error(fmt::format("cumsumprod: expected two columns, got {}", source.columns()));
  ArrayPointer result = Array::create({source.rows(), 1});
  double previous = 0;
  for (int64_t i = 0; i < source.rows(); ++i) {
    previous = i == 0 ? source.at(0, 0) : source.at(i, 0) + source.at(i, 1) * previous;
    result->mutableData()[i] = previous;
  }
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
