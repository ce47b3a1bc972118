// In place of the generated file, where kernels can't be compiled during the build, or would take too
// long: without any.
#include "api/EmbeddedKernels.h"

const tokamak::exec::BuiltInKernels &tokamak::api::embeddedKernels() {
  static const exec::BuiltInKernels none({});
  return none;
}
