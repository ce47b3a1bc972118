// Mathematical functions on eight doubles, on eight floats and on sixteen floats at once. This file
// is compiled to bitcode that is embedded in the compiler; the functions that a kernel calls are
// linked into it and optimised with it. Results depend neither on the CPU nor on inlining, nor on
// the number of lanes, nor on the other lanes: fused multiply-adds are explicit. A second bitcode, with
// TOKAMAK_AVX512 defined, uses instructions of AVX-512 that give the same results.
//
// How far results are off stands in base/CellOperators.def and is measured by VectorMathTest.cpp and
// SinglePrecisionMathTest.cpp; pow is off by at most 1.0 ULP. The largest errors of all floats, in
// units of their last place; those of pow and of log1p were found by samples; sin, cos and tan of
// angles above 2^24 were not all measured:
//
//   exp      0.91      log   0.89      pow  0.54      sin   0.88      asin 1.19
//   sigmoid  2.41      tanh  1.53      tan  2.47      cos   0.89      acos 1.14
//   cosh     1.35      sinh  1.62      erf   1.05                     atan 1.24
//
// Overflow, NaN, infinities and denormal numbers are treated as Annex F of C99 specifies. Names:
// tokamak_vector_<mnemonic of base/CellOperators.def>, for floats with _f32x8 or _f32x16 behind it.

#include "codegen/LargeAngle.h"

#define TOKAMAK_INLINE static inline __attribute__((always_inline))

template <typename Cell, int count> using Lanes = Cell __attribute__((ext_vector_type(count)));

