// Natives for linear systems: by LAPACK if it is available, else by plain algorithms.
#include "runtime/natives/Blas.h"
#include "runtime/natives/Native.h"
#include "runtime/values/ColumnMajor.h"

#include <cmath>
#include <numeric>

namespace tokamak::runtime {
namespace {

[[noreturn]] void failSingular(std::string_view native) {
  throw Error(fmt::format("{}: the matrix is singular", native));
}

// LU factorisation with partial pivoting, in place. Returns false at a zero pivot. `sign` becomes
// the sign of the permutation; rows of `right` (may be null) are exchanged along.
bool factorize(ColumnMajor &a, ColumnMajor *right, int &sign) {
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

bool solveByElimination(ColumnMajor &a, ColumnMajor &b) {
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

bool solveSquare(ColumnMajor &a, ColumnMajor &b) {
  if (a.rows == 0)
    return true;
  if (!lapack().gesv)
    return solveByElimination(a, b);
  int n = static_cast<int>(a.rows), count = static_cast<int>(b.columns), info = 0;
  BudgetedVector<int> pivots(a.rows);
  lapack().gesv(&n, &count, a.cells.data(), &n, pivots.data(), b.cells.data(), &n, &info);
  return info == 0;
}

// Least squares by Householder reflections: reduces a (rows >= columns) to a triangle; b becomes
// Q'b, then the solution.
bool leastSquaresByReflections(ColumnMajor &a, ColumnMajor &b) {
  for (int64_t k = 0; k < a.columns; ++k) {
    double norm = 0;
    for (int64_t i = k; i < a.rows; ++i)
      norm = std::hypot(norm, a.at(i, k));
    if (norm == 0)
      return false;
    double alpha = a.at(k, k) > 0 ? -norm : norm;
    BudgetedVector<double> reflector(a.rows - k);
    for (int64_t i = k; i < a.rows; ++i)
      reflector[i - k] = a.at(i, k);
    reflector[0] -= alpha;
    double square = std::inner_product(reflector.begin(), reflector.end(), reflector.begin(), 0.0);
    auto reflect = [&](ColumnMajor &matrix, int64_t j) {
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

bool solveLeastSquares(ColumnMajor &a, ColumnMajor &b) {
  if (!lapack().gels)
    return leastSquaresByReflections(a, b);
  int rows = static_cast<int>(a.rows), columns = static_cast<int>(a.columns),
      count = static_cast<int>(b.columns);
  int size = -1, info = 0;
  double best = 0;
  lapack().gels("N", &rows, &columns, &count, a.cells.data(), &rows, b.cells.data(), &rows, &best,
                &size, &info);
  size = static_cast<int>(best);
  BudgetedVector<double> work(size);
  lapack().gels("N", &rows, &columns, &count, a.cells.data(), &rows, b.cells.data(), &rows,
                work.data(), &size, &info);
  return info == 0;
}

} // namespace

// Solves a %*% x = b; with more rows than columns in the sense of least squares.
void runSolve(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = matrixOperand(operands[0], "solve"), &b = matrixOperand(operands[1], "solve");
  if (a.rows() != b.rows())
    throw Error(fmt::format("solve: the matrix is {}, the right side {}: rows differ",
                            a.shape().text(), b.shape().text()));
  if (a.rows() < a.columns())
    throw Error(
        fmt::format("solve: a {} matrix has fewer equations than unknowns", a.shape().text()));
  ColumnMajor left = columnsOf(a, a.rows()), right = columnsOf(b, b.rows());
  bool regular = a.rows() == a.columns() ? solveSquare(left, right)
                 : a.columns() == 0      ? true
                                         : solveLeastSquares(left, right);
  if (!regular)
    failSingular("solve");
  results[0] = arrayOf(right, a.columns());
}

void runInv(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = squareOperand(operands[0], "inv");
  ColumnMajor left = columnsOf(a, a.rows()), right(a.rows(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i)
    right.at(i, i) = 1;
  if (!solveSquare(left, right))
    failSingular("inv");
  results[0] = arrayOf(right, a.rows());
}

namespace {

// The sign of the permutation that LAPACK's pivots (counted from 1) describe.
int signOf(const BudgetedVector<int> &pivots) {
  int sign = 1;
  for (size_t i = 0; i < pivots.size(); ++i)
    sign = pivots[i] == static_cast<int>(i) + 1 ? sign : -sign;
  return sign;
}

// The determinant of this matrix, by its factors.
double determinantOf(ColumnMajor factors, int64_t rows) {
  int sign = 1;
  if (lapack().getrf && rows > 0) {
    int n = static_cast<int>(rows), info = 0;
    BudgetedVector<int> pivots(rows);
    lapack().getrf(&n, &n, factors.cells.data(), &n, pivots.data(), &info);
    sign = signOf(pivots);
  } else if (!factorize(factors, nullptr, sign)) {
    return 0;
  }
  double product = sign;
  for (int64_t i = 0; i < rows; ++i)
    product *= factors.at(i, i);
  return product;
}

} // namespace

void runDet(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = squareOperand(operands[0], "det");
  results[0] = determinantOf(columnsOf(a, a.rows()), a.rows());
}

void runDeterminants(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = denseOperand(operands[0], "determinants");
  const Shape &shape = a.shape();
  int rank = shape.rank();
  if (rank < 2 || shape[rank - 2] != shape[rank - 1])
    throw Error(
        fmt::format("determinants: expected square matrices, got an array of {}", shape.text()));
  int64_t rows = shape[rank - 1];
  ArrayPointer result = Array::create(Shape(shape.sizes().first(rank - 2)));
  ArrayPointer all = a.reshaped({result->cells() * rows, rows});
  for (int64_t i = 0; i < result->cells(); ++i)
    result->mutableData()[i] =
        determinantOf(columnsOf(*all->rowView(i * rows, (i + 1) * rows), rows), rows);
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
