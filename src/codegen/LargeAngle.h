// For VectorMath.cpp: angles so large that pi/2 in three parts doesn't reduce them, one at a time. No
// C library is called: its results differ between targets.
//
//   ReducedAngle angle = reduceLargeAngle(1e10);
#ifndef TOKAMAK_CODEGEN_LARGEANGLE_H
#define TOKAMAK_CODEGEN_LARGEANGLE_H

// The bits of 2/pi behind the binary point, after 64 zeros.
static constexpr unsigned long twoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d};

// x = quarters pi/2 + high + low with |high| <= pi/4, to at least 60 bits. `quarters` is correct in
// its lowest two bits.
struct ReducedAngle {
  double high, low;
  long quarters;
};

// For |x| >= 2^17 (Payne and Hanek, "Radian reduction for trigonometric functions", 1983): of the
// bits of 2/pi, those are left out whose product with x is a multiple of 4, and those that are too
// small to count. Infinities and NaN give NaN. The name is that of the kernels' functions, which are
// compiled for the kernel's CPU.
static __attribute__((noinline)) ReducedAngle
reduceLargeAngle(double x) __asm__("tokamak_vector_reduce_large_angle");

static ReducedAngle reduceLargeAngle(double x) {
  using Wide = unsigned __int128;
  auto pattern = __builtin_bit_cast(unsigned long, x);
  long exponent = static_cast<long>(pattern >> 52 & 0x7ff);
  if (exponent == 0x7ff)
    return {x - x, 0, 0};
  // |x| = mantissa 2^scale. The first bit that counts has the weight 2^(1 - scale).
  unsigned long mantissa = (pattern & 0xfffffffffffff) | 1ul << 52;
  long scale = exponent - 1075, firstBit = scale - 2 + 64;
  const unsigned long *words = twoOverPi + firstBit / 64;
  long shift = firstBit % 64;
  auto bitsAt = [&](int word) {
    return words[word] << shift | (words[word + 1] >> 1) >> (63 - shift);
  };
  // x 2/pi modulo 4, in units of 2^-190.
  Wide lowest = static_cast<Wide>(mantissa) * bitsAt(2);
  Wide middle = static_cast<Wide>(mantissa) * bitsAt(1) + static_cast<unsigned long>(lowest >> 64);
  unsigned long highest = mantissa * bitsAt(0) + static_cast<unsigned long>(middle >> 64);
  // Its fraction in units of 2^-128, as a magnitude of at most 1/2 and a sign.
  Wide fraction = static_cast<Wide>(highest) << 66 |
                  static_cast<Wide>(static_cast<unsigned long>(middle)) << 2 |
                  static_cast<unsigned long>(lowest) >> 62;
  long quarters = static_cast<long>(highest >> 62);
  bool isNegative = fraction >> 127 != 0;
  if (isNegative) {
    fraction = -fraction;
    ++quarters;
  }
  // No double is so near to a multiple of pi/2 that the upper word is 0.
  int zeros = __builtin_clzl(static_cast<unsigned long>(fraction >> 64) | 1);
  fraction <<= zeros;
  // The upper 53 bits and the 53 after them: both become doubles without rounding.
  double upper = static_cast<double>(static_cast<long>(fraction >> 75));
  double lower = static_cast<double>(static_cast<long>(fraction >> 22 & 0x1fffffffffffff));
  double unit = __builtin_bit_cast(double, static_cast<long>(1023 - 53 - zeros) << 52);
  upper *= unit;
  lower *= unit * 0x1p-53;
  constexpr double halfPiHigh = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54;
  double high = upper * halfPiHigh;
  double low =
      __builtin_fma(upper, halfPiHigh, -high) + __builtin_fma(upper, halfPiLow, lower * halfPiHigh);
  if (isNegative != (x < 0)) {
    high = -high;
    low = -low;
  }
  return {high, low, x < 0 ? -quarters : quarters};
}

#endif
