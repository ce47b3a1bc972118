#include "oracle/SumRules.h"

#include "reference/TensorMeaning.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tokamak::oracle {
namespace {

constexpr double anything = CellErrors::anything, zeroSign = CellErrors::zeroSign;

// The exponent of the lowest set bit of a finite non-zero number.
int lowestBit(double x) {
  uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0)
    return -1074 + std::countr_zero(fraction);
  return exponent - 1075 + std::countr_zero(fraction | uint64_t{1} << 52);
}

// The exponent of a cell's lowest bit, or of the last digit that it may have.
int leastExponent(const ErrorModel &model, double cell) {
  return model.digitsAreKnown ? lowestBit(cell) : std::ilogb(cell) + 1 + std::ilogb(model.roundoff);
}

struct Cell {
  double value, error;
};

// The error bound of a product, updated with each factor.
class ProductBound {
public:
  explicit ProductBound(const ErrorModel &model) : model_(model) {}
  void add(double factor, double factorError) {
    ++factors_;
    first_ = factors_ == 1 ? factorError : first_;
    double size = std::fabs(factor), error = std::max(factorError, 0.0);
    unknown_ |= !nan_ && !(error < size) && error > 0;
    nan_ |= std::isnan(size);
    zero_ |= size == 0;
    whole_ &= error == 0 && size == std::trunc(size);
    if (size == 0 || !std::isfinite(size))
      return;
    relative_ += error / (size - error) + 2 * model_.roundoff;
    magnitude_ += std::fabs(std::log2(size));
  }
  double error(double result) const {
    if (unknown_)
      return anything;
    if (nan_)
      return 0;
    // Beyond this a partial product may overflow or underflow even if the whole does not.
    double limit = model_.mostBinaryDigits();
    if (magnitude_ > limit || std::isinf(relative_))
      return anything;
    if (factors_ < 2 || !std::isfinite(result))
      return factors_ == 1 ? first_ : 0;
    if (zero_)
      return zeroSign;
    if (whole_ && std::fabs(result) < 0.5 / model_.roundoff)
      return 0;
    return std::fabs(result) * relative_ * 1.01 + model_.smallest();
  }

private:
  const ErrorModel &model_;
  int64_t factors_ = 0;
  double first_ = 0; // error bound of the first factor
  double relative_ = 0, magnitude_ = 0;
  bool whole_ = true, zero_ = false, nan_ = false, unknown_ = false;
};

// The error bound of a minimum or maximum.
class ExtremeBound {
public:
  ExtremeBound(const ErrorModel &model, bool isMaximum)
      : model_(model), isMaximum_(isMaximum), low_(isMaximum ? -INFINITY : INFINITY), high_(low_) {}
  void add(double cell, double cellError) {
    unknown_ |= !nan_ && cellError == anything;
    nan_ |= std::isnan(cell);
    if (unknown_ || nan_)
      return;
    double error = std::max(cellError, 0.0);
    low_ = farther(low_, cell - error);
    high_ = farther(high_, cell + error);
    positiveZero_ |= cell == 0 && (!std::signbit(cell) || cellError == zeroSign);
    negativeZero_ |= cell == 0 && (std::signbit(cell) || cellError == zeroSign);
  }
  double error(double result) const {
    if (unknown_ || nan_)
      return unknown_ ? anything : 0;
    if (low_ == high_)
      return result == 0 && positiveZero_ && negativeZero_ ? zeroSign : 0;
    return std::max(high_ - result, result - low_) + model_.smallest();
  }

private:
  double farther(double a, double b) const { return isMaximum_ ? std::max(a, b) : std::min(a, b); }

  const ErrorModel &model_;
  bool isMaximum_;
  double low_, high_;
  bool positiveZero_ = false, negativeZero_ = false, nan_ = false, unknown_ = false;
};

template <typename Bound>
double boundOf(Bound bound, const std::vector<Cell> &cells, double result) {
  for (const Cell &cell : cells)
    bound.add(cell.value, cell.error);
  return bound.error(result);
}

double sumError(const ErrorModel &model, const std::vector<Cell> &cells, double result) {
  return boundOf(SumBound(model), cells, result);
}

double meanError(const ErrorModel &model, const std::vector<Cell> &cells, double result) {
  double count = static_cast<double>(cells.size());
  double error = sumError(model, cells, result * count);
  if (error == 0 || error == zeroSign || error == anything || !std::isfinite(result))
    return error;
  return error / count * 1.01 + 2 * model.roundoff * std::fabs(result) + model.smallest();
}

