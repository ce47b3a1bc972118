#include "oracle/CellRules.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

namespace tokamak::oracle {
namespace {

constexpr double anything = CellErrors::anything, zeroSign = CellErrors::zeroSign;

bool sameBits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

// The interval of correct values of a cell; a single point if the cell is exact.
struct Interval {
  double low, high;
  Interval(double cell, double error) : low(cell), high(cell) {
    if (error == zeroSign) {
      low = -0.0;
      high = 0.0;
    } else if (error > 0) {
      low = std::min(cell - error, std::nextafter(cell, -INFINITY));
      high = std::max(cell + error, std::nextafter(cell, INFINITY));
    }
  }
  bool holdsZero() const { return low <= 0 && high >= 0; }
};

// The largest deviation from the reference's result at the corners of the operands' intervals: a
// bound for an operator that is monotone in each operand.
class Deviation {
public:
  Deviation(const ErrorModel &model, double result) : model_(model), result_(result) {}
  // Add the unrounded value, too: arrays store results rounded to their element type, scalars
  // don't.
  void add(double corner) {
    addValue(corner);
    if (std::fabs(corner) > model_.largest)
      addValue(std::copysign(INFINITY, corner));
    else if (model_.isNarrow())
      addValue(roundedTo(model_.type, corner));
  }
  double error() const { return error_; }

private:
  void addValue(double corner) {
    if (sameBits(corner, result_))
      return;
    if (!std::isfinite(corner) || !std::isfinite(result_))
      error_ = anything;
    else if (corner == result_)
      error_ = error_ == 0 ? zeroSign : error_;
    else
      error_ = std::max(error_, std::fabs(corner - result_) * 1.0001 + model_.smallest());
  }

