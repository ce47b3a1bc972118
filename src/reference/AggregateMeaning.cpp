#include "reference/AggregateMeaning.h"

#include "reference/MatrixAccess.h"
#include "reference/MatrixMeaning.h"

#include <cmath>
#include <limits>
#include <vector>

namespace tokamak::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double sumOf(std::span<const double> cells) {
  CompensatedSum sum;
  for (double cell : cells)
    sum.add(cell);
  return sum.value();
}

double productOf(std::span<const double> cells) {
  double product = 1;
  for (double cell : cells)
    product *= cell;
  return product;
}

double extremeOf(BinaryOperator op, double ofNothing, std::span<const double> cells) {
  double extreme = ofNothing;
  for (double cell : cells)
    extreme = evaluate(op, extreme, cell);
  return extreme;
}

double meanOf(std::span<const double> cells) {
  return sumOf(cells) / static_cast<double>(cells.size());
}

double varianceOf(std::span<const double> cells) {
  if (cells.empty())
    return std::nan("");
  if (cells.size() == 1)
    return std::isfinite(cells[0]) ? 0 : std::nan("");
  double mean = meanOf(cells);
  CompensatedSum rest;
  for (double cell : cells)
    rest.add(cell - mean);
  double centre = mean + rest.value() / static_cast<double>(cells.size());
  CompensatedSum squares;
  for (double cell : cells)
    squares.add((cell - centre) * (cell - centre));
  return squares.value() / static_cast<double>(cells.size() - 1);
}

// The index (from 1) of the last cell that is `better` than the best one before it: with Ge the last one of several
// largest cells, with Gt the first. 1 if there is none.
double indexOfExtreme(BinaryOperator better, double ofNothing, std::span<const double> cells) {
  double best = ofNothing;
  size_t index = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (evaluate(better, cells[i], best) != 0) {
      best = cells[i];
      index = i;
    }
  }
  return static_cast<double>(index + 1);
}

// Aggregates along the last dimension, which becomes 1.
Value aggregateRows(AggregateKind kind, const Array &x) {
  auto columns = static_cast<size_t>(x.shape()[x.shape().rank() - 1]);
  ArrayPointer result = Array::create(x.shape().withLast(1));
  for (int64_t i = 0; i < result->cells(); ++i)
    result->mutableData()[i] =
        reduce(kind, {x.data() + i * static_cast<int64_t>(columns), columns});
  return result;
}

std::vector<double> columnOf(const Array &x, int64_t column) {
  std::vector<double> cells;
  for (int64_t i = 0; i < x.rows(); ++i)
    cells.push_back(x.at(i, column));
  return cells;
}

} // namespace

void CompensatedSum::add(double value) {
  double sum = sum_ + value;
  lost_ += std::fabs(sum_) >= std::fabs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
  sum_ = sum;
}

double CompensatedSum::value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

double reduce(AggregateKind kind, std::span<const double> cells) {
  switch (kind) {
  case AggregateKind::Sum:
    return sumOf(cells);
  case AggregateKind::Prod:
    return productOf(cells);
  case AggregateKind::Min:
    return extremeOf(BinaryOperator::Min, infinity, cells);
  case AggregateKind::Max:
    return extremeOf(BinaryOperator::Max, -infinity, cells);
  case AggregateKind::Mean:
    return meanOf(cells);
  case AggregateKind::Var:
    return varianceOf(cells);
  case AggregateKind::Sd:
    return std::sqrt(varianceOf(cells));
  case AggregateKind::IndexMax:
  case AggregateKind::IndexMin:
  case AggregateKind::FirstIndexMax:
  case AggregateKind::FirstIndexMin:
    return indexOfExtreme(replacingComparison(kind), isOfLargest(kind) ? -infinity : infinity,
                          cells);
  }
  internalError("unknown aggregation");
}

Value aggregate(AggregateKind kind, AggregateDirection direction, const Value &operand) {
  if (direction == AggregateDirection::Full)
    return reduce(kind, cellsOf(arrayOf(operand, mnemonic(kind))));
  if (direction == AggregateDirection::Row)
    return aggregateRows(kind, arrayOf(operand, mnemonic(kind)));
  const Array &x = matrixOf(operand, mnemonic(kind));
  ArrayPointer result = Array::create({1, x.columns()});
  for (int64_t j = 0; j < x.columns(); ++j)
    cellOf(*result, 0, j) = reduce(kind, columnOf(x, j));
  return result;
}

Value cumulate(AggregateKind kind, const Value &operand) {
  const Array &x = matrixOf(operand, "cumulative aggregate");
  ArrayPointer result = Array::create(x.shape());
  for (int64_t j = 0; j < x.columns(); ++j) {
    CompensatedSum sum;
    double soFar = reduce(kind, {});
    for (int64_t i = 0; i < x.rows(); ++i) {
      double cell = x.at(i, j);
      switch (kind) {
      case AggregateKind::Sum:
        sum.add(cell);
        soFar = sum.value();
        break;
      case AggregateKind::Prod:
        soFar *= cell;
        break;
      case AggregateKind::Min:
        soFar = evaluate(BinaryOperator::Min, soFar, cell);
        break;
      case AggregateKind::Max:
        soFar = evaluate(BinaryOperator::Max, soFar, cell);
        break;
      default:
        internalError("an aggregation that does not cumulate");
      }
      cellOf(*result, i, j) = soFar;
    }
  }
  return result;
}

Value cumulateCells(const Value &operand) {
  if (!operand.isArray() || operand.array()->shape().rank() != 2)
    throw Error("cumprodcells: expected a matrix");
  const Array &x = *operand.array();
  if (isFloat(x.elementType()))
    return cumulate(AggregateKind::Prod, operand);
  ArrayPointer result = x.copy();
  withCellType(x.elementType(), [&]<typename Cell>() {
    if constexpr (!isFloatCell<Cell>) {
      auto *cells = result->mutableCellsAs<Cell>();
      for (int64_t i = x.columns(); i < x.cells(); ++i)
        cells[i] = convertCell<Cell>(evaluate(BinaryOperator::Mul, x.elementType(),
                                              static_cast<int64_t>(cells[i - x.columns()]),
                                              static_cast<int64_t>(cells[i])));
    }
  });
  return result;
}

Value cumulateRows(AggregateKind kind, const Value &operand) {
  return transpose(cumulate(kind, transpose(operand)));
}

Value cumulateSumProduct(const Value &operand) {
  const Array &x = matrixOf(operand, "cumsumprod");
  if (x.columns() != 2)
    throw Error(fmt::format("cumsumprod: expected two columns, got {}", x.columns()));
  ArrayPointer result = Array::create({x.rows(), 1});
  double previous = 0;
  for (int64_t i = 0; i < x.rows(); ++i) {
    previous = i == 0 ? x.at(0, 0) : x.at(i, 0) + x.at(i, 1) * previous;
    cellOf(*result, i, 0) = previous;
  }
  return result;
}

} // namespace tokamak::reference
