#include "base/BundledLibrary.h"

#include "base/LoadedModule.h"

#include <filesystem>

namespace tokamak {

// The folder of the program or library that this function is linked into.
static std::filesystem::path folderOfThisModule() {
  std::string path; // empty for the program
  visitModuleOf(reinterpret_cast<const void *>(&folderOfThisModule),
                [&](const dl_phdr_info &module) { path = module.dlpi_name; });
  return path.empty() ? std::filesystem::read_symlink("/proc/self/exe").parent_path()
                      : std::filesystem::canonical(path).parent_path();
}

// In the folder of the program, of which unit tests are one folder deeper, or of the library libtokamak.so, or where packages
// have it (cmake/Package.cmake).
BundledLibrary openBundledLibrary(const char *fileName) {
  BundledLibrary library;
  std::filesystem::path folder = folderOfThisModule();
  for (const std::filesystem::path &place :
       {folder, folder.parent_path(), folder / "tokamak", folder.parent_path() / "lib/tokamak"}) {
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
