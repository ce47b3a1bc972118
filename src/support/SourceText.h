// Reads the text of a script, or says why it can't be read.
//
//   std::string reason;
//   std::optional<std::string> text = readSourceText("script.dml", reason);
//   if (!text)
//     llvm::errs() << reason;                     // no such file
//   else if (whatIsNoText(*text)) ...             // it looks like a gzip archive
#ifndef TOKAMAK_SUPPORT_SOURCETEXT_H
#define TOKAMAK_SUPPORT_SOURCETEXT_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tokamak::support {

/// The maximum size of a script in bytes: anything longer is an endless device or pipe.
constexpr size_t largestSourceText = size_t{256} << 20;

/// Whether a byte is not the first one of a character of UTF-8.
inline bool continuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Says what a file is that is no text, as in "it looks like a gzip archive"; nothing of a text.
/// Single bytes that no text has make none: it may have been damaged, or be in another encoding.
std::optional<std::string> whatIsNoText(std::string_view contents);

/// Reads a plain file, pipe or device to its end; on failure returns nothing and puts the reason in
/// `reason`.
std::optional<std::string> readSourceText(const std::string &path, std::string &reason);

/// The same; throws Error with the reason.
std::string readSourceText(const std::string &path);

} // namespace tokamak::support

#endif // TOKAMAK_SUPPORT_SOURCETEXT_H
