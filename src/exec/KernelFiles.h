// Kernels in a folder of the user: a second run of a program finds what the first one has compiled.
//
//   KernelFiles files(userCacheFolder());
//   codegen::KernelCompiler compiler({.store = &files});
#ifndef TOKAMAK_EXEC_KERNELFILES_H
#define TOKAMAK_EXEC_KERNELFILES_H

#include "codegen/KernelStore.h"
#include "exec/CacheFolder.h"

#include <mutex>

namespace tokamak::exec {

class KernelFiles : public codegen::KernelStore {
public:
  // An empty folder: kernels are not kept. Nothing is opened before the first kernel.
  explicit KernelFiles(std::string folder) : path_(std::move(folder)) {}
  std::optional<codegen::StoredKernel> find(std::string_view key) override;
  void keep(std::string_view key, const abi::KernelPlan &plan, std::string_view object) override;

private:
  const CacheFolder &folder();

  std::string path_;
  std::once_flag opened_;
  std::optional<CacheFolder> folder_;
};

} // namespace tokamak::exec
#endif
