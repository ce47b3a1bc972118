// A shared library of Tokamak's own that lies beside the program and is opened when it is first needed: what it is linked
// with takes longer to load than a small program runs.
//
//   BundledLibrary library = openBundledLibrary("libtokamak-sort.so");
//   void (*sort)(uint64_t *keys, size_t count) = nullptr;
//   if (!library.bind("tokamakSortKeys", sort))
//     std::cerr << library.problem;
#ifndef TOKAMAK_BASE_BUNDLEDLIBRARY_H
#define TOKAMAK_BASE_BUNDLEDLIBRARY_H

#include <dlfcn.h>
#include <string>

namespace tokamak {

struct BundledLibrary {
  void *handle = nullptr;
  bool isThere = false; // whether there is a file of this name
  std::string problem;  // what the loader said, a line for each place, where something is missing

  // Whether the library has the function.
  template <typename Function> bool bind(const char *name, Function &function) {
    function = handle ? reinterpret_cast<Function>(dlsym(handle, name)) : nullptr;
    if (handle && !function)
      problem += std::string("\n  ") + dlerror();
    return function;
  }
};

// It stays open.
BundledLibrary openBundledLibrary(const char *fileName);

} // namespace tokamak
#endif
