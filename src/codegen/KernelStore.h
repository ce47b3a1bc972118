// Where kernels that earlier processes compiled are found again. The compiler asks it before it
// compiles and gives it what it has compiled; exec/KernelFiles.h keeps them in files.
//
//   KernelCompiler compiler({.store = &store});       // a store of one target
//
// A key is the text of an operator's structure: equal texts mean equal kernels, if target and version
// of the compiler are the same, which is the store's business.
#ifndef TOKAMAK_CODEGEN_KERNELSTORE_H
#define TOKAMAK_CODEGEN_KERNELSTORE_H

#include "abi/KernelPlan.h"

#include <optional>
#include <string>
#include <string_view>

namespace tokamak::codegen {

struct StoredKernel {
  // With the name that its code was compiled with. Where it has a kernel already, the code is part of
  // this program, and there is no image.
  abi::KernelPlan plan;
  std::string image; // its code (LoadedImages.h)
  // Where its functions begin in the image; merge is -1 if there is none.
  int64_t kernel = 0, merge = -1;
};

// Thread-safe. A store may forget kernels at any time; neither function fails.
class KernelStore {
public:
  virtual ~KernelStore() = default;
  virtual std::optional<StoredKernel> find(std::string_view key) = 0;
  // Whether the kernel is part of this program.
  virtual bool hasBuiltIn(std::string_view key) const = 0;
  virtual void keep(std::string_view key, const StoredKernel &kernel) = 0;
};

} // namespace tokamak::codegen
#endif
