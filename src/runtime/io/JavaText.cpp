#include "runtime/io/JavaText.h"

#include <algorithm>
#include <cstdint>

namespace tokamak::runtime {
namespace {

uint32_t byteAt(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }

bool continues(std::string_view text, size_t at) {
  return at < text.size() && (byteAt(text, at) & 0xC0) == 0x80;
}

// The surrogate of three bytes that begins at `at`, with the highest bits `kind`; 0 if there is none.
uint32_t surrogateAt(std::string_view text, size_t at, uint32_t kind) {
  constexpr uint32_t surrogateBits = 0xFC00;
  if (at + 2 >= text.size() || byteAt(text, at) != 0xED || !continues(text, at + 1) ||
      !continues(text, at + 2))
    return 0;
  uint32_t code = 0xD000 | (byteAt(text, at + 1) & 0x3F) << 6 | (byteAt(text, at + 2) & 0x3F);
  return (code & surrogateBits) == kind ? code : 0;
}

constexpr uint32_t highSurrogate = 0xD800, lowSurrogate = 0xDC00, firstBeyond = 0x10000;

void append(std::string &text, uint32_t code, int bytes) {
  constexpr uint32_t leads[] = {0, 0, 0, 0xE0, 0xF0};
  text += static_cast<char>(leads[bytes] | code >> (6 * (bytes - 1)));
  for (int i = bytes - 2; i >= 0; --i)
    text += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

} // namespace

std::string textOfJava(std::string_view bytes) {
  // Most texts have none of the bytes with which the differences begin.
  if (bytes.find_first_of("\xED\xC0") == bytes.npos)
    return std::string(bytes);
  std::string text;
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (bytes.substr(at).starts_with("\xC0\x80")) {
      text += '\0';
      ++at;
      continue;
    }
    uint32_t high = surrogateAt(bytes, at, highSurrogate),
             low = high ? surrogateAt(bytes, at + 3, lowSurrogate) : 0;
    if (low) {
      append(text, firstBeyond + ((high - highSurrogate) << 10) + (low - lowSurrogate), 4);
      at += 5;
    } else {
      text += bytes[at];
    }
  }
  return text;
}

std::string javaOfText(std::string_view text) {
  bool isSame = std::none_of(text.begin(), text.end(), [](char c) {
    return c == '\0' || static_cast<unsigned char>(c) >= 0xF0;
  });
  if (isSame)
    return std::string(text);
  std::string bytes;
  for (size_t at = 0; at < text.size(); ++at) {
    bool isBeyond = byteAt(text, at) >= 0xF0 && byteAt(text, at) <= 0xF4 &&
                    continues(text, at + 1) && continues(text, at + 2) && continues(text, at + 3);
    if (text[at] == '\0') {
      bytes += "\xC0\x80";
    } else if (isBeyond) {
      uint32_t code = (byteAt(text, at) & 7) << 18 | (byteAt(text, at + 1) & 0x3F) << 12 |
                      (byteAt(text, at + 2) & 0x3F) << 6 | (byteAt(text, at + 3) & 0x3F);
      if (code < firstBeyond) { // longer than necessary: no valid text
        bytes += text[at];
        continue;
      }
      append(bytes, highSurrogate + ((code - firstBeyond) >> 10), 3);
      append(bytes, lowSurrogate + ((code - firstBeyond) & 0x3FF), 3);
      at += 3;
    } else {
      bytes += text[at];
    }
  }
  return bytes;
}

} // namespace tokamak::runtime
