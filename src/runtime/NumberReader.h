// Numbers at the beginning of a text, as data files hold them. The result is the double nearest to
// the decimal number, as std::from_chars gives it, but found faster where few digits make it easy.
//
//   double value;
//   const char *end = readNumber(field.begin(), field.end(), value);   // null: no number there
#ifndef TOKAMAK_RUNTIME_NUMBERREADER_H
#define TOKAMAK_RUNTIME_NUMBERREADER_H

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace tokamak::runtime {

// What remains when the short way is not exact; [begin, end) is an unsigned number.
double roundedNumber(const char *begin, const char *end);

// A whole field: a number with a sign or without, NaN, Inf or Infinity in capitals or small
// letters.
std::optional<double> fieldNumber(std::string_view field);

// A whole field of digits, with a sign or without; nothing beyond 64 bits.
std::optional<int64_t> fieldInteger(std::string_view field);

inline bool isDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

namespace digits {

// Each byte of `text` is a digit: its high half is 3, and adding 6 does not carry into that half.
inline bool areEight(uint64_t text) {
  constexpr uint64_t highHalves = 0xF0F0F0F0F0F0F0F0, sixes = 0x0606060606060606;
  constexpr uint64_t threes = 0x3333333333333333;
  return ((text & highHalves) | (((text + sixes) & highHalves) >> 4)) == threes;
}

// Joins neighbours to numbers of two, four and eight digits; the first digit is the lowest byte.
inline uint64_t valueOfEight(uint64_t text) {
  uint64_t pairs = ((text & 0x0F0F0F0F0F0F0F0F) * ((10 << 8) + 1)) >> 8;
  uint64_t fours = ((pairs & 0x00FF00FF00FF00FF) * ((uint64_t{100} << 16) + 1)) >> 16;
  return ((fours & 0x0000FFFF0000FFFF) * ((uint64_t{10000} << 32) + 1)) >> 32;
}

// Appends the digits at `position` to `value` (modulo 2^64) and returns where they end.
inline const char *append(const char *position, const char *end, uint64_t &value) {
  for (uint64_t eight; end - position >= 8; position += 8) {
    std::memcpy(&eight, position, sizeof eight);
    if (!areEight(eight))
      break;
    value = value * 100000000 + valueOfEight(eight);
  }
  for (; position < end && isDigit(*position); ++position)
    value = value * 10 + static_cast<uint64_t>(*position - '0');
  return position;
}

// 10^k is a double without rounding up to k = 22.
inline constexpr std::array<double, 23> powersOfTen = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

} // namespace digits

// The longest number at `begin`: "-12.5e3" of "-12.5e3,4". Returns where it ends, or null where no
// number begins. Words such as NaN are not numbers here.
inline const char *readNumber(const char *begin, const char *end, double &value) {
  const char *position = begin;
  bool isNegative = position < end && *position == '-';
  if (position < end && (*position == '-' || *position == '+'))
    ++position;
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
  // Both factors are doubles without rounding, so that their product is rounded once (Clinger,
  // "How to read floating point numbers accurately", 1990). 19 digits fit into 64 bits.
  constexpr uint64_t exactIntegers = uint64_t{1} << 53;
  if (digitCount <= 19 && mantissa <= exactIntegers && exponent >= -22 && exponent <= 22) {
    auto factor = static_cast<double>(mantissa);
    value = exponent < 0 ? factor / digits::powersOfTen[-exponent]
                         : factor * digits::powersOfTen[exponent];
  } else {
    value = roundedNumber(unsignedBegin, position);
  }
  if (isNegative)
    value = -value;
  return position;
}

} // namespace tokamak::runtime
#endif
