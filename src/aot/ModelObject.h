// The object file of a model that isn't kernels: its program images, the tables of its kernels and natives, and the functions
// that its header declares, which pass their arguments to the runtime (runtime/model/CompiledModel.h).
//
//   std::string object = modelObject(model);      // ELF, for the model's target
#ifndef TOKAMAK_AOT_MODELOBJECT_H
#define TOKAMAK_AOT_MODELOBJECT_H

#include "aot/Model.h"

namespace tokamak::aot {

std::string modelObject(const Model &model);

// The functions that every model has, by the names behind its prefix, with that of the runtime that each calls, and what
// they take and give.
struct ContextFunction {
  const char *name, *ofRuntime;
  const char *result;     // v: nothing, p: an address, i: int32_t
  const char *parameters; // a letter each; l: int64_t
};
llvm::ArrayRef<ContextFunction> contextFunctions();

} // namespace tokamak::aot
#endif
