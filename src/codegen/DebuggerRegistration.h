// Makes generated code known to tools that look at a process from outside: gdb and lldb, by the
// just-in-time interface of gdb (GDB manual, "JIT Compilation Interface"), and perf, by a map file.
//
//   // As long as this lives, a backtrace in gdb shows: #0 row_matmul_3_tile
//   DebuggerRegistration registration(object, addresses);
//
// The registration ends with the object. perf is told where TOKAMAK_PERF_MAP is set: a line for
// each function in /tmp/perf-PID.map, which stays behind for `perf report`.
#ifndef TOKAMAK_CODEGEN_DEBUGGERREGISTRATION_H
#define TOKAMAK_CODEGEN_DEBUGGERREGISTRATION_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace tokamak::codegen {

class DebuggerRegistration {
public:
  // `object` is the relocatable object that was linked, `addresses` where some of its functions lie
  // now; all its functions are in one section.
  DebuggerRegistration(llvm::StringRef object, const llvm::StringMap<void *> &addresses);
  ~DebuggerRegistration();
  DebuggerRegistration(const DebuggerRegistration &) = delete;
  DebuggerRegistration &operator=(const DebuggerRegistration &) = delete;

private:
  struct Entry;
  std::unique_ptr<Entry> entry_; // null where the object has no code
};

} // namespace tokamak::codegen
#endif
