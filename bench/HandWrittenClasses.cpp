// Hand-written products of wide rows with narrow matrices: ten classes or centroids, eight rows at
// a time; fewer classes are vectors (HandWrittenRows.h). All benchmarks have a multiple of eight
// rows.
#include "HandWrittenRows.h"

using namespace bench;

namespace {

using Doubles = Vector<double>;

constexpr int lanes = 8;
constexpr int64_t narrow = 10; // classes, centroids
constexpr int64_t panel = 8;   // rows at a time

// Ten cells as two vectors, padded with zeros. Narrow matrices that are read often are stored with
// rows of sixteen cells, so that loads do not overlap the next row.
constexpr int64_t padded = 2 * lanes;
struct Ten {
  Doubles first, last;
};
Ten loadPadded(const double *from) { return {load<Doubles>(from), load<Doubles>(from + lanes)}; }
Ten loadTen(const double *from) {
  Doubles last = load<Doubles>(from + narrow - lanes), none = {};
  return {load<Doubles>(from), __builtin_shufflevector(last, none, 6, 7, 8, 8, 8, 8, 8, 8)};
}
void storeTen(double *to, Ten ten) {
  store(to, ten.first);
  std::memcpy(to + lanes, &ten.last, 2 * sizeof(double));
}

// The smallest lanes of four vectors at once.
Quad<double> smallest(Doubles r0, Doubles r1, Doubles r2, Doubles r3) {
  auto smaller = [](auto a, auto b) { return a < b ? a : b; };
  Doubles a = smaller(__builtin_shufflevector(r0, r1, 0, 8, 2, 10, 4, 12, 6, 14),
                      __builtin_shufflevector(r0, r1, 1, 9, 3, 11, 5, 13, 7, 15));
  Doubles b = smaller(__builtin_shufflevector(r2, r3, 0, 8, 2, 10, 4, 12, 6, 14),
                      __builtin_shufflevector(r2, r3, 1, 9, 3, 11, 5, 13, 7, 15));
  Doubles c = smaller(__builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13),
                      __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15));
  return smaller(__builtin_shufflevector(c, c, 0, 1, 2, 3),
                 __builtin_shufflevector(c, c, 4, 5, 6, 7));
}

// Eight rows of X, `columns` wide, times V, columns x 10, padded.
template <int columns> void products(const double *x, const double *V, Ten *out) {
  Doubles first[panel] = {}, last[panel] = {};
  for (int j = 0; j < columns; ++j) {
    Ten v = loadPadded(V + j * padded);
    for (int row = 0; row < panel; ++row) {
      first[row] += x[row * columns + j] * v.first;
      last[row] += x[row * columns + j] * v.last;
    }
  }
  for (int row = 0; row < panel; ++row)
    out[row] = {first[row], last[row]};
}

void prefetchPanel(const double *x, int columns) {
  for (int at = 0; at < panel * columns; at += lanes)
    __builtin_prefetch(x + panel * columns + at);
}

// Q = P * (X %*% V); t(X) %*% (Q - P * rowSums(Q)), one pass over X. V and the result are padded.
template <int columns>
std::vector<double> hessianProduct(const Array &X, const Array &P, const Array &V) {
  std::vector<std::vector<double>> partials(threadCount, std::vector<double>(columns * padded));
  parallel(X.size() / columns, [&](int part, int64_t begin, int64_t end) {
    alignas(64) double H[columns * padded] = {};
    for (int64_t i = begin; i < end; i += panel) {
      const double *x = X.data() + i * columns, *p = P.data() + i * narrow;
      prefetchPanel(x, columns);
      Ten q[panel];
      products<columns>(x, V.data(), q);
      for (int row = 0; row < panel; ++row) {
        Ten weights = loadTen(p + row * narrow);
        q[row] = {q[row].first * weights.first, q[row].last * weights.last};
        double sum = total(q[row].first) + q[row].last[0] + q[row].last[1];
        q[row].first -= weights.first * sum;
        q[row].last -= weights.last * sum;
      }
      for (int j = 0; j < columns; ++j) {
        Ten h = loadPadded(H + j * padded);
        for (int row = 0; row < panel; ++row) {
          h.first += x[row * columns + j] * q[row].first;
          h.last += x[row * columns + j] * q[row].last;
        }
        store(H + j * padded, h.first);
        store(H + j * padded + lanes, h.last);
      }
    }
    std::copy(std::begin(H), std::end(H), partials[part].begin());
  });
  for (int part = 1; part < threadCount; ++part)
    for (int j = 0; j < columns * padded; ++j)
      partials[0][j] += partials[part][j];
  return partials[0];
}

