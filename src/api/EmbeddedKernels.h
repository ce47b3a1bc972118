// The kernels that are built into the program (tools/built-in-kernels).
//
//   exec::ProgramOptions withKernels{.builtInKernels = &embeddedKernels()};
#ifndef TOKAMAK_API_EMBEDDEDKERNELS_H
#define TOKAMAK_API_EMBEDDEDKERNELS_H

#include "exec/BuiltInKernels.h"

namespace tokamak::api {

const exec::BuiltInKernels &embeddedKernels();

} // namespace tokamak::api
#endif
