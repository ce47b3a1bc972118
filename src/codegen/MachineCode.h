// Machine code in this process: the just-in-time linker.
//
//   auto code = MachineCode::link(object->getMemBufferRef());   // of std::shared_ptr
//   void *f = (*code)->address("f");                            // valid as long as *code lives
//
// Debuggers know the code by gdb's interface for just-in-time compilers (GDB manual, "JIT
// Compilation Interface"): a backtrace shows #0 row_matmul_3. If the environment variable
// TOKAMAK_PERF_MAP is set, /tmp/perf-PID.map gets a line for each function and stays behind.
#ifndef TOKAMAK_CODEGEN_MACHINECODE_H
#define TOKAMAK_CODEGEN_MACHINECODE_H

#include "llvm/ExecutionEngine/RTDyldMemoryManager.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Memory.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <memory>

namespace tokamak::codegen {

// Linked code and its memory. Destroying it unmaps the code.
class MachineCode : private llvm::RTDyldMemoryManager {
public:
  // Links a relocatable object file, which is not read afterwards. It may call the C library.
  static llvm::Expected<std::shared_ptr<MachineCode>> link(llvm::MemoryBufferRef object);
  ~MachineCode() override;

  // Null if the object does not define the symbol.
  void *address(llvm::StringRef symbol) const { return linker_.getSymbolLocalAddress(symbol); }

private:
  MachineCode() = default;
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

  // Code and, on pages behind it, data: the code addresses its constants relative to itself.
  llvm::sys::OwningMemoryBlock memory_;
  // Where what is allocated next lies.
  uint8_t *code_ = nullptr, *constants_ = nullptr, *variables_ = nullptr;
  llvm::RuntimeDyld linker_{*this, *this};
};

} // namespace tokamak::codegen
#endif
