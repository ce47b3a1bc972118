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

// Up to 10^18.
inline constexpr auto integerPowersOfTen = [] {
  std::array<uint64_t, 19> powers{1};
  for (size_t i = 1; i < powers.size(); ++i)
    powers[i] = 10 * powers[i - 1];
  return powers;
}();

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

// 10^k is a little more than bits * 2^exponent: at most one more in the last bit.
struct PowerOfTen {
  uint64_t bits; // the highest is set
  int64_t exponent;
};
inline constexpr int64_t largestPower = 64; // 10^-64 to 10^64 are in the table

inline constexpr auto powers = [] {
  // 128 bits while multiplying, so that what is cut off adds up to nothing.
  using Wide = unsigned __int128;
  std::array<PowerOfTen, 2 * largestPower + 1> table{};
  auto entry = [&](int64_t k) -> PowerOfTen & { return table[largestPower + k]; };
  constexpr Wide one = Wide{1} << 127;
  constexpr int64_t exponentOfOne = -63;
  entry(0) = {static_cast<uint64_t>(one >> 64), exponentOfOne};
  Wide power = one;
  int64_t exponent = exponentOfOne;
  for (int64_t k = 1; k <= largestPower; ++k) {
    power = (power >> 3) * 5; // 10 is 5 / 8 * 2^4
    exponent += 4;
    for (; !(power >> 127); --exponent)
      power <<= 1;
    entry(k) = {static_cast<uint64_t>(power >> 64), exponent};
  }
  power = one;
  exponent = exponentOfOne;
  for (int64_t k = 1; k <= largestPower; ++k) {
    Wide remainder = power % 5;
    power /= 5;
    --exponent;
    for (; !(power >> 127); --exponent) { // long division goes on, by one bit
      remainder <<= 1;
      power = (power << 1) | (remainder >= 5);
      remainder -= remainder >= 5 ? 5 : 0;
    }
    entry(-k) = {static_cast<uint64_t>(power >> 64), exponent};
  }
  return table;
}();

// Sets `value` to mantissa * 10^k, rounded once, and is true; false, in 1 of 170 cases, where 64 bits
// don't tell how to round. mantissa is not 0, and k within the table.
//
// The product of 64 bits each is cut to its highest 64. The power of ten and the cut make it too small
// by less than 3, or 6 where it is shifted. The lowest 11 of its bits are not in a double: they decide
// whether it is rounded up or down, which such an error changes only just below a tie. (A short form
// of Lemire, "Number Parsing at a Gigabyte per Second", 2021, section 5, which settles these, too.)
[[gnu::always_inline]] inline bool multiplyByPowerOfTen(uint64_t mantissa, int64_t k,
                                                        double &value) {
  int shift = std::countl_zero(mantissa);
  const PowerOfTen &power = powers[largestPower + k];
  auto product = static_cast<unsigned __int128>(mantissa << shift) * power.bits;
  auto highest = static_cast<uint64_t>(product >> 64);
  int isShort = highest >> 63 ? 0 : 1;
  highest <<= isShort;
  constexpr uint64_t beyondDouble = (1 << 11) - 1, tie = 1 << 10, error = 6;
  if ((highest & beyondDouble) - (tie - error) <= error + 1)
    return false;
  constexpr int64_t bias = 1023, mantissaBits = 52;
  int64_t exponent = power.exponent + (64 + 1 + bias) - shift - isShort;
  auto scale = std::bit_cast<double>(static_cast<uint64_t>(exponent) << mantissaBits);
  // 63 bits fit a signed integer, whose conversion, which rounds, is one instruction.
  value = static_cast<double>(static_cast<int64_t>(highest >> 1)) * scale;
  return true;
}

} // namespace digits

// Parses the longest number at `begin`: "-12.5e3" of "-12.5e3,4". Returns its end, or null if there
// is no number. Words such as NaN are not numbers here.
inline const char *readNumber(const char *begin, const char *end, double &value) {
  if (begin == end)
    return nullptr;
  const char *position = begin;
  // Without branches: signs are unpredictable.
  bool isNegative = *position == '-';
  position += int{isNegative} | int{*position == '+'};
  const char *unsignedBegin = position;
  uint64_t mantissa = 0;
  // Few digits stand before the point.
  for (; position < end && isDigit(*position); ++position)
    mantissa = mantissa * 10 + static_cast<uint64_t>(*position - '0');
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
  } else if (digitCount > digitsOf64Bits || mantissa == 0 || exponent < -digits::largestPower ||
             exponent > digits::largestPower ||
             !digits::multiplyByPowerOfTen(mantissa, exponent, value)) {
    value = roundedNumber(unsignedBegin, position);
  }
  value = std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ (uint64_t{isNegative} << 63));
  return position;
}

} // namespace tokamak::runtime
#endif
