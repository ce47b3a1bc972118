#include "base/BundledLibrary.h"

#include <filesystem>
#include <link.h>

namespace tokamak {

// The folder of the program or library that this function is linked into.
static std::filesystem::path folderOfThisModule() {
  struct Search {
    uintptr_t address;
    std::string path; // empty for the program
  } search{reinterpret_cast<uintptr_t>(&folderOfThisModule), {}};
  dl_iterate_phdr(
      [](dl_phdr_info *module, size_t, void *data) {
        auto &search = *static_cast<Search *>(data);
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const ElfW(Phdr) &segment = module->dlpi_phdr[i];
          if (segment.p_type == PT_LOAD &&
              search.address - module->dlpi_addr - segment.p_vaddr < segment.p_memsz) {
            search.path = module->dlpi_name;
            return 1;
          }
        }
        return 0;
      },
      &search);
  return search.path.empty() ? std::filesystem::read_symlink("/proc/self/exe").parent_path()
                             : std::filesystem::canonical(search.path).parent_path();
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
