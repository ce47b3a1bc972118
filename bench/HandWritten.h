// Shared by the hand-written loops: vectors of 512 bits, arrays in huge pages, threads, timing.
//
//   measure(repetitions, [&](int) { return reduce<1>(X.size(), body)[0]; });
#ifndef TOKAMAK_BENCH_HANDWRITTEN_H
#define TOKAMAK_BENCH_HANDWRITTEN_H

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace bench {

// A vector register of 64 bytes; two on machines with shorter ones.
template <typename T> using Vector = T __attribute__((vector_size(64)));
template <typename T> using Quad = T __attribute__((vector_size(4 * sizeof(T))));
template <typename T> constexpr int lanes = 64 / sizeof(T);

template <typename V> V load(const void *from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <typename V> void store(void *to, V v) { std::memcpy(to, &v, sizeof v); }

inline Quad<double> fold(Vector<double> v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
}
inline Quad<float> fold(Vector<float> v) {
  using Half = float __attribute__((vector_size(32)));
  Half half = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
              __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3) +
         __builtin_shufflevector(half, half, 4, 5, 6, 7);
}

// The sums of four vectors' lanes.
template <typename V> auto totals(V a, V b, V c, V d) {
  auto p = fold(a), q = fold(b), r = fold(c), s = fold(d);
  auto first =
      __builtin_shufflevector(p, q, 0, 4, 2, 6) + __builtin_shufflevector(p, q, 1, 5, 3, 7);
  auto last = __builtin_shufflevector(r, s, 0, 4, 2, 6) + __builtin_shufflevector(r, s, 1, 5, 3, 7);
  return __builtin_shufflevector(first, last, 0, 1, 4, 5) +
         __builtin_shufflevector(first, last, 2, 3, 6, 7);
}

template <typename V> double total(V v) {
  auto q = fold(v);
  return (double(q[0]) + double(q[1])) + (double(q[2]) + double(q[3]));
}

// The cells from[0], from[stride], ... of as many rows as a vector has lanes.
template <typename T, int stride> Vector<T> loadStrided(const T *from) {
  Vector<T> v;
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 8) {
    const __m512i index = _mm512_setr_epi64(0, stride, 2 * stride, 3 * stride, 4 * stride,
                                            5 * stride, 6 * stride, 7 * stride);
    return Vector<T>(_mm512_i64gather_pd(index, from, 8));
  } else {
    const __m512i index =
        _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                           _mm512_set1_epi32(stride));
    return Vector<T>(_mm512_i32gather_ps(index, from, 4));
  }
#endif
  for (int lane = 0; lane < lanes<T>; ++lane)
    v[lane] = from[lane * stride];
  return v;
}

// An array in huge pages, so that page faults and TLB misses do not dominate.
template <typename T> class ArrayOf {
public:
  explicit ArrayOf(int64_t size) : size_(size) {
    constexpr size_t hugePage = size_t(2) << 20;
    size_t bytes = (size * sizeof(T) + 64 + hugePage - 1) / hugePage * hugePage;
    data_ = static_cast<T *>(std::aligned_alloc(hugePage, bytes));
    madvise(data_, bytes, MADV_HUGEPAGE);
    std::memset(data_, 0, bytes);
  }
  ArrayOf(const ArrayOf &) = delete;
  ArrayOf &operator=(const ArrayOf &) = delete;
  ~ArrayOf() { std::free(data_); }

  T *data() { return data_; }
  const T *data() const { return data_; }
  T &operator[](int64_t i) { return data_[i]; }
  const T &operator[](int64_t i) const { return data_[i]; }
  int64_t size() const { return size_; }

private:
  T *data_;
  int64_t size_;
};
using Array = ArrayOf<double>;

// Values that NumPy and DML compute with the same bits: whole numbers, below 2^53 or rounded to
// f32, and one division.
template <typename T> void fill(ArrayOf<T> &a, int64_t factor, int64_t modulus) {
  for (int64_t i = 0; i < a.size(); ++i)
    a[i] = T(int64_t(T(i + 1) * T(factor)) % modulus) / T(modulus);
}

inline int threadCount = 1;

// Calls body(part, begin, end) for equal parts of [0, size) on as many threads; parts begin at
// multiples of 64.
inline void parallel(int64_t size, const std::function<void(int, int64_t, int64_t)> &body) {
  if (threadCount == 1)
    return body(0, 0, size);
  auto bound = [&](int part) {
    return part == threadCount ? size : size * part / threadCount / 64 * 64;
  };
  std::vector<std::thread> threads;
  for (int part = 1; part < threadCount; ++part)
    threads.emplace_back([&, part] { body(part, bound(part), bound(part + 1)); });
  body(0, 0, bound(1));
  for (std::thread &thread : threads)
    thread.join();
}

// The partial results of one part, on a cache line of their own.
struct alignas(64) Partial {
  double values[8] = {};
};

template <int count, typename Body> std::vector<double> reduce(int64_t size, Body body) {
  std::vector<Partial> partials(threadCount);
  parallel(size,
           [&](int part, int64_t begin, int64_t end) { body(begin, end, partials[part].values); });
  std::vector<double> sums(count);
  for (const Partial &partial : partials)
    for (int i = 0; i < count; ++i)
      sums[i] += partial.values[i];
  return sums;
}

// Runs body once to warm up and `repetitions` times timed, each time after an untimed `prepare`.
// Both receive the number of the repetition; `result` is called once, at the end.
inline void measure(int repetitions, const std::function<void(int)> &prepare,
                    const std::function<void(int)> &body, const std::function<double()> &result) {
  for (int r = 0; r <= repetitions; ++r) {
    prepare(r);
    auto start = std::chrono::steady_clock::now();
    body(r);
    auto stop = std::chrono::steady_clock::now();
    if (r > 0)
      std::printf("ns %lld\n",
                  static_cast<long long>(
                      std::chrono::duration_cast<std::chrono::nanoseconds>(stop - start).count()));
  }
  std::printf("result %.17g\n", result());
}

inline void measure(int repetitions, const std::function<double(int)> &body) {
  double result = 0;
  measure(repetitions, [](int) {}, [&](int r) { result = body(r); }, [&] { return result; });
}

// What a process is given: the program and name=value pairs.
struct Task {
  std::string program;
  std::map<std::string, std::string> given;

  int64_t number(const char *name) const { return std::atoll(given.at(name).c_str()); }
  double real(const char *name) const { return std::atof(given.at(name).c_str()); }
  int64_t rows() const { return number("rows"); }
  int64_t columns() const { return number("cols"); }
  int repetitions() const { return static_cast<int>(number("reps")); }
  bool single() const { return given.at("element") == "f32"; }
};

// Each runs the programs of its file; false if the program, with these columns, is none of them.
bool measureSums(const Task &task);
bool measureRows(const Task &task);
bool measureSoftmax(const Task &task);
bool measureClasses(const Task &task);
bool measureSparse(const Task &task);
bool measureFactors(const Task &task);
bool measureAlgorithms(const Task &task);

} // namespace bench
#endif