// D = -2 * X %*% t(C) + t(rowSums(C^2)); computes rowMins(D) and D == rowMins(D). T is t(C), its
// rows padded.
template <int columns>
void nearest(const Array &X, const Array &T, const Array &squares, Array &minima,
             Array &isMinimum) {
  parallel(X.size() / columns, [&](int, int64_t begin, int64_t end) {
    Ten square = loadPadded(squares.data());
    Doubles one = {1, 1, 1, 1, 1, 1, 1, 1}, none = {};
    for (int64_t i = begin; i < end; i += panel) {
      const double *x = X.data() + i * columns;
      prefetchPanel(x, columns);
      Ten d[panel];
      Doubles both[panel];
      products<columns>(x, T.data(), d);
      for (int row = 0; row < panel; ++row) {
        d[row] = {square.first - 2 * d[row].first, square.last - 2 * d[row].last};
        both[row] = d[row].first < d[row].last ? d[row].first : d[row].last;
      }
      for (int row = 0; row < panel; row += 4) {
        Quad<double> least = smallest(both[row], both[row + 1], both[row + 2], both[row + 3]);
        std::memcpy(&minima[i + row], &least, sizeof least);
      }
      for (int row = 0; row < panel; ++row) {
        double least = minima[i + row];
        storeTen(isMinimum.data() + (i + row) * narrow,
                 {d[row].first <= least ? one : none, d[row].last <= least ? one : none});
      }
    }
  });
}

double sumOf(const Array &a) {
  double sum = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    sum += a[i];
  return sum;
}

template <int k> void measureFewClasses(const Task &task) {
  constexpr int columns = 100;
  using Matrix = Rows<double, columns>;
  Array X(task.rows() * columns), P(task.rows() * k + 64);
  fill(X, 7919, 1009);
  fill(P, 104729, 997);
  measure(task.repetitions(), [&](int r) {
    std::vector<double> V(k * columns);
    for (int64_t i = 0; i < k * columns; ++i)
      V[i % k * columns + i / k] = double(i + 1) / 1000 + r;
    std::vector<double> H =
        Matrix::pass<k>(X, Matrix::Vectors<k>(V), [&](int64_t i, Matrix::Group *q) {
          Matrix::Group p[k], sum = {};
#pragma unroll
          for (int c = 0; c < k; ++c) {
            p[c] = Matrix::strided<k>(&P[i * k + c]);
            q[c] *= p[c];
            sum += q[c];
          }
#pragma unroll
          for (int c = 0; c < k; ++c)
            q[c] -= p[c] * sum;
        });
    double sum = 0;
    for (double value : H)
      sum += value;
    return sum;
  });
}

void measureTenClasses(const Task &task) {
  constexpr int columns = 100;
  Array X(task.rows() * columns), P(task.rows() * narrow), V(columns * padded);
  fill(X, 7919, 1009);
  fill(P, 104729, 997);
  std::vector<double> H;
  auto prepare = [&](int r) {
    for (int64_t i = 0; i < columns * narrow; ++i)
      V[i / narrow * padded + i % narrow] = double(i + 1) / 1000 + r;
  };
  auto result = [&] {
    double sum = 0;
    for (double value : H)
      sum += value;
    return sum;
  };
  measure(task.repetitions(), prepare, [&](int) { H = hessianProduct<columns>(X, P, V); }, result);
}

void measureNearest(const Task &task) {
  constexpr int columns = 50;
  int64_t rows = task.rows();
  Array X(rows * columns), T(columns * padded), squares(padded);
  Array minima(rows), isMinimum(rows * narrow);
  fill(X, 7919, 1009);
  auto assign = [&](int r) {
    std::fill(squares.data(), squares.data() + narrow, 0);
    std::fill(squares.data() + narrow, squares.data() + padded, INFINITY);
    for (int64_t c = 0; c < narrow; ++c)
      for (int64_t j = 0; j < columns; ++j) {
        double value = X[c * columns + j] + double(r) / 1000;
        T[j * padded + c] = value;
        squares[c] += value * value;
      }
    nearest<columns>(X, T, squares, minima, isMinimum);
  };
  measure(task.repetitions(), [](int) {}, assign, [&] { return sumOf(minima) + sumOf(isMinimum); });
}

} // namespace

bool bench::measureClasses(const Task &task) {
  if (task.single())
    return false;
  if (task.program == "kmeans-distance" && task.columns() == 50) {
    measureNearest(task);
    return true;
  }
  if (task.program != "logistic-inner" || task.columns() != 100)
    return false;
  switch (task.number("classes")) {
  case 3:
    measureFewClasses<3>(task);
    return true;
  case 5:
    measureFewClasses<5>(task);
    return true;
  case narrow:
    measureTenClasses(task);
    return true;
  default:
    return false;
  }
}
