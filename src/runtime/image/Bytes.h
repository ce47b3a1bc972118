// Writes numbers and strings as the bytes of a file, little-endian, and reads them back. Reading
// never goes past the end: a truncated or changed file gives an Error.
//
//   ByteWriter writer;
//   writer.number<int64_t>(3);
//   writer.text("abc");
//   ByteReader reader(writer.bytes());
//   reader.number<int64_t>() == 3;   reader.text() == "abc";
#ifndef TOKAMAK_RUNTIME_IMAGE_BYTES_H
#define TOKAMAK_RUNTIME_IMAGE_BYTES_H

#include "base/Error.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::runtime {

static_assert(std::endian::native == std::endian::little);

// FNV-1a.
inline uint64_t checkSum(std::string_view bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (unsigned char byte : bytes)
    sum = (sum ^ byte) * 0x100000001b3;
  return sum;
}

class ByteWriter {
public:
  template <typename Number> void number(Number value) {
    static_assert(std::is_arithmetic_v<Number> || std::is_enum_v<Number>);
    bytes_.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void text(std::string_view text) {
    number<uint64_t>(text.size());
    bytes_ += text;
  }
  template <typename Element, typename Write>
  void list(const std::vector<Element> &elements, const Write &write) {
    number<uint64_t>(elements.size());
    for (const Element &element : elements)
      write(element);
  }
  const std::string &bytes() const { return bytes_; }

private:
  std::string bytes_;
};

class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename Number> Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  bool boolean() { return choice<uint8_t>(1) != 0; }
  // A number or enumerator from 0 to `last`.
  template <typename Number> Number choice(Number last) {
    if constexpr (std::is_enum_v<Number>) {
      return static_cast<Number>(choice(static_cast<std::underlying_type_t<Number>>(last)));
    } else {
      auto value = number<Number>();
      if (value < Number{} || value > last)
        fail();
      return value;
    }
  }
  std::string text() { return std::string(textInPlace()); }
  // Valid as long as the bytes that are read.
  std::string_view textInPlace() {
    auto size = number<uint64_t>();
    return {take(size), size};
  }
  template <typename Element, typename Read> std::vector<Element> list(const Read &read) {
    auto count = number<uint64_t>();
    if (count > bytes_.size()) // each element takes at least one byte
      fail();
    std::vector<Element> elements;
    for (uint64_t i = 0; i < count; ++i)
      elements.push_back(read());
    return elements;
  }
  bool isAtEnd() const { return bytes_.empty(); }
  [[noreturn]] static void fail() { throw Error("the file is damaged"); }

private:
  const char *take(uint64_t size) {
    if (size > bytes_.size())
      fail();
    const char *begin = bytes_.data();
    bytes_.remove_prefix(size);
    return begin;
  }
  std::string_view bytes_;
};

} // namespace tokamak::runtime
#endif
