// Mathematical functions on eight doubles at once. This file is compiled to bitcode that is
// embedded in the compiler; the functions a kernel calls are linked into it and optimised with it.
// Nothing here depends on the CPU: fused multiply-adds are explicit, so a function gives the same
// bits wherever it is inlined.
//
// Errors, measured by VectorMathTest.cpp:
//
//   exp      at most 1.0 ULP      log   at most 1.0 ULP      pow  at most 1.0 ULP
//   sigmoid  at most 3.0 ULP      tanh  at most 3.0 ULP
//
// The others call the C library lane by lane. Overflow, NaN, infinities and denormal numbers are
// treated as C99's Annex F says. Names: tokamak_vector_<mnemonic of base/CellOperators.def>.

typedef double Double8 __attribute__((ext_vector_type(8)));
typedef long Integer8 __attribute__((ext_vector_type(8)));
typedef unsigned long Unsigned8 __attribute__((ext_vector_type(8)));

#define TOKAMAK_INLINE static inline __attribute__((always_inline))
#define TOKAMAK_INLINED_KERNEL extern "C" __attribute__((always_inline))
#define TOKAMAK_CALLED_KERNEL extern "C" __attribute__((noinline))

TOKAMAK_INLINE Double8 fma(Double8 a, Double8 b, Double8 c) {
  return __builtin_elementwise_fma(a, b, c);
}
TOKAMAK_INLINE Double8 all(double value) { return (Double8)value; }
TOKAMAK_INLINE Integer8 bits(Double8 x) { return __builtin_bit_cast(Integer8, x); }
TOKAMAK_INLINE Double8 fromBits(Integer8 x) { return __builtin_bit_cast(Double8, x); }
TOKAMAK_INLINE Double8 absolute(Double8 x) { return __builtin_elementwise_abs(x); }
TOKAMAK_INLINE Double8 copySign(Double8 magnitude, Double8 sign) {
  return __builtin_elementwise_copysign(magnitude, sign);
}
TOKAMAK_INLINE Double8 select(Integer8 mask, Double8 yes, Double8 no) { return mask ? yes : no; }
TOKAMAK_INLINE bool any(Integer8 mask) { return __builtin_reduce_or(mask) != 0; }

static constexpr double infinity = __builtin_inf();
static constexpr double log2E = 0x1.71547652b82fep+0;
// ln 2 in two parts: the upper has 40 bits, so its product with an exponent is exact.
static constexpr double ln2High = 0x1.62e42fefa2000p-1, ln2Low = 0x1.9ef35793c7673p-41;
// Adding this rounds to an integer, which then stands in the lowest bits.
static constexpr double roundShift = 0x1.8p52;

// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2: Chebyshev fit, relative error of e^r below 2^-62.
TOKAMAK_INLINE Double8 exponentialTail(Double8 r) {
  Double8 r2 = r * r;
  Double8 low = fma(all(0x1.5555555555557p-3), r, all(0.5));
  Double8 middle = fma(all(0x1.111111111009cp-7), r, all(0x1.5555555555556p-5));
  Double8 high = fma(all(0x1.a01a01ac0a9eep-13), r, all(0x1.6c16c16c162b0p-10));
  Double8 top = fma(all(0x1.71de01c3fc936p-19), r, all(0x1.a01a01a6ec522p-16));
  Double8 last = fma(all(0x1.af4ecd2129492p-26), r, all(0x1.27e4db25ce3adp-22));
  last = fma(all(0x1.1f7385560be05p-29), r2, last);
  Double8 r4 = r2 * r2;
  high = fma(fma(last, r2, top), r2, high);
  return fma(high, r4, fma(middle, r2, low));
}

// x = n ln 2 + r with |r| <= ln(2)/2; `shifted` has n in its lowest bits.
struct Reduced {
  Double8 n, r;
  Integer8 exponent;
};
TOKAMAK_INLINE Reduced reduceExponential(Double8 x) {
  Double8 shifted = fma(x, all(log2E), all(roundShift));
  Double8 n = shifted - all(roundShift);
  Double8 r = fma(n, all(-ln2Low), fma(n, all(-ln2High), x));
  return {n, r, bits(shifted) - bits(all(roundShift))};
}

// x * 2^n for -1080 <= n <= 1025, x in [1/2, 2]: in two factors, so that a denormal result is
// rounded once.
TOKAMAK_INLINE Double8 scale(Double8 x, Integer8 n) {
  Integer8 half = __builtin_bit_cast(Integer8, __builtin_bit_cast(Unsigned8, n + 4096) >> 1) - 2048;
  Double8 first = fromBits((half + 1023) << 52), second = fromBits((n - half + 1023) << 52);
  return x * first * second;
}

