// Marks code in which a failed allocation must end the process. LLVM and MLIR are built without
// exceptions: a std::bad_alloc that passes through them would leave their data corrupt. While a
// section is alive on a thread, a failed allocation of this thread ends the process with a message
// at the section's source place (by the new-handler that the program's main installs).
//
//   NeedsMemory section(place);
//   compile();
#ifndef TOKAMAK_BASE_NEEDSMEMORY_H
#define TOKAMAK_BASE_NEEDSMEMORY_H

#include "base/Error.h"

namespace tokamak {

class NeedsMemory {
public:
  explicit NeedsMemory(const SourcePlace &place) : outer_(current_) { current_ = &place; }
  ~NeedsMemory() { current_ = outer_; }
  NeedsMemory(const NeedsMemory &) = delete;
  NeedsMemory &operator=(const NeedsMemory &) = delete;

  // The place of the innermost section on this thread; null if there is none.
  static const SourcePlace *place() { return current_; }

private:
  const SourcePlace *outer_;
  static inline thread_local const SourcePlace *current_ = nullptr;
};

} // namespace tokamak
#endif
