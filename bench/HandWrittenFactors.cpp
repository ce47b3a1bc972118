// Hand-written factorisations of sparse matrices. What a row of one factor needs of the other one
// stays in the caches while it is updated; rows of factors are padded with zeros to whole vectors.
#include "HandWrittenCompressed.h"

#include <cmath>
#include <random>

using namespace bench;

namespace {

using Doubles = Vector<double>;

template <int rank> struct Factor {
  static constexpr int vectors = (rank + 7) / 8, padded = vectors * 8;
  Array cells;
  int64_t rows = cells.size() / padded;

  Factor(int64_t rows, double low, double high, int seed) : cells(rows * padded) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> draw(low, high);
    for (int64_t i = 0; i < rows; ++i)
      for (int c = 0; c < rank; ++c)
        cells[i * padded + c] = draw(generator);
  }
  double *row(int64_t i) { return cells.data() + i * padded; }
  const double *row(int64_t i) const { return cells.data() + i * padded; }

  // The sums of the columns, or of their squares.
  std::vector<double> columnSums(bool squared) const {
    std::vector<double> sums(padded);
    for (int64_t i = 0; i < rows; ++i)
      for (int c = 0; c < padded; ++c)
        sums[c] += squared ? row(i)[c] * row(i)[c] : row(i)[c];
    return sums;
  }
};

template <int vectors> double dot(const double *u, const double *v) {
  Doubles sums[2] = {};
#pragma unroll
  for (int k = 0; k < vectors; ++k)
    sums[k % 2] += load<Doubles>(u + k * 8) * load<Doubles>(v + k * 8);
  return total(sums[0] + sums[1]);
}

// Calls entry(p, row of the other factor) for the entries of row i of X, and prefetches the rows
// that the next entries need.
template <int rank, typename Entry>
void forEntries(const CompressedRows &X, int64_t i, const Factor<rank> &other, Entry entry) {
  constexpr int64_t ahead = 8;
  auto last = static_cast<int64_t>(X.values.size()) - 1;
  for (int64_t p = X.offsets[i]; p < X.offsets[i + 1]; ++p) {
    const double *next = other.row(X.indices[std::min(p + ahead, last)]);
    for (int k = 0; k < Factor<rank>::vectors; ++k)
      __builtin_prefetch(next + k * 8);
    entry(p, other.row(X.indices[p]));
  }
}

template <int rank>
void updateCounts(const CompressedRows &X, Factor<rank> &W, const Factor<rank> &H) {
  constexpr int vectors = Factor<rank>::vectors;
  std::vector<double> sums = H.columnSums(false);
  for (double &sum : sums)
    sum = std::max(sum, 1e-30);
  parallel(X.rows(), [&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double *w = W.row(i);
      Doubles moved[vectors] = {};
      forEntries(X, i, H, [&](int64_t p, const double *h) {
        double share = X.values[p] / (dot<vectors>(w, h) + 1e-8);
#pragma unroll
        for (int k = 0; k < vectors; ++k)
          moved[k] += share * load<Doubles>(h + k * 8);
      });
      for (int k = 0; k < vectors; ++k)
        store(w + k * 8, load<Doubles>(w + k * 8) * moved[k] / load<Doubles>(&sums[k * 8]));
    }
  });
}

// Ten iterations of a Poisson factorisation; the objective.
template <int rank> double pnmf(const CompressedRows &X, const CompressedRows &columns, int seed) {
  Factor<rank> W(X.rows(), 0.01, 1, seed), H(X.columns, 0.01, 1, seed + 1000);
  for (int iteration = 0; iteration < 10; ++iteration) {
    updateCounts(columns, H, W);
    updateCounts(X, W, H);
  }
  double objective = 0;
  std::vector<double> w = W.columnSums(false), h = H.columnSums(false);
  for (int c = 0; c < rank; ++c)
    objective += w[c] * h[c];
  return objective - reduce<1>(X.rows(), [&](int64_t begin, int64_t end, double *out) {
           for (int64_t i = begin; i < end; ++i)
             forEntries(X, i, H, [&](int64_t p, const double *row) {
               out[0] += X.values[p] * std::log(dot<Factor<rank>::vectors>(W.row(i), row) + 1e-8);
             });
         })[0];
}

