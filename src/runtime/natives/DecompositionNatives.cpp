// Decompositions of matrices by LAPACK: cholesky, eigen, lu, qr, svd.
//
// Eigenvectors and singular vectors are unique only up to their sign, which would differ between
// processors. The sign is chosen such that the first component whose magnitude is at least half the
// largest one is positive.
#include "runtime/natives/Blas.h"
#include "runtime/natives/Native.h"
#include "runtime/values/ColumnMajor.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace tokamak::runtime {
namespace {

template <typename Routine> void checkFound(Routine routine, std::string_view native) {
  if (!routine)
    throw Error(fmt::format("{}: the library OpenBLAS, which does it, was not found", native));
}

// LAPACK may not terminate if the input has NaN or Inf.
void checkFinite(const Array &array, std::string_view native) {
  for (int64_t i = 0; i < array.cells(); ++i)
    if (!std::isfinite(array.data()[i]))
      throw Error(fmt::format("{}: the matrix has cells that are NaN or infinite", native));
}

void checkConverged(int info, std::string_view native) {
  if (info != 0)
    throw Error(fmt::format("{}: the iteration did not converge", native));
}

// Calls `routine(work, size)` twice: to query the optimal workspace size, then with that workspace.
template <typename Routine> void withWork(const Routine &routine) {
  double best = 0;
  int size = -1;
  routine(&best, &size);
  size = std::max(1, static_cast<int>(best));
  BudgetedVector<double> work(size);
  routine(work.data(), &size);
}

// Whether the column must be negated to have the canonical sign.
bool isFlipped(const ColumnMajor &matrix, int64_t column) {
  double largest = 0;
  for (int64_t i = 0; i < matrix.rows; ++i)
    largest = std::max(largest, std::fabs(matrix.at(i, column)));
  for (int64_t i = 0; i < matrix.rows; ++i)
    if (std::fabs(matrix.at(i, column)) >= largest / 2)
      return matrix.at(i, column) < 0;
  return false;
}

void flip(ColumnMajor &matrix, int64_t column) {
  for (int64_t i = 0; i < matrix.rows; ++i)
    matrix.at(i, column) = -matrix.at(i, column);
}

//===- cholesky ------------------------------------------------------------------------------===//

// Whether the cells were rounded to single precision before they became doubles.
bool isSingle(const ExecutionContext &context) { return context.resultType != ElementType::F64; }

// Whether the matrix is symmetric up to rounding. Of a sum that cancels, such as the covariance of
// columns that have nothing to do with each other, nothing but rounding is left: so cells may also
// differ by as much as `rounding` of the diagonal's, which bound what was summed.
bool isSymmetric(const Array &a, double rounding) {
  int64_t n = a.rows();
  double tolerance =
      10 * static_cast<double>(n) * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) {
      double lower = a.data()[i * n + j], upper = a.data()[j * n + i];
      double difference = std::fabs(lower - upper);
      if (difference <= tolerance * std::max(std::fabs(lower), std::fabs(upper)))
        continue;
      double summed = std::sqrt(std::fabs(a.data()[i * n + i]) * std::fabs(a.data()[j * n + j]));
      if (!(difference <= rounding * summed))
        return false;
    }
  return true;
}

} // namespace

// Computes the lower triangular L with L %*% t(L) = a.
void runCholesky(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &a = squareOperand(operands[0], "cholesky");
  checkFound(lapack().potrf, "cholesky");
  // Inverses and long sums are rounded far more than one operation; cells that aren't meant to be
  // equal differ by more.
  if (!isSymmetric(a, isSingle(context) ? 3e-4 : 1e-8))
    throw Error("cholesky: the matrix is not symmetric");
  int64_t size = a.rows();
  ColumnMajor factor = columnsOf(a, size);
  int n = static_cast<int>(size), stride = std::max(1, n), info = 0;
  lapack().potrf("L", &n, factor.cells.data(), &stride, &info);
  if (info != 0)
    throw Error("cholesky: the matrix is not positive definite");
  for (int64_t j = 0; j < size; ++j)
    std::fill_n(factor.cells.begin() + j * size, j, 0.0);
  results[0] = arrayOf(factor, size);
}

//===- eigen ---------------------------------------------------------------------------------===//

namespace {

void eigenOfSymmetric(ColumnMajor &a, BudgetedVector<double> &values) {
  int n = static_cast<int>(a.rows), info = 0;
  values.resize(n);
  checkFound(lapack().syevd, "eigen");
  int integers = -1, bestIntegers = 0, size = -1;
  double best = 0;
  lapack().syevd("V", "L", &n, a.cells.data(), &n, values.data(), &best, &size, &bestIntegers,
                 &integers, &info);
  size = static_cast<int>(best);
  integers = bestIntegers;
  BudgetedVector<double> work(size);
  BudgetedVector<int> integerWork(integers);
  lapack().syevd("V", "L", &n, a.cells.data(), &n, values.data(), work.data(), &size,
                 integerWork.data(), &integers, &info);
  checkConverged(info, "eigen");
  for (int64_t j = 0; j < a.columns; ++j)
    if (isFlipped(a, j))
      flip(a, j);
}

// The real parts of the eigenvalues, ascending. For a pair of complex eigenvalues the two vectors
// are the real and the imaginary part of the first one's eigenvector.
void eigenOfGeneral(ColumnMajor &a, BudgetedVector<double> &values) {
  int n = static_cast<int>(a.rows), one = 1, info = 0;
  BudgetedVector<double> real(n), imaginary(n);
  ColumnMajor vectors(n, n);
  checkFound(lapack().geev, "eigen");
  withWork([&](double *work, const int *size) {
    lapack().geev("N", "V", &n, a.cells.data(), &n, real.data(), imaginary.data(), nullptr, &one,
                  vectors.cells.data(), &n, work, size, &info);
  });
  checkConverged(info, "eigen");
  BudgetedVector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t i, int64_t j) { return real[i] != real[j] ? real[i] < real[j] : i < j; });
  for (int64_t j = 0; j < n; ++j) {
    values.push_back(real[order[j]]);
    if (imaginary[order[j]] == 0 && isFlipped(vectors, order[j]))
      flip(vectors, order[j]);
    std::copy_n(vectors.cells.begin() + order[j] * n, n, a.cells.begin() + j * n);
  }
}

} // namespace

