// Mathematical functions on eight doubles at once. This file is compiled to bitcode that is
// embedded in the compiler; the functions that a kernel calls are linked into it and optimised with
// it. Results don't depend on the CPU or on inlining: fused multiply-adds are explicit.
//
// How far results are off stands in base/CellOperators.def and is measured by VectorMathTest.cpp;
// pow is off by at most 1.0 ULP.
//
// Overflow, NaN, infinities and denormal numbers are treated as Annex F of C99 specifies. Names:
// tokamak_vector_<mnemonic of base/CellOperators.def>.

#include "codegen/RareLanes.h"

using Double8 = Lanes<double, 8>;
using Integer8 = Lanes<long, 8>;
using Unsigned8 = Lanes<unsigned long, 8>;

TOKAMAK_INLINE Double8 all(double value) { return (Double8)value; }
TOKAMAK_INLINE Integer8 bits(Double8 x) { return __builtin_bit_cast(Integer8, x); }
TOKAMAK_INLINE Double8 fromBits(Integer8 x) { return __builtin_bit_cast(Double8, x); }

static constexpr double log2E = 0x1.71547652b82fep+0;
// ln 2 in two parts: the upper has 40 bits, so its product with an exponent is exact.
static constexpr double ln2High = 0x1.62e42fefa2000p-1, ln2Low = 0x1.9ef35793c7673p-41;
// Adding this rounds to an integer and leaves that integer in the lowest bits of the sum.
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

// x = n ln 2 + r with |r| <= ln(2)/2; `exponent` is n as an integer.
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

// x * 2^n for -1080 <= n <= 1025, x in [1/2, 2]. 2^n is applied as two factors, so that neither
// overflows and a denormal result is rounded once.
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

// 1 / (1 + e^-x) for x >= 0, and e^x / (1 + e^x) for x < 0, because e^-x overflows while the result
// is not yet 0.
TOKAMAK_INLINED_KERNEL Double8 tokamak_vector_sigmoid(Double8 x) {
  Double8 power = tokamak_vector_exp(-absolute(x));
  return select(x < all(0.0), power, all(1.0)) / (all(1.0) + power);
}

// |tanh x| = e / (e + 2) with e = exp(2|x|) - 1, computed without cancellation; 1 for |x| > 22.
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

// With f = m - 1 and s = f/(2+f): log m = f - (f^2/2 - s (f^2/2 + R)), R = s^2 (2/3 + ...). Only
// terms much smaller than f have rounding errors.
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

// log(1 + x) = log u + log(1 + v/u), where u is 1 + x rounded and v what was lost by that: v/u is so
// small that it is its own logarithm. So results for small x have all their digits.
TOKAMAK_INLINED_KERNEL Double8 tokamak_vector_log1p(Double8 x) {
  Integer8 isLarge = absolute(x) > all(1.0);
  Pair sum = addOrdered(select(isLarge, x, all(1.0)), select(isLarge, all(1.0), x));
  Integer8 isRegular = (sum.high > all(0.0)) & (sum.high < all(infinity));
  Double8 lost = select(isRegular, sum.low / sum.high, all(0.0));
  return select(x == all(0.0), x, tokamak_vector_log(sum.high) + lost);
}

// log x to about 68 bits, for positive finite x: log m = 2s + s^3 (2/3 + s^2 (...)) with
// s = (m-1)/(m+1); the first two terms are computed as pairs.
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

// |x|^y = exp(y log|x|), computed with pairs. x^2 is computed as x*x.
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
    value = select(special, specialPower(x, y, integer & ~even), value);
  return select(square, x * x, value);
}

// pi/2 in three parts.
static constexpr double halfPiHigh = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54,
                        halfPiLowest = -0x1.f1976b7ed8fbcp-110;
// For larger angles the reduction below loses accuracy.
static constexpr double largestAngle = 0x1p28;

// x = n pi/2 + high + low with |high| <= pi/4; `quarters` has n in its lowest bits.
struct Angle {
  Double8 high, low;
  Integer8 quarters;
};
TOKAMAK_INLINE Angle reduceAngle(Double8 x) {
  Double8 shifted = fma(x, all(0x1.45f306dc9c883p-1), all(roundShift));
  Double8 n = shifted - all(roundShift);
  Double8 first = fma(-n, all(halfPiHigh), x); // exact: a small multiple of x's last place
  Pair second = multiply(n, all(halfPiLow));
  Double8 high = first - second.high, part = high - first;
  Double8 rest = (first - (high - part)) - (second.high + part);
  Angle angle = {high, fma(-n, all(halfPiLowest), rest - second.low), bits(shifted)};
  Integer8 large = ~(absolute(x) < all(largestAngle)); // NaN, too
  if (any(large))
    for (int lane = 0; lane < 8; ++lane)
      if (large[lane]) {
        ReducedAngle reduced = reduceLargeAngle(x[lane]);
        angle.high[lane] = reduced.high;
        angle.low[lane] = reduced.low;
        angle.quarters[lane] = reduced.quarters;
      }
  return angle;
}

