// The program or shared library that some code is part of, as it was loaded.
//
//   visitModuleOf(code, [](const dl_phdr_info &loaded) {
//     std::cout << loaded.dlpi_name;            // its path; empty for the program
//   });
#ifndef TOKAMAK_BASE_LOADEDMODULE_H
#define TOKAMAK_BASE_LOADEDMODULE_H

#include <functional>
#include <link.h>

namespace tokamak {

// Calls visit(loaded) for the one that contains the address, if there is one.
void visitModuleOf(const void *address, const std::function<void(const dl_phdr_info &)> &visit);

} // namespace tokamak
#endif