// The error bound of sum (x - mean)^2 / (n - 1), including the error of the mean.
double varianceError(const ErrorModel &model, const std::vector<Cell> &cells, double result) {
  if (cells.size() < 2)
    return cells.empty() || cells[0].error != anything ? 0 : anything;
  double count = static_cast<double>(cells.size()), sum = 0, largestError = 0, size = 0;
  for (const Cell &cell : cells) {
    if (cell.error == anything)
      return anything;
    sum += cell.value;
    largestError = std::max(largestError, cell.error);
    size = std::max(size, std::fabs(cell.value));
  }
  double mean = sum / count;
  if (!std::isfinite(sum))
    return std::isnan(result) ? 0 : anything;
  double shift = largestError + (count + 4) * model.roundoff * size * 2;
  double distance = 0;
  for (const Cell &cell : cells)
    distance += std::fabs(cell.value - mean);
  double squares = 2 * distance * shift + count * shift * shift;
  double error = squares / (count - 1) + (count + 8) * model.roundoff * std::fabs(result) * 2;
  return std::isfinite(error) && size < std::sqrt(model.largest) ? error * 1.01 + model.smallest()
                                                                 : anything;
}

double deviationError(const ErrorModel &model, const std::vector<Cell> &cells, double result) {
  double variance = varianceError(model, cells, result * result);
  if (variance == 0 || variance == anything)
    return variance;
  double low = std::sqrt(std::max(0.0, result * result - variance));
  return std::max(result - low, std::sqrt(result * result + variance) - result) +
         4 * model.roundoff * result + model.smallest();
}

double indexError(bool isMaximum, const std::vector<Cell> &cells, double result) {
  size_t best = static_cast<size_t>(result) - 1;
  bool exact = true;
  for (const Cell &cell : cells) {
    if (cell.error == anything)
      return anything;
    exact &= cell.error <= 0;
  }
  if (exact)
    return 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    double distance =
        isMaximum ? cells[best].value - cells[i].value : cells[i].value - cells[best].value;
    double errors = std::max(cells[i].error, 0.0) + std::max(cells[best].error, 0.0);
    if (i != best && !(distance > errors) && !(errors == 0 && distance >= 0) &&
        !std::isnan(cells[i].value))
      return anything;
  }
  return 0;
}

double aggregateError(const ErrorModel &model, AggregateKind kind, const std::vector<Cell> &cells,
                      double result) {
  switch (kind) {
  case AggregateKind::Sum:
    return sumError(model, cells, result);
  case AggregateKind::Prod:
    return boundOf(ProductBound(model), cells, result);
  case AggregateKind::Min:
    return boundOf(ExtremeBound(model, false), cells, result);
  case AggregateKind::Max:
    return boundOf(ExtremeBound(model, true), cells, result);
  case AggregateKind::Mean:
    return meanError(model, cells, result);
  case AggregateKind::Var:
    return varianceError(model, cells, result);
  case AggregateKind::Sd:
    return deviationError(model, cells, result);
  case AggregateKind::IndexMax:
  case AggregateKind::IndexMin:
  case AggregateKind::FirstIndexMax:
  case AggregateKind::FirstIndexMin:
    return indexError(isOfLargest(kind), cells, result);
  }
  return anything;
}

} // namespace

void SumBound::add(double cell, double error) {
  ++terms_;
  nan_ |= std::isnan(cell);
  infinite_ |= std::isinf(cell);
  unknown_ |= error == anything;
  carried_ += std::max(error, 0.0);
  if (!std::isfinite(cell))
    return;
  magnitude_ += std::fabs(cell) + std::max(error, 0.0);
  if (cell == 0) {
    negativeZero_ |= std::signbit(cell) || error == zeroSign;
    return;
  }
  int lowest = leastExponent(model_, cell);
  granularity_ = std::min(granularity_, lowest);
  // A product of numbers with half the digits is exact. Other terms may be products, which fused
  // multiply-adds do not round.
  mayBeUnrounded_ |= std::fabs(cell) * std::sqrt(model_.roundoff) >= std::ldexp(1.0, lowest);
}

