// Handles failed allocations (ulimit -v, a container's limit), which are not bugs of Tokamak. Most
// of them become an Error with the place of the operation; this file handles the rest: failures
// where no exception may be thrown, such as within LLVM.
//
//   endWhereMemoryIsRefused();      // once, in main
//   programBegins();                // from here on the exit status is RunFailed
#ifndef TOKAMAK_TOOLS_TOKAMAK_EXHAUSTEDMEMORY_H
#define TOKAMAK_TOOLS_TOKAMAK_EXHAUSTEDMEMORY_H

namespace tokamak {

void endWhereMemoryIsRefused();
void programBegins();

} // namespace tokamak
#endif
