// Places of characters in texts, which are kept in UTF-8, as the methods of Java's String count them: a character beyond U+FFFF
// counts twice.
//
//   countCharacters("a\u00e9b")                        // 3
//   characterAt("a\u00e9b", 1)                         // "\u00e9"
//   byteOfCharacter("a\u00e9b", 2)                     // 3
#ifndef TOKAMAK_RUNTIME_VALUES_CHARACTERS_H
#define TOKAMAK_RUNTIME_VALUES_CHARACTERS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tokamak::runtime {

// The bytes of the character that begins at a byte; 1 of what is no valid UTF-8.
inline size_t bytesOfCharacter(std::string_view text, size_t byte) {
  auto first = static_cast<unsigned char>(text[byte]);
  size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  for (size_t i = 1; i < bytes; ++i)
    if (byte + i >= text.size() || (static_cast<unsigned char>(text[byte + i]) & 0xc0) != 0x80)
      return 1;
  return bytes;
}

// How often the character counts.
inline int64_t widthOfCharacter(size_t bytes) { return bytes == 4 ? 2 : 1; }

inline int64_t countCharacters(std::string_view text) {
  int64_t count = 0;
  for (size_t byte = 0; byte < text.size();) {
    size_t bytes = bytesOfCharacter(text, byte);
    count += widthOfCharacter(bytes);
    byte += bytes;
  }
  return count;
}

// Where a character begins, from 0; the end of the text for those behind it.
inline size_t byteOfCharacter(std::string_view text, int64_t character) {
  size_t byte = 0;
  while (byte < text.size()) {
    size_t bytes = bytesOfCharacter(text, byte);
    if ((character -= widthOfCharacter(bytes)) < 0)
      break;
    byte += bytes;
  }
  return byte;
}

// Empty if there is none.
inline std::string_view characterAt(std::string_view text, int64_t character) {
  size_t byte = byteOfCharacter(text, character);
  return byte < text.size() ? text.substr(byte, bytesOfCharacter(text, byte)) : "";
}

// The number of a character in Unicode, from its bytes.
inline int64_t codeOfCharacter(std::string_view character) {
  auto first = static_cast<unsigned char>(character.front());
  int64_t code = character.size() == 1 ? first : first & (0x7f >> character.size());
  for (char byte : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(byte) & 0x3f);
  return code;
}

inline std::string textOfCharacter(int64_t code) {
  if (code < 0x80)
    return {static_cast<char>(code)};
  size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  std::string text(bytes, '\0');
  for (size_t i = bytes; i-- > 1; code >>= 6)
    text[i] = static_cast<char>(0x80 | (code & 0x3f));
  text[0] = static_cast<char>(0xf00 >> bytes | code);
  return text;
}

} // namespace tokamak::runtime
#endif
