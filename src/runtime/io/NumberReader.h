// Parses numbers at the beginning of a text, as data files have them. The result is the double
// nearest to the decimal number, as from std::from_chars, but faster for numbers with few digits.
//
//   double value;
//   const char *end = readNumber(field.begin(), field.end(), value);   // null: no number
#ifndef TOKAMAK_RUNTIME_IO_NUMBERREADER_H
#define TOKAMAK_RUNTIME_IO_NUMBERREADER_H

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace tokamak::runtime {

// The slow, general path; [begin, end) is an unsigned number.
double roundedNumber(const char *begin, const char *end);

// A field that is a number with or without a sign, or NaN, Inf or Infinity
// in any case; else nullopt.
std::optional<double> fieldNumber(std::string_view field);

// A field that is a decimal integer with or without a sign; nullopt if it doesn't fit 64 bits.
std::optional<int64_t> fieldInteger(std::string_view field);

inline bool isDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

namespace digits {

// Sets the highest bit of each byte of `text` that is no digit. Carries reach only later bytes, so
// only the lowest bit set is reliable.
inline uint64_t nonDigits(uint64_t text) {
  constexpr uint64_t zeros = 0x3030303030303030, beyondNine = 0x7676767676767676;
  uint64_t values = text ^ zeros;
  return ((values + beyondNine) | values) & 0x8080808080808080;
}

// The value of eight digits, the first in the lowest byte: joins neighbours to numbers of two, four
// and eight digits. Zero bytes count as the digit 0.
inline uint64_t valueOfEight(uint64_t text) {
  uint64_t pairs = ((text & 0x0F0F0F0F0F0F0F0F) * ((10 << 8) + 1)) >> 8;
  uint64_t fours = ((pairs & 0x00FF00FF00FF00FF) * ((uint64_t{100} << 16) + 1)) >> 16;
  return ((fours & 0x0000FFFF0000FFFF) * ((uint64_t{10000} << 32) + 1)) >> 32;
}

inline constexpr std::array<uint64_t, 8> integerPowersOfTen = {1,     10,     100,     1000,
                                                               10000, 100000, 1000000, 10000000};

// Appends the digits at `position` to `value` (modulo 2^64) and returns the position behind them.
inline const char *append(const char *position, const char *end, uint64_t &value) {
  for (; end - position >= 8; position += 8) {
    uint64_t text;
    std::memcpy(&text, position, sizeof text);
    uint64_t others = nonDigits(text);
    if (others == 0) {
      value = value * 100000000 + valueOfEight(text);
      continue;
    }
    // Shifts the digits to the end of the eight bytes; branch-free, since their number varies.
    int count = std::countr_zero(others) / 8;
    uint64_t moved = (text << (8 * (7 - count))) << 8;
    value = value * integerPowersOfTen[count] + valueOfEight(moved);
    return position + count;
  }
  for (; position < end && isDigit(*position); ++position)
    value = value * 10 + static_cast<uint64_t>(*position - '0');
  return position;
}

// 10^k is a double without rounding up to k = 22.
inline constexpr std::array<double, 23> powersOfTen = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// 5^k fits into 64 bits up to k = 27.
inline constexpr int64_t largestPowerOfFive = 27;
inline constexpr auto powersOfFive = [] {
  std::array<uint64_t, largestPowerOfFive + 1> powers{1};
  for (size_t k = 1; k < powers.size(); ++k)
    powers[k] = powers[k - 1] * 5;
  return powers;
}();

struct Division {
  uint64_t quotient, remainder;
};

// (high * 2^64 + low) / divisor, where high < divisor.
inline Division divide(uint64_t high, uint64_t low, uint64_t divisor) {
#ifdef __x86_64__
  Division result;
  __asm__("divq %4"
          : "=a"(result.quotient), "=d"(result.remainder)
          : "0"(low), "1"(high), "r"(divisor)
          : "cc");
  return result;
#else
  unsigned __int128 dividend = (static_cast<unsigned __int128>(high) << 64) | low;
  return {static_cast<uint64_t>(dividend / divisor), static_cast<uint64_t>(dividend % divisor)};
#endif
}

// mantissa / 10^k, rounded once; mantissa is not 0, and k at most largestPowerOfFive.
//
// mantissa and 5^k are shifted until their highest bits are set. Their quotient with 63 fractional
// bits then has 63 or 64 bits, at least ten more than a double. The remainder only shows whether
// the quotient is exact: or-ed into the lowest bit, it prevents the conversion from seeing a tie.
// The remaining factor is a power of two.
inline double quotientByPowerOfTen(uint64_t mantissa, int64_t k) {
  int mantissaShift = std::countl_zero(mantissa), divisorShift = std::countl_zero(powersOfFive[k]);
  uint64_t dividend = mantissa << mantissaShift;
  auto [quotient, remainder] =
      divide(dividend >> 1, dividend << 63, powersOfFive[k] << divisorShift);
  constexpr int64_t bias = 1023, mantissaBits = 52;
  // 63 bits fit a signed integer, whose conversion is one instruction.
  auto bits = static_cast<int64_t>((quotient >> 1) | (quotient & 1) | (remainder != 0));
  int64_t exponent = divisorShift - mantissaShift - k - 62;
  auto scale = std::bit_cast<double>(static_cast<uint64_t>(exponent + bias) << mantissaBits);
  return static_cast<double>(bits) * scale;
}

} // namespace digits

// Parses the longest number at `begin`: "-12.5e3" of "-12.5e3,4". Returns its end, or null if there
// is no number. Words such as NaN are not numbers here.
inline const char *readNumber(const char *begin, const char *end, double &value) {
  const char *position = begin;
  bool isNegative = position < end && *position == '-';
  position += isNegative || (position < end && *position == '+');
  const char *unsignedBegin = position;
  uint64_t mantissa = 0;
  position = digits::append(position, end, mantissa);
  int64_t digitCount = position - unsignedBegin, fractionDigits = 0;
  if (position < end && *position == '.') {
    const char *fraction = position + 1;
    const char *fractionEnd = digits::append(fraction, end, mantissa);
    fractionDigits = fractionEnd - fraction;
    digitCount += fractionDigits;
    position = fractionEnd;
  }
  if (digitCount == 0)
    return nullptr;
  int64_t exponent = 0;
  if (position < end && (*position == 'e' || *position == 'E')) {
    const char *sign = position + 1;
    const char *first = sign + (sign < end && (*sign == '-' || *sign == '+'));
    if (first < end && isDigit(*first)) {
      position = first;
      for (; position < end && isDigit(*position); ++position)
        if (exponent < 1000000)
          exponent = exponent * 10 + (*position - '0');
      if (*sign == '-')
        exponent = -exponent;
    }
  }
  exponent -= fractionDigits;
  // Up to 15 digits and 10^22, both factors are exact doubles, so that their product or quotient is
  // rounded once (Clinger, "How to read floating point numbers accurately", 1990). 19 digits fit
  // into 64 bits.
  constexpr int64_t exactDigits = 15, exactPower = 22, digitsOf64Bits = 19;
  if (digitCount <= exactDigits && exponent >= -exactPower && exponent <= exactPower) {
    auto factor = static_cast<double>(static_cast<int64_t>(mantissa));
    value = exponent < 0 ? factor / digits::powersOfTen[-exponent]
                         : factor * digits::powersOfTen[exponent];
  } else if (digitCount <= digitsOf64Bits && mantissa != 0 && exponent < 0 &&
             exponent >= -digits::largestPowerOfFive) {
    value = digits::quotientByPowerOfTen(mantissa, -exponent);
  } else {
    value = roundedNumber(unsignedBegin, position);
  }
  // Branch-free: signs are unpredictable.
  value = std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ (uint64_t{isNegative} << 63));
  return position;
}

} // namespace tokamak::runtime
#endif
