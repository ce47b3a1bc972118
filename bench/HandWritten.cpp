// Hand-written loops, the peer of Tokamak's generated kernels: as fast as a patient C++ programmer
// makes them.
//
//   hand-written BENCHMARK THREADS REPETITIONS ROWS COLUMNS [DENSITY]
//
// prints `ns N` for each repetition after a warm-up, and `result R`, which run.py compares with the
// other peers. The loops use explicit vectors of 512 bits (split by the compiler on machines with
// shorter vectors), several accumulators, four rows at a time, huge pages, and one pass over memory
// wherever the mathematics allows it.

#include "HandWritten.h"

namespace {

using namespace bench;

double sumOfProduct(const Array &x, const Array &y, const Array &z) {
  return reduce<1>(x.size(), [&](int64_t begin, int64_t end, double *out) {
    constexpr int unroll = 4;
    Vector sums[unroll] = {};
    int64_t i = begin;
    for (; i + unroll * lanes <= end; i += unroll * lanes)
      for (int k = 0; k < unroll; ++k) {
        int64_t at = i + k * lanes;
        sums[k] += load(&x.data()[at]) * load(&y.data()[at]) * load(&z.data()[at]);
      }
    out[0] = total(sums[0] + sums[1] + sums[2] + sums[3]);
    for (; i < end; ++i)
      out[0] += x[i] * y[i] * z[i];
  })[0];
}

double sumPair(const Array &x, const Array &y, const Array &z) {
  std::vector<double> sums = reduce<2>(x.size(), [&](int64_t begin, int64_t end, double *out) {
    constexpr int unroll = 4;
    Vector first[unroll] = {}, second[unroll] = {};
    int64_t i = begin;
    for (; i + unroll * lanes <= end; i += unroll * lanes)
      for (int k = 0; k < unroll; ++k) {
        int64_t at = i + k * lanes;
        Vector shared = load(&x.data()[at]);
        first[k] += shared * load(&y.data()[at]);
        second[k] += shared * load(&z.data()[at]);
      }
    out[0] = total(first[0] + first[1] + first[2] + first[3]);
    out[1] = total(second[0] + second[1] + second[2] + second[3]);
    for (; i < end; ++i) {
      out[0] += x[i] * y[i];
      out[1] += x[i] * z[i];
    }
  });
  return sums[0] + sums[1];
}

double readAll(const Array &x) {
  return reduce<1>(x.size(), [&](int64_t begin, int64_t end, double *out) {
    Vector sums[8] = {};
    for (int64_t i = begin; i + 64 <= end; i += 64)
      for (int k = 0; k < 8; ++k)
        sums[k] += load(&x.data()[i + k * lanes]);
    for (const Vector &sum : sums)
      out[0] += total(sum);
  })[0];
}

// Rows of `columns` cells as vectors. If the width is no multiple of eight, the last vector
// overlaps the one before it; `v` and the values added to the result are zero in the overlapping
// lanes, so that no cell counts twice.
template <int columns> struct Rows {
  static constexpr int vectors = (columns + lanes - 1) / lanes;
  static constexpr int start(int k) { return k == vectors - 1 ? columns - lanes : k * lanes; }
  static constexpr int overlap = vectors * lanes - columns;

  static void spread(const double *v, Vector *out) {
    for (int k = 0; k < vectors; ++k)
      out[k] = load(v + start(k));
    for (int lane = 0; lane < overlap; ++lane)
      out[vectors - 1][lane] = 0;
  }

  static Quad fourProducts(const double *x, const Vector *v) {
    Vector r0 = {}, r1 = {}, r2 = {}, r3 = {};
    for (int k = 0; k < vectors; ++k) {
      r0 += load(x + start(k)) * v[k];
      r1 += load(x + columns + start(k)) * v[k];
      r2 += load(x + 2 * columns + start(k)) * v[k];
      r3 += load(x + 3 * columns + start(k)) * v[k];
    }
    return totals(r0, r1, r2, r3);
  }

  static void addFour(const double *x, Quad s, Vector *q) {
    for (int k = 0; k < vectors; ++k)
      q[k] += (load(x + start(k)) * s[0] + load(x + columns + start(k)) * s[1]) +
              (load(x + 2 * columns + start(k)) * s[2] + load(x + 3 * columns + start(k)) * s[3]);
  }

  static void collect(const Vector *q, double *out) {
    for (int k = 0; k < vectors; ++k)
      for (int lane = k == vectors - 1 ? overlap : 0; lane < lanes; ++lane)
        out[start(k) + lane] += q[k][lane];
  }

  static void prefetch(const double *x) {
    for (int at = 0; at < 4 * columns; at += lanes)
      __builtin_prefetch(x + 1024 + at);
  }

  // result = t(X) %*% (scale(i, X[i,] %*% v)), one pass over X. All benchmarks have
  // a multiple of four rows.
  template <typename Scale>
  static std::vector<double> chain(const Array &X, const std::vector<double> &v, Scale scale) {
    std::vector<std::vector<double>> partials(threadCount, std::vector<double>(columns));
    parallel(X.size() / columns, [&](int part, int64_t begin, int64_t end) {
      Vector spreadV[vectors], q[vectors] = {};
      spread(v.data(), spreadV);
      for (int64_t i = begin; i < end; i += 4) {
        const double *x = X.data() + i * columns;
        prefetch(x);
        addFour(x, scale(i, fourProducts(x, spreadV)), q);
      }
      collect(q, partials[part].data());
    });
    for (int part = 1; part < threadCount; ++part)
      for (int j = 0; j < columns; ++j)
        partials[0][j] += partials[part][j];
    return partials[0];
  }

  static void product(const Array &X, const std::vector<double> &v, Array &out) {
    parallel(X.size() / columns, [&](int, int64_t begin, int64_t end) {
      Vector spreadV[vectors];
      spread(v.data(), spreadV);
      for (int64_t i = begin; i < end; i += 4) {
        const double *x = X.data() + i * columns;
        prefetch(x);
        Quad products = fourProducts(x, spreadV);
        std::memcpy(&out[i], &products, sizeof products);
      }
    });
  }
};

double dot(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

template <int columns> double linregCG(const Array &X, const Array &y, double reg, int iterations) {
  using R = Rows<columns>;
  std::vector<double> zero(columns);
  std::vector<double> residual = R::chain(X, zero, [&](int64_t i, Quad) {
    Quad s;
    std::memcpy(&s, y.data() + i, sizeof s);
    return -s;
  });
  std::vector<double> direction(columns), solution(columns);
  for (int j = 0; j < columns; ++j)
    direction[j] = -residual[j];
  double squared = dot(residual, residual);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::vector<double> q = R::chain(X, direction, [](int64_t, Quad s) { return s; });
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
  double sum = 0;
  for (double value : solution)
    sum += value;
  return sum;
}

template <int columns> double l2svm(const Array &X, const Array &y, double reg, int iterations) {
  using R = Rows<columns>;
  int64_t n = y.size();
  Array Xw(n), Xd(n);
  std::vector<double> w(columns), zero(columns);
  std::vector<double> descent = R::chain(X, zero, [&](int64_t i, Quad) {
    Quad s;
    std::memcpy(&s, y.data() + i, sizeof s);
    return s;
  });
  std::vector<double> direction = descent;
  double squared = dot(descent, descent);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    R::product(X, direction, Xd);
    double wd = reg * dot(w, direction), dd = reg * dot(direction, direction), step = 0;
    for (int search = 0; search < 20; ++search) {
      std::vector<double> sums = reduce<2>(n, [&](int64_t begin, int64_t end, double *out) {
        Vector g[2] = {}, h[2] = {};
        for (int64_t i = begin; i + 2 * lanes <= end; i += 2 * lanes)
          for (int k = 0; k < 2; ++k) {
            int64_t at = i + k * lanes;
            Vector Y = load(&y.data()[at]), d = load(&Xd.data()[at]);
            Vector margin = 1.0 - Y * (load(&Xw.data()[at]) + step * d);
            Vector none = {};
            Vector violated = margin > none ? margin : none;
            g[k] += violated * Y * d;
            h[k] += margin > none ? d * d : none;
          }
        out[0] = total(g[0] + g[1]);
        out[1] = total(h[0] + h[1]);
      });
      double g = wd + step * dd - sums[0], h = dd + sums[1];
      step -= g / std::max(h, 1e-300);
      if (!(g * g > 1e-10 * h))
        break;
    }
    for (int j = 0; j < columns; ++j)
      w[j] += step * direction[j];
    descent = R::chain(X, zero, [&](int64_t i, Quad) {
      Quad Y, now, d, none = {};
      std::memcpy(&Y, y.data() + i, sizeof Y);
      std::memcpy(&now, &Xw[i], sizeof now);
      std::memcpy(&d, &Xd[i], sizeof d);
      now += step * d;
      std::memcpy(&Xw[i], &now, sizeof now);
      Quad margin = 1.0 - Y * now;
      return (margin > none ? margin : none) * Y;
    });
    for (int j = 0; j < columns; ++j)
      descent[j] -= reg * w[j];
    double before = squared;
    squared = dot(descent, descent);
    for (int j = 0; j < columns; ++j)
      direction[j] = descent[j] + squared / before * direction[j];
  }
  double sum = 0;
  for (double value : w)
    sum += value;
  return sum;
}

template <int columns> void measureChain(int64_t rows, int repetitions) {
  Array X(rows * columns), w(rows);
  fill(X, 7919, 1009);
  fill(w, 104729, 997);
  measure(repetitions, [&](int r) {
    std::vector<double> v(columns);
    for (int j = 0; j < columns; ++j)
      v[j] = j + 1 + r;
    std::vector<double> q = Rows<columns>::chain(X, v, [&](int64_t i, Quad s) {
      Quad weight;
      std::memcpy(&weight, &w[i], sizeof weight);
      return weight * s;
    });
    double sum = 0;
    for (double value : q)
      sum += value;
    return sum;
  });
}

} // namespace

