// Linked code that an earlier process has kept as bytes: MachineCode::image.
//
//   std::shared_ptr<LoadedImages> loaded = LoadedImages::load({image, otherImage});
//   char *code = loaded->begin(0);              // valid as long as *loaded lives
//
// No linker is needed. Several images share the calls of the system that executable memory costs.
#ifndef TOKAMAK_CODEGEN_LOADEDIMAGES_H
#define TOKAMAK_CODEGEN_LOADEDIMAGES_H

#include "codegen/ObjectInMemory.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Memory.h"

#include <deque>
#include <memory>
#include <vector>

namespace tokamak::codegen {

class LoadedImages {
public:
  static std::shared_ptr<LoadedImages> load(llvm::ArrayRef<llvm::StringRef> images);

  // An image's first byte; its functions are where they were from the first byte of the original.
  char *begin(size_t number) const { return begins_[number]; }

private:
  LoadedImages() = default;

  llvm::sys::OwningMemoryBlock memory_;
  std::vector<char *> begins_;
  std::deque<ObjectInMemory> objects_;
};

} // namespace tokamak::codegen
#endif
