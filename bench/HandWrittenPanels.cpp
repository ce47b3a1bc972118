// Hand-written loops over eight rows at a time: softmax of narrow rows, products with narrow
// matrices. All benchmarks have a multiple of eight rows.
#include "HandWritten.h"

#include <bit>

// The same exponential function as Tokamak's kernels.
#include "../src/codegen/VectorMath.cpp"

using namespace bench;

namespace {

constexpr int64_t narrow = 10; // columns of softmax, classes, centroids
constexpr int64_t panel = 8;   // rows at a time

// Ten cells as two vectors, padded with zeros. Narrow matrices that are read often are stored with
// rows of sixteen cells, so that loads do not overlap the next row.
constexpr int64_t padded = 2 * lanes;
struct Ten {
  Vector first, last;
};
Ten loadPadded(const double *from) { return {load(from), load(from + lanes)}; }
Ten loadTen(const double *from) {
  Vector last = load(from + narrow - lanes), none = {};
  return {load(from), __builtin_shufflevector(last, none, 6, 7, 8, 8, 8, 8, 8, 8)};
}
void storeTen(double *to, Ten ten) {
  store(to, ten.first);
  std::memcpy(to + lanes, &ten.last, 2 * sizeof(double));
}

Vector larger(Vector a, Vector b) { return a > b ? a : b; }

// The largest lanes of four vectors at once.
Quad largest(Vector r0, Vector r1, Vector r2, Vector r3) {
  Vector a = larger(__builtin_shufflevector(r0, r1, 0, 8, 2, 10, 4, 12, 6, 14),
                    __builtin_shufflevector(r0, r1, 1, 9, 3, 11, 5, 13, 7, 15));
  Vector b = larger(__builtin_shufflevector(r2, r3, 0, 8, 2, 10, 4, 12, 6, 14),
                    __builtin_shufflevector(r2, r3, 1, 9, 3, 11, 5, 13, 7, 15));
  Vector c = larger(__builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13),
                    __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15));
  Quad low = __builtin_shufflevector(c, c, 0, 1, 2, 3),
       high = __builtin_shufflevector(c, c, 4, 5, 6, 7);
  return low > high ? low : high;
}

Vector power(Vector x) {
  return std::bit_cast<Vector>(tokamak_vector_exp(std::bit_cast<Double8>(x)));
}

// E = exp(X - rowMaxs(X)); E / rowSums(E), four rows at a time. The padding of a row is so low that
// its exponential is negligible in the sum, but not so low that it is a (slow) denormal number.
void softmax(const Array &X, Array &out) {
  parallel(X.size() / narrow, [&](int, int64_t begin, int64_t end) {
    Vector behind = {};
    for (int lane = 2; lane < lanes; ++lane)
      behind[lane] = -500;
    for (int64_t i = begin; i < end; i += 4) {
      const double *x = X.data() + i * narrow;
      Ten rows[4];
      Vector both[4];
      for (int row = 0; row < 4; ++row) {
        rows[row] = loadTen(x + row * narrow);
        rows[row].last += behind;
        both[row] = larger(rows[row].first, rows[row].last);
      }
      Quad maxima = largest(both[0], both[1], both[2], both[3]);
      for (int row = 0; row < 4; ++row) {
        rows[row] = {power(rows[row].first - maxima[row]), power(rows[row].last - maxima[row])};
        both[row] = rows[row].first + rows[row].last;
      }
      Quad sums = totals(both[0], both[1], both[2], both[3]);
      for (int row = 0; row < 4; ++row)
        storeTen(out.data() + (i + row) * narrow,
                 {rows[row].first / sums[row], rows[row].last / sums[row]});
    }
  });
}

// Eight rows of X, `columns` wide, times V, columns x 10, padded.
template <int columns> void products(const double *x, const double *V, Ten *out) {
  Vector first[panel] = {}, last[panel] = {};
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
    Vector one = {1, 1, 1, 1, 1, 1, 1, 1}, none = {};
    for (int64_t i = begin; i < end; i += panel) {
      const double *x = X.data() + i * columns;
      prefetchPanel(x, columns);
      Ten d[panel];
      Vector both[panel];
      products<columns>(x, T.data(), d);
      for (int row = 0; row < panel; ++row) {
        d[row] = {square.first - 2 * d[row].first, square.last - 2 * d[row].last};
        both[row] = -larger(-d[row].first, -d[row].last);
      }
      for (int row = 0; row < panel; row += 4) {
        Quad least = -largest(-both[row], -both[row + 1], -both[row + 2], -both[row + 3]);
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

} // namespace

bool bench::measurePanels(const std::string &name, int repetitions, int64_t rows, int64_t columns) {
  if (name == "row-softmax" && columns == narrow) {
    Array X(rows * columns), Y(rows * columns), out(rows * columns);
    fill(X, 7919, 1009);
    auto prepare = [&](int r) {
      for (int64_t i = 0; i < X.size(); ++i)
        Y[i] = X[i] + r;
    };
    measure(repetitions, prepare, [&](int) { softmax(Y, out); }, [&] { return out[0]; });
    return true;
  }
  if (name == "logistic-inner" && columns == 100) {
    Array X(rows * columns), P(rows * narrow), V(columns * padded);
    fill(X, 7919, 1009);
    fill(P, 104729, 997);
    std::vector<double> H;
    auto prepare = [&](int r) {
      for (int64_t i = 0; i < columns * narrow; ++i)
        V[i / narrow * padded + i % narrow] = double(i + 1) / 1000 + r;
    };
    measure(
        repetitions, prepare, [&](int) { H = hessianProduct<100>(X, P, V); },
        [&] {
          double sum = 0;
          for (double value : H)
            sum += value;
          return sum;
        });
    return true;
  }
  if (name == "kmeans-distance" && columns == 50) {
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
      nearest<50>(X, T, squares, minima, isMinimum);
    };
    measure(repetitions, [](int) {}, assign, [&] { return sumOf(minima) + sumOf(isMinimum); });
    return true;
  }
  return false;
}
