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
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace bench {

constexpr int lanes = 8;
using Vector = double __attribute__((vector_size(64)));
using Quad = double __attribute__((vector_size(32)));

inline Vector load(const double *from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

inline void store(double *to, Vector v) { std::memcpy(to, &v, sizeof v); }

inline double total(Vector v) {
  double sum = 0;
  for (int i = 0; i < lanes; ++i)
    sum += v[i];
  return sum;
}

// Adds up the lanes of four vectors at once.
inline Quad totals(Vector r0, Vector r1, Vector r2, Vector r3) {
  Vector a = __builtin_shufflevector(r0, r1, 0, 8, 2, 10, 4, 12, 6, 14) +
             __builtin_shufflevector(r0, r1, 1, 9, 3, 11, 5, 13, 7, 15);
  Vector b = __builtin_shufflevector(r2, r3, 0, 8, 2, 10, 4, 12, 6, 14) +
             __builtin_shufflevector(r2, r3, 1, 9, 3, 11, 5, 13, 7, 15);
  Vector c = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
             __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  return __builtin_shufflevector(c, c, 0, 1, 2, 3) + __builtin_shufflevector(c, c, 4, 5, 6, 7);
}

// An array in huge pages, so that page faults and TLB misses do not dominate.
class Array {
public:
  explicit Array(int64_t size) : size_(size) {
    constexpr size_t hugePage = size_t(2) << 20;
    size_t bytes = (size * sizeof(double) + 64 + hugePage - 1) / hugePage * hugePage;
    data_ = static_cast<double *>(std::aligned_alloc(hugePage, bytes));
    madvise(data_, bytes, MADV_HUGEPAGE);
    std::memset(data_, 0, bytes);
  }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { std::free(data_); }

  double *data() { return data_; }
  const double *data() const { return data_; }
  double &operator[](int64_t i) { return data_[i]; }
  double operator[](int64_t i) const { return data_[i]; }
  int64_t size() const { return size_; }

private:
  double *data_;
  int64_t size_;
};

// Values that NumPy and DML compute with the same bits: whole numbers below 2^53 and one division.
inline void fill(Array &a, int64_t factor, int64_t modulus) {
  for (int64_t i = 0; i < a.size(); ++i)
    a[i] = double((i + 1) * factor % modulus) / double(modulus);
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

// The benchmarks on sparse matrices (HandWrittenSparse.cpp); false if none has this name.
bool measureSparse(const std::string &name, int repetitions, int64_t rows, int64_t columns,
                   double density);

// The benchmarks on eight rows at a time (HandWrittenPanels.cpp); false if none has this name.
bool measurePanels(const std::string &name, int repetitions, int64_t rows, int64_t columns);

} // namespace bench
#endif
