#include "runtime/values/IndexRange.h"

#include <fmt/format.h>

namespace tokamak::runtime {

Error badIndexRange(std::string_view what, int64_t begin, int64_t end, int64_t size,
                    std::string_view object) {
  if (begin >= 1 && end <= size && begin <= size)
    return Error(fmt::format("invalid range: {}s {}:{} end before they begin", what, begin, end));
  std::string range =
      begin == end ? fmt::format("{} {}", what, begin) : fmt::format("{}s {}:{}", what, begin, end);
  return Error(fmt::format("index out of range: {} of a {}{}", range, object,
                           begin < 1 ? "; indices begin at 1" : ""));
}

} // namespace tokamak::runtime
