// Reads numbers such as -12.3456: digits, a point and digits, of which most data files consist. It needs half as many
// instructions as readNumber, since it takes all digits behind the point at once, but reads around the number, too.
//
//   std::string_view text = "number,12.5,and what stands behind it in the same file";
//   const char *position = text.data() + 7;
//   double value;
//   if (PlainNumberRange(text).contains(position))                    // false: too near to an end
//     if (const char *end = readPlainNumber(position, value)) ...     // null: another number, or none
//
// Where the digits end is found by comparing 32 characters at once. The digits behind the point are the last before that
// end: the last 16 are joined to numbers of two, four and eight digits in one vector, and there may be two more. (The way
// of W. Muła, "SIMD-ized parsing of series of unsigned integers", 2018; the rounding is readNumber's.)
#ifndef TOKAMAK_RUNTIME_IO_PLAINNUMBER_H
#define TOKAMAK_RUNTIME_IO_PLAINNUMBER_H

#include "runtime/io/NumberReader.h"

// Functions are always inlined, so that they use what the caller is compiled for (base/WidestVectors.h).

namespace tokamak::runtime {

// The positions around which readPlainNumber stays within a text.
class PlainNumberRange {
public:
  explicit PlainNumberRange(std::string_view text)
      : begin_(text.data()), end_(text.data() + text.size()) {}
  bool contains(const char *position) const {
    return position - begin_ >= bytesBefore && end_ - position >= bytesBehind;
  }

private:
  static constexpr int64_t bytesBefore = 16, bytesBehind = 32;
  const char *begin_, *end_;
};

namespace digits {

inline constexpr int vectorDigits = 16, mostBehindPoint = 18;

// By a number of digits: masks that keep the values of so many at the end of 16, at most all of them.
inline constexpr auto lastDigits = [] {
  std::array<uint8_t, 2 * vectorDigits + mostBehindPoint> masks{};
  for (size_t i = vectorDigits; i < masks.size(); ++i)
    masks[i] = 0x0F;
  return masks;
}();

// A bit for each of 32 characters that is no digit; the first has the lowest.
[[gnu::always_inline]] inline uint32_t nonDigits(const char *position) {
  using Bytes = uint8_t __attribute__((ext_vector_type(32)));
  using Bits = bool __attribute__((ext_vector_type(32)));
  Bytes bytes;
  std::memcpy(&bytes, position, sizeof bytes);
  auto isOther = Bytes(bytes - uint8_t{'0'}) > uint8_t{9};
  return __builtin_bit_cast(uint32_t, __builtin_convertvector(isOther, Bits));
}

// The value of the last `count` of the 16 digits at `position`, or of all.
[[gnu::always_inline]] inline uint64_t valueOfLast(const char *position, int count) {
  using Pairs = uint16_t __attribute__((ext_vector_type(8)));
  using Fours = uint32_t __attribute__((ext_vector_type(4)));
  using Eights = uint64_t __attribute__((ext_vector_type(2)));
  Pairs text, kept;
  std::memcpy(&text, position, sizeof text);
  std::memcpy(&kept, &digits::lastDigits[count], sizeof kept);
  text &= kept;
  Pairs pairs = (text & uint16_t{0xFF}) * uint16_t{10} + (text >> uint16_t{8});
  auto fours = __builtin_bit_cast(Fours, pairs * Pairs{100, 1, 100, 1, 100, 1, 100, 1});
  auto eights = __builtin_bit_cast(Eights, (fours & 0xFFFF) + (fours >> 16));
  eights = (eights & 0xFFFFFFFF) * 10000 + (eights >> 32);
  return eights[0] * 100000000 + eights[1];
}

} // namespace digits

// Parses -12.3456 at a `position` that the range of the text contains, and returns its end. Null if there is another
// number or none: one without a point or without digits before it, with an exponent, a plus, more than 7 digits before
// the point, 18 behind it or 19 in all; 0.000; and those of readNumber's slow path.
[[gnu::always_inline]] inline const char *readPlainNumber(const char *position, double &value) {
  constexpr int mostWhole = 7, mostDigits = 19;
  uint64_t isNegative = *position == '-';
  uint32_t others = digits::nonDigits(position) & ~static_cast<uint32_t>(isNegative);
  uint32_t behindPoint = others & (others - 1);
  if (behindPoint == 0) [[unlikely]]
    return nullptr;
  int point = std::countr_zero(others), size = std::countr_zero(behindPoint);
  int whole = point - static_cast<int>(isNegative), behind = size - point - 1;
  const char *end = position + size;
  if (position[point] != '.' || static_cast<unsigned>(whole - 1) >= unsigned{mostWhole} ||
      behind > digits::mostBehindPoint || whole + behind > mostDigits || (*end | 0x20) == 'e')
      [[unlikely]]
    return nullptr;
  uint64_t mantissa = 0;
  // Few digits stand before the point, mostly the same number of them.
  for (const char *digit = position + isNegative; digit < position + point; ++digit)
    mantissa = mantissa * 10 + static_cast<uint64_t>(*digit - '0');
  // Those that the vector doesn't hold; without branches, since their number varies.
  auto digitAt = [&](int fromEnd) {
    auto digit = static_cast<uint64_t>(end[-fromEnd] - '0');
    return digit & (uint64_t{0} - static_cast<uint64_t>(behind >= fromEnd));
  };
  constexpr int inVector = digits::vectorDigits;
  uint64_t first = digitAt(inVector + 2) * 10 + digitAt(inVector + 1);
  mantissa = mantissa * digits::integerPowersOfTen[behind] +
             first * digits::integerPowersOfTen[inVector] +
             digits::valueOfLast(end - inVector, behind);
  double magnitude = 0;
  if (mantissa == 0 || !digits::multiplyByPowerOfTen(mantissa, -behind, magnitude)) [[unlikely]]
    return nullptr;
  value = std::bit_cast<double>(std::bit_cast<uint64_t>(magnitude) ^ isNegative << 63);
  return end;
}

} // namespace tokamak::runtime
#endif
