// The kernels that are built into the program (tools/built-in-kernels).
//
//   exec::ProgramOptions withKernels{.builtInKernels = &embeddedKernels()};
#ifndef TOKAMAK_TOOLS_TOKAMAK_EMBEDDEDKERNELS_H
#define TOKAMAK_TOOLS_TOKAMAK_EMBEDDEDKERNELS_H

#include "exec/BuiltInKernels.h"

namespace tokamak {

const exec::BuiltInKernels &embeddedKernels();

} // namespace tokamak
#endif
