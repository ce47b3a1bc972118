// The text of a script as it is on disk, or why there is none.
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

/// More than any script has: whoever goes on beyond it is a device or pipe without end.
constexpr size_t largestSourceText = size_t{256} << 20;

/// Reads plain files, pipes and devices up to their end.
std::optional<std::string> readSourceText(const std::string &path, std::string &reason);

} // namespace tokamak::support

#endif // TOKAMAK_SUPPORT_SOURCETEXT_H
