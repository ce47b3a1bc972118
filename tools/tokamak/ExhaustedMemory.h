// Memory that the system refuses (ulimit -v, a container's limit) is no bug of ours. Most of it is
// an Error with the place of the operation; here is what remains: memory refused where no exception
// may pass, as within LLVM.
//
//   endWhereMemoryIsRefused();      // once, in main
//   programBegins();                // from here on the exit status is that of a failed run
#ifndef TOKAMAK_TOOLS_TOKAMAK_EXHAUSTEDMEMORY_H
#define TOKAMAK_TOOLS_TOKAMAK_EXHAUSTEDMEMORY_H

namespace tokamak {

void endWhereMemoryIsRefused();
void programBegins();

} // namespace tokamak
#endif
