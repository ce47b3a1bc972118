#include "base/LoadedModule.h"

#include <algorithm>
#include <cstdint>

namespace tokamak {

void visitModuleOf(const void *address, const std::function<void(const dl_phdr_info &)> &visit) {
  struct Search {
    uintptr_t address;
    const std::function<void(const dl_phdr_info &)> &visit;
  } search{reinterpret_cast<uintptr_t>(address), visit};
  dl_iterate_phdr(
      [](dl_phdr_info *module, size_t, void *data) {
        const auto &search = *static_cast<const Search *>(data);
        bool contains = std::any_of(
            module->dlpi_phdr, module->dlpi_phdr + module->dlpi_phnum, [&](const auto &segment) {
              return segment.p_type == PT_LOAD &&
                     search.address - module->dlpi_addr - segment.p_vaddr < segment.p_memsz;
            });
        if (contains)
          search.visit(*module);
        return contains ? 1 : 0;
      },
      &search);
}

} // namespace tokamak
