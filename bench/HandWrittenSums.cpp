// Hand-written sums over all cells of large arrays, and how fast memory is read and gathered.
#include "HandWritten.h"

using namespace bench;

namespace {

constexpr int unroll = 8;
constexpr int64_t aheadBytes = 1024;
// Sums of floats go on in doubles after so many cells.
constexpr int64_t block = 1 << 14;

// Adds up term(i), vectors of `results` terms at the cells from i on.
template <typename T, int results, typename Term>
std::vector<double> sums(int64_t size, Term term) {
  constexpr int step = unroll * lanes<T>;
  return reduce<results>(size, [&](int64_t begin, int64_t end, double *out) {
    for (int64_t first = begin; first < end; first += block) {
      int64_t last = std::min(first + block, end), i = first;
      Vector<T> parts[results][unroll] = {};
      for (; i + step <= last; i += step)
#pragma unroll
        for (int k = 0; k < unroll; ++k)
          term(i + k * lanes<T>,
               [&](int which, Vector<T> a, Vector<T> b) { parts[which][k] += a * b; });
      for (int which = 0; which < results; ++which)
        for (Vector<T> part : parts[which])
          out[which] += total(part);
      // The last cells, of arrays whose padding is zero.
      for (; i < last; i += lanes<T>)
        term(i, [&](int which, Vector<T> a, Vector<T> b) { out[which] += total(a * b); });
    }
  });
}

template <typename T> Vector<T> next(const ArrayOf<T> &x, int64_t i) {
  __builtin_prefetch(reinterpret_cast<const char *>(&x.data()[i]) + aheadBytes);
  return load<Vector<T>>(&x.data()[i]);
}

template <typename T>
double sumOfProduct(const ArrayOf<T> &x, const ArrayOf<T> &y, const ArrayOf<T> &z) {
  return sums<T, 1>(x.size(),
                    [&](int64_t i, auto add) { add(0, next(x, i) * next(y, i), next(z, i)); })[0];
}

template <typename T>
double sumPair(const ArrayOf<T> &x, const ArrayOf<T> &y, const ArrayOf<T> &z) {
  std::vector<double> both = sums<T, 2>(x.size(), [&](int64_t i, auto add) {
    Vector<T> shared = next(x, i);
    add(0, shared, next(y, i));
    add(1, shared, next(z, i));
  });
  return both[0] + both[1];
}

template <typename T> double sumOfSquares(const ArrayOf<T> &x) {
  return sums<T, 1>(x.size(), [&](int64_t i, auto add) {
    Vector<T> v = next(x, i);
    add(0, v, v);
  })[0];
}

double readAll(const Array &x) {
  return reduce<1>(x.size(), [&](int64_t begin, int64_t end, double *out) {
    Vector<double> parts[8] = {};
    for (int64_t i = begin; i + 64 <= end; i += 64)
      for (int k = 0; k < 8; ++k)
        parts[k] += load<Vector<double>>(&x.data()[i + k * 8]);
    for (Vector<double> part : parts)
      out[0] += total(part);
  })[0];
}

template <typename T> bool measureElement(const Task &task) {
  const std::string &name = task.program;
  int64_t cells = task.rows() * task.columns();
  ArrayOf<T> X(cells);
  fill(X, 7919, 1009);
  if (name == "sum-of-squares" || name == "bandwidth") {
    measure(task.repetitions(), [&](int r) {
      X[0] = static_cast<T>(r);
      if constexpr (sizeof(T) == 8)
        if (name == "bandwidth")
          return readAll(X);
      return sumOfSquares(X);
    });
    return true;
  }
  ArrayOf<T> Y(cells), Z(cells);
  fill(Y, 104729, 997);
  fill(Z, 1299709, 991);
  measure(task.repetitions(), [&](int r) {
    X[0] = static_cast<T>(r);
    return name == "sum-pair" ? sumPair(X, Y, Z) : sumOfProduct(X, Y, Z);
  });
  return true;
}

// `rows` cells of an array of a million, in a random order.
void measureGathers(const Task &task) {
  constexpr uint64_t cells = 1 << 20;
  int64_t count = task.rows();
  Array X(cells);
  fill(X, 7919, 1009);
  std::vector<int32_t> places(count);
  for (int64_t i = 0; i < count; ++i)
    places[i] = static_cast<int32_t>((i * 0x9e3779b97f4a7c15u >> 40) % cells);
  measure(task.repetitions(), [&](int r) {
    X[0] = r;
    double parts[4] = {};
    for (int64_t i = 0; i + 4 <= count; i += 4)
      for (int k = 0; k < 4; ++k)
        parts[k] += X[places[i + k]];
    return parts[0] + parts[1] + parts[2] + parts[3];
  });
}

} // namespace

bool bench::measureSums(const Task &task) {
  if (task.program == "gathers") {
    measureGathers(task);
    return true;
  }
  for (const char *name : {"sum-of-product", "sum-pair", "sum-of-squares", "bandwidth"})
    if (task.program == name)
      return task.single() ? measureElement<float>(task) : measureElement<double>(task);
  return false;
}