// `Word` is an unsigned integer of the cell's size. Numbers beside vectors stand for vectors of
// that number. Where both precisions have the same algorithm, they differ in the coefficients only.
// Polynomials of floats are minimax fits whose coefficients were rounded to floats one after
// another, each time fitting the others again; those of doubles are Chebyshev fits.
template <typename Cell, typename Word, int count> struct VectorMath {
  static constexpr bool isDouble = sizeof(Cell) == sizeof(double);
  static constexpr int mantissaBits = isDouble ? 52 : 23, bias = isDouble ? 1023 : 127;

  using Cells = Lanes<Cell, count>;
  // A mask is a vector of integers, all bits of a lane equal: what comparisons give.
  using Integers = decltype(Cells() == Cells());
  using Unsigned = Lanes<Word, count>;
  using Wide = VectorMath<double, unsigned long, count>;

  static constexpr Cell infinity = __builtin_inf(), nan = __builtin_nan("");
#ifdef TOKAMAK_AVX512
  using Operand = Cell __attribute__((vector_size(sizeof(Cells)))); // of instructions
  static constexpr int rounding = 4;                                // that of the thread
#endif

  TOKAMAK_INLINE Integers bits(Cells x) { return __builtin_bit_cast(Integers, x); }
  TOKAMAK_INLINE Unsigned unsignedBits(Cells x) { return __builtin_bit_cast(Unsigned, x); }
  TOKAMAK_INLINE Cells fromBits(Integers x) { return __builtin_bit_cast(Cells, x); }
  TOKAMAK_INLINE Cells fromBits(Unsigned x) { return __builtin_bit_cast(Cells, x); }
  TOKAMAK_INLINE Cells fma(Cells a, Cells b, Cells c) { return __builtin_elementwise_fma(a, b, c); }
  TOKAMAK_INLINE Cells absolute(Cells x) { return __builtin_elementwise_abs(x); }
  TOKAMAK_INLINE Cells copySign(Cells magnitude, Cells sign) {
    return __builtin_elementwise_copysign(magnitude, sign);
  }
  TOKAMAK_INLINE Cells select(Integers mask, Cells yes, Cells no) { return mask ? yes : no; }
  TOKAMAK_INLINE bool any(Integers mask) { return __builtin_reduce_or(mask) != 0; }
  // Comparisons with NaN are false: NaN stays.
  TOKAMAK_INLINE Cells atMost(Cells x, Cells most) { return select(x > most, most, x); }
  TOKAMAK_INLINE Cells atLeast(Cells x, Cells least) { return select(x < least, least, x); }

  // c0 + c1 z + c2 z^2 + ... by Horner's rule.
  template <typename... Coefficients>
  TOKAMAK_INLINE Cells polynomial(Cells z, Cell first, Coefficients... more) {
    if constexpr (sizeof...(more) == 0)
      return first;
    else
      return fma(polynomial(z, more...), z, first);
  }

  // An unevaluated sum of two numbers, the second much smaller.
  struct Pair {
    Cells high, low;
  };
  TOKAMAK_INLINE Pair addOrdered(Cells large, Cells small) {
    Cells sum = large + small;
    return {sum, (large - sum) + small};
  }
  TOKAMAK_INLINE Pair multiply(Cells a, Cells b) {
    Cells product = a * b;
    return {product, fma(a, b, -product)};
  }

  //===- exponential functions: e^x = 2^n e^r with |r| <= ln(2)/2 --------------------------------===//

  static constexpr Cell log2E = isDouble ? 0x1.71547652b82fep+0 : 0x1.715476p+0f;
  // ln 2 in two parts: the upper has 40 bits, of floats 15, so its product with an exponent is exact.
  static constexpr Cell ln2High = isDouble ? 0x1.62e42fefa2000p-1 : 0x1.62e4p-1f;
  static constexpr Cell ln2Low = isDouble ? 0x1.9ef35793c7673p-41 : 0x1.7f7d1cp-20f;
  // Adding this rounds to an integer and leaves that integer in the lowest bits of the sum.
  static constexpr Cell roundShift = isDouble ? 0x1.8p52 : 0x1.8p23f;
  // Beyond these the result is infinite or 0, and so it is of every larger or smaller number.
  static constexpr Cell largestExponent = isDouble ? 710 : 89,
                        leastExponent = isDouble ? -746 : -104;

  // e^r - 1 - r over r^2 for doubles: relative error of e^r below 2^-62.
  TOKAMAK_INLINE Cells exponentialTail(Cells r) {
    Cells r2 = r * r;
    Cells low = fma(0x1.5555555555557p-3, r, 0.5);
    Cells middle = fma(0x1.111111111009cp-7, r, 0x1.5555555555556p-5);
    Cells high = fma(0x1.a01a01ac0a9eep-13, r, 0x1.6c16c16c162b0p-10);
    Cells top = fma(0x1.71de01c3fc936p-19, r, 0x1.a01a01a6ec522p-16);
    Cells last = fma(0x1.af4ecd2129492p-26, r, 0x1.27e4db25ce3adp-22);
    last = fma(0x1.1f7385560be05p-29, r2, last);
    Cells r4 = r2 * r2;
    high = fma(fma(last, r2, top), r2, high);
    return fma(high, r4, fma(middle, r2, low));
  }
  // e^r - 1 for doubles.
  TOKAMAK_INLINE Cells exponentialRest(Cells r) { return fma(r * r, exponentialTail(r), r); }
  // (e^r - 1) / r for floats: relative error of e^r below 2^-27.9.
  TOKAMAK_INLINE Cells exponentialSlope(Cells r) {
    return polynomial(r, 1.0f, 0.5f, 0x1.5554a4p-3f, 0x1.55568cp-5f, 0x1.122f2ep-7f,
                      0x1.6b69b8p-10f);
  }

  // x = n ln 2 + r; `shifted` has n + added in its lowest bits.
  struct Reduced {
    Cells r;
    Unsigned shifted;
  };
  TOKAMAK_INLINE Reduced reduceExponential(Cells x, int added) {
    Cell shift = roundShift + added;
    Cells shifted = fma(x, log2E, shift);
    Cells n = shifted - shift;
    return {fma(n, -ln2Low, fma(n, -ln2High, x)), unsignedBits(shifted)};
  }

  // value * 2^n for normal values, rounded once where the result is denormal; infinite or 0 beyond the
  // range of cells. `shifted` has n + twoBiases. AVX-512 has an instruction for it. Elsewhere 2^n is
  // two factors, so that neither overflows; shifts drop whatever is above the biases of their exponents.
  static constexpr int twoBiases = 2 * bias;
  TOKAMAK_INLINE Cells scaled(Cells value, Unsigned shifted) {
#ifdef TOKAMAK_AVX512
    Cells n = fromBits(shifted) - (roundShift + twoBiases);
    Operand a = __builtin_bit_cast(Operand, value), b = __builtin_bit_cast(Operand, n);
    if constexpr (isDouble)
      return __builtin_bit_cast(Cells, __builtin_ia32_scalefpd512_mask(a, b, a, -1, rounding));
    else if constexpr (count == 16)
      return __builtin_bit_cast(Cells, __builtin_ia32_scalefps512_mask(a, b, a, -1, rounding));
    else
      return __builtin_bit_cast(Cells, __builtin_ia32_scalefps256_mask(a, b, a, -1));
#else
    Unsigned first = (shifted >> 1) << mantissaBits, second = (shifted << mantissaBits) - first;
    return value * fromBits(first) * fromBits(second);
#endif
  }
  TOKAMAK_INLINE Cells exponential(Reduced reduced) {
    if constexpr (isDouble)
      return scaled(1.0 + exponentialRest(reduced.r), reduced.shifted);
    else
      return scaled(fma(exponentialSlope(reduced.r), reduced.r, 1.0f), reduced.shifted);
  }
  // e^y - 1 of doubles without cancellation. `added` is that of the reduction.
  TOKAMAK_INLINE Cells exponentialMinusOne(Reduced reduced, long added) {
    Cells power = fromBits((reduced.shifted - (added - bias)) << mantissaBits);
    return fma(power, exponentialRest(reduced.r), power - 1.0);
  }

  // For x <= largestExponent.
  TOKAMAK_INLINE Cells exponentialBelow(Cells x) {
    return exponential(reduceExponential(atLeast(x, leastExponent), twoBiases));
  }
  TOKAMAK_INLINE Cells exp(Cells x) { return exponentialBelow(atMost(x, largestExponent)); }

  // 1 / (1 + e^-x) for x >= 0, and e^x / (1 + e^x) for x < 0, because e^-x overflows while the
  // result is not yet 0.
  TOKAMAK_INLINE Cells sigmoid(Cells x) {
    Cells power = exponentialBelow(-absolute(x));
    return select(x < 0.0, power, 1.0) / (1.0 + power);
  }

  // |tanh x| = e / (e + 2) with e = exp(2|x|) - 1; 1 for |x| > 22.
  TOKAMAK_INLINE Cells tanh(Cells x)
    requires isDouble
  {
    Reduced reduced = reduceExponential(atMost(absolute(x) * 2.0, 44.0), bias);
    Cells e = exponentialMinusOne(reduced, bias);
    return copySign(e / (e + 2.0), x);
  }
  // Near 0 a polynomial: (tanh x - x) / x^3 of z = x^2 for |x| <= 9/16, relative error of the
  // hyperbolic tangent below 2^-29.3. Elsewhere |tanh x| = 1 - 2 / (e^2|x| + 1), where the difference
  // is larger than what is subtracted; 1 for |x| > 10.
  TOKAMAK_INLINE Cells tanh(Cells x) {
    Cells y = absolute(x), z = x * x;
    Cells tail = polynomial(z, -0x1.555548p-2f, 0x1.110c5ep-3f, -0x1.b905c4p-5f, 0x1.5811f6p-6f,
                            -0x1.9454fep-8f);
    Cells near = fma(y * z, tail, y);
    Reduced reduced = reduceExponential(atMost(y + y, 20.0), bias);
    Cells power = fromBits(reduced.shifted << mantissaBits);
    power = fma(exponentialSlope(reduced.r), reduced.r * power, power);
    Cells far = 1.0 - 2.0 / (power + 1.0);
    return copySign(select(y > 0.5625, far, near), x);
  }

  // Below 1, erf x = x + x p(x^2): p with an absolute error below 2^-55 and, of floats, 2^-27. From 1 on erf |x| = 1 - e^-x^2 q(t) with t = (|x| - 5/2) / (|x| + 5/2): what is subtracted has an absolute error
  // below 2^-55 and 2^-29; beyond 6, of floats 4, the result is 1.
  TOKAMAK_INLINE Cells erf(Cells x) {
    Cells magnitude = absolute(x), z = x * x;
    Cells y = atMost(magnitude, isDouble ? 6.0 : 4.0);
    Cells t = (y - 2.5) / (y + 2.5), near, far;
    if constexpr (isDouble) {
      near = polynomial(z, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b30p-4,
                        -0x1.b82ce31284e00p-6, 0x1.565bcd0dbaa38p-8, -0x1.c02db3dac435fp-11,
                        0x1.f9a321d5b8e1ep-14, -0x1.f4d1e3183f7aep-17, 0x1.b9df224ca4b97p-20,
                        -0x1.5f1ecb6f0764cp-23, 0x1.f7b4bf3b13964p-27, -0x1.389d4f2641625p-30,
                        0x1.05ffd737fb32ep-34);
      far = polynomial(t, 0x1.afbb3f3b734a8p-3, -0x1.7ca88dec22b3fp-2, 0x1.01c11a732e820p-2,
                       -0x1.001154396f202p-3, 0x1.470ba27d215b9p-5, -0x1.05baeaeb13d76p-8,
                       -0x1.5a5483dd3c4f0p-9, 0x1.cb38eb6f7978ap-11, 0x1.db650b33286d5p-13,
                       -0x1.1e7f4dda6a844p-13, -0x1.ac354c2badd4fp-15);
    } else {
      near = polynomial(z, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2d10p-4f, -0x1.b7fabap-6f,
                        0x1.541270p-8f, -0x1.a45088p-11f, 0x1.4a5690p-14f);
      far = polynomial(t, 0x1.afbae2p-3f, -0x1.7cabbap-2f, 0x1.01b534p-2f, -0x1.ff4f64p-4f,
                       0x1.5562b4p-5f);
    }
    far = copySign(fma(-exponentialBelow(-(y * y)), far, 1.0), x);
    return select(magnitude < 1.0, fma(x, near, x), far);
  }

  // e^|x| / 2, which may be finite where e^|x| is not.
  TOKAMAK_INLINE Reduced reduceHalfExponential(Cells x) {
    return reduceExponential(atMost(absolute(x), largestExponent + 1), twoBiases - 1);
  }
  // |sinh x| = (e + e / (e + 1)) / 2 with e = exp|x| - 1. For |x| > 20, e^-|x| is negligible.
  TOKAMAK_INLINE Cells sinh(Cells x)
    requires isDouble
  {
    Reduced reduced = reduceHalfExponential(x);
    Cells e = exponentialMinusOne(reduced, twoBiases - 1);
    Cells near = 0.5 * (e + e / (e + 1.0));
    return copySign(select(absolute(x) < 20.0, near, exponential(reduced)), x);
  }
  // Near 0 a polynomial: (sinh x - x) / x^3 of z = x^2 <= 1, relative error of the hyperbolic sine
  // below 2^-31.5. Where |x| >= 1, e^-|x| / 2 is much smaller than e^|x| / 2, and the difference is
  // accurate.
  TOKAMAK_INLINE Cells sinh(Cells x) {
    Cells z = x * x, half = exponential(reduceHalfExponential(x));
    Cells tail = polynomial(z, 0x1.555556p-3f, 0x1.1110e0p-7f, 0x1.a022bcp-13f, 0x1.756c1ap-19f);
    Cells near = fma(x * z, tail, x);
    return select(absolute(x) < 1.0, near, copySign(half - 0.25 / half, x));
  }
  TOKAMAK_INLINE Cells cosh(Cells x) {
    Cells half = exponential(reduceHalfExponential(x));
    return half + 0.25 / half;
  }

  //===- logarithms: x = 2^k m, f = m - 1 --------------------------------------------------------===//

  // Of doubles: sqrt(1/2) <= m < sqrt(2), for positive finite x that is not denormal.
  struct Split {
    Cells k, m;
  };
  TOKAMAK_INLINE Split splitNormal(Integers pattern) {
    Integers offset = pattern - bits(0x1.6a09e667f3bcdp-1);
    // k + 2048 is positive; put into the lowest bits of 2^52 it becomes a double without a conversion
    // instruction.
    Unsigned biased = __builtin_bit_cast(Unsigned, offset + (2048l << 52)) >> 52;
    Cells k = fromBits(biased | unsignedBits(0x1p52)) - (0x1p52 + 2048);
    return {k, fromBits(pattern - (offset & (Integers)(0xfffl << 52)))};
  }
  TOKAMAK_INLINE Split splitExponent(Cells x)
    requires isDouble
  {
#ifdef TOKAMAK_AVX512
    return splitBelow(x, 0x1.6a09e667f3bcdp+0);
#else
    Integers denormal = x < 0x1p-1022;
    Split split = splitNormal(bits(select(denormal, x * 0x1p54, x)));
    return {split.k - select(denormal, 54.0, 0.0), split.m};
#endif
  }
  // Of floats: 2/3 <= m < 4/3.
  TOKAMAK_INLINE Split splitExponent(Cells x) {
#ifdef TOKAMAK_AVX512
    return splitBelow(x, 0x1.555556p+0f);
#else
    Integers denormal = x < 0x1p-126f;
    Integers pattern = bits(select(denormal, x * 0x1p24f, x));
    Integers offset = pattern - bits(0x1.555556p-1f);
    Cells k = __builtin_convertvector(offset >> 23, Cells);
    return {k - select(denormal, 24.0, 0.0), fromBits(pattern - (offset & (Integers)~0x7fffff))};
#endif
  }

#ifdef TOKAMAK_AVX512
  // most / 2 <= m < most, where most is between 1 and 2.
  TOKAMAK_INLINE Split splitBelow(Cells x, Cell most) {
    Operand a = __builtin_bit_cast(Operand, x), k, m;
    constexpr int fromOne = 0; // 1 <= m < 2
    if constexpr (isDouble) {
      k = __builtin_ia32_getexppd512_mask(a, a, -1, rounding);
      m = __builtin_ia32_getmantpd512_mask(a, fromOne, a, -1, rounding);
    } else if constexpr (count == 16) {
      k = __builtin_ia32_getexpps512_mask(a, a, -1, rounding);
      m = __builtin_ia32_getmantps512_mask(a, fromOne, a, -1, rounding);
    } else {
      k = __builtin_ia32_getexpps256_mask(a, a, -1);
      m = __builtin_ia32_getmantps256_mask(a, fromOne, a, -1);
    }
    Cells exponent = __builtin_bit_cast(Cells, k), mantissa = __builtin_bit_cast(Cells, m);
    Integers isAbove = mantissa >= most;
    return {select(isAbove, exponent + 1.0, exponent), select(isAbove, mantissa * 0.5, mantissa)};
  }
#endif
  // The logarithm of x: `value`, but where x is 0, negative, infinite or NaN.
  TOKAMAK_INLINE Cells checkedLogarithm(Cells x, Cells value) {
#ifdef TOKAMAK_AVX512
    // What to take for a quiet and a signalling NaN, 0, 1, -infinity, infinity, other negative and other positive numbers,
    // from the lowest digit on: 0 the value, 2 the NaN, 3 a NaN, 4 and 5 the infinities.
    const Unsigned choices = 0x03530422;
    Operand a = __builtin_bit_cast(Operand, value), b = __builtin_bit_cast(Operand, x);
    using Choices = decltype(Operand() == Operand());
    Choices c = __builtin_bit_cast(Choices, choices);
    if constexpr (isDouble)
      return __builtin_bit_cast(Cells, __builtin_ia32_fixupimmpd512_mask(a, b, c, 0, -1, rounding));
    else if constexpr (count == 16)
      return __builtin_bit_cast(Cells, __builtin_ia32_fixupimmps512_mask(a, b, c, 0, -1, rounding));
    else
      return __builtin_bit_cast(Cells, __builtin_ia32_fixupimmps256_mask(a, b, c, 0, -1));
#else
    value = select(x == infinity, x, value);
    value = select(x == 0.0, -infinity, value);
    return select(x < 0.0, nan, select(x != x, x, value));
#endif
  }

  // (2 atanh(s) - 2s) / s^3 as a polynomial of z = s^2 without its constant 2/3, divided by z.
  TOKAMAK_INLINE Cells logarithmTail(Cells z)
    requires isDouble
  {
    Cells z2 = z * z;
    Cells low = fma(0x1.249249248e145p-2, z, 0x1.999999999999fp-2);
    Cells middle = fma(0x1.745d09640eb4bp-3, z, 0x1.c71c71d8c53bdp-3);
    Cells high = fma(0x1.10138b9741094p-3, z, 0x1.3b18e0ae44f7fp-3);
    high = fma(0x1.08b7b408c0e4ep-3, z2, high);
    return fma(fma(high, z2, middle), z2, low);
  }
  // (log(1 + f) - f + f^2/2) / f^3: relative error of the logarithm below 2^-27.6.
  TOKAMAK_INLINE Cells logarithmTail(Cells f) {
    Cells f2 = f * f;
    Cells first = fma(-0x1.fffef8p-3f, f, 0x1.555506p-2f);
    Cells second = fma(-0x1.559c88p-3f, f, 0x1.99d05cp-3f);
    Cells third = fma(-0x1.f3329ep-4f, f, 0x1.1ed452p-3f);
    Cells fourth = fma(-0x1.07bff2p-3f, f, 0x1.1e72a2p-3f);
    return fma(fma(fourth, f2, third), f2 * f2, fma(second, f2, first));
  }

  // With s = f/(2+f): log m = f - (f^2/2 - s (f^2/2 + R)), R = s^2 (2/3 + ...). Only terms much
  // smaller than f have rounding errors.
  TOKAMAK_INLINE Cells log(Cells x)
    requires isDouble
  {
    Split split = splitExponent(x);
    Cells f = split.m - 1.0;
    Cells s = f / (f + 2.0);
    Cells z = s * s;
    Cells tail = z * fma(logarithmTail(z), z, 0x1.5555555555555p-1);
    Cells halfSquare = f * f * 0.5;
    Cells correction = fma(s, halfSquare + tail, split.k * ln2Low);
    return checkedLogarithm(x, fma(split.k, ln2High, f - (halfSquare - correction)));
  }
  // With 2/3 <= m < 4/3: log m = f - f^2/2 + f^3 (...).
  TOKAMAK_INLINE Cells log(Cells x) {
    Split split = splitExponent(x);
    Cells f = split.m - 1.0;
    Cells tail = fma(f, logarithmTail(f), -0.5);
    Cells y = f + fma(f * f, tail, split.k * ln2Low);
    return checkedLogarithm(x, fma(split.k, ln2High, y));
  }

  // log(1 + x) = log u + log(1 + v/u), where u is 1 + x rounded and v what was lost by that: v/u is so
  // small that it is its own logarithm. So results for small x have all their digits.
  TOKAMAK_INLINE Cells log1p(Cells x) {
    Integers isLarge = absolute(x) > 1.0;
    Pair sum = addOrdered(select(isLarge, x, 1.0), select(isLarge, 1.0, x));
    Cells rest = sum.low / sum.high; // NaN where x is -1 or infinite
    Cells value = log(sum.high) + select(rest != rest, 0.0, rest);
    return select(x == 0.0, x, value);
  }

  //===- powers: |x|^y = e^(y log|x|) ------------------------------------------------------------===//

  // log x of doubles to about 68 bits, for positive finite x: log m = 2s + s^3 (2/3 + s^2 (...)) with
  // s = (m-1)/(m+1); the first two terms are computed as pairs.
  TOKAMAK_INLINE Pair preciseLog(Cells x) {
    Split split = splitExponent(x);
    Cells f = split.m - 1.0;
    Pair divisor = addOrdered(2.0, f);
    Cells sHigh = f / divisor.high;
    Cells sLow = fma(-sHigh, divisor.low, fma(-sHigh, divisor.high, f)) / divisor.high;
    Pair z = multiply(sHigh, sHigh);
    z.low = fma(sHigh + sHigh, sLow, z.low);
    Cells tail = z.high * logarithmTail(z.high);
    Pair factor = addOrdered(0x1.5555555555555p-1, tail);
    factor.low += 0x1.5555555555555p-55;
    Pair cube = multiply(z.high, sHigh);
    cube.low += fma(z.high, sLow, z.low * sHigh);
    Pair term = multiply(cube.high, factor.high);
    term.low += fma(cube.high, factor.low, cube.low * factor.high);
    Pair logM = addOrdered(sHigh + sHigh, term.high);
    logM.low += fma(2.0, sLow, term.low);
    // k ln2High is exact and larger than log m unless k = 0.
    Cells whole = split.k * ln2High;
    Cells sum = whole + logM.high;
    Cells rest = select(split.k == 0.0, 0.0, (whole - sum) + logM.high);
    return addOrdered(sum, rest + fma(split.k, ln2Low, logM.low));
  }
  TOKAMAK_INLINE Cells powerOfMagnitude(Cells magnitude, Cells y)
    requires isDouble
  {
    Pair logarithm = preciseLog(magnitude);
    Cells high = y * logarithm.high;
    Cells low = fma(y, logarithm.low, fma(y, logarithm.high, -high));
    Integers inRange = (high < largestExponent) & (high > leastExponent);
    low = select(inRange, low, 0.0);
    high = atLeast(atMost(high, largestExponent), leastExponent);
    Reduced reduced = reduceExponential(high, twoBiases);
    Cells r = reduced.r;
    Pair one = addOrdered(1.0, r);
    Cells curve = r * r * exponentialTail(r); // e^r - 1 - r
    Cells value = one.high + (one.low + fma(low, one.high + curve, curve));
    return scaled(value, reduced.shifted);
  }

  // For powers of floats, in doubles. The base-2 logarithm of positive finite floats: k + 2/ln(2)
  // atanh(s) with s = (m - 1) / (m + 1), relative error of the logarithm of m below 2^-37.5.
  TOKAMAK_INLINE Cells shortLog2(Cells x) {
    auto [k, m] = splitNormal(bits(x));
    Cells f = m - 1.0, s = f / (f + 2.0), z = s * s;
    Cells tail = polynomial(z, 0x1.ec709d450858dp-1, 0x1.2777675b6478fp-1, 0x1.a59653b646d46p-2,
                            0x1.5c629bd43f2ccp-2);
    return fma(s, fma(tail, z, 0x1.71547652b82fep+1), k);
  }
  // 2^t for |t| < 1000, relative error below 2^-28.8.
  TOKAMAK_INLINE Cells shortExp2(Cells t) {
    Cells shifted = t + (roundShift + bias);
    Cells r = t - (shifted - (roundShift + bias)), r2 = r * r;
    Cells low = fma(0x1.ebfbdc3b6dbd7p-3, r, 0x1.62e430af255ffp-1);
    Cells middle = fma(0x1.3b2d4dcce74f6p-7, r, 0x1.c6aee8922551dp-5);
    Cells high = fma(0x1.41fae7a6ce4cbp-13, r, 0x1.5f3e5046bbb8cp-10);
    Cells tail = fma(fma(high, r2, middle), r2, low);
    Cells power = fromBits(unsignedBits(shifted) << mantissaBits);
    return fma(power, r * tail, power);
  }
  // The exponent multiplies the errors of the logarithm. Doubles also hold all results, so that
  // overflow and denormal results are left to the rounding at the end.
  TOKAMAK_INLINE Cells powerOfMagnitude(Cells magnitude, Cells y) {
    using Doubles = typename Wide::Cells;
    Doubles t = __builtin_convertvector(y, Doubles) *
                Wide::shortLog2(__builtin_convertvector(magnitude, Doubles));
    t = Wide::atLeast(Wide::atMost(t, 200.0), -200.0);
    return __builtin_convertvector(Wide::shortExp2(t), Cells);
  }

  // x^y where x is 0 or infinite, or y is infinite, or one of them is NaN. `isOdd`: where y is an odd
  // integer.
  TOKAMAK_INLINE Cells specialPower(Cells x, Cells y, Integers isOdd) {
    Cells magnitude = absolute(x);
    Integers grows = ~((magnitude > 1.0) ^ (y > 0.0));
    Cells value = select(grows, infinity, 0.0);
    value = select((bits(x) < 0) & isOdd, -value, value);
    value = select(magnitude == 1.0, 1.0, value);
    value = select((x != x) | (y != y), x + y, value);
    return select((x == 1.0) | (y == 0.0), 1.0, value);
  }

  // x^2 is computed as x*x.
  TOKAMAK_INLINE Cells pow(Cells x, Cells y) {
    Integers square = y == 2.0;
    if (!any(~square))
      return x * x;
    Cells magnitude = absolute(x);
    Integers special = (magnitude == 0.0) | ~(magnitude < infinity) | ~(absolute(y) < infinity);
    Cells value = powerOfMagnitude(magnitude, y);

    Cells half = y * 0.5;
    Integers integer = y == __builtin_elementwise_floor(y),
             even = half == __builtin_elementwise_floor(half);
    Cells signedValue = select(integer, select(even, value, -value), nan);
    value = select(x < 0.0, signedValue, value);
    if (any(special))
      value = select(special, specialPower(x, y, integer & ~even), value);
    return select(square, x * x, value);
  }

  //===- angles: x = n pi/2 + high + low with |high| <= pi/4 -------------------------------------===//

  // pi/2 in three parts. For angles below `largestAngle`, x minus n times the first part is exact,
  // and what the last part lacks is negligible even where x is next to n pi/2. Larger angles are rare.
  static constexpr Cell halfPiHigh = isDouble ? 0x1.921fb54442d18p+0 : 0x1.921fb6p+0f;
  static constexpr Cell halfPiLow = isDouble ? 0x1.1a62633145c07p-54 : -0x1.777a5cp-25f;
  static constexpr Cell halfPiLowest = isDouble ? -0x1.f1976b7ed8fbcp-110 : -0x1.ee59dap-50f;
  static constexpr Cell twoOverPi = isDouble ? 0x1.45f306dc9c883p-1 : 0x1.45f306p-1f;
  static constexpr Cell largestAngle = isDouble ? 0x1p28 : 0x1p17f;

  struct Angle {
    Cells high, low;
    Unsigned quarters; // n in the lowest bits
  };
  TOKAMAK_INLINE Angle reduceAngle(Cells x) {
    Cells shifted = fma(x, twoOverPi, roundShift);
    Cells n = shifted - roundShift;
    Cells first = fma(-n, halfPiHigh, x);
    Pair second = multiply(n, halfPiLow);
    Cells high = first - second.high;
    // Of floats `first` is the larger one or has so few bits that this is exact, too.
    Cells rest = (first - high) - second.high;
    if constexpr (isDouble) {
      Cells part = high - first;
      rest = (first - (high - part)) - (second.high + part);
    }
    Angle angle = {high, fma(-n, halfPiLowest, rest - second.low), unsignedBits(shifted)};
    // NaN of doubles, too; floats propagate it above.
    Integers large = isDouble ? ~(absolute(x) < largestAngle) : absolute(x) >= largestAngle;
    if (any(large))
      for (int lane = 0; lane < count; ++lane)
        if (large[lane]) {
          ReducedAngle reduced = reduceLargeAngle(x[lane]);
          angle.high[lane] = static_cast<Cell>(reduced.high);
          angle.low[lane] =
              static_cast<Cell>(isDouble ? reduced.low : reduced.high - angle.high[lane]);
          angle.quarters[lane] = static_cast<Word>(reduced.quarters);
        }
    return angle;
  }

  TOKAMAK_INLINE Cells square(Angle a) {
    return isDouble ? a.high * a.high : fma(a.high, a.high, (a.high + a.high) * a.low);
  }
  // Relative errors of the fits below 2^-57, of floats below 2^-27.8 and 2^-32.9.
  TOKAMAK_INLINE Cells sineOf(Angle a) {
    Cells z = square(a);
    if constexpr (isDouble) {
      Cells tail = polynomial(z, -0x1.5555555555555p-3, 0x1.1111111111110p-7,
                              -0x1.a01a01a01992fp-13, 0x1.71de3a545f836p-19, -0x1.ae645410e937bp-26,
                              0x1.61217d9252c03p-33, -0x1.ab16f5caa198ap-41);
      return a.high + fma(a.high * z, tail, a.low * fma(-0.5, z, 1.0));
    } else {
      Cells tail = polynomial(z, -0x1.555546p-3f, 0x1.110776p-7f, -0x1.9952f8p-13f);
      return a.high + fma(a.high * z, tail, a.low);
    }
  }
  TOKAMAK_INLINE Cells cosineOf(Angle a) {
    Cells z = square(a);
    if constexpr (isDouble) {
      Cells tail =
          polynomial(z, 0x1.5555555555555p-5, -0x1.6c16c16c16963p-10, 0x1.a01a019f4ddfdp-16,
                     -0x1.27e4fa16cc2d1p-22, 0x1.1eeb67d026ec6p-29, -0x1.907cd8ff5ede7p-37);
      Cells half = 0.5 * z, first = 1.0 - half;
      Cells rest = (1.0 - first) - half;
      return first + (rest + fma(z * z, tail, -a.high * a.low));
    } else {
      Cells tail = polynomial(z, 0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e80cp-16f);
      return fma(z, fma(z, tail, -0.5), 1.0);
    }
  }
  TOKAMAK_INLINE Integers isOdd(Unsigned n) { return (n & 1) != 0; }
  // Negates where bit 1 of n is set.
  TOKAMAK_INLINE Cells negateHalfTurn(Cells x, Unsigned n) {
    return fromBits(unsignedBits(x) ^ ((n & 2) << (mantissaBits + (isDouble ? 10 : 7))));
  }

  TOKAMAK_INLINE Cells sin(Cells x) {
    Angle angle = reduceAngle(x);
    Cells value = select(isOdd(angle.quarters), cosineOf(angle), sineOf(angle));
    return select(x == 0.0, x, negateHalfTurn(value, angle.quarters));
  }
  TOKAMAK_INLINE Cells cos(Cells x) {
    Angle angle = reduceAngle(x);
    Cells value = select(isOdd(angle.quarters), sineOf(angle), cosineOf(angle));
    return negateHalfTurn(value, angle.quarters + 1);
  }
  TOKAMAK_INLINE Cells tan(Cells x) {
    Angle angle = reduceAngle(x);
    Integers odd = isOdd(angle.quarters);
    Cells sine = sineOf(angle), cosine = cosineOf(angle);
    return select(x == 0.0, x, select(odd, -cosine, sine) / select(odd, sine, cosine));
  }

  //===- arcs ------------------------------------------------------------------------------------===//

  // (asin s - s) / s^3 as a polynomial of z = s^2 <= 1/4; of floats with a relative error of the arc
  // sine below 2^-27.5.
  TOKAMAK_INLINE Cells arcSineTail(Cells z) {
    if constexpr (isDouble)
      return polynomial(z, 0x1.5555555555556p-3, 0x1.3333333332ec4p-4, 0x1.6db6db6e3292ep-5,
                        0x1.f1c71c1d4aa0dp-6, 0x1.6e8bb1d89492bp-6, 0x1.1c4d343fa57f6p-6,
                        0x1.c9cf3759fd8ffp-7, 0x1.78246f32d075cp-7, 0x1.524ea8b3aad31p-7,
                        0x1.653a8f8cfd43cp-8, 0x1.1d661531b222ep-6, -0x1.e7a24f548c99fp-7,
                        0x1.d78189767524ep-6);
    else
      return polynomial(z, 0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bbap-5f, 0x1.8c3e3cp-6f,
                        0x1.595cc2p-5f);
  }
  // acos |x| = 2 asin(sqrt((1 - |x|) / 2)), for |x| >= 1/2; `high` is twice the root.
  TOKAMAK_INLINE Pair complementaryArc(Cells x) {
    Cells z = (1.0 - absolute(x)) * 0.5;
    Cells root = __builtin_elementwise_sqrt(z), high = root + root;
    if constexpr (!isDouble)
      return {high, high * z * arcSineTail(z)};
    Cells rest = select(z == 0.0, z, fma(-root, root, z) / high);
    return {high, 2.0 * fma(root * z, arcSineTail(z), rest)};
  }
  // (high + low) - arc.
  TOKAMAK_INLINE Cells subtractArc(Cell high, Cell low, Pair arc) {
    Cells first = high - arc.high;
    Cells rest = (high - first) - arc.high;
    return first + (rest + (low - arc.low));
  }
  TOKAMAK_INLINE Cells asin(Cells x) {
    Cells z = x * x;
    Cells near = fma(x * z, arcSineTail(z), x);
    Cells far = copySign(subtractArc(halfPiHigh, halfPiLow, complementaryArc(x)), x);
    return select(absolute(x) > 0.5, far, near);
  }
  TOKAMAK_INLINE Cells acos(Cells x) {
    Cells z = x * x;
    Cells near = subtractArc(halfPiHigh, halfPiLow, {x, x * z * arcSineTail(z)});
    Pair arc = complementaryArc(x);
    Cells far =
        select(x < 0.0, subtractArc(2 * halfPiHigh, 2 * halfPiLow, arc), arc.high + arc.low);
    return select(absolute(x) > 0.5, far, near);
  }

  // (atan t - t) / t^3 as a polynomial of z = t^2, |t| <= tan(pi/8); of floats |t| <= 1, relative
  // error of the arc tangent below 2^-28.
  TOKAMAK_INLINE Cells arcTangentTail(Cells z) {
    if constexpr (isDouble)
      return polynomial(z, -0x1.5555555555555p-2, 0x1.9999999999952p-3, -0x1.249249248d739p-3,
                        0x1.c71c71c2fc236p-4, -0x1.745d165c497f3p-4, 0x1.3b1392a9c2d8bp-4,
                        -0x1.110e84aa36d9dp-4, 0x1.e199c62156609p-5, -0x1.ac7858539e493p-5,
                        0x1.74d3a7b43351ap-5, -0x1.1b1992aa413c9p-5, 0x1.0a997ba33c1dbp-6);
    else
      return polynomial(z, -0x1.55553ep-2f, 0x1.9991e4p-3f, -0x1.2420aap-3f, 0x1.c09080p-4f,
                        -0x1.5820a4p-4f, 0x1.daab64p-5f, -0x1.fef04ep-6f, 0x1.66357ep-7f,
                        -0x1.d7ff38p-10f);
  }
  // atan |x| = c + atan t: t is |x| and c = 0, or t is -1 / |x| and c = pi/2. Of doubles there is a
  // range between these, in which t is (|x| - 1) / (|x| + 1) and c = pi/4, and `rest` corrects the
  // quotient for its own rounding and that of numerator and denominator.
  TOKAMAK_INLINE Cells atan(Cells x) {
    Cells y = absolute(x), t, high, low;
    if constexpr (isDouble) {
      Integers middle = y > 0x1.a827999fcef32p-2, large = y > 0x1.3504f333f9de6p+1;
      Cells above = y - 1.0, below = y + 1.0;
      Cells aboveRest = y - (above + 1.0), belowRest = y - (below - 1.0);
      Cells numerator = select(large, -1.0, above), denominator = select(large, y, below);
      Cells quotient = numerator / denominator;
      Cells rest = fma(-quotient, denominator, numerator);
      rest = select(large, rest, fma(-quotient, belowRest, rest + aboveRest)) / denominator;
      t = select(middle, quotient, y);
      rest = select(middle & (y < infinity), rest, 0.0);
      high = select(large, halfPiHigh, select(middle, halfPiHigh / 2, 0.0));
      low = rest + select(large, halfPiLow, select(middle, halfPiLow / 2, 0.0));
    } else {
      Integers large = y > 1.0;
      t = select(large, -1.0 / y, y);
      high = select(large, halfPiHigh, 0.0);
      low = select(large, halfPiLow, 0.0);
    }
    Cells z = t * t;
    Pair sum = addOrdered(high, t);
    return copySign(sum.high + (sum.low + fma(t * z, arcTangentTail(z), low)), x);
  }
};

