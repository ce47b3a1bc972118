// Hand-written products with sparse matrices in compressed rows.
#include "HandWrittenCompressed.h"
#include "HandWrittenMath.h"

using namespace bench;

namespace {

using Doubles = Vector<double>;

// v at eight indices.
Doubles gather(const double *v, const int32_t *indices) {
#if defined(__AVX512F__)
  return Doubles(_mm512_i32gather_pd(load<__m256i>(indices), v, 8));
#else
  Doubles result;
  for (int lane = 0; lane < 8; ++lane)
    result[lane] = v[indices[lane]];
  return result;
#endif
}

// t(X) %*% (X %*% v). Rows are short and of different lengths, which no processor predicts: so
// entries are multiplied without regard to rows, some rows' worth at a time, and only their sums
// are taken row by row, sixteen entries at once.
double chain(const CompressedRows &X, const std::vector<double> &v) {
  constexpr int64_t rows = 64, wide = 16, most = 4096;
  using Lanes = int64_t __attribute__((vector_size(64)));
  constexpr Lanes low = {0, 1, 2, 3, 4, 5, 6, 7}, high = low + 8;
  std::vector<std::vector<double>> parts(threadCount, std::vector<double>(v.size()));
  parallel(X.rows(), [&](int part, int64_t begin, int64_t end) {
    double *q = parts[part].data();
    std::vector<double> products(most + wide), factors(most + wide);
    for (int64_t i = begin; i < end;) {
      int64_t next = std::min(i + rows, end), base = X.offsets[i];
      while (X.offsets[next] - base > most)
        next = i + (next - i) / 2; // no row has so many entries
      int64_t count = X.offsets[next] - base, p = 0;
      const double *values = X.values.data() + base;
      const int32_t *indices = X.indices.data() + base;
      for (; p + 8 <= count; p += 8)
        store(&products[p], load<Doubles>(values + p) * gather(v.data(), indices + p));
      for (; p < count; ++p)
        products[p] = values[p] * v[indices[p]];
      for (; i < next; ++i) {
        int64_t first = X.offsets[i] - base, length = X.offsets[i + 1] - base - first;
        Doubles none = {};
        Doubles sums = (low < length ? load<Doubles>(&products[first]) : none) +
                       (high < length ? load<Doubles>(&products[first + 8]) : none);
        double sum = total(sums);
        for (int64_t k = wide; k < length; ++k)
          sum += products[first + k];
        Doubles all = none + sum;
        store(&factors[first], all); // what is beyond the row, the next one overwrites
        store(&factors[first + 8], all);
        for (int64_t k = wide; k < length; ++k)
          factors[first + k] = sum;
      }
#pragma unroll 8
      for (p = 0; p < count; ++p)
        q[indices[p]] += values[p] * factors[p];
    }
  });
  double sum = 0;
  for (const std::vector<double> &q : parts)
    for (double value : q)
      sum += value;
  return sum;
}

constexpr int rank = 100;

double dot(const double *u, const double *v) {
  Doubles sums[4] = {};
#pragma unroll
  for (int k = 0; k < 12; ++k)
    sums[k % 4] += load<Doubles>(u + k * 8) * load<Doubles>(v + k * 8);
  Quad<double> rest = load<Quad<double>>(u + 96) * load<Quad<double>>(v + 96) +
                      fold((sums[0] + sums[1]) + (sums[2] + sums[3]));
  return (rest[0] + rest[1]) + (rest[2] + rest[3]);
}

// sum(X * log(U %*% t(V) + 1e-15)): products at the entries only, the rows of V that the next
// entries need prefetched, and eight logarithms at a time.
double sampled(const CompressedRows &X, const Array &U, const Array &V) {
  constexpr int64_t ahead = 8;
  auto last = static_cast<int64_t>(X.values.size()) - 1;
  return reduce<1>(X.rows(), [&](int64_t begin, int64_t end, double *out) {
    Doubles sum = {}, products = {}, entries = {};
    int waiting = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double *u = U.data() + i * rank;
      for (int64_t p = X.offsets[i]; p < X.offsets[i + 1]; ++p) {
        const double *next = V.data() + int64_t(X.indices[std::min(p + ahead, last)]) * rank;
        for (int k = 0; k < rank; k += 8)
          __builtin_prefetch(next + k);
        products[waiting] = dot(u, V.data() + int64_t(X.indices[p]) * rank);
        entries[waiting] = X.values[p];
        if (++waiting == 8) {
          sum += entries * logarithm(products + 1e-15);
          waiting = 0;
        }
      }
    }
    out[0] = total(sum);
    for (int k = 0; k < waiting; ++k)
      out[0] += entries[k] * std::log(products[k] + 1e-15);
  })[0];
}

// Every node links to `degree` others; columns sum to 1.
CompressedRows graph(int64_t nodes, int64_t degree) {
  CompressedRows links; // rows are the nodes that links leave
  links.columns = nodes;
  for (int64_t node = 1; node <= nodes; ++node) {
    links.offsets.push_back((node - 1) * degree);
    for (int64_t k = 0; k < degree; ++k) {
      links.indices.push_back(static_cast<int32_t>((node * (7919 + 2 * k) + 104729 * k) % nodes));
      links.values.push_back(1.0 / static_cast<double>(degree));
    }
  }
  links.offsets.push_back(nodes * degree);
  return transposed(links);
}

// Twenty times p = 0.85 * (G %*% p) + 0.15 * mean(p); the sum of squares, times the nodes.
double pageRank(const CompressedRows &G) {
  int64_t n = G.rows();
  Array p(n), next(n);
  std::fill(p.data(), p.data() + n, 1.0 / static_cast<double>(n));
  double *from = p.data(), *to = next.data(), mean = 1.0 / static_cast<double>(n);
  for (int iteration = 0; iteration < 20; ++iteration) {
    double constant = 0.15 * mean;
    mean = reduce<1>(n,
                     [&](int64_t begin, int64_t end, double *out) {
                       for (int64_t i = begin; i < end; ++i) {
                         double s = 0;
                         for (int64_t e = G.offsets[i]; e < G.offsets[i + 1]; ++e)
                           s += G.values[e] * from[G.indices[e]];
                         to[i] = 0.85 * s + constant;
                         out[0] += to[i];
                       }
                     })[0] /
           static_cast<double>(n);
    std::swap(from, to);
  }
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += from[i] * from[i];
  return sum * static_cast<double>(n);
}

} // namespace

bool bench::measureSparse(const Task &task) {
  int64_t rows = task.rows(), columns = task.columns();
  if (task.program == "sparse-chain") {
    CompressedRows X = scatter(rows, columns, task.real("density"));
    measure(task.repetitions(), [&](int r) {
      std::vector<double> v(columns);
      for (int64_t j = 0; j < columns; ++j)
        v[j] = static_cast<double>(j + 1 + r);
      return chain(X, v);
    });
    return true;
  }
  if (task.program == "sampled") {
    CompressedRows X = scatter(rows, columns, task.real("density"));
    Array U(rows * rank), V(columns * rank);
    fill(U, 7919, 1009);
    fill(V, 104729, 997);
    measure(task.repetitions(), [&](int r) {
      U[0] = r;
      return sampled(X, U, V);
    });
    return true;
  }
  if (task.program == "pagerank") {
    CompressedRows G = graph(rows, columns);
    measure(task.repetitions(), [&](int) { return pageRank(G); });
    return true;
  }
  return false;
}
