// Combines cells that lie in lines, for pools: the largest of each two, or their sum.
//
//   combineLine(PoolKind::Max, largest, cells, 100, 2);     // largest[i] and cells[2 * i], for i < 100
//
// Sums of integers are modulo a power of 2; the maximum of NaN and another number is NaN.
#ifndef TOKAMAK_RUNTIME_NATIVES_POOLLINES_H
#define TOKAMAK_RUNTIME_NATIVES_POOLLINES_H

#include <cstdint>
#include <type_traits>

namespace tokamak::runtime {

enum class PoolKind : uint8_t { Max, Sum };

template <typename Cell> Cell combined(PoolKind kind, Cell a, Cell b) {
  if (kind == PoolKind::Max)
    return b > a || b != b ? b : a;
  if constexpr (std::is_integral_v<Cell>)
    return static_cast<Cell>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

// For i from 0 to `count`: to[i] becomes combined(kind, to[i], from[i * step]). The lines must not overlap.
template <typename Cell>
[[gnu::always_inline]] inline void combineCells(PoolKind kind, Cell *__restrict to,
                                                const Cell *__restrict from, int64_t count,
                                                int64_t step) {
  // Loops of their own for the kinds and steps that vectors are made of.
  auto all = [&](auto kind, auto step) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = combined(kind(), to[i], from[i * step()]);
  };
  auto allOf = [&](auto kind) {
    if (step == 1)
      all(kind, [] { return int64_t(1); });
    else if (step == 2)
      all(kind, [] { return int64_t(2); });
    else
      all(kind, [=] { return step; });
  };
  if (kind == PoolKind::Max)
    allOf([] { return PoolKind::Max; });
  else
    allOf([] { return PoolKind::Sum; });
}

// The same. Of f32 and f64 with the widest vectors of the machine.
template <typename Cell>
void combineLine(PoolKind kind, Cell *to, const Cell *from, int64_t count, int64_t step) {
  combineCells(kind, to, from, count, step);
}
template <>
void combineLine(PoolKind kind, float *to, const float *from, int64_t count, int64_t step);
template <>
void combineLine(PoolKind kind, double *to, const double *from, int64_t count, int64_t step);

} // namespace tokamak::runtime
#endif