void SumBound::addProduct(const FactorCell &a, const FactorCell &b) {
  ++terms_;
  unknown_ |= a.error == anything || b.error == anything;
  double product = a.value * b.value;
  if (!std::isfinite(a.value) || !std::isfinite(b.value)) {
    nan_ |= std::isnan(product);
    infinite_ |= std::isinf(product);
    // The result is unknown if one cell is a zero that a sparse matrix does not store, or the other
    // may be zero or change its sign.
    unknown_ |=
        (model_.leavesOutZeros() && (a.value == 0 || b.value == 0)) || a.error > 0 || b.error > 0;
    return;
  }
  double error = a.magnitude * b.error + b.magnitude * a.error + a.error * b.error;
  carried_ += error;
  magnitude_ += a.magnitude * b.magnitude + error;
  if (a.magnitude * b.magnitude != 0)
    granularity_ = std::min(granularity_, a.granularity + b.granularity);
  else if (a.magnitude != 0 && b.magnitude != 0)
    carried_ += model_.smallest();
  negativeZero_ |= product == 0 && std::signbit(product);
}

double SumBound::error(double result) const {
  if (nan_ && !unknown_)
    return 0;
  if (unknown_ || !(magnitude_ < model_.largest / 4))
    return anything;
  if (infinite_)
    return 0;
  bool exact = carried_ == 0 && !mayBeUnrounded_ && granularity_ >= model_.lowestExponent &&
               magnitude_ * model_.roundoff * 2 < std::ldexp(1.0, granularity_);
  if (exact)
    return result == 0 && (negativeZero_ || magnitude_ > 0 || std::signbit(result)) ? zeroSign : 0;
  if (terms_ == 1 && carried_ == 0)
    return 0;
  double rounding = static_cast<double>(terms_ + 2) * model_.roundoff * magnitude_;
  return (carried_ + rounding) * 1.01 + static_cast<double>(terms_) * model_.smallest();
}

CellErrors aggregateErrors(const ErrorModel &model, AggregateKind kind,
                           AggregateDirection direction, Tracked x, const runtime::Value &result) {
  CellView cells(x.value), results(result);
  int64_t rows = cells.rows(), columns = cells.columns();
  if (direction == AggregateDirection::Full) {
    std::vector<Cell> all(cells.cells());
    for (int64_t i = 0; i < cells.cells(); ++i)
      all[i] = {cells[i], x.errors[i]};
    return CellErrors({aggregateError(model, kind, all, results[0])});
  }
  bool byRow = direction == AggregateDirection::Row;
  std::vector<double> errors(results.cells());
  std::vector<Cell> line(byRow ? columns : rows);
  for (int64_t i = 0; i < results.cells(); ++i) {
    for (size_t k = 0; k < line.size(); ++k) {
      int64_t cell =
          byRow ? i * columns + static_cast<int64_t>(k) : static_cast<int64_t>(k) * columns + i;
      line[k] = {cells[cell], x.errors[cell]};
    }
    errors[i] = aggregateError(model, kind, line, results[i]);
  }
  return CellErrors(std::move(errors));
}

CellErrors traceErrors(const ErrorModel &model, Tracked x, const runtime::Value &result) {
  CellView cells(x.value);
  std::vector<Cell> diagonal;
  for (int64_t i = 0; i < cells.rows(); ++i)
    diagonal.push_back({cells[i * cells.columns() + i], x.errors[i * cells.columns() + i]});
  return CellErrors({sumError(model, diagonal, result.asDouble())});
}

namespace {

// A factor of a matrix product with its error bounds.
class Factor {
public:
  Factor(const ErrorModel &model, const Tracked &operand)
      : model_(model), cells_(operand.value), errors_(operand.errors),
        product_(operand.errors.product()) {
    if (product_) {
      largest = product_->largest;
      smallest = product_->smallest;
      return;
    }
    double high = 0, low = INFINITY;
    for (int64_t i = 0; i < cells_.cells(); ++i) {
      double size = std::fabs(cells_[i]);
      if (size == 0 || !std::isfinite(size))
        continue;
      high = std::max(high, size);
      low = std::min(low, size);
    }
    if (high > 0) {
      largest = std::log2(high);
      smallest = std::log2(low);
    }
  }

