// Linear systems and factorisations: LAPACK where it is available, else plain algorithms.
#include "runtime/Blas.h"
#include "runtime/NativeOperands.h"
#include "runtime/NativeTables.h"

#include <cmath>
#include <numeric>

namespace tokamak::runtime {
namespace {

// Column-major, as LAPACK wants it.
struct Columns {
  Columns(int64_t rows, int64_t columns) : rows(rows), columns(columns), cells(rows * columns) {}
  double &at(int64_t i, int64_t j) { return cells[j * rows + i]; }
  double at(int64_t i, int64_t j) const { return cells[j * rows + i]; }
  int64_t rows, columns;
  std::vector<double> cells;
};

// `storedRows` may exceed the array's rows: LAPACK returns longer solutions in place.
Columns columnsOf(const Array &array, int64_t storedRows) {
  Columns result(storedRows, array.columns());
  for (int64_t i = 0; i < array.rows(); ++i)
    for (int64_t j = 0; j < array.columns(); ++j)
      result.at(i, j) = array.at(i, j);
  return result;
}

ArrayPointer arrayOf(const Columns &matrix, int64_t rows) {
  ArrayPointer result = Array::create({rows, matrix.columns});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j)
      result->mutableData()[i * matrix.columns + j] = matrix.at(i, j);
  return result;
}

const Array &squareOperand(const Value &operand, std::string_view native) {
  const Array &array = matrixOperand(operand, native);
  if (array.rows() != array.columns())
    throw Error(fmt::format("{}: expected a square matrix, got {}", native, array.shape().text()));
  return array;
}

[[noreturn]] void failSingular(std::string_view native) {
  throw Error(fmt::format("{}: the matrix is singular", native));
}

// LU factorisation with partial pivoting, in place. Returns false at a zero pivot; `sign` becomes
// that of the permutation, and rows of `right` are exchanged along.
bool factorize(Columns &a, Columns *right, int &sign) {
  sign = 1;
  for (int64_t k = 0; k < a.rows; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (std::fabs(a.at(i, k)) > std::fabs(a.at(pivot, k)))
        pivot = i;
    if (a.at(pivot, k) == 0)
      return false;
    if (pivot != k) {
      sign = -sign;
      for (int64_t j = 0; j < a.columns; ++j)
        std::swap(a.at(k, j), a.at(pivot, j));
      for (int64_t j = 0; right && j < right->columns; ++j)
        std::swap(right->at(k, j), right->at(pivot, j));
    }
    for (int64_t i = k + 1; i < a.rows; ++i)
      a.at(i, k) /= a.at(k, k);
    for (int64_t j = k + 1; j < a.columns; ++j) {
      double factor = a.at(k, j);
      for (int64_t i = k + 1; i < a.rows; ++i)
        a.at(i, j) -= a.at(i, k) * factor;
    }
  }
  return true;
}

bool solveByElimination(Columns &a, Columns &b) {
  int sign = 1;
  if (!factorize(a, &b, sign))
    return false;
  for (int64_t c = 0; c < b.columns; ++c) {
    for (int64_t k = 0; k < a.rows; ++k)
      for (int64_t i = k + 1; i < a.rows; ++i)
        b.at(i, c) -= a.at(i, k) * b.at(k, c);
    for (int64_t k = a.rows - 1; k >= 0; --k) {
      b.at(k, c) /= a.at(k, k);
      for (int64_t i = 0; i < k; ++i)
        b.at(i, c) -= a.at(i, k) * b.at(k, c);
    }
  }
  return true;
}

bool solveSquare(Columns &a, Columns &b) {
  if (a.rows == 0)
    return true;
  if (!lapack().gesv)
    return solveByElimination(a, b);
  int n = static_cast<int>(a.rows), count = static_cast<int>(b.columns), info = 0;
  std::vector<int> pivots(a.rows);
  lapack().gesv(&n, &count, a.cells.data(), &n, pivots.data(), b.cells.data(), &n, &info);
  return info == 0;
}

// Householder reflections turn a (rows >= columns) into a triangle; b becomes Q'b, then the
// solution.
bool leastSquaresByReflections(Columns &a, Columns &b) {
  for (int64_t k = 0; k < a.columns; ++k) {
    double norm = 0;
    for (int64_t i = k; i < a.rows; ++i)
      norm = std::hypot(norm, a.at(i, k));
    if (norm == 0)
      return false;
    double alpha = a.at(k, k) > 0 ? -norm : norm;
    std::vector<double> reflector(a.rows - k);
    for (int64_t i = k; i < a.rows; ++i)
      reflector[i - k] = a.at(i, k);
    reflector[0] -= alpha;
    double square = std::inner_product(reflector.begin(), reflector.end(), reflector.begin(), 0.0);
    auto reflect = [&](Columns &matrix, int64_t j) {
      double dot = 0;
      for (int64_t i = k; i < a.rows; ++i)
        dot += reflector[i - k] * matrix.at(i, j);
      for (int64_t i = k; i < a.rows; ++i)
        matrix.at(i, j) -= 2 * dot / square * reflector[i - k];
    };
    for (int64_t j = k; j < a.columns; ++j)
      reflect(a, j);
    for (int64_t j = 0; j < b.columns; ++j)
      reflect(b, j);
  }
  for (int64_t c = 0; c < b.columns; ++c)
    for (int64_t k = a.columns - 1; k >= 0; --k) {
      for (int64_t j = k + 1; j < a.columns; ++j)
        b.at(k, c) -= a.at(k, j) * b.at(j, c);
      b.at(k, c) /= a.at(k, k);
    }
  return true;
}

bool solveLeastSquares(Columns &a, Columns &b) {
  if (!lapack().gels)
    return leastSquaresByReflections(a, b);
  int rows = static_cast<int>(a.rows), columns = static_cast<int>(a.columns),
      count = static_cast<int>(b.columns);
  int size = -1, info = 0;
  double best = 0;
  lapack().gels("N", &rows, &columns, &count, a.cells.data(), &rows, b.cells.data(), &rows, &best,
                &size, &info);
  size = static_cast<int>(best);
  std::vector<double> work(size);
  lapack().gels("N", &rows, &columns, &count, a.cells.data(), &rows, b.cells.data(), &rows,
                work.data(), &size, &info);
  return info == 0;
}

// The x with a %*% x = b; with more rows than columns the one of least squares.
void solve(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = matrixOperand(operands[0], "solve"), &b = matrixOperand(operands[1], "solve");
  if (a.rows() != b.rows())
    throw Error(fmt::format("solve: the matrix is {}, the right side {}: rows differ",
                            a.shape().text(), b.shape().text()));
  if (a.rows() < a.columns())
    throw Error(
        fmt::format("solve: a {} matrix has fewer equations than unknowns", a.shape().text()));
  Columns left = columnsOf(a, a.rows()), right = columnsOf(b, b.rows());
  bool regular = a.rows() == a.columns() ? solveSquare(left, right)
                 : a.columns() == 0      ? true
                                         : solveLeastSquares(left, right);
  if (!regular)
    failSingular("solve");
  results[0] = arrayOf(right, a.columns());
}

void inv(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = squareOperand(operands[0], "inv");
  Columns left = columnsOf(a, a.rows()), right(a.rows(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i)
    right.at(i, i) = 1;
  if (!solveSquare(left, right))
    failSingular("inv");
  results[0] = arrayOf(right, a.rows());
}

void det(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = squareOperand(operands[0], "det");
  Columns factors = columnsOf(a, a.rows());
  int sign = 1;
  double product = 1;
  if (!factorize(factors, nullptr, sign))
    product = 0;
  for (int64_t i = 0; i < a.rows() && product != 0; ++i)
    product *= factors.at(i, i);
  results[0] = product * sign;
}

// The lower triangle L with L %*% t(L) = a.
void cholesky(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = squareOperand(operands[0], "cholesky");
  int64_t n = a.rows();
  ArrayPointer result = Array::filled({n, n}, 0);
  double *l = result->mutableData();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      double sum = a.at(i, j) - std::inner_product(l + i * n, l + i * n + j, l + j * n, 0.0);
      if (i == j && !(sum > 0))
        throw Error("cholesky: the matrix is not positive definite");
      l[i * n + j] = i == j ? std::sqrt(sum) : sum / l[j * n + j];
    }
  results[0] = std::move(result);
}

constexpr Native natives[] = {{"cholesky", cholesky}, {"det", det}, {"inv", inv}, {"solve", solve}};

} // namespace

std::span<const Native> linearAlgebraNatives() { return natives; }

} // namespace tokamak::runtime
