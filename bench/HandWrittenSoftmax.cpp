// Hand-written softmax of rows: E = exp(X - rowMaxs(X)); E / rowSums(E).
#include "HandWrittenMath.h"

using namespace bench;

namespace {

using Doubles = Vector<double>;

// Results larger than the caches go past them.
void stream(double *to, Doubles v) {
  __builtin_nontemporal_store(v, reinterpret_cast<Doubles *>(to));
}

// Eight rows of ten cells are ten whole vectors: lane `lane` of vector `which` belongs to this row.
constexpr int rowOf(int which, int lane) { return (which * 8 + lane) / 10; }

template <int which> Doubles spread(Doubles ofRows) {
  return __builtin_shufflevector(ofRows, ofRows, rowOf(which, 0), rowOf(which, 1), rowOf(which, 2),
                                 rowOf(which, 3), rowOf(which, 4), rowOf(which, 5), rowOf(which, 6),
                                 rowOf(which, 7));
}

template <typename Body, int... which>
void forEachVector(Body body, std::integer_sequence<int, which...>) {
  (body(std::integral_constant<int, which>()), ...);
}

// Eight rows at a time, cells as they lie in memory: only maxima and sums are taken across them.
void narrowSoftmax(const Array &X, Array &out) {
  constexpr int columns = 10, rows = 8;
  constexpr int64_t ahead = 10 * rows * columns;
  constexpr auto all = std::make_integer_sequence<int, columns>();
  parallel(X.size() / columns, [&](int, int64_t begin, int64_t end) {
    alignas(64) double cells[rows * columns];
    for (int64_t i = begin; i < end; i += rows) {
      const double *x = X.data() + i * columns;
      double *to = out.data() + i * columns;
      Doubles largest[2] = {loadStrided<double, columns>(x), loadStrided<double, columns>(x + 1)};
#pragma unroll
      for (int j = 2; j < columns; ++j)
        largest[j % 2] = larger(largest[j % 2], loadStrided<double, columns>(x + j));
      Doubles most = larger(largest[0], largest[1]), E[columns];
      forEachVector(
          [&](auto which) {
            __builtin_prefetch(x + ahead + which * 8);
            E[which] = exponential(load<Doubles>(x + which * 8) - spread<which>(most));
            store(cells + which * 8, E[which]);
          },
          all);
      Doubles sums[2] = {};
#pragma unroll
      for (int j = 0; j < columns; ++j)
        sums[j % 2] += loadStrided<double, columns>(cells + j);
      Doubles inverse = 1 / (sums[0] + sums[1]);
      forEachVector([&](auto which) { stream(to + which * 8, E[which] * spread<which>(inverse)); },
                    all);
    }
  });
}

// A row at a time in registers; its last four cells are half a vector.
void wideSoftmax(const Array &X, Array &out) {
  constexpr int columns = 100, whole = 12;
  constexpr int64_t ahead = 16 * columns;
  Doubles counts = {1, 1, 1, 1, 0, 0, 0, 0};
  parallel(X.size() / columns, [&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double *x = X.data() + i * columns;
      double *to = out.data() + i * columns;
      auto rest = load<Quad<double>>(x + whole * 8);
      Doubles last = __builtin_shufflevector(rest, rest, 0, 1, 2, 3, 0, 1, 2, 3);
      Doubles largest[2] = {last, load<Doubles>(x)};
#pragma unroll
      for (int c = 1; c < whole; ++c)
        largest[c % 2] = larger(largest[c % 2], load<Doubles>(x + c * 8));
      Doubles both = larger(largest[0], largest[1]);
      both = larger(both, __builtin_shufflevector(both, both, 4, 5, 6, 7, 0, 1, 2, 3));
      both = larger(both, __builtin_shufflevector(both, both, 2, 3, 0, 1, 6, 7, 4, 5));
      both = larger(both, __builtin_shufflevector(both, both, 1, 0, 3, 2, 5, 4, 7, 6));
      Doubles E[whole + 1], sums[2] = {};
#pragma unroll
      for (int c = 0; c < whole; ++c) {
        __builtin_prefetch(x + ahead + c * 8);
        E[c] = exponential(load<Doubles>(x + c * 8) - both);
        sums[c % 2] += E[c];
      }
      E[whole] = exponential(last - both) * counts;
      double inverse = 1 / total(sums[0] + sums[1] + E[whole]);
#pragma unroll
      for (int c = 0; c < whole; ++c)
        store(to + c * 8, E[c] * inverse);
      Doubles end = E[whole] * inverse;
      store(to + whole * 8, __builtin_shufflevector(end, end, 0, 1, 2, 3));
    }
  });
}

} // namespace

bool bench::measureSoftmax(const Task &task) {
  if (task.program != "row-softmax" || task.single() ||
      (task.columns() != 10 && task.columns() != 100))
    return false;
  int64_t cells = task.rows() * task.columns();
  Array X(cells), Y(cells), out(cells);
  fill(X, 7919, 1009);
  auto prepare = [&](int r) {
    for (int64_t i = 0; i < cells; ++i)
      Y[i] = X[i] + r;
  };
  auto run = [&](int) { task.columns() == 10 ? narrowSoftmax(Y, out) : wideSoftmax(Y, out); };
  auto result = [&] {
    double sum = 0;
    for (int64_t i = 0; i < cells; ++i)
      sum += out[i] * out[i];
    return sum;
  };
  measure(task.repetitions(), prepare, run, result);
  return true;
}
