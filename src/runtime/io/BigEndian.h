// Numbers as Java writes them: the highest byte first.
//
//   std::string bytes;
//   appendBigEndian<int32_t>(bytes, 7);
//   BigEndianReader reader(bytes);
//   reader.take<int32_t>() == 7                    // Error if there are too few bytes
#ifndef TOKAMAK_RUNTIME_IO_BIGENDIAN_H
#define TOKAMAK_RUNTIME_IO_BIGENDIAN_H

#include "base/Error.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace tokamak::runtime {

template <size_t bytes>
using UnsignedOf = std::conditional_t<
    bytes == 1, uint8_t,
    std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

template <typename Bits> Bits inOtherOrder(Bits value) {
  if constexpr (sizeof(Bits) == 2)
    return __builtin_bswap16(value);
  else if constexpr (sizeof(Bits) == 4)
    return __builtin_bswap32(value);
  else if constexpr (sizeof(Bits) == 8)
    return __builtin_bswap64(value);
  else
    return value;
}
static_assert(std::endian::native == std::endian::little);

template <typename Number> Number bigEndian(const char *bytes) {
  UnsignedOf<sizeof(Number)> value;
  std::memcpy(&value, bytes, sizeof value);
  return std::bit_cast<Number>(inOtherOrder(value));
}

template <typename Number> void putBigEndian(char *bytes, Number number) {
  auto value = inOtherOrder(std::bit_cast<UnsignedOf<sizeof(Number)>>(number));
  std::memcpy(bytes, &value, sizeof value);
}

template <typename Number> void appendBigEndian(std::string &bytes, Number number) {
  char buffer[sizeof(Number)];
  putBigEndian(buffer, number);
  bytes.append(buffer, sizeof(Number));
}

class BigEndianReader {
public:
  explicit BigEndianReader(std::string_view bytes) : rest_(bytes) {}

  std::string_view rest() const { return rest_; }
  // Throws Error, without a place, if fewer bytes are left.
  std::string_view takeBytes(uint64_t count) {
    if (count > rest_.size())
      throw Error("it ends early");
    std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  template <typename Number> Number take() {
    return bigEndian<Number>(takeBytes(sizeof(Number)).data());
  }

private:
  std::string_view rest_;
};

} // namespace tokamak::runtime
#endif