TOKAMAK_INLINE Double8 clampExponent(Double8 x) {
  x = select(x > all(710.0), all(710.0), x); // comparisons with NaN are false: NaN stays
  return select(x < all(-746.0), all(-746.0), x);
}

TOKAMAK_INLINED_KERNEL Double8 tokamak_vector_exp(Double8 x) {
  Reduced reduced = reduceExponential(clampExponent(x));
  Double8 r = reduced.r;
  Double8 value = all(1.0) + fma(r * r, exponentialTail(r), r);
  value = scale(value, reduced.exponent);
  return select(x != x, x, value);
}

// 1 / (1 + e^-x); e^-x overflows to infinity below -709.78, which gives 0.
TOKAMAK_INLINED_KERNEL Double8 tokamak_vector_sigmoid(Double8 x) {
  return all(1.0) / (all(1.0) + tokamak_vector_exp(-x));
}

// tanh x = e / (e + 2) with e = exp(2|x|) - 1, computed without cancellation; beyond 22 it is 1.
TOKAMAK_INLINED_KERNEL Double8 tokamak_vector_tanh(Double8 x) {
  Double8 y = absolute(x) * all(2.0);
  y = select(y > all(44.0), all(44.0), y);
  Reduced reduced = reduceExponential(y);
  Double8 r = reduced.r, p = fma(r * r, exponentialTail(r), r);
  Double8 power = fromBits((reduced.exponent + 1023) << 52);
  Double8 e = fma(power, p, power - all(1.0));
  return select(x != x, x, copySign(e / (e + all(2.0)), x));
}

// x = 2^k m with sqrt(1/2) <= m < sqrt(2), for positive finite x.
struct Split {
  Double8 k, m;
};
TOKAMAK_INLINE Split splitExponent(Double8 x) {
  Integer8 denormal = x < all(0x1p-1022);
  Integer8 pattern = bits(select(denormal, x * all(0x1p54), x));
  Integer8 offset = pattern - bits(all(0x1.6a09e667f3bcdp-1));
  // k + 2048 is positive; put into the lowest bits of 2^52 it becomes a double without a conversion
  // instruction.
  Unsigned8 biased = __builtin_bit_cast(Unsigned8, offset + (2048l << 52)) >> 52;
  Double8 k =
      fromBits(__builtin_bit_cast(Integer8, biased) | bits(all(0x1p52))) - all(0x1p52 + 2048);
  Integer8 exponent = offset & (Integer8)(0xfffl << 52);
  return {k - select(denormal, all(54.0), all(0.0)), fromBits(pattern - exponent)};
}

// (2 atanh(s) - 2s) / s^3 as a polynomial of z = s^2 without its constant 2/3, divided by z.
TOKAMAK_INLINE Double8 logarithmTail(Double8 z) {
  Double8 z2 = z * z;
  Double8 low = fma(all(0x1.249249248e145p-2), z, all(0x1.999999999999fp-2));
  Double8 middle = fma(all(0x1.745d09640eb4bp-3), z, all(0x1.c71c71d8c53bdp-3));
  Double8 high = fma(all(0x1.10138b9741094p-3), z, all(0x1.3b18e0ae44f7fp-3));
  high = fma(all(0x1.08b7b408c0e4ep-3), z2, high);
  return fma(fma(high, z2, middle), z2, low);
}

// With f = m - 1 and s = f/(2+f): log m = f - (f^2/2 - s (f^2/2 + R)), R = s^2 (2/3 + ...): the
// rounding errors are those of terms much smaller than f.
TOKAMAK_INLINED_KERNEL Double8 tokamak_vector_log(Double8 x) {
  Split split = splitExponent(x);
  Double8 f = split.m - all(1.0);
  Double8 s = f / (f + all(2.0));
  Double8 z = s * s;
  Double8 tail = z * fma(logarithmTail(z), z, all(0x1.5555555555555p-1));
  Double8 halfSquare = f * f * all(0.5);
  Double8 correction = fma(s, halfSquare + tail, split.k * all(ln2Low));
  Double8 value = fma(split.k, all(ln2High), f - (halfSquare - correction));
  value = select(x == all(infinity), x, value);
  value = select(x == all(0.0), all(-infinity), value);
  return select(x < all(0.0), all(__builtin_nan("")), select(x != x, x, value));
}

extern "C" double pow(double, double);
extern "C" double fmod(double, double);

// An unevaluated sum of two doubles, the second much smaller.
struct Pair {
  Double8 high, low;
};
TOKAMAK_INLINE Pair addOrdered(Double8 large, Double8 small) {
  Double8 sum = large + small;
  return {sum, (large - sum) + small};
}
TOKAMAK_INLINE Pair multiply(Double8 a, Double8 b) {
  Double8 product = a * b;
  return {product, fma(a, b, -product)};
}