constexpr double penalty = 0.1;

// The rows of U that minimise the objective for a given V, by conjugate gradients.
template <int rank>
void solveRows(const CompressedRows &X, Factor<rank> &U, const Factor<rank> &V) {
  constexpr int vectors = Factor<rank>::vectors, padded = Factor<rank>::padded;
  parallel(X.rows(), [&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double *u = U.row(i);
      alignas(64) double R[padded], S[padded], HS[padded];
      // out = the sum over the entries of (s times V's row, less the entry or 0) times that row.
      auto multiply = [&](const double *s, bool less, double *out) {
        Doubles sums[vectors] = {};
        forEntries(X, i, V, [&](int64_t p, const double *v) {
          double product = dot<vectors>(s, v) - (less ? X.values[p] : 0);
#pragma unroll
          for (int k = 0; k < vectors; ++k)
            sums[k] += product * load<Doubles>(v + k * 8);
        });
        for (int k = 0; k < vectors; ++k)
          store(out + k * 8, sums[k] + penalty * load<Doubles>(s + k * 8));
      };
      multiply(u, true, R);
      for (int c = 0; c < padded; ++c)
        S[c] = R[c] = -R[c];
      double squared = dot<vectors>(R, R), enough = 1e-12 * squared;
      for (int step = 0; step < rank && squared > enough; ++step) {
        multiply(S, false, HS);
        double length = squared / dot<vectors>(S, HS), before = squared;
        for (int c = 0; c < padded; ++c) {
          u[c] += length * S[c];
          R[c] -= length * HS[c];
        }
        squared = dot<vectors>(R, R);
        for (int c = 0; c < padded; ++c)
          S[c] = R[c] + squared / before * S[c];
      }
    }
  });
}

// Three iterations of alternating least squares; the objective.
template <int rank> double als(const CompressedRows &X, int seed) {
  constexpr int padded = Factor<rank>::padded;
  CompressedRows columns = transposed(X);
  Factor<rank> U(X.rows(), -0.5, 0.5, seed), V(X.columns, -0.5, 0.5, seed + 1000);
  for (int iteration = 0; iteration < 3; ++iteration) {
    solveRows(X, U, V);
    std::vector<double> ofU = U.columnSums(true), ofV = V.columnSums(true);
    for (int c = 0; c < rank; ++c) {
      double factor = std::pow(ofV[c] / ofU[c], 0.25);
      for (int64_t i = 0; i < U.rows; ++i)
        U.cells[i * padded + c] *= factor;
      for (int64_t i = 0; i < V.rows; ++i)
        V.cells[i * padded + c] /= factor;
    }
    solveRows(columns, V, U);
  }
  double squares = 0;
  for (const Factor<rank> *factor : {&U, &V})
    for (double square : factor->columnSums(true))
      squares += square;
  double errors = reduce<1>(X.rows(), [&](int64_t begin, int64_t end, double *out) {
    for (int64_t i = begin; i < end; ++i)
      forEntries(X, i, V, [&](int64_t p, const double *v) {
        double error = dot<Factor<rank>::vectors>(U.row(i), v) - X.values[p];
        out[0] += error * error;
      });
  })[0];
  return 0.5 * (errors + penalty * squares);
}

} // namespace

bool bench::measureFactors(const Task &task) {
  if (task.program != "pnmf" && task.program != "als")
    return false;
  int64_t rank = task.number("rank");
  if (task.program == "als" ? rank != 10 : rank != 20 && rank != 100)
    return false;
  CompressedRows X = scatter(task.rows(), task.columns(), task.real("density"));
  CompressedRows columns = transposed(X);
  measure(task.repetitions(), [&](int r) {
    if (task.program == "als")
      return als<10>(X, 7 + r);
    return rank == 20 ? pnmf<20>(X, columns, 7 + r) : pnmf<100>(X, columns, 7 + r);
  });
  return true;
}
