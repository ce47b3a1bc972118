// Passes over the rows of a dense matrix: products with k vectors, and sums of rows with factors
// that follow from these products. Wide rows are vectors, four at a time; narrow rows are lanes of
// vectors, a column in each.
//
//   using Matrix = Rows<double, 100>;
//   out = Matrix::pass<1>(X, v, [&](int64_t i, auto *q) { q[0] *= Matrix::group(&w[i]); });
#ifndef TOKAMAK_BENCH_HANDWRITTENROWS_H
#define TOKAMAK_BENCH_HANDWRITTENROWS_H

#include "HandWritten.h"

#include <numeric>
#include <type_traits>
#include <utility>

namespace bench {

inline double sum(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Sums of floats go on in doubles after so many rows.
constexpr int64_t blockRows = 1 << 12;

template <typename T, int columns> struct WideRows {
  static constexpr int rows = 4; // at a time
  static constexpr int whole = columns / lanes<T>, rest = columns % lanes<T>;
  static constexpr int vectors = whole + (rest > 0);
  static constexpr int padded = vectors * lanes<T>; // cells of a row that is padded with zeros
  static constexpr int64_t ahead = 32;              // rows that are prefetched before they are read
  using Group = Quad<T>;                            // a number for each of the rows

  template <size_t... lane> static Vector<T> widen(const T *x, std::index_sequence<lane...>) {
    using Rest = T __attribute__((vector_size((rest > 0 ? rest : 1) * sizeof(T))));
    Rest none = {};
    return __builtin_shufflevector(load<Rest>(x), none, (int(lane) < rest ? int(lane) : rest)...);
  }
  static Vector<T> cells(const T *x, int vector) {
    if (rest == 0 || vector < whole)
      return load<Vector<T>>(x + vector * lanes<T>);
    return widen(x + whole * lanes<T>, std::make_index_sequence<lanes<T>>());
  }
  static Group group(const T *from) { return load<Group>(from); }
  template <int stride> static Group strided(const T *from) {
    return Group{from[0], from[stride], from[2 * stride], from[3 * stride]};
  }
  static void prefetch(const T *x, int vector) {
    if (vector % 2 == 0)
      for (int row = 0; row < rows; ++row)
        __builtin_prefetch(x + (ahead + row) * columns + vector * lanes<T>);
  }

  // The rows at x, aligned: half of a matrix's vectors are in two lines of the cache.
  struct Copy {
    alignas(64) T cells[rows * padded];
  };

  // The products of the rows at x with k vectors, each padded. Where they are read again for several
  // vectors, `copy` gets them.
  template <int k> static void products(const T *x, const T *V, Group *q, Copy &copy) {
    Vector<T> d[k][rows] = {};
#pragma unroll
    for (int c = 0; c < vectors; ++c) {
      prefetch(x, c);
      Vector<T> r[rows];
#pragma unroll
      for (int row = 0; row < rows; ++row)
        r[row] = cells(x + row * columns, c);
      if constexpr (k > 1)
#pragma unroll
        for (int row = 0; row < rows; ++row)
          store(copy.cells + row * padded + c * lanes<T>, r[row]);
#pragma unroll
      for (int which = 0; which < k; ++which) {
        Vector<T> v = load<Vector<T>>(V + which * padded + c * lanes<T>);
#pragma unroll
        for (int row = 0; row < rows; ++row)
          d[which][row] += r[row] * v;
      }
    }
#pragma unroll
    for (int which = 0; which < k; ++which)
      q[which] = totals(d[which][0], d[which][1], d[which][2], d[which][3]);
  }

  // Adds to H, k padded vectors, the rows at x times their factors.
  template <int k> static void add(const T *x, const Copy &copy, const Group *q, Vector<T> *H) {
#pragma unroll
    for (int c = 0; c < vectors; ++c) {
      Vector<T> r[rows];
#pragma unroll
      for (int row = 0; row < rows; ++row)
        r[row] = k > 1 ? load<Vector<T>>(copy.cells + row * padded + c * lanes<T>)
                       : cells(x + row * columns, c);
#pragma unroll
      for (int which = 0; which < k; ++which) {
        Vector<T> sum = H[which * vectors + c];
#pragma unroll
        for (int row = 0; row < rows; ++row)
          sum += r[row] * q[which][row];
        H[which * vectors + c] = sum;
      }
    }
  }

  // Adds to H the squares of the rows at x times their factors.
  static void addSquares(const T *x, Group q, Vector<T> *H) {
#pragma unroll
    for (int c = 0; c < vectors; ++c)
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        Vector<T> r = cells(x + row * columns, c);
        H[c] += r * r * q[row];
      }
  }

  // Adds what add() has collected to k rows of numbers.
  template <int k> static void collect(const Vector<T> *H, double *out) {
    for (int which = 0; which < k; ++which)
      for (int j = 0; j < columns; ++j)
        out[which * columns + j] += H[which * vectors + j / lanes<T>][j % lanes<T>];
  }
  static constexpr int accumulators = vectors;
};

template <typename T, int columns> struct NarrowRows {
  static constexpr int rows = lanes<T>;
  static constexpr int padded = columns;
  static constexpr int64_t ahead = 80; // rows
  using Group = Vector<T>;

  static Group group(const T *from) { return load<Group>(from); }
  template <int stride> static Group strided(const T *from) { return loadStrided<T, stride>(from); }

  struct Copy {};

  template <int k> static void products(const T *x, const T *V, Group *q, Copy &) {
    Vector<T> d[k][2] = {};
    for (int line = 0; line < columns; ++line)
      __builtin_prefetch(x + ahead * columns + line * lanes<T>);
#pragma unroll
    for (int j = 0; j < columns; ++j) {
      Vector<T> column = loadStrided<T, columns>(x + j);
#pragma unroll
      for (int which = 0; which < k; ++which)
        d[which][j % 2] += column * V[which * columns + j];
    }
#pragma unroll
    for (int which = 0; which < k; ++which)
      q[which] = d[which][0] + d[which][1];
  }

  template <int k> static void add(const T *x, const Copy &, const Group *q, Vector<T> *H) {
#pragma unroll
    for (int j = 0; j < columns; ++j) {
      Vector<T> column = loadStrided<T, columns>(x + j);
#pragma unroll
      for (int which = 0; which < k; ++which)
        H[which * columns + j] += column * q[which];
    }
  }

  static void addSquares(const T *x, Group q, Vector<T> *H) {
#pragma unroll
    for (int j = 0; j < columns; ++j) {
      Vector<T> column = loadStrided<T, columns>(x + j);
      H[j] += column * column * q;
    }
  }

  template <int k> static void collect(const Vector<T> *H, double *out) {
    for (int i = 0; i < k * columns; ++i)
      out[i] += total(H[i]);
  }
  static constexpr int accumulators = columns;
};

template <typename T, int columns>
struct Rows : std::conditional_t<(columns <= 16), NarrowRows<T, columns>, WideRows<T, columns>> {
  using Base = std::conditional_t<(columns <= 16), NarrowRows<T, columns>, WideRows<T, columns>>;
  using Base::rows;
  using typename Base::Group;