//===- the functions that kernels call ---------------------------------------------------------===//

template <int count> using DoubleMath = VectorMath<double, unsigned long, count>;
template <int count> using FloatMath = VectorMath<float, unsigned, count>;
using Double8 = Lanes<double, 8>;
using Float8 = Lanes<float, 8>;
using Float16 = Lanes<float, 16>;

#define TOKAMAK_UNARY(attribute, function)                                                         \
  extern "C" __attribute__((attribute)) Double8 tokamak_vector_##function(Double8 x) {             \
    return DoubleMath<8>::function(x);                                                             \
  }                                                                                                \
  extern "C" __attribute__((attribute)) Float8 tokamak_vector_##function##_f32x8(Float8 x) {       \
    return FloatMath<8>::function(x);                                                              \
  }                                                                                                \
  extern "C" __attribute__((attribute)) Float16 tokamak_vector_##function##_f32x16(Float16 x) {    \
    return FloatMath<16>::function(x);                                                             \
  }
TOKAMAK_UNARY(always_inline, exp)
TOKAMAK_UNARY(always_inline, log)
TOKAMAK_UNARY(always_inline, log1p)
TOKAMAK_UNARY(always_inline, sigmoid)
TOKAMAK_UNARY(always_inline, tanh)
TOKAMAK_UNARY(noinline, erf)
TOKAMAK_UNARY(noinline, sin)
TOKAMAK_UNARY(noinline, cos)
TOKAMAK_UNARY(noinline, tan)
TOKAMAK_UNARY(noinline, asin)
TOKAMAK_UNARY(noinline, acos)
TOKAMAK_UNARY(noinline, atan)
TOKAMAK_UNARY(noinline, sinh)
TOKAMAK_UNARY(noinline, cosh)

extern "C" __attribute__((noinline)) Double8 tokamak_vector_pow(Double8 x, Double8 y) {
  return DoubleMath<8>::pow(x, y);
}
extern "C" __attribute__((noinline)) Float8 tokamak_vector_pow_f32x8(Float8 x, Float8 y) {
  return FloatMath<8>::pow(x, y);
}
extern "C" __attribute__((noinline)) Float16 tokamak_vector_pow_f32x16(Float16 x, Float16 y) {
  return FloatMath<16>::pow(x, y);
}
