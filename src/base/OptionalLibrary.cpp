#include "base/OptionalLibrary.h"

#include "base/Error.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <utility>

namespace tokamak {

OptionalLibrary::OptionalLibrary(std::initializer_list<const char *> files, std::string whatNeedsIt,
                                 std::string package)
    : whatNeedsIt_(std::move(whatNeedsIt)), package_(std::move(package)) {
  for (const char *file : files)
    if ((handle_ = dlopen(file, RTLD_NOW | RTLD_LOCAL)))
      return;
  fail("it was not found");
}

void OptionalLibrary::fail(const std::string &reason) const {
  throw Error(fmt::format("{}: {} (Debian's package is {})", whatNeedsIt_, reason, package_));
}

void *OptionalLibrary::find(const char *name) const {
  void *symbol = dlsym(handle_, name);
  if (!symbol)
    fail(fmt::format("it has no {}", name));
  return symbol;
}

} // namespace tokamak