// Sine and cosine by Chebyshev fits, relative errors below 2^-57.
TOKAMAK_INLINE Double8 sineOf(Angle a) {
  Double8 z = a.high * a.high;
  Double8 tail = fma(all(-0x1.ab16f5caa198ap-41), z, all(0x1.61217d9252c03p-33));
  tail = fma(tail, z, all(-0x1.ae645410e937bp-26));
  tail = fma(tail, z, all(0x1.71de3a545f836p-19));
  tail = fma(tail, z, all(-0x1.a01a01a01992fp-13));
  tail = fma(tail, z, all(0x1.1111111111110p-7));
  tail = fma(tail, z, all(-0x1.5555555555555p-3));
  return a.high + fma(a.high * z, tail, a.low * fma(all(-0.5), z, all(1.0)));
}
TOKAMAK_INLINE Double8 cosineOf(Angle a) {
  Double8 z = a.high * a.high;
  Double8 tail = fma(all(-0x1.907cd8ff5ede7p-37), z, all(0x1.1eeb67d026ec6p-29));
  tail = fma(tail, z, all(-0x1.27e4fa16cc2d1p-22));
  tail = fma(tail, z, all(0x1.a01a019f4ddfdp-16));
  tail = fma(tail, z, all(-0x1.6c16c16c16963p-10));
  tail = fma(tail, z, all(0x1.5555555555555p-5));
  Double8 half = all(0.5) * z, first = all(1.0) - half;
  Double8 rest = (all(1.0) - first) - half;
  return first + (rest + fma(z * z, tail, -a.high * a.low));
}

TOKAMAK_INLINE Double8 negateWhere(Integer8 mask, Double8 x) { return select(mask, -x, x); }

TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_sin(Double8 x) {
  Angle angle = reduceAngle(x);
  Double8 value = select((angle.quarters & 1) != 0, cosineOf(angle), sineOf(angle));
  value = negateWhere((angle.quarters & 2) != 0, value);
  return select(x == all(0.0), x, value);
}

TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_cos(Double8 x) {
  Angle angle = reduceAngle(x);
  Double8 value = select((angle.quarters & 1) != 0, sineOf(angle), cosineOf(angle));
  return negateWhere(((angle.quarters + 1) & 2) != 0, value);
}

TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_tan(Double8 x) {
  Angle angle = reduceAngle(x);
  Integer8 odd = (angle.quarters & 1) != 0;
  Double8 sine = sineOf(angle), cosine = cosineOf(angle);
  Double8 value = select(odd, -cosine, sine) / select(odd, sine, cosine);
  return select(x == all(0.0), x, value);
}

// (asin s - s) / s^3 as a polynomial of z = s^2 <= 1/4.
TOKAMAK_INLINE Double8 arcSineTail(Double8 z) {
  Double8 tail = fma(all(0x1.d78189767524ep-6), z, all(-0x1.e7a24f548c99fp-7));
  tail = fma(tail, z, all(0x1.1d661531b222ep-6));
  tail = fma(tail, z, all(0x1.653a8f8cfd43cp-8));
  tail = fma(tail, z, all(0x1.524ea8b3aad31p-7));
  tail = fma(tail, z, all(0x1.78246f32d075cp-7));
  tail = fma(tail, z, all(0x1.c9cf3759fd8ffp-7));
  tail = fma(tail, z, all(0x1.1c4d343fa57f6p-6));
  tail = fma(tail, z, all(0x1.6e8bb1d89492bp-6));
  tail = fma(tail, z, all(0x1.f1c71c1d4aa0dp-6));
  tail = fma(tail, z, all(0x1.6db6db6e3292ep-5));
  tail = fma(tail, z, all(0x1.3333333332ec4p-4));
  return fma(tail, z, all(0x1.5555555555556p-3));
}

// acos |x| = 2 asin(sqrt((1 - |x|) / 2)), for |x| >= 1/2; `high` is twice the root.
TOKAMAK_INLINE Pair complementaryArc(Double8 x) {
  Double8 z = (all(1.0) - absolute(x)) * all(0.5);
  Double8 root = __builtin_elementwise_sqrt(z);
  Double8 rest = select(z == all(0.0), z, fma(-root, root, z) / (root + root));
  return {root + root, all(2.0) * fma(root * z, arcSineTail(z), rest)};
}

// (high + low) - arc.
TOKAMAK_INLINE Double8 subtractArc(double high, double low, Pair arc) {
  Double8 first = all(high) - arc.high;
  Double8 rest = (all(high) - first) - arc.high;
  return first + (rest + (all(low) - arc.low));
}

TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_asin(Double8 x) {
  Double8 z = x * x;
  Double8 near = fma(x * z, arcSineTail(z), x);
  Double8 far = copySign(subtractArc(halfPiHigh, halfPiLow, complementaryArc(x)), x);
  return select(absolute(x) > all(0.5), far, near);
}

TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_acos(Double8 x) {
  Double8 z = x * x;
  Double8 near = subtractArc(halfPiHigh, halfPiLow, {x, x * z * arcSineTail(z)});
  Pair arc = complementaryArc(x);
  Double8 far =
      select(x < all(0.0), subtractArc(2 * halfPiHigh, 2 * halfPiLow, arc), arc.high + arc.low);
  return select(absolute(x) > all(0.5), far, near);
}

// (atan t - t) / t^3 as a polynomial of z = t^2, |t| <= tan(pi/8).
TOKAMAK_INLINE Double8 arcTangentTail(Double8 z) {
  Double8 tail = fma(all(0x1.0a997ba33c1dbp-6), z, all(-0x1.1b1992aa413c9p-5));
  tail = fma(tail, z, all(0x1.74d3a7b43351ap-5));
  tail = fma(tail, z, all(-0x1.ac7858539e493p-5));
  tail = fma(tail, z, all(0x1.e199c62156609p-5));
  tail = fma(tail, z, all(-0x1.110e84aa36d9dp-4));
  tail = fma(tail, z, all(0x1.3b1392a9c2d8bp-4));
  tail = fma(tail, z, all(-0x1.745d165c497f3p-4));
  tail = fma(tail, z, all(0x1.c71c71c2fc236p-4));
  tail = fma(tail, z, all(-0x1.249249248d739p-3));
  tail = fma(tail, z, all(0x1.9999999999952p-3));
  return fma(tail, z, all(-0x1.5555555555555p-2));
}

// atan |x| = c + atan t: t is |x|, (|x| - 1) / (|x| + 1) or -1 / |x|, and c = 0, pi/4 or pi/2.
// `rest` corrects the quotient for its own rounding and that of numerator and denominator.
TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_atan(Double8 x) {
  Double8 y = absolute(x);
  Integer8 middle = y > all(0x1.a827999fcef32p-2), large = y > all(0x1.3504f333f9de6p+1);
  Double8 above = y - all(1.0), below = y + all(1.0);
  Double8 aboveRest = y - (above + all(1.0)), belowRest = y - (below - all(1.0));
  Double8 numerator = select(large, all(-1.0), above), denominator = select(large, y, below);
  Double8 quotient = numerator / denominator;
  Double8 rest = fma(-quotient, denominator, numerator);
  rest = select(large, rest, fma(-quotient, belowRest, rest + aboveRest)) / denominator;
  Double8 t = select(middle, quotient, y);
  rest = select(middle & (y < all(infinity)), rest, all(0.0));
  Double8 high = select(large, all(halfPiHigh), select(middle, all(halfPiHigh / 2), all(0.0)));
  Double8 low = select(large, all(halfPiLow), select(middle, all(halfPiLow / 2), all(0.0)));
  Double8 z = t * t;
  Double8 first = high + t, lost = (high - first) + t;
  return copySign(first + (lost + fma(t * z, arcTangentTail(z), rest + low)), x);
}

// e^|x| = power * (1 + p), power = 2^n. For |x| > 20, e^-|x| is negligible beside it.
struct Power {
  Double8 p, power;
  Double8 half; // e^|x| / 2, which may be finite where e^|x| is not
};
static constexpr double oneExponential = 20;
TOKAMAK_INLINE Power exponentialOfMagnitude(Double8 x) {
  Double8 y = absolute(x);
  y = select(y > all(711.0), all(711.0), y);
  Reduced reduced = reduceExponential(y);
  Double8 r = reduced.r, p = fma(r * r, exponentialTail(r), r);
  return {p, fromBits((reduced.exponent + 1023) << 52), scale(all(1.0) + p, reduced.exponent - 1)};
}

// |sinh x| = (e + e / (e + 1)) / 2 with e = exp|x| - 1, computed without cancellation.
TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_sinh(Double8 x) {
  Power power = exponentialOfMagnitude(x);
  Double8 e = fma(power.power, power.p, power.power - all(1.0));
  Double8 value = all(0.5) * (e + e / (e + all(1.0)));
  value = select(absolute(x) < all(oneExponential), value, power.half);
  return select(x != x, x, copySign(value, x));
}

TOKAMAK_CALLED_KERNEL Double8 tokamak_vector_cosh(Double8 x) {
  Power power = exponentialOfMagnitude(x);
  Double8 both = power.half + all(0.25) / power.half;
  Double8 value = select(absolute(x) < all(oneExponential), both, power.half);
  return select(x != x, x, value);
}
