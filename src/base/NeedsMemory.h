// Work that can't go on, nor be given up, where the system refuses memory: LLVM and MLIR are built
// without exceptions, and one that passes through them leaves their data damaged. While it lives,
// memory refused to this thread ends the process with a message at the place. The program's main
// sees to that (std::set_new_handler).
//
//   NeedsMemory section(block.place);
//   compile(block);
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

  // Of the innermost one on this thread; null where there is none.
  static const SourcePlace *place() { return current_; }

private:
  const SourcePlace *outer_;
  static inline thread_local const SourcePlace *current_ = nullptr;
};

} // namespace tokamak
#endif
