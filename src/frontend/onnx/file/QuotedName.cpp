#include "frontend/onnx/file/QuotedName.h"

#include "llvm/Support/ConvertUTF.h"

#include <algorithm>
#include <fmt/format.h>

namespace tokamak::onnx {
namespace {

// How many bytes from here on are one character that a terminal shows; 0 if they aren't.
size_t shownBytes(std::string_view text) {
  constexpr unsigned char firstPrintable = 0x20, erase = 0x7f, firstOfTwo = 0xc2,
                          lastControl = 0x9f;
  auto first = static_cast<unsigned char>(text[0]);
  if (first < erase)
    return first >= firstPrintable ? 1 : 0;
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  size_t length = llvm::getNumBytesForUTF8(*begin);
  if (length == 1 || length > text.size() || !llvm::isLegalUTF8Sequence(begin, begin + length))
    return 0;
  bool isControl = first == firstOfTwo && begin[1] <= lastControl;
  return isControl ? 0 : length;
}

} // namespace

std::string printableName(std::string_view name) {
  constexpr size_t longest = 100;
  std::string result;
  while (!name.empty() && result.size() < longest) {
    size_t bytes = shownBytes(name);
    if (bytes == 0)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(name[0]));
    result += name.substr(0, bytes);
    name.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return name.empty() ? result : result + "…";
}

std::string quotedName(std::string_view name) { return "'" + printableName(name) + "'"; }

} // namespace tokamak::onnx
