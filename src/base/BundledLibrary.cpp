#include "base/BundledLibrary.h"

#include <filesystem>

namespace tokamak {

// In the program's folder, of which unit tests are one folder deeper, or where packages have it (cmake/Package.cmake).
BundledLibrary openBundledLibrary(const char *fileName) {
  BundledLibrary library;
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const std::filesystem::path &place :
       {folder, folder.parent_path(), folder.parent_path() / "lib/tokamak"}) {
    std::filesystem::path path = place / fileName;
    library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle) {
      library.isThere = true;
      return library;
    }
    library.problem += std::string("\n  ") + dlerror();
    library.isThere |= std::filesystem::exists(path);
  }
  return library;
}

} // namespace tokamak
