// Texts as Java serialises them (its "modified UTF-8"): characters beyond U+FFFF are two surrogates of
// three bytes each, and the character 0 is two bytes. All other texts are the same in UTF-8.
//
//   textOfJava("\xc0\x80") == std::string(1, '\0')
//   javaOfText(textOfJava(bytes)) == bytes
#ifndef TOKAMAK_RUNTIME_IO_JAVATEXT_H
#define TOKAMAK_RUNTIME_IO_JAVATEXT_H

#include <string>
#include <string_view>

namespace tokamak::runtime {

// What is no valid text is kept as it is.
std::string textOfJava(std::string_view bytes);
std::string javaOfText(std::string_view text);

} // namespace tokamak::runtime
#endif
