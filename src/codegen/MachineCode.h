// Machine code in this process: the just-in-time linker.
//
//   auto code = MachineCode::link(object->getMemBufferRef());   // of std::shared_ptr
//   void *f = (*code)->address("f");                            // valid as long as *code lives
//
// Debuggers and perf know the code (ObjectInMemory.h).
#ifndef TOKAMAK_CODEGEN_MACHINECODE_H
#define TOKAMAK_CODEGEN_MACHINECODE_H

#include "codegen/ObjectInMemory.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ExecutionEngine/RTDyldMemoryManager.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Memory.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <memory>
#include <optional>
#include <string>

namespace tokamak::codegen {

// Linked code and its memory. Destroying it unmaps the code.
class MachineCode : private llvm::RTDyldMemoryManager {
public:
  // Links a relocatable object file, which is not read afterwards. It may call the C library.
  static llvm::Expected<std::shared_ptr<MachineCode>> link(llvm::MemoryBufferRef object);
  ~MachineCode() override;

  // Null if the object does not define the symbol.
  void *address(llvm::StringRef symbol) const { return linker_.getSymbolLocalAddress(symbol); }
  // The code as bytes that run wherever they lie (LoadedImages.h). Empty if it refers to anything
  // outside of its object, or by addresses instead of distances.
  std::string image() const;
  int64_t offsetInImage(const void *function) const {
    return static_cast<const char *>(function) - static_cast<const char *>(memory_.base());
  }

private:
  explicit MachineCode(const llvm::object::ObjectFile &object) : object_(&object) {}
  // Memory for a section: its own in the copy of the object if it needs no more than it has in the
  // file, else null.
  uint8_t *ownPlace(llvm::StringRef name, uintptr_t bytes, unsigned alignment);
  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t codeBytes, llvm::Align codeAlignment,
                              uintptr_t constantBytes, llvm::Align constantAlignment,
                              uintptr_t variableBytes, llvm::Align variableAlignment) override;
  uint8_t *allocateCodeSection(uintptr_t bytes, unsigned alignment, unsigned number,
                               llvm::StringRef name) override;
  uint8_t *allocateDataSection(uintptr_t bytes, unsigned alignment, unsigned number,
                               llvm::StringRef name, bool isReadOnly) override;
  bool finalizeMemory(std::string *error) override;
  llvm::JITSymbol findSymbol(const std::string &name) override;

  const llvm::object::ObjectFile *object_; // while it is linked
  // A copy of the object, in which sections lie where they do in the file, code for which there was no
  // place in it and, on pages behind that, data: the code addresses its constants relative to itself.
  llvm::sys::OwningMemoryBlock memory_;
  size_t imageBytes_ = 0;                   // of the copy; 0: it is no image
  llvm::SmallDenseSet<uint64_t> ownPlaces_; // given to sections, by their offset in the file
  // Where what is allocated next lies.
  uint8_t *code_ = nullptr, *constants_ = nullptr, *variables_ = nullptr;
  llvm::RuntimeDyld linker_{*this, *this};
  std::optional<ObjectInMemory> known_;
};

} // namespace tokamak::codegen
#endif
