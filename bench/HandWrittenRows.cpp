// Hand-written products and sums with one factor for each row.
#include "HandWrittenRows.h"

using namespace bench;

namespace {

template <typename T, int columns> void measureProduct(const Task &task) {
  using Matrix = Rows<T, columns>;
  bool weighted = task.program == "weighted-product";
  ArrayOf<T> X(task.rows() * columns), w(task.rows());
  fill(X, 7919, 1009);
  fill(w, 104729, 997);
  measure(task.repetitions(), [&](int r) {
    std::vector<double> line(columns);
    for (int j = 0; j < columns; ++j)
      line[j] = j + 1 + r;
    typename Matrix::template Vectors<1> v(line);
    if (weighted)
      return sum(Matrix::template pass<1>(
          X, v, [&](int64_t i, auto *q) { q[0] *= Matrix::group(&w[i]); }));
    return sum(Matrix::template pass<1>(X, v, [](int64_t, auto *) {}));
  });
}

// colSums(X / rowSums(X)): a row's sum is its product with ones.
template <typename T, int columns> void measureShares(const Task &task) {
  using Matrix = Rows<T, columns>;
  ArrayOf<T> X(task.rows() * columns);
  fill(X, 7919, 1009);
  for (int64_t i = 0; i < X.size(); ++i)
    X[i] += 1;
  typename Matrix::template Vectors<1> ones(std::vector<double>(columns, 1.0));
  measure(task.repetitions(), [&](int r) {
    X[0] = static_cast<T>(r);
    std::vector<double> shares =
        Matrix::template pass<1>(X, ones, [](int64_t, auto *q) { q[0] = 1 / q[0]; });
    double result = 0;
    for (int j = 0; j < columns; ++j)
      result += shares[j] * (j + 1);
    return result;
  });
}

template <typename T, int columns> bool measureMatrix(const Task &task) {
  if (task.program == "normal-product" || task.program == "weighted-product")
    measureProduct<T, columns>(task);
  else if (task.program == "row-shares")
    measureShares<T, columns>(task);
  else
    return false;
  return true;
}

} // namespace

bool bench::measureRows(const Task &task) {
  switch (task.columns()) {
  case 10:
    return task.single() ? measureMatrix<float, 10>(task) : measureMatrix<double, 10>(task);
  case 100:
    return task.single() ? measureMatrix<float, 100>(task) : measureMatrix<double, 100>(task);
  default:
    return false;
  }
}
