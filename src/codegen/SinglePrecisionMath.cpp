// Mathematical functions on eight and on sixteen floats at once, the counterpart of VectorMath.cpp
// for f32 cells: compiled to bitcode and linked into kernels in the same way. Results depend
// neither on the CPU nor on inlining, nor on the number of lanes, nor on the other lanes.
//
// Errors in units of the last place of a float, the largest ones of all arguments; the bounds that
// SinglePrecisionMathTest.cpp checks stand in base/CellOperators.def. Those of pow (at most 0.6) and of
// log1p were found by samples; sin, cos and tan of angles above 2^24 were not all measured.
//
//   exp      0.91      log   0.89      pow  0.54      sin   0.88      asin 1.19
//   sigmoid  2.41      tanh  1.53      tan  2.47      cos   0.89      acos 1.14
//   cosh     1.35      sinh  1.62                                     atan 1.24
//
// Overflow, NaN, infinities and denormal numbers are treated as Annex F of C99 specifies. Names:
// tokamak_vector_<mnemonic of base/CellOperators.def>_f32x8 and _f32x16.

#include "codegen/RareLanes.h"

template <int lanes> struct SinglePrecision {
  using Floats = Lanes<float, lanes>;
  using Integers = Lanes<int, lanes>;
  using Unsigned = Lanes<unsigned, lanes>;
  using Doubles = Lanes<double, lanes>;
  using Longs = Lanes<long, lanes>;

  TOKAMAK_INLINE Floats all(float value) { return (Floats)value; }
  TOKAMAK_INLINE Doubles allDoubles(double value) { return (Doubles)value; }
  TOKAMAK_INLINE Integers bits(Floats x) { return __builtin_bit_cast(Integers, x); }
  TOKAMAK_INLINE Unsigned unsignedBits(Floats x) { return __builtin_bit_cast(Unsigned, x); }
  TOKAMAK_INLINE Floats fromBits(Unsigned x) { return __builtin_bit_cast(Floats, x); }
  TOKAMAK_INLINE Doubles widen(Floats x) { return __builtin_convertvector(x, Doubles); }
  TOKAMAK_INLINE Floats narrow(Doubles x) { return __builtin_convertvector(x, Floats); }

  static constexpr float log2E = 0x1.715476p+0f;
  // ln 2 in two parts: the upper has 15 bits, so its product with an exponent is exact.
  static constexpr float ln2High = 0x1.62e4p-1f, ln2Low = 0x1.7f7d1cp-20f;
  // Adding this rounds to an integer and leaves that integer in the lowest bits of the sum.
  static constexpr float roundShift = 0x1.8p23f;

  // The exponential function: e^x = 2^n e^r with |r| <= ln(2)/2. The polynomials of this file are
  // minimax fits whose coefficients were rounded to floats one after another, each time fitting the
  // others again.

  // (e^r - 1) / r: minimax fit, relative error of e^r below 2^-27.9.
  TOKAMAK_INLINE Floats exponentialSlope(Floats r) {
    Floats slope = fma(all(0x1.6b69b8p-10f), r, all(0x1.122f2ep-7f));
    slope = fma(slope, r, all(0x1.55568cp-5f));
    slope = fma(slope, r, all(0x1.5554a4p-3f));
    slope = fma(slope, r, all(0.5f));
    return fma(slope, r, all(1.0f));
  }

  // x = n ln 2 + r; `shifted` has n + bias in its lowest bits.
  struct Reduced {
    Floats r;
    Unsigned shifted;
  };
  TOKAMAK_INLINE Reduced reduceExponential(Floats x, float bias) {
    Floats shifted = fma(x, all(log2E), all(roundShift + bias));
    Floats n = shifted - all(roundShift + bias);
    Floats r = fma(n, all(-ln2Low), fma(n, all(-ln2High), x));
    return {r, unsignedBits(shifted)};
  }

  // 2^n e^r for a bias of 254. 2^n is applied as two factors, so that neither overflows and a
  // denormal result is rounded once. The bias is that of both factors' exponents: their sum is
  // n + 254, and shifts drop whatever is above it.
  TOKAMAK_INLINE Floats exponential(Reduced reduced) {
    Unsigned first = (reduced.shifted >> 1) << 23, second = (reduced.shifted << 23) - first;
    Floats power = fromBits(first);
    return fma(exponentialSlope(reduced.r), reduced.r * power, power) * fromBits(second);
  }
  static constexpr float twoBiases = 254;

  // e^x for x <= 89. That is already infinite in f32, and so is every larger result.
  TOKAMAK_INLINE Floats exponentialBelow(Floats x) {
    x = select(x < all(-104.0f), all(-104.0f), x); // comparisons with NaN are false: NaN stays
    return exponential(reduceExponential(x, twoBiases));
  }
  TOKAMAK_INLINE Floats exp(Floats x) {
    return exponentialBelow(select(x > all(89.0f), all(89.0f), x));
  }

  // 1 / (1 + e^-x) for x >= 0, and e^x / (1 + e^x) for x < 0, because e^-x overflows while the
  // result is not yet 0.
  TOKAMAK_INLINE Floats sigmoid(Floats x) {
    Floats power = exponentialBelow(-absolute(x));
    return select(x < all(0.0f), power, all(1.0f)) / (all(1.0f) + power);
  }

  // (tanh x - x) / x^3 as a polynomial of z = x^2 for |x| <= 9/16: minimax fit, relative error of
  // the hyperbolic tangent below 2^-29.3.
  TOKAMAK_INLINE Floats hyperbolicTangentTail(Floats z) {
    Floats tail = fma(all(-0x1.9454fep-8f), z, all(0x1.5811f6p-6f));
    tail = fma(tail, z, all(-0x1.b905c4p-5f));
    tail = fma(tail, z, all(0x1.110c5ep-3f));
    return fma(tail, z, all(-0x1.555548p-2f));
  }
  // |tanh x| = 1 - 2 / (e^2|x| + 1), where the difference is larger than what is subtracted; 1 for
  // |x| > 10.
  TOKAMAK_INLINE Floats tanh(Floats x) {
    Floats y = absolute(x), z = x * x;
    Floats near = fma(y * z, hyperbolicTangentTail(z), y);
    Floats twice = y + y;
    twice = select(twice > all(20.0f), all(20.0f), twice);
    Reduced reduced = reduceExponential(twice, 127);
    Floats power = fromBits(reduced.shifted << 23);
    power = fma(exponentialSlope(reduced.r), reduced.r * power, power);
    Floats far = all(1.0f) - all(2.0f) / (power + all(1.0f));
    return copySign(select(y > all(0.5625f), far, near), x);
  }

  // x = 2^k m with 2/3 <= m < 4/3. With f = m - 1, log m = f - f^2/2 + f^3 (...).

  // (log(1 + f) - f + f^2/2) / f^3: minimax fit, relative error of the logarithm below 2^-27.6.
  TOKAMAK_INLINE Floats logarithmTail(Floats f) {
    Floats f2 = f * f;
    Floats first = fma(all(-0x1.fffef8p-3f), f, all(0x1.555506p-2f));
    Floats second = fma(all(-0x1.559c88p-3f), f, all(0x1.99d05cp-3f));
    Floats third = fma(all(-0x1.f3329ep-4f), f, all(0x1.1ed452p-3f));
    Floats fourth = fma(all(-0x1.07bff2p-3f), f, all(0x1.1e72a2p-3f));
    return fma(fma(fourth, f2, third), f2 * f2, fma(second, f2, first));
  }

  TOKAMAK_INLINE Floats log(Floats x) {
    Integers denormal = x < all(0x1p-126f);
    Integers pattern = bits(select(denormal, x * all(0x1p24f), x));
    Integers offset = pattern - bits(all(0x1.555556p-1f));
    Floats k = __builtin_convertvector(offset >> 23, Floats);
    k -= select(denormal, all(24.0f), all(0.0f));
    Floats f = __builtin_bit_cast(Floats, pattern - (offset & (Integers)~0x7fffff)) - all(1.0f);
    Floats tail = fma(f, logarithmTail(f), all(-0.5f));
    Floats y = f + fma(f * f, tail, k * all(ln2Low));
    Floats value = fma(k, all(ln2High), y);
    value = select(x == all(infinity), x, value);
    Floats exceptional = select(x == all(0.0f), all(-infinity), all(__builtin_nanf("")));
    return select(x > all(0.0f), value, exceptional);
  }

  // log(1 + x) = log u + log(1 + v/u), where u is 1 + x rounded and v what was lost by that: v/u is
  // so small that it is its own logarithm.
  TOKAMAK_INLINE Floats log1p(Floats x) {
    Integers isLarge = absolute(x) > all(1.0f);
    Floats large = select(isLarge, x, all(1.0f)), small = select(isLarge, all(1.0f), x);
    Floats sum = large + small, lost = (large - sum) + small;
    Integers isRegular = (sum > all(0.0f)) & (sum < all(infinity));
    return select(x == all(0.0f), x, log(sum) + select(isRegular, lost / sum, all(0.0f)));
  }

  // Sine and cosine of r = x - n pi/2.

  // pi/2 in three parts. For angles below `largestAngle`, x minus n times the first part is exact,
  // and what the last part lacks is negligible even where x is next to n pi/2. Larger angles are
  // rare.
  static constexpr float halfPiHigh = 0x1.921fb6p+0f, halfPiLow = -0x1.777a5cp-25f,
                         halfPiLowest = -0x1.ee59dap-50f;
  static constexpr float largestAngle = 0x1p17f;

  struct Angle {
    Floats high, low;  // r is their sum
    Floats square;     // r^2
    Unsigned quarters; // n in the lowest bits
  };
  TOKAMAK_INLINE Angle reduceAngle(Floats x) {
    Floats shifted = fma(x, all(0x1.45f306p-1f), all(roundShift));
    Floats n = shifted - all(roundShift);
    Floats first = fma(-n, all(halfPiHigh), x);
    Floats second = n * all(halfPiLow), secondRest = fma(n, all(halfPiLow), -second);
    Floats high = first - second;
    // `first` is the larger one or has so few bits that this is exact, too.
    Floats lost = (first - high) - second;
    Floats low = fma(-n, all(halfPiLowest), lost - secondRest);
    Unsigned quarters = unsignedBits(shifted);
    Integers large = absolute(x) >= all(largestAngle);
    if (any(large))
      for (int lane = 0; lane < lanes; ++lane)
        if (large[lane]) {
          ReducedAngle reduced = reduceLargeAngle(x[lane]);
          high[lane] = static_cast<float>(reduced.high);
          low[lane] = static_cast<float>(reduced.high - high[lane]);
          quarters[lane] = static_cast<unsigned>(reduced.quarters);
        }
    return {high, low, fma(high, high, (high + high) * low), quarters};
  }
  // Relative errors of the fits below 2^-27.8 and 2^-32.9.
  TOKAMAK_INLINE Floats sineOf(Angle a) {
    Floats tail = fma(all(-0x1.9952f8p-13f), a.square, all(0x1.110776p-7f));
    tail = fma(tail, a.square, all(-0x1.555546p-3f));
    return a.high + fma(a.high * a.square, tail, a.low);
  }
  TOKAMAK_INLINE Floats cosineOf(Angle a) {
    Floats tail = fma(all(0x1.99e80cp-16f), a.square, all(-0x1.6c0c28p-10f));
    tail = fma(tail, a.square, all(0x1.55554ap-5f));
    return fma(a.square, fma(a.square, tail, all(-0.5f)), all(1.0f));
  }
  TOKAMAK_INLINE Integers isOdd(Unsigned n) { return (n & 1) != 0; }
  // Negates where bit 1 of n is set.
  TOKAMAK_INLINE Floats negateHalfTurn(Floats x, Unsigned n) {
    return fromBits(unsignedBits(x) ^ ((n & 2) << 30));
  }

  TOKAMAK_INLINE Floats sin(Floats x) {
    Angle angle = reduceAngle(x);
    Floats value = select(isOdd(angle.quarters), cosineOf(angle), sineOf(angle));
    value = negateHalfTurn(value, angle.quarters);
    return select(x == all(0.0f), x, value);
  }
  TOKAMAK_INLINE Floats cos(Floats x) {
    Angle angle = reduceAngle(x);
    Floats value = select(isOdd(angle.quarters), sineOf(angle), cosineOf(angle));
    return negateHalfTurn(value, angle.quarters + 1);
  }
  TOKAMAK_INLINE Floats tan(Floats x) {
    Angle angle = reduceAngle(x);
    Integers odd = isOdd(angle.quarters);
    Floats sine = sineOf(angle), cosine = cosineOf(angle);
    Floats value = select(odd, -cosine, sine) / select(odd, sine, cosine);
    return select(x == all(0.0f), x, value);
  }

  // (asin s - s) / s^3 as a polynomial of z = s^2 <= 1/4: minimax fit, relative error of the arc
  // sine below 2^-27.5.
  TOKAMAK_INLINE Floats arcSineTail(Floats z) {
    Floats tail = fma(all(0x1.595cc2p-5f), z, all(0x1.8c3e3cp-6f));
    tail = fma(tail, z, all(0x1.747bbap-5f));
    tail = fma(tail, z, all(0x1.330204p-4f));
    return fma(tail, z, all(0x1.5555c8p-3f));
  }

  // acos |x| = 2 asin(sqrt((1 - |x|) / 2)), for |x| >= 1/2, as a sum; `high` is twice the root.
  struct Arc {
    Floats high, low;
  };
  TOKAMAK_INLINE Arc complementaryArc(Floats x) {
    Floats z = (all(1.0f) - absolute(x)) * all(0.5f);
    Floats high = all(2.0f) * __builtin_elementwise_sqrt(z);
    return {high, high * z * arcSineTail(z)};
  }
  // (high + low) - arc.
  TOKAMAK_INLINE Floats subtractArc(float high, float low, Arc arc) {
    Floats first = all(high) - arc.high;
    Floats rest = (all(high) - first) - arc.high;
    return first + (rest + (all(low) - arc.low));
  }
  TOKAMAK_INLINE Floats asin(Floats x) {
    Floats z = x * x;
    Floats near = fma(x * z, arcSineTail(z), x);
    Floats far = copySign(subtractArc(halfPiHigh, halfPiLow, complementaryArc(x)), x);
    return select(absolute(x) > all(0.5f), far, near);
  }
  TOKAMAK_INLINE Floats acos(Floats x) {
    Floats z = x * x;
    Floats near = subtractArc(halfPiHigh, halfPiLow, {x, x * z * arcSineTail(z)});
    Arc arc = complementaryArc(x);
    Floats far =
        select(x < all(0.0f), subtractArc(2 * halfPiHigh, 2 * halfPiLow, arc), arc.high + arc.low);
    return select(absolute(x) > all(0.5f), far, near);
  }

  // (atan t - t) / t^3 as a polynomial of z = t^2 <= 1: minimax fit, relative error of the arc
  // tangent below 2^-28.
  TOKAMAK_INLINE Floats arcTangentTail(Floats z) {
    Floats tail = fma(all(-0x1.d7ff38p-10f), z, all(0x1.66357ep-7f));
    tail = fma(tail, z, all(-0x1.fef04ep-6f));
    tail = fma(tail, z, all(0x1.daab64p-5f));
    tail = fma(tail, z, all(-0x1.5820a4p-4f));
    tail = fma(tail, z, all(0x1.c09080p-4f));
    tail = fma(tail, z, all(-0x1.2420aap-3f));
    tail = fma(tail, z, all(0x1.9991e4p-3f));
    return fma(tail, z, all(-0x1.55553ep-2f));
  }
  // atan |x| = c + atan t: t is |x| and c = 0, or t is -1 / |x| and c = pi/2.
  TOKAMAK_INLINE Floats atan(Floats x) {
    Floats y = absolute(x);
    Integers large = y > all(1.0f);
    Floats t = select(large, all(-1.0f) / y, y);
    Floats high = select(large, all(halfPiHigh), all(0.0f));
    Floats low = select(large, all(halfPiLow), all(0.0f));
    Floats z = t * t;
    Floats first = high + t, lost = (high - first) + t;
    return copySign(first + (lost + fma(t * z, arcTangentTail(z), low)), x);
  }

  // e^|x| / 2, which may be finite where e^|x| is not.
  TOKAMAK_INLINE Floats halfExponentialOfMagnitude(Floats x) {
    Floats y = absolute(x);
    y = select(y > all(90.0f), all(90.0f), y);
    return exponential(reduceExponential(y, twoBiases - 1));
  }
  // (sinh x - x) / x^3 as a polynomial of z = x^2 <= 1: minimax fit, relative error of the
  // hyperbolic sine below 2^-31.5.
  TOKAMAK_INLINE Floats hyperbolicSineTail(Floats z) {
    Floats tail = fma(all(0x1.756c1ap-19f), z, all(0x1.a022bcp-13f));
    tail = fma(tail, z, all(0x1.1110e0p-7f));
    return fma(tail, z, all(0x1.555556p-3f));
  }
  // Where |x| >= 1, e^-|x| / 2 is much smaller than e^|x| / 2, and the difference is accurate.
  TOKAMAK_INLINE Floats sinh(Floats x) {
    Floats z = x * x, half = halfExponentialOfMagnitude(x);
    Floats near = fma(x * z, hyperbolicSineTail(z), x);
    Floats far = copySign(half - all(0.25f) / half, x);
    return select(absolute(x) < all(1.0f), near, far);
  }
  TOKAMAK_INLINE Floats cosh(Floats x) {
    Floats half = halfExponentialOfMagnitude(x);
    return half + all(0.25f) / half;
  }

  // The base-2 logarithm in doubles, for positive finite x: k + 2/ln(2) atanh(s) with
  // s = (m - 1) / (m + 1). Minimax fit, relative error of the logarithm of m below 2^-37.5.
  TOKAMAK_INLINE Doubles preciseLog2(Doubles x) {
    Longs pattern = __builtin_bit_cast(Longs, x);
    Longs offset = pattern - __builtin_bit_cast(Longs, allDoubles(0x1.6a09e667f3bcdp-1));
    Doubles m = __builtin_bit_cast(Doubles, pattern - (offset & (Longs)(0xfffl << 52)));
    // k + 2048 is positive; put into the lowest bits of 2^52 it becomes a double without a
    // conversion instruction.
    Lanes<unsigned long, lanes> biased =
        __builtin_bit_cast(Lanes<unsigned long, lanes>, offset + (2048l << 52)) >> 52;
    Longs joined =
        __builtin_bit_cast(Longs, biased) | __builtin_bit_cast(Longs, allDoubles(0x1p52));
    Doubles k = __builtin_bit_cast(Doubles, joined) - allDoubles(0x1p52 + 2048);
    Doubles f = m - allDoubles(1.0), s = f / (f + allDoubles(2.0)), z = s * s;
    Doubles tail = fma(allDoubles(0x1.5c629bd43f2ccp-2), z, allDoubles(0x1.a59653b646d46p-2));
    tail = fma(tail, z, allDoubles(0x1.2777675b6478fp-1));
    tail = fma(tail, z, allDoubles(0x1.ec709d450858dp-1));
    return fma(s, fma(tail, z, allDoubles(0x1.71547652b82fep+1)), k);
  }
  // 2^t in doubles for |t| < 1000. Minimax fit, relative error below 2^-28.8.
  TOKAMAK_INLINE Doubles preciseExp2(Doubles t) {
    Doubles shifted = t + allDoubles(0x1.8p52 + 1023);
    Doubles r = t - (shifted - allDoubles(0x1.8p52 + 1023)), r2 = r * r;
    Doubles low = fma(allDoubles(0x1.ebfbdc3b6dbd7p-3), r, allDoubles(0x1.62e430af255ffp-1));
    Doubles middle = fma(allDoubles(0x1.3b2d4dcce74f6p-7), r, allDoubles(0x1.c6aee8922551dp-5));
    Doubles high = fma(allDoubles(0x1.41fae7a6ce4cbp-13), r, allDoubles(0x1.5f3e5046bbb8cp-10));
    Doubles tail = fma(fma(high, r2, middle), r2, low);
    Doubles power = __builtin_bit_cast(Doubles, __builtin_bit_cast(Longs, shifted) << 52);
    return fma(power, r * tail, power);
  }

  // |x|^y = 2^(y log2|x|), computed in doubles: the exponent multiplies the errors of the
  // logarithm. Doubles also hold all results, so that overflow and denormal results are left to the
  // rounding at the end. x^2 is computed as x*x.
  TOKAMAK_INLINE Floats pow(Floats x, Floats y) {
    Integers square = y == all(2.0f);
    if (!any(~square))
      return x * x;
    Floats magnitude = absolute(x);
    Integers special =
        (magnitude == all(0.0f)) | ~(magnitude < all(infinity)) | ~(absolute(y) < all(infinity));
    Doubles t = widen(y) * preciseLog2(widen(magnitude));
    t = select(t > allDoubles(200.0), allDoubles(200.0), t);
    t = select(t < allDoubles(-200.0), allDoubles(-200.0), t);
    Floats value = narrow(preciseExp2(t));

    Floats half = y * all(0.5f);
    Integers integer = y == __builtin_elementwise_floor(y),
             even = half == __builtin_elementwise_floor(half);
    Floats signedValue = select(even, value, -value);
    signedValue = select(integer, signedValue, all(__builtin_nanf("")));
    value = select(x < all(0.0f), signedValue, value);
    if (any(special))
      value = select(special, specialPower(x, y, integer & ~even), value);
    return select(square, x * x, value);
  }
};

