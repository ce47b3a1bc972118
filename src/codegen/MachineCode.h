// Machine code in this process: the just-in-time linker.
//
//   auto code = MachineCode::link(std::move(object), {"f"});   // of std::shared_ptr
//   void *f = (*code)->address("f");                // valid as long as *code lives
#ifndef TOKAMAK_CODEGEN_MACHINECODE_H
#define TOKAMAK_CODEGEN_MACHINECODE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace tokamak::codegen {

// Linked code. Destroying it unmaps the code.
class MachineCode {
public:
  virtual ~MachineCode() = default;
  // Null if the symbol was not among those passed to `link`.
  void *address(llvm::StringRef symbol) const { return addresses_.lookup(symbol); }

  // Links an object file. `symbols`: the functions whose addresses can be looked up.
  static llvm::Expected<std::shared_ptr<MachineCode>>
  link(std::unique_ptr<llvm::MemoryBuffer> object, llvm::ArrayRef<std::string> symbols);

protected:
  llvm::StringMap<void *> addresses_;
};

} // namespace tokamak::codegen
#endif
