#include "cost/CalibrationLoops.h"

#include "base/HugePages.h"
#include "base/WidestVectors.h"

#include <algorithm>
#include <sys/mman.h>

namespace tokamak::cost {

using Lanes = double __attribute__((vector_size(64), aligned(64)));

TOKAMAK_WIDEST_VECTORS double readAll(const double *cells, int64_t count) {
  Lanes sums[4] = {};
  const Lanes *lanes = reinterpret_cast<const Lanes *>(cells);
  for (int64_t i = 0; i < count / 8; i += 4)
    for (int k = 0; k < 4; ++k)
      sums[k] += lanes[i + k];
  Lanes sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

TOKAMAK_WIDEST_VECTORS void writeAll(double *cells, int64_t count, double value) {
  Lanes *lanes = reinterpret_cast<Lanes *>(cells);
  Lanes filled = {value, value, value, value, value, value, value, value};
  for (int64_t i = 0; i < count / 8; ++i)
    lanes[i] = filled;
}

TOKAMAK_WIDEST_VECTORS void copyAll(const double *from, double *to, int64_t count) {
  const Lanes *source = reinterpret_cast<const Lanes *>(from);
  Lanes *target = reinterpret_cast<Lanes *>(to);
  Lanes one = {};
  one += 1;
  for (int64_t i = 0; i < count / 8; ++i)
    target[i] = source[i] + one;
}

TOKAMAK_WIDEST_VECTORS double computeSteps(int64_t steps) {
  Lanes values[8] = {};
  Lanes factor = {}, offset = {};
  factor += 0.999999;
  offset += 1e-6;
  for (int64_t i = 0; i < steps; ++i)
    for (Lanes &value : values)
      value = value * factor + offset;
  Lanes sum = {};
  for (Lanes &value : values)
    sum += value;
  return sum[0];
}

// Pseudo-random, below 2^bits.
static uint64_t position(int64_t number, int bits) {
  uint64_t mixed = static_cast<uint64_t>(number) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
  return mixed >> (64 - bits);
}

double readScattered(const double *cells, int bits, int64_t count) {
  constexpr int64_t ahead = 64;
  double sums[4] = {};
  for (int64_t i = 0; i < count; i += 4)
    for (int k = 0; k < 4; ++k) {
      __builtin_prefetch(cells + position(i + k + ahead, bits));
      sums[k] += cells[position(i + k, bits)];
    }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double readScatteredLines(const double *cells, int bits, int64_t count, int lines) {
  constexpr int64_t ahead = 8;
  double sums[4] = {};
  for (int64_t i = 0; i < count; ++i) {
    const double *first = cells + position(i, bits), *next = cells + position(i + ahead, bits);
    for (int line = 0; line < lines; ++line) {
      __builtin_prefetch(next + 8 * line);
      sums[line % 4] += first[8 * line];
    }
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

CellBuffer allocateCells(int64_t count) {
  size_t bytes = std::max(static_cast<size_t>(count) * 8, hugePage);
  return CellBuffer(static_cast<double *>(allocateOnHugePages(bytes)));
}

void UnmapCells::operator()(double *cells) const { munmap(cells, bytes); }

PageBuffer mapSmallPages(int64_t count) {
  size_t bytes = static_cast<size_t>(count) * 8;
  void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return nullptr;
  madvise(pages, bytes, MADV_NOHUGEPAGE);
  return {static_cast<double *>(pages), UnmapCells{bytes}};
}

void flush([[maybe_unused]] const double *cells, [[maybe_unused]] int64_t count) {
#if defined(__x86_64__)
  constexpr int64_t cellsPerLine = 8;
  for (int64_t i = 0; i < count; i += cellsPerLine)
    __builtin_ia32_clflush(cells + i);
  __builtin_ia32_mfence();
#endif
}

} // namespace tokamak::cost