#define TOKAMAK_UNARY_KERNELS(KERNEL, function)                                                    \
  KERNEL Lanes<float, 8> tokamak_vector_##function##_f32x8(Lanes<float, 8> x) {                    \
    return SinglePrecision<8>::function(x);                                                        \
  }                                                                                                \
  KERNEL Lanes<float, 16> tokamak_vector_##function##_f32x16(Lanes<float, 16> x) {                 \
    return SinglePrecision<16>::function(x);                                                       \
  }
TOKAMAK_UNARY_KERNELS(TOKAMAK_INLINED_KERNEL, exp)
TOKAMAK_UNARY_KERNELS(TOKAMAK_INLINED_KERNEL, log)
TOKAMAK_UNARY_KERNELS(TOKAMAK_INLINED_KERNEL, log1p)
TOKAMAK_UNARY_KERNELS(TOKAMAK_INLINED_KERNEL, sigmoid)
TOKAMAK_UNARY_KERNELS(TOKAMAK_INLINED_KERNEL, tanh)
TOKAMAK_UNARY_KERNELS(TOKAMAK_CALLED_KERNEL, sin)
TOKAMAK_UNARY_KERNELS(TOKAMAK_CALLED_KERNEL, cos)
TOKAMAK_UNARY_KERNELS(TOKAMAK_CALLED_KERNEL, tan)
TOKAMAK_UNARY_KERNELS(TOKAMAK_CALLED_KERNEL, asin)
TOKAMAK_UNARY_KERNELS(TOKAMAK_CALLED_KERNEL, acos)
TOKAMAK_UNARY_KERNELS(TOKAMAK_CALLED_KERNEL, atan)
TOKAMAK_UNARY_KERNELS(TOKAMAK_CALLED_KERNEL, sinh)
TOKAMAK_UNARY_KERNELS(TOKAMAK_CALLED_KERNEL, cosh)

TOKAMAK_CALLED_KERNEL Lanes<float, 8> tokamak_vector_pow_f32x8(Lanes<float, 8> x,
                                                               Lanes<float, 8> y) {
  return SinglePrecision<8>::pow(x, y);
}
TOKAMAK_CALLED_KERNEL Lanes<float, 16> tokamak_vector_pow_f32x16(Lanes<float, 16> x,
                                                                 Lanes<float, 16> y) {
  return SinglePrecision<16>::pow(x, y);
}
