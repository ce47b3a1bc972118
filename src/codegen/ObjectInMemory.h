// An object file in memory whose code can run: tells debuggers and perf where its functions lie.
//
//   ObjectInMemory known(bytes, [&](const llvm::object::SectionRef &section) {
//     return addressOf(section);                  // 0: the section is not in memory
//   });
//
// Debuggers know the code by gdb's interface for just-in-time compilers (GDB manual, "JIT Compilation
// Interface"): a backtrace shows #0 row_matmul_3. If the environment variable TOKAMAK_PERF_MAP is set,
// /tmp/perf-PID.map gets a line for each function and stays behind.
#ifndef TOKAMAK_CODEGEN_OBJECTINMEMORY_H
#define TOKAMAK_CODEGEN_OBJECTINMEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"
#include "llvm/Object/ObjectFile.h"

namespace tokamak::codegen {

class ObjectInMemory {
public:
  using AddressOf = llvm::function_ref<uint64_t(const llvm::object::SectionRef &)>;

  // Writes the addresses of sections into the file, which must be a 64-bit ELF file and live as long as
  // the object.
  ObjectInMemory(llvm::MutableArrayRef<char> file, AddressOf addressOf);
  ~ObjectInMemory();
  ObjectInMemory(const ObjectInMemory &) = delete;
  ObjectInMemory &operator=(const ObjectInMemory &) = delete;

  // Writes addresses only.
  static void setAddresses(llvm::MutableArrayRef<char> file, AddressOf addressOf);

private:
  jit_code_entry entry_;
};

} // namespace tokamak::codegen
#endif
