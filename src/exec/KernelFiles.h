// Kernels that earlier runs have compiled, and those that are built in.
//
//   CompiledFiles files(userCacheFolder());
//   KernelFiles kernelFiles(files, &builtInKernels);
//   codegen::KernelCompiler compiler({.store = &kernelFiles});
#ifndef TOKAMAK_EXEC_KERNELFILES_H
#define TOKAMAK_EXEC_KERNELFILES_H

#include "codegen/KernelStore.h"
#include "exec/BuiltInKernels.h"
#include "exec/CompiledFiles.h"

namespace tokamak::exec {

class KernelFiles : public codegen::KernelStore {
public:
  // Both must outlive the object; `builtIn` may be null.
  explicit KernelFiles(CompiledFiles &files, const BuiltInKernels *builtIn = nullptr)
      : files_(files), builtIn_(builtIn) {}
  std::optional<codegen::StoredKernel> find(std::string_view key) override;
  bool hasBuiltIn(std::string_view key) const override { return builtIn_ && builtIn_->has(key); }
  void keep(std::string_view key, const codegen::StoredKernel &kernel) override;

private:
  CompiledFiles &files_;
  const BuiltInKernels *builtIn_;
};

} // namespace tokamak::exec
#endif
