// Reads the text of a script, or says why it can't be read.
//
//   std::string reason;
//   std::optional<std::string> text = readSourceText("script.dml", reason);
//   if (!text)
//     llvm::errs() << reason;                     // no such file
#ifndef TOKAMAK_SUPPORT_SOURCETEXT_H
#define TOKAMAK_SUPPORT_SOURCETEXT_H

#include <cstddef>
#include <optional>
#include <string>

namespace tokamak::support {

/// The maximum size of a script in bytes: anything longer is an endless device or pipe.
constexpr size_t largestSourceText = size_t{256} << 20;

/// Reads a plain file, pipe or device to its end; on failure returns nothing and puts the reason in
/// `reason`.
std::optional<std::string> readSourceText(const std::string &path, std::string &reason);

/// The same; throws Error with the reason.
std::string readSourceText(const std::string &path);

} // namespace tokamak::support

#endif // TOKAMAK_SUPPORT_SOURCETEXT_H
