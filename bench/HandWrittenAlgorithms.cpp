// Hand-written algorithms over a dense matrix: the steps of lib/, one pass over it for each.
#include "HandWrittenAlgorithms.h"
#include "HandWrittenRows.h"

using namespace bench;

double bench::dot(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

namespace {

template <int columns> double linregCG(const Array &X, const Array &y, double reg) {
  using Matrix = Rows<double, columns>;
  using Line = typename Matrix::template Vectors<1>;
  std::vector<double> direction =
      Matrix::template pass<1>(X, Line(), [&](int64_t i, auto *q) { q[0] = Matrix::group(&y[i]); });
  std::vector<double> residual(columns), solution(columns);
  for (int j = 0; j < columns; ++j)
    residual[j] = -direction[j];
  double squared = dot(residual, residual);
  for (int iteration = 0; iteration < 20; ++iteration) {
    std::vector<double> q = Matrix::template pass<1>(X, Line(direction), [](int64_t, auto *) {});
    for (int j = 0; j < columns; ++j)
      q[j] += reg * direction[j];
    double step = squared / dot(direction, q), before = squared;
    for (int j = 0; j < columns; ++j) {
      solution[j] += step * direction[j];
      residual[j] += step * q[j];
    }
    squared = dot(residual, residual);
    for (int j = 0; j < columns; ++j)
      direction[j] = -residual[j] + squared / before * direction[j];
  }
  return sum(solution);
}

// The first and second derivative along a line, without the penalty.
std::vector<double> svmLine(const Array &Y, const Array &Xw, const Array &Xd, double step) {
  using Doubles = Vector<double>;
  return reduce<2>(Y.size(), [&](int64_t begin, int64_t end, double *out) {
    Doubles g[2] = {}, h[2] = {}, none = {};
    for (int64_t i = begin; i < end; i += 16)
      for (int k = 0; k < 2; ++k) {
        int64_t at = i + k * 8;
        Doubles y = load<Doubles>(&Y.data()[at]), d = load<Doubles>(&Xd.data()[at]);
        Doubles margin = 1.0 - y * (load<Doubles>(&Xw.data()[at]) + step * d);
        g[k] += (margin > none ? margin : none) * y * d;
        h[k] += margin > none ? d * d : none;
      }
    out[0] = total(g[0] + g[1]);
    out[1] = total(h[0] + h[1]);
  });
}

template <int columns> double l2svm(const Array &X, const Array &Y, double reg) {
  using Matrix = Rows<double, columns>;
  using Line = typename Matrix::template Vectors<1>;
  using Group = typename Matrix::Group;
  Array Xw(Y.size()), Xd(Y.size());
  std::vector<double> w(columns),
      descent = Matrix::template pass<1>(X, Line(),
                                         [&](int64_t i, auto *q) { q[0] = Matrix::group(&Y[i]); });
  std::vector<double> direction = descent;
  double squared = dot(descent, descent);
  for (int iteration = 0; iteration < 20; ++iteration) {
    Matrix::template products<1>(X, Line(direction),
                                 [&](int64_t i, Group *q) { store(&Xd[i], q[0]); });
    double wd = reg * dot(w, direction), dd = reg * dot(direction, direction), step = 0;
    for (int search = 0; search < 20; ++search) {
      std::vector<double> sums = svmLine(Y, Xw, Xd, step);
      double g = wd + step * dd - sums[0], h = dd + sums[1];
      step -= g / std::max(h, 1e-300);
      if (!(g * g > 1e-10 * h))
        break;
    }
    for (int j = 0; j < columns; ++j)
      w[j] += step * direction[j];
    descent = Matrix::template pass<1>(X, Line(), [&](int64_t i, Group *q) {
      Group y = Matrix::group(&Y[i]), none = {};
      Group now = Matrix::group(&Xw[i]) + step * Matrix::group(&Xd[i]);
      store(&Xw[i], now);
      Group margin = 1.0 - y * now;
      q[0] = (margin > none ? margin : none) * y;
    });
    for (int j = 0; j < columns; ++j)
      descent[j] -= reg * w[j];
    double before = squared;
    squared = dot(descent, descent);
    for (int j = 0; j < columns; ++j)
      direction[j] = descent[j] + squared / before * direction[j];
  }
  return sum(w);
}

// Twenty of Lloyd's iterations with five centres, one pass over X for each.
template <int columns> double kmeans(const Array &X, int seed) {
  constexpr int k = 5;
  using Matrix = Rows<double, columns>;
  using Group = typename Matrix::Group;
  int64_t n = X.size() / columns;
  std::vector<double> C(k * columns);
  for (int64_t c = 0; c < k; ++c)
    for (int j = 0; j < columns; ++j)
      C[c * columns + j] = X[(seed * 7919 + c * 104729 + 1) * 31 % n * columns + j];
  double squares = reduce<1>(X.size(), [&](int64_t begin, int64_t end, double *out) {
    Vector<double> sums[4] = {};
    for (int64_t i = begin; i < end; i += 32)
      for (int part = 0; part < 4; ++part) {
        auto x = load<Vector<double>>(&X.data()[i + part * 8]);
        sums[part] += x * x;
      }
    out[0] = total((sums[0] + sums[1]) + (sums[2] + sums[3]));
  })[0];
  double distances = 0;
  struct Part {
    double sums[k][columns], counts[k], distances;
  };
  for (int iteration = 0; iteration < 20; ++iteration) {
    typename Matrix::template Vectors<k> centres(C);
    double lengths[k];
    for (int c = 0; c < k; ++c) {
      lengths[c] = 0;
      for (int j = 0; j < columns; ++j)
        lengths[c] += C[c * columns + j] * C[c * columns + j];
    }
    std::vector<Part> parts(threadCount);
    parallel(n, [&](int number, int64_t begin, int64_t end) {
      Part &part = parts[number];
      Matrix::groups(X, begin, end, [&](int64_t, const double *x) {
        Group q[k], least, nearest = {};
        typename Matrix::Copy copy;
        Matrix::Base::template products<k>(x, centres.cells, q, copy);
        least = lengths[0] - 2.0 * q[0];
#pragma unroll
        for (int c = 1; c < k; ++c) {
          Group d = lengths[c] - 2.0 * q[c], number = nearest - nearest + double(c);
          nearest = d < least ? number : nearest;
          least = d < least ? d : least;
        }
        for (int row = 0; row < Matrix::rows; ++row) {
          int c = static_cast<int>(nearest[row]);
          part.counts[c] += 1;
          part.distances += least[row];
          for (int j = 0; j < columns; ++j)
            part.sums[c][j] += x[row * columns + j];
        }
      });
    });
    distances = 0;
    for (const Part &part : parts)
      distances += part.distances;
    for (int c = 0; c < k; ++c) {
      double count = 0;
      for (const Part &part : parts)
        count += part.counts[c];
      for (int j = 0; j < columns; ++j) {
        double sum = 0;
        for (const Part &part : parts)
          sum += part.sums[c][j];
        C[c * columns + j] = sum / std::max(count, 1.0);
      }
    }
  }
  return squares + distances;
}

template <int columns> bool measureMatrix(const Task &task) {
  const std::string &name = task.program;
  if (name != "linreg-cg" && name != "l2svm" && name != "kmeans")
    return measureRegression<columns>(task);
  int64_t rows = task.rows();
  Array X(rows * columns), y(rows);
  fill(X, 7919, 1009);
  if (name == "linreg-cg")
    fill(y, 104729, 997);
  else
    for (int64_t i = 0; i < rows; ++i)
      y[i] = (i + 1) * 104729 % 997 < 498 ? 1 : -1;
  measure(task.repetitions(), [&](int r) {
    double reg = 1 + 1e-9 * r;
    return name == "kmeans"  ? kmeans<columns>(X, r)
           : name == "l2svm" ? l2svm<columns>(X, y, reg)
                             : linregCG<columns>(X, y, reg);
  });
  return true;
}

} // namespace

bool bench::measureAlgorithms(const Task &task) {
  if (task.single() || (task.program == "kmeans" && task.number("centres") != 5))
    return false;
  switch (task.columns()) {
  case 10:
    return measureMatrix<10>(task);
  case 100:
    return measureMatrix<100>(task);
  default:
    return false;
  }
}