// log x with about 68 bits, for positive finite x: 2s + s^3 (2/3 + s^2 (...)), s = (m-1)/(m+1), the
// first two terms in pairs.
TOKAMAK_INLINE Pair preciseLog(Double8 x) {
  Split split = splitExponent(x);
  Double8 f = split.m - all(1.0);
  Pair divisor = addOrdered(all(2.0), f);
  Double8 sHigh = f / divisor.high;
  Double8 sLow = fma(-sHigh, divisor.low, fma(-sHigh, divisor.high, f)) / divisor.high;
  Pair z = multiply(sHigh, sHigh);
  z.low = fma(sHigh + sHigh, sLow, z.low);
  Double8 tail = z.high * logarithmTail(z.high);
  Pair factor = addOrdered(all(0x1.5555555555555p-1), tail);
  factor.low += all(0x1.5555555555555p-55);
  Pair cube = multiply(z.high, sHigh);
  cube.low += fma(z.high, sLow, z.low * sHigh);
  Pair term = multiply(cube.high, factor.high);
  term.low += fma(cube.high, factor.low, cube.low * factor.high);
  Pair logM = addOrdered(sHigh + sHigh, term.high);
  logM.low += fma(all(2.0), sLow, term.low);
  // k ln2High is exact and larger than log m unless k = 0.
  Double8 whole = split.k * all(ln2High);
  Double8 sum = whole + logM.high;
  Double8 rest = select(split.k == all(0.0), all(0.0), (whole - sum) + logM.high);
  return addOrdered(sum, rest + fma(split.k, all(ln2Low), logM.low));
}

// |x|^y = exp(y log|x|) in pairs; what involves zeros and infinities comes from the C library,
// exactly. x^2 is x*x.
TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_pow(Double8 x, Double8 y) {
  Integer8 square = y == all(2.0);
  if (!any(~square))
    return x * x;
  Double8 magnitude = absolute(x);
  Integer8 special =
      (magnitude == all(0.0)) | ~(magnitude < all(infinity)) | ~(absolute(y) < all(infinity));
  Pair logarithm = preciseLog(magnitude);
  Double8 high = y * logarithm.high;
  Double8 low = fma(y, logarithm.low, fma(y, logarithm.high, -high));
  Integer8 inRange = (high < all(710.0)) & (high > all(-746.0));
  low = select(inRange, low, all(0.0));
  Reduced reduced = reduceExponential(clampExponent(high));
  Double8 r = reduced.r;
  Pair one = addOrdered(all(1.0), r);
  Double8 curve = r * r * exponentialTail(r); // e^r - 1 - r
  Double8 value = one.high + (one.low + fma(low, one.high + curve, curve));
  value = scale(value, reduced.exponent);

  Double8 half = y * all(0.5);
  Integer8 integer = y == __builtin_elementwise_floor(y),
           even = half == __builtin_elementwise_floor(half);
  Double8 signedValue = select(even, value, -value);
  signedValue = select(integer, signedValue, all(__builtin_nan("")));
  value = select(x < all(0.0), signedValue, value);
  if (any(special))
    for (int lane = 0; lane < 8; ++lane)
      if (special[lane])
        value[lane] = pow(x[lane], y[lane]);
  return select(square, x * x, value);
}

// The remainder of a truncated division, of a's sign. For quotients below 2^52 the truncated
// rounded quotient is at most one too large, and a - q*b is exact; the rest goes to the C library,
// which gives the same value. A zero divisor gives NaN.
TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_mod(Double8 a, Double8 b) {
  Double8 x = absolute(a), y = absolute(b);
  Double8 quotient = __builtin_elementwise_floor(x / y);
  Double8 rest = fma(-quotient, y, x);
  rest = select(rest < all(0.0), rest + y, rest);
  rest = select(quotient == all(0.0), x, rest);
  Double8 value = copySign(rest, a);
  Integer8 slow = ~(quotient < all(0x1p52));
  if (any(slow))
    for (int lane = 0; lane < 8; ++lane)
      if (slow[lane])
        value[lane] = b[lane] == 0 ? __builtin_nan("") : fmod(a[lane], b[lane]);
  return value;
}

#define TOKAMAK_BY_LANES(name)                                                                     \
  extern "C" double name(double);                                                                  \
  TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_##name(Double8 x) {                                 \
    Double8 result = x;                                                                            \
    for (int lane = 0; lane < 8; ++lane)                                                           \
      result[lane] = name(x[lane]);                                                                \
    return result;                                                                                 \
  }
TOKAMAK_BY_LANES(sin)
TOKAMAK_BY_LANES(cos)
TOKAMAK_BY_LANES(tan)
TOKAMAK_BY_LANES(asin)
TOKAMAK_BY_LANES(acos)
TOKAMAK_BY_LANES(atan)
TOKAMAK_BY_LANES(sinh)
TOKAMAK_BY_LANES(cosh)
