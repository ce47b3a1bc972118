// Hand-written loops over sparse matrices in CSR layout.
#include "HandWritten.h"

using namespace bench;

namespace {

struct Sparse {
  std::vector<int64_t> offsets;
  std::vector<int32_t> indices;
  std::vector<double> values;
};

// rows x columns x density entries at the pseudo-random places that bench/programs computes, too;
// entries at the same place are added up.
Sparse scatter(int64_t rows, int64_t columns, double density) {
  struct Entry {
    int64_t row;
    int32_t column;
    double value;
  };
  int64_t count = std::llround(static_cast<double>(rows) * static_cast<double>(columns) * density);
  std::vector<Entry> entries(count);
  for (int64_t p = 1; p <= count; ++p) {
    int64_t a = p * 7919 % 1000003, b = (a * a + p) % 999983;
    entries[p - 1] = {(b * 7907 + p * 31) % rows, static_cast<int32_t>((b + p) * 104729 % columns),
                      static_cast<double>(p * 7919 % 1009) / 1009 + 0.5};
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  Sparse result;
  result.offsets.assign(rows + 1, 0);
  for (int64_t p = 0; p < count; ++p) {
    const Entry &entry = entries[p];
    if (p > 0 && entry.row == entries[p - 1].row && entry.column == entries[p - 1].column) {
      result.values.back() += entry.value;
      continue;
    }
    result.indices.push_back(entry.column);
    result.values.push_back(entry.value);
    ++result.offsets[entry.row + 1];
  }
  for (int64_t row = 0; row < rows; ++row)
    result.offsets[row + 1] += result.offsets[row];
  return result;
}

// t(X) %*% (X %*% v): rows are short, so loops over single entries are fastest.
double chain(const Sparse &X, int64_t rows, const std::vector<double> &v) {
  std::vector<std::vector<double>> partials(threadCount, std::vector<double>(v.size()));
  parallel(rows, [&](int part, int64_t begin, int64_t end) {
    double *q = partials[part].data();
    const double *values = X.values.data();
    const int32_t *indices = X.indices.data();
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = X.offsets[i], last = X.offsets[i + 1];
      double s = 0;
      for (int64_t p = first; p < last; ++p)
        s += values[p] * v[indices[p]];
      for (int64_t p = first; p < last; ++p)
        q[indices[p]] += values[p] * s;
    }
  });
  double sum = 0;
  for (const std::vector<double> &q : partials)
    for (double value : q)
      sum += value;
  return sum;
}

constexpr int rank = 100;

double dot(const double *u, const double *v) {
  Vector sums[4] = {};
  int k = 0;
  for (; k + 4 * lanes <= rank; k += 4 * lanes)
    for (int i = 0; i < 4; ++i)
      sums[i] += load(u + k + i * lanes) * load(v + k + i * lanes);
  Quad joined = totals(sums[0], sums[1], sums[2], sums[3]);
  double sum = (joined[0] + joined[1]) + (joined[2] + joined[3]);
  for (; k < rank; ++k)
    sum += u[k] * v[k];
  return sum;
}

// sum(X * log(U %*% t(V) + 1e-15)): computes products at the entries only and prefetches the rows
// of V that the next entries need.
double sampled(const Sparse &X, const Array &U, const Array &V) {
  constexpr int64_t ahead = 8;
  auto last = static_cast<int64_t>(X.values.size()) - 1;
  return reduce<1>(U.size() / rank, [&](int64_t begin, int64_t end, double *out) {
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double *u = U.data() + i * rank;
      for (int64_t p = X.offsets[i]; p < X.offsets[i + 1]; ++p) {
        const double *next = V.data() + int64_t(X.indices[std::min(p + ahead, last)]) * rank;
        for (int k = 0; k < rank; k += lanes)
          __builtin_prefetch(next + k);
        sum += X.values[p] * std::log(dot(u, V.data() + int64_t(X.indices[p]) * rank) + 1e-15);
      }
    }
    out[0] = sum;
  })[0];
}

} // namespace

bool bench::measureSparse(const std::string &name, int repetitions, int64_t rows, int64_t columns,
                          double density) {
  if (name.starts_with("sparse-chain")) {
    Sparse X = scatter(rows, columns, density);
    measure(repetitions, [&](int r) {
      std::vector<double> v(columns);
      for (int64_t j = 0; j < columns; ++j)
        v[j] = static_cast<double>(j + 1 + r);
      return chain(X, rows, v);
    });
    return true;
  }
  if (name.starts_with("sampled")) {
    Sparse X = scatter(rows, columns, density);
    Array U(rows * rank), V(columns * rank);
    fill(U, 7919, 1009);
    fill(V, 104729, 997);
    measure(repetitions, [&](int r) {
      U[0] = r;
      return sampled(X, U, V);
    });
    return true;
  }
  return false;
}
