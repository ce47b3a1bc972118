// Kernels that earlier runs have compiled.
//
//   CompiledFiles files(userCacheFolder());
//   KernelFiles kernelFiles(files);
//   codegen::KernelCompiler compiler({.store = &kernelFiles});
#ifndef TOKAMAK_EXEC_KERNELFILES_H
#define TOKAMAK_EXEC_KERNELFILES_H

#include "codegen/KernelStore.h"
#include "exec/CompiledFiles.h"

namespace tokamak::exec {

class KernelFiles : public codegen::KernelStore {
public:
  // `files` must outlive the object.
  explicit KernelFiles(CompiledFiles &files) : files_(files) {}
  std::optional<codegen::StoredKernel> find(std::string_view key) override;
  void keep(std::string_view key, const codegen::StoredKernel &kernel) override;

private:
  CompiledFiles &files_;
};

} // namespace tokamak::exec
#endif