  const ErrorModel &model_;
  double result_;
  double error_ = 0;
};

// Adds the error of the function's implementation to that propagated from its operands.
double withFunctionError(const ErrorModel &model, double error, double result) {
  if (std::isnan(result) || std::isinf(result) || error == anything)
    return error;
  if (error == zeroSign && result == 0)
    return zeroSign;
  double own = model.functionUnits * 2 * model.roundoff * std::fabs(result);
  // Results near zero are rounded to a multiple of the smallest (subnormal) number.
  return std::max(error, 0.0) + own + (result == 0 ? 0 : model.functionUnits * model.smallest());
}

double unaryError(const ErrorModel &model, UnaryOperator op, double x, double error,
                  double result) {
  if (error == 0)
    return 0;
  if (error == anything)
    return anything;
  Interval interval(x, error);
  Deviation deviation(model, result);
  switch (errorsOf(op)) {
  case UnaryErrors::Finiteness:
    return 0; // a cell with an error bound is finite
  case UnaryErrors::Truth:
    return truthOf(x, error) == Truth::Unknown ? 1 : 0;
  case UnaryErrors::Wave:
    if (error == zeroSign)
      return result == 0 ? zeroSign : 0;
    return std::min(2.0, error);
  case UnaryErrors::Tangent: {
    if (error == zeroSign)
      return zeroSign;
    double slope = 1 + result * result;
    return error * slope > 0.05 ? anything : 2 * error * slope;
  }
  case UnaryErrors::TurnsAtZero:
    if (interval.holdsZero())
      deviation.add(evaluate(op, 0.0));
    break;
  case UnaryErrors::Monotone:
    break;
  }
  deviation.add(evaluate(op, interval.low));
  deviation.add(evaluate(op, interval.high));
  return deviation.error();
}

double remainderError(const ErrorModel &model, double x, double ex, double y, double ey,
                      double result) {
  Interval a(x, ex), b(y, ey);
  double quotient = evaluate(BinaryOperator::IntDiv, x, y);
  for (double numerator : {a.low, a.high})
    for (double denominator : {b.low, b.high})
      if (!(evaluate(BinaryOperator::IntDiv, numerator, denominator) == quotient))
        return anything;
  if (b.holdsZero() || !std::isfinite(result))
    return anything;
  // One rounding of quotient * y, and one of the difference.
  double rounding = (std::fabs(quotient * y) + std::fabs(result)) * 2 * model.roundoff;
  return (std::max(ex, 0.0) + std::fabs(quotient) * std::max(ey, 0.0)) * 1.0001 + rounding +
         model.smallest();
}

double powerError(const ErrorModel &model, double x, double ex, double y, double ey,
                  double result) {
  Interval a(x, ex), b(y, ey);
  Deviation deviation(model, result);
  if (a.low <= 0) {
    // A negative base needs an integer exponent; even exponents have their minimum at base 0.
    bool whole = ey == 0 && std::isfinite(y) && y == std::trunc(y);
    if (!whole || (y < 0 && a.holdsZero()))
      return anything;
    if (a.holdsZero())
      deviation.add(evaluate(BinaryOperator::Pow, 0.0, y));
  }
  for (double base : {a.low, a.high})
    for (double exponent : {b.low, b.high})
      deviation.add(evaluate(BinaryOperator::Pow, base, exponent));
  return deviation.error();
}

double logicError(BinaryOperator op, Truth x, Truth y) {
  bool known = x != Truth::Unknown && y != Truth::Unknown;
  if (op == BinaryOperator::And)
    known |= x == Truth::Zero || y == Truth::Zero;
  if (op == BinaryOperator::Or)
    known |= x == Truth::NotZero || y == Truth::NotZero;
  return known ? 0 : 1;
}

double binaryError(const ErrorModel &model, BinaryOperator op, double x, double ex, double y,
                   double ey, double result) {
  if (ex == 0 && ey == 0)
    return 0;
  BinaryErrors kind = errorsOf(op);
  if (kind == BinaryErrors::Logic)
    return logicError(op, truthOf(x, ex), truthOf(y, ey));
  if (ex == anything || ey == anything)
    return anything;
  Interval a(x, ex), b(y, ey);
  switch (kind) {
  case BinaryErrors::Equality:
    if (std::isnan(x) || std::isnan(y))
      return 0;
    return a.low <= b.high && b.low <= a.high && !(a.low == a.high && b.low == b.high) ? 1 : 0;
  case BinaryErrors::Remainder:
    return remainderError(model, x, ex, y, ey, result);
  case BinaryErrors::Power:
    return powerError(model, x, ex, y, ey, result);
  case BinaryErrors::Bits:
    return ex <= 0 && ey <= 0 ? 0 : anything;
  case BinaryErrors::Quotient:
    if (ey != 0 && b.holdsZero() && !std::isnan(x))
      return anything;
    break;
  case BinaryErrors::Logic:
  case BinaryErrors::Monotone:
    break;
  }
  Deviation deviation(model, result);
  for (double left : {a.low, a.high})
    for (double right : {b.low, b.high})
      deviation.add(evaluate(op, left, right));
  return deviation.error();
}

// Whether a product of a zero and a non-finite number may be skipped by a sparse format. Divisions
// may not: 0 / 0 is NaN in every format.
bool isSkippedProduct(double x, double y) {
  return (x == 0 && !std::isfinite(y)) || (y == 0 && !std::isfinite(x));
}

} // namespace

Truth truthOf(double cell, double error) {
  if (error == 0 || error == zeroSign)
    return cell == 0 ? Truth::Zero : Truth::NotZero;
  return std::fabs(cell) > error ? Truth::NotZero : Truth::Unknown;
}

CellErrors unaryErrors(const ErrorModel &model, UnaryOperator op, Tracked x,
                       const runtime::Value &result) {
  bool function = accuracyOf(op) == Accuracy::Approximate;
  if (x.errors.isExact() && (!function || model.functionsAgree))
    return {};
  CellView cells(x.value), results(result);
  std::vector<double> errors(results.cells());
  for (int64_t i = 0; i < results.cells(); ++i) {
    errors[i] = unaryError(model, op, cells[i], x.errors[i], results[i]);
    if (function && (!model.functionsAgree || x.errors[i] > 0))
      errors[i] = withFunctionError(model, errors[i], results[i]);
  }
  return CellErrors(std::move(errors));
}

CellErrors binaryErrors(const ErrorModel &model, BinaryOperator op, Tracked x, Tracked y,
                        const runtime::Value &result) {
  bool function = accuracyOf(op) == Accuracy::Approximate;
  if (x.errors.isExact() && y.errors.isExact() && (!function || model.functionsAgree) &&
      !model.leavesOutZeros())
    return {};
  CellView left(x.value), right(y.value), results(result);
  std::vector<double> errors(results.cells());
  bool mayBeSparse =
      model.leavesOutZeros() && op == BinaryOperator::Mul && !(left.isScalar() && right.isScalar());
  for (int64_t i = 0; i < results.cells(); ++i) {
    int64_t l = left.broadcast(i, results), r = right.broadcast(i, results);
    errors[i] = binaryError(model, op, left[l], x.errors[l], right[r], y.errors[r], results[i]);
    bool isEqual = model.functionsAgree && x.errors[l] <= 0 && y.errors[r] <= 0;
    if (function && right[r] != 2 && !isEqual)
      errors[i] = withFunctionError(model, errors[i], results[i]);
    if (mayBeSparse && isSkippedProduct(left[l], right[r]))
      errors[i] = anything;
  }
  return CellErrors(std::move(errors));
}

CellErrors ifElseErrors(const ErrorModel &model, Tracked condition, Tracked then, Tracked otherwise,
                        const runtime::Value &result) {
  if (condition.errors.isExact() && then.errors.isExact() && otherwise.errors.isExact())
    return {};
  CellView tests(condition.value), yes(then.value), no(otherwise.value), results(result);
  std::vector<double> errors(results.cells());
  for (int64_t i = 0; i < results.cells(); ++i) {
    auto at = [&](const CellView &view) { return view.broadcast(i, results); };
    double yesError = then.errors[at(yes)], noError = otherwise.errors[at(no)];
    Truth truth = truthOf(tests[at(tests)], condition.errors[at(tests)]);
    if (truth != Truth::Unknown) {
      errors[i] = truth == Truth::NotZero ? yesError : noError;
      continue;
    }
    // Scalars are rounded where they become cells of an array.
    double distance = std::max(
        std::fabs(yes[at(yes)] - no[at(no)]),
        std::fabs(roundedTo(model.type, yes[at(yes)]) - roundedTo(model.type, no[at(no)])));
    errors[i] = std::isfinite(distance) && yesError != anything && noError != anything
                    ? distance + std::max({yesError, noError, 0.0}) + model.smallest()
                    : anything;
  }
  return CellErrors(std::move(errors));
}

CellErrors replaceErrors(Tracked x, double pattern, const runtime::Value &result) {
  if (x.errors.isExact())
    return {};
  CellView cells(x.value), results(result);
  std::vector<double> errors(results.cells());
  for (int64_t i = 0; i < results.cells(); ++i) {
    double error = x.errors[i];
    bool exact = error == 0 || error == zeroSign;
    bool mayMatch = !exact && std::fabs(cells[i] - pattern) <= error;
    bool matches = exact && (cells[i] == pattern || (std::isnan(cells[i]) && std::isnan(pattern)));
    errors[i] = mayMatch ? anything : matches ? 0 : error;
  }
  return CellErrors(std::move(errors));
}

} // namespace tokamak::oracle
