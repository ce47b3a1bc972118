// The exponential function and the logarithm of eight doubles, for arguments that the benchmarks
// have: no NaN, no infinity, no denormal number.
//
//   Vector<double> share = exponential(x - largest) / sum;
#ifndef TOKAMAK_BENCH_HANDWRITTENMATH_H
#define TOKAMAK_BENCH_HANDWRITTENMATH_H

#include "HandWritten.h"

#include <bit>

namespace bench {

using Bits = int64_t __attribute__((vector_size(64)));

inline Vector<double> larger(Vector<double> a, Vector<double> b) { return a > b ? a : b; }

// e^x = 2^n e^r with |r| <= ln(2) / 2, the series up to r^12. Results below 1e-300 become about
// that.
inline Vector<double> exponential(Vector<double> x) {
  constexpr double shift = 0x1.8p52; // its sum with a number has that, rounded, in its lowest bits
  Vector<double> least = x - x - 690.0;
  x = larger(x, least);
  Vector<double> shifted = x * 0x1.71547652b82fep0 + shift, n = shifted - shift;
  Vector<double> r = x - n * 0x1.62e42fefa2000p-1;
  r = r - n * 0x1.9ef35793c7673p-41;
  Vector<double> r2 = r * r, r4 = r2 * r2;
  Vector<double> low = (r + 1.0) + r2 * (r * (1.0 / 6) + 0.5);
  Vector<double> middle = (r * (1.0 / 120) + 1.0 / 24) + r2 * (r * (1.0 / 5040) + 1.0 / 720);
  Vector<double> high =
      (r * (1.0 / 362880) + 1.0 / 40320) + r2 * (r * (1.0 / 39916800) + 1.0 / 3628800);
  high = high + r4 * (1.0 / 479001600);
  Vector<double> power = low + r4 * (middle + r4 * high);
  // 2^n by adding n to the exponent.
  return std::bit_cast<Vector<double>>(std::bit_cast<Bits>(power) +
                                       (std::bit_cast<Bits>(shifted) << 52));
}

// log(m 2^n) = n ln 2 + 2 artanh((m - 1) / (m + 1)) with m between the roots of 1/2 and 2.
inline Vector<double> logarithm(Vector<double> x) {
  constexpr int64_t rootHalf = 0x3fe6a09e667f3bcd;
  Bits bits = std::bit_cast<Bits>(x) - rootHalf;
  Bits exponent = bits >> 52;
  Vector<double> m = std::bit_cast<Vector<double>>((bits & 0xfffffffffffff) + rootHalf);
  Vector<double> n = __builtin_convertvector(exponent, Vector<double>);
  Vector<double> s = (m - 1.0) / (m + 1.0), z = s * s, z2 = z * z;
  Vector<double> even = z2 * (z2 * (z2 * (1.0 / 17) + 1.0 / 13) + 1.0 / 9) + 1.0 / 5;
  Vector<double> odd = z2 * (z2 * (z2 * (1.0 / 19) + 1.0 / 15) + 1.0 / 11) + 1.0 / 7;
  Vector<double> series = z * (1.0 / 3 + z * (even + z * odd));
  return n * 0x1.62e42fefa2000p-1 + (2.0 * s + (2.0 * s * series + n * 0x1.9ef35793c7673p-41));
}

} // namespace bench
#endif
