// Makes generated code known to debuggers and profilers: to gdb and lldb by gdb's interface for
// just-in-time compilers (GDB manual, "JIT Compilation Interface"), to perf by a map file.
//
//   // As long as `registration` lives, a backtrace in gdb shows: #0 row_matmul_3_tile
//   DebuggerRegistration registration(object, addresses);
//
// Destroying the object ends the registration. If the environment variable TOKAMAK_PERF_MAP is set,
// /tmp/perf-PID.map gets a line for each function and stays behind for `perf report`.
#ifndef TOKAMAK_CODEGEN_DEBUGGERREGISTRATION_H
#define TOKAMAK_CODEGEN_DEBUGGERREGISTRATION_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace tokamak::codegen {

class DebuggerRegistration {
public:
  // `object`: the relocatable object that was linked, with all functions in one section.
  // `addresses`: the addresses of at least one of its functions, by name.
  DebuggerRegistration(llvm::StringRef object, const llvm::StringMap<void *> &addresses);
  ~DebuggerRegistration();
  DebuggerRegistration(const DebuggerRegistration &) = delete;
  DebuggerRegistration &operator=(const DebuggerRegistration &) = delete;

private:
  struct Entry;
  std::unique_ptr<Entry> entry_; // null if the object has no code
};

} // namespace tokamak::codegen
#endif