  SumBound::FactorCell operator[](int64_t cell) const {
    double value = cells_[cell], error = std::max(errors_[cell], 0.0);
    if (product_)
      return {value, product_->carried[cell], product_->magnitudes[cell], product_->granularity};
    bool whole = value != 0 && std::isfinite(value);
    return {value, error, std::fabs(value), whole ? leastExponent(model_, value) : 0};
  }
  int64_t columns() const { return cells_.columns(); }
  // The index of this factor's matrix that is used for matrix `place` of the result (broadcast).
  int64_t place(int64_t place, const CellView &result) const {
    if (place == 0)
      return 0;
    auto leading = [](const runtime::Shape &shape) {
      return runtime::Shape(shape.sizes().first(shape.rank() - 2));
    };
    return reference::broadcastCell(leading(result.shape()), leading(cells_.shape()), place);
  }
  bool isProduct() const { return product_ != nullptr; }
  int64_t terms() const { return product_ ? product_->terms : 0; }

  double largest = 0, smallest = 0; // see ProductErrors

private:
  const ErrorModel &model_;
  CellView cells_;
  const CellErrors &errors_;
  const ProductErrors *product_;
};

} // namespace

CellErrors matmulErrors(const ErrorModel &model, Tracked x, Tracked y,
                        const runtime::Value &result) {
  Factor left(model, x), right(model, y);
  CellView results(result);
  int64_t inner = left.columns(), columns = results.columns(), cells = results.cells();
  int rank = results.shape().rank();
  int64_t rows = rank < 2 ? 1 : results.shape()[rank - 2];
  bool isChain = left.isProduct() || right.isProduct();

  ProductErrors product;
  product.carried.resize(cells);
  product.magnitudes.resize(cells);
  product.granularity = 1 << 20;
  // Storing the product rounds once more.
  product.terms = inner + left.terms() + right.terms() + 2;
  product.largest = left.largest + right.largest;
  product.smallest = left.smallest + right.smallest;
  double limit = model.mostBinaryDigits();
  bool orderDecides =
      isChain && (product.largest + std::log2(product.terms) > limit || product.smallest < -limit);

  std::vector<double> errors(cells);
  for (int64_t i = 0; i < cells; ++i) {
    SumBound bound(model);
    int64_t place = i / (rows * columns), row = i / columns % rows;
    int64_t x0 = (left.place(place, results) * rows + row) * inner;
    int64_t y0 = right.place(place, results) * inner * columns + i % columns;
    for (int64_t k = 0; k < inner; ++k)
      bound.addProduct(left[x0 + k], right[y0 + k * columns]);
    product.carried[i] = bound.carried();
    product.magnitudes[i] = bound.magnitude();
    product.granularity = std::min(product.granularity, bound.granularity());
    if (isChain)
      bound.addInnerTerms(left.terms() + right.terms());
    errors[i] = bound.error(results[i]);
    // Another order may give NaN in place of an infinity, or a zero of the other sign.
    if (isChain && (orderDecides || !std::isfinite(results[i])))
      errors[i] = anything;
    else if (isChain && errors[i] == 0 && results[i] == 0)
      errors[i] = zeroSign;
  }
  CellErrors all(std::move(errors));
  all.setProduct(std::move(product));
  return all;
}

template <typename Bound>
static CellErrors scanErrors(const Bound &empty, bool alongRows, Tracked x,
                             const runtime::Value &result) {
  CellView cells(x.value), results(result);
  int64_t lines = alongRows ? cells.rows() : cells.columns();
  int64_t length = alongRows ? cells.columns() : cells.rows();
  std::vector<double> errors(results.cells());
  for (int64_t line = 0; line < lines; ++line) {
    Bound soFar = empty;
    for (int64_t k = 0; k < length; ++k) {
      int64_t i = alongRows ? line * cells.columns() + k : k * cells.columns() + line;
      soFar.add(cells[i], x.errors[i]);
      errors[i] = soFar.error(results[i]);
    }
  }
  return CellErrors(std::move(errors));
}

CellErrors scanErrors(const ErrorModel &model, AggregateKind kind, bool alongRows, Tracked x,
                      const runtime::Value &result) {
  switch (kind) {
  case AggregateKind::Sum:
    return scanErrors(SumBound(model), alongRows, x, result);
  case AggregateKind::Prod:
    return scanErrors(ProductBound(model), alongRows, x, result);
  default:
    return scanErrors(ExtremeBound(model, kind == AggregateKind::Max), alongRows, x, result);
  }
}

} // namespace tokamak::oracle