  // k vectors of the matrix's width, each padded with zeros.
  template <int k> struct Vectors {
    alignas(64) T cells[k * Base::padded] = {};
    Vectors() = default;
    explicit Vectors(const std::vector<double> &from) {
      for (int which = 0; which < k; ++which)
        for (int j = 0; j < columns; ++j)
          cells[which * Base::padded + j] = static_cast<T>(from[which * columns + j]);
    }
  };

  // Calls body(i, x) for groups of rows of a part, i being the first and x where it begins.
  template <typename Body>
  static void groups(const ArrayOf<T> &X, int64_t begin, int64_t end, Body body) {
    for (int64_t i = begin; i < end; i += rows)
      body(i, X.data() + i * columns);
  }

  // out = the sums of rows i times factors: where q holds the products of X[i, ] with the k padded
  // vectors V, combine(i, q) makes k factors of them. One pass over X.
  template <int k, typename Combine>
  static std::vector<double> pass(const ArrayOf<T> &X, const Vectors<k> &V, Combine combine) {
    std::vector<std::vector<double>> parts(threadCount, std::vector<double>(k * columns));
    parallel(X.size() / columns, [&](int part, int64_t begin, int64_t end) {
      for (int64_t first = begin; first < end; first += blockRows) {
        Vector<T> H[k * Base::accumulators] = {};
        groups(X, first, std::min(first + blockRows, end), [&](int64_t i, const T *x) {
          Group q[k];
          typename Base::Copy copy;
          Base::template products<k>(x, V.cells, q, copy);
          combine(i, q);
          Base::template add<k>(x, copy, q, H);
        });
        Base::template collect<k>(H, parts[part].data());
      }
    });
    for (int part = 1; part < threadCount; ++part)
      for (size_t j = 0; j < parts[0].size(); ++j)
        parts[0][j] += parts[part][j];
    return parts[0];
  }

  // Calls use(i, q) with the products of rows i and the vectors V.
  template <int k, typename Use>
  static void products(const ArrayOf<T> &X, const Vectors<k> &V, Use use) {
    parallel(X.size() / columns, [&](int, int64_t begin, int64_t end) {
      groups(X, begin, end, [&](int64_t i, const T *x) {
        Group q[k];
        typename Base::Copy copy;
        Base::template products<k>(x, V.cells, q, copy);
        use(i, q);
      });
    });
  }
};

} // namespace bench
#endif