int main(int count, char **arguments) {
  if (count != 6 && count != 7) {
    std::fprintf(stderr,
                 "usage: hand-written BENCHMARK THREADS REPETITIONS ROWS COLUMNS [DENSITY]\n");
    return 2;
  }
  std::string name = arguments[1];
  threadCount = std::atoi(arguments[2]);
  int repetitions = std::atoi(arguments[3]);
  int64_t rows = std::atoll(arguments[4]), columns = std::atoll(arguments[5]);

  if (count == 7) {
    if (measureSparse(name, repetitions, rows, columns, std::atof(arguments[6])))
      return 0;
    std::fprintf(stderr, "hand-written: no sparse benchmark %s\n", name.c_str());
    return 2;
  }
  if (name == "sum-of-product" || name == "sum-pair") {
    Array X(rows * columns), Y(rows * columns), Z(rows * columns);
    fill(X, 7919, 1009);
    fill(Y, 104729, 997);
    fill(Z, 1299709, 991);
    measure(repetitions, [&](int r) {
      X[0] = r;
      return name == "sum-pair" ? sumPair(X, Y, Z) : sumOfProduct(X, Y, Z);
    });
  } else if (name == "bandwidth") {
    Array X(rows * columns);
    fill(X, 7919, 1009);
    measure(repetitions, [&](int r) {
      X[0] = r;
      return readAll(X);
    });
  } else if (name == "gathers") { // `rows` cells of an array of a million, in a random order
    constexpr uint64_t cells = 1 << 20;
    Array X(cells);
    fill(X, 7919, 1009);
    std::vector<int32_t> places(rows);
    for (int64_t i = 0; i < rows; ++i)
      places[i] = static_cast<int32_t>((i * 0x9e3779b97f4a7c15u >> 40) % cells);
    measure(repetitions, [&](int r) {
      X[0] = r;
      double sums[4] = {};
      for (int64_t i = 0; i + 4 <= rows; i += 4)
        for (int k = 0; k < 4; ++k)
          sums[k] += X[places[i + k]];
      return sums[0] + sums[1] + sums[2] + sums[3];
    });
  } else if (name == "chain-narrow" && columns == 10) {
    measureChain<10>(rows, repetitions);
  } else if (name == "chain-wide" && columns == 100) {
    measureChain<100>(rows, repetitions);
  } else if (name == "l2svm" && columns == 10) {
    Array X(rows * columns), y(rows);
    fill(X, 7919, 1009);
    for (int64_t i = 0; i < rows; ++i)
      y[i] = (i + 1) * 104729 % 997 < 498 ? 1 : -1;
    measure(repetitions, [&](int r) { return l2svm<10>(X, y, 1 + 1e-9 * r, 20); });
  } else if (name == "linreg-cg" && columns == 100) {
    Array X(rows * columns), y(rows);
    fill(X, 7919, 1009);
    fill(y, 104729, 997);
    measure(repetitions, [&](int r) { return linregCG<100>(X, y, 1 + 1e-9 * r, 20); });
  } else if (!measurePanels(name, repetitions, rows, columns)) {
    std::fprintf(stderr, "hand-written: no benchmark %s with %s columns\n", name.c_str(),
                 arguments[5]);
    return 2;
  }
  return 0;
}