void runEigen(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &a = squareOperand(operands[0], "eigen");
  checkFinite(a, "eigen");
  ColumnMajor vectors = columnsOf(a, a.rows());
  BudgetedVector<double> values;
  if (a.rows() > 0) {
    if (isSymmetric(a, isSingle(context) ? 1e-5 : 1e-12))
      eigenOfSymmetric(vectors, values);
    else
      eigenOfGeneral(vectors, values);
  }
  ArrayPointer column = Array::create({a.rows(), 1});
  std::copy(values.begin(), values.end(), column->mutableData());
  results[0] = std::move(column);
  results[1] = arrayOf(vectors, a.rows());
}

//===- lu, qr, svd ---------------------------------------------------------------------------===//

// P %*% a = L %*% U, with ones on the diagonal of L.
void runLu(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = squareOperand(operands[0], "lu");
  checkFound(lapack().getrf, "lu");
  int64_t size = a.rows();
  ColumnMajor factors = columnsOf(a, size), lower(size, size), upper(size, size),
              permutation(size, size);
  int n = static_cast<int>(size), stride = std::max(1, n), info = 0;
  BudgetedVector<int> pivots(size);
  lapack().getrf(&n, &n, factors.cells.data(), &stride, pivots.data(), &info);
  BudgetedVector<int64_t> rowOf(size);
  std::iota(rowOf.begin(), rowOf.end(), 0);
  for (int64_t i = 0; i < size; ++i)
    std::swap(rowOf[i], rowOf[pivots[i] - 1]);
  for (int64_t j = 0; j < size; ++j) {
    permutation.at(j, rowOf[j]) = 1;
    lower.at(j, j) = 1;
    for (int64_t i = 0; i < size; ++i)
      (i > j ? lower : upper).at(i, j) = factors.at(i, j);
  }
  results[0] = arrayOf(permutation, size);
  results[1] = arrayOf(lower, size);
  results[2] = arrayOf(upper, size);
}

// Results H and R. Column j of H is the vector h of the reflection I - h t(h) / h[j] that clears
// column j of a below the diagonal; R is the reduced matrix. If there is nothing to clear, row j is
// reflected all the same.
void runQr(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = matrixOperand(operands[0], "qr");
  checkFound(lapack().geqrf, "qr");
  int64_t count = std::min(a.rows(), a.columns());
  ColumnMajor factors = columnsOf(a, a.rows()), reflectors(a.rows(), count);
  int rows = static_cast<int>(a.rows()), columns = static_cast<int>(a.columns()), info = 0,
      stride = std::max(1, rows);
  BudgetedVector<double> factorOf(count);
  withWork([&](double *work, const int *size) {
    lapack().geqrf(&rows, &columns, factors.cells.data(), &stride, factorOf.data(), work, size,
                   &info);
  });
  for (int64_t j = 0; j < count; ++j) {
    double factor = factorOf[j];
    if (factor == 0 && factors.at(j, j) != 0) {
      factor = 2;
      for (int64_t k = j; k < a.columns(); ++k)
        factors.at(j, k) = -factors.at(j, k);
    }
    reflectors.at(j, j) = factor;
    for (int64_t i = j + 1; i < a.rows(); ++i)
      reflectors.at(i, j) = factor * std::exchange(factors.at(i, j), 0.0);
  }
  results[0] = arrayOf(reflectors, a.rows());
  results[1] = arrayOf(factors, a.rows());
}

// a = U %*% S %*% t(V) with min(rows, columns) singular values, descending, on the diagonal of S.
void runSvd(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &a = matrixOperand(operands[0], "svd");
  checkFound(lapack().gesdd, "svd");
  checkFinite(a, "svd");
  int64_t count = std::min(a.rows(), a.columns());
  ColumnMajor matrix = columnsOf(a, a.rows()), left(a.rows(), count),
              rightTransposed(count, a.columns()), right(a.columns(), count);
  BudgetedVector<double> values(count);
  if (count > 0) {
    int rows = static_cast<int>(a.rows()), columns = static_cast<int>(a.columns()),
        size = static_cast<int>(count), info = 0;
    BudgetedVector<int> integers(8 * count);
    withWork([&](double *work, const int *workSize) {
      lapack().gesdd("S", &rows, &columns, matrix.cells.data(), &rows, values.data(),
                     left.cells.data(), &rows, rightTransposed.cells.data(), &size, work, workSize,
                     integers.data(), &info);
    });
    checkConverged(info, "svd");
  }
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = 0; i < a.columns(); ++i)
      right.at(i, j) = rightTransposed.at(j, i);
    if (isFlipped(left, j)) {
      flip(left, j);
      flip(right, j);
    }
  }
  ArrayPointer diagonal = Array::filled({count, count}, 0);
  for (int64_t j = 0; j < count; ++j)
    diagonal->mutableData()[j * count + j] = values[j];
  results[0] = arrayOf(left, a.rows());
  results[1] = std::move(diagonal);
  results[2] = arrayOf(right, a.columns());
}

} // namespace tokamak::runtime
