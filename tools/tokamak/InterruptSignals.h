// Handles Ctrl-C, SIGTERM and the end of the terminal (SIGHUP, unless it is ignored): the process always ends
// within a second, with status 130.
//
// The first signal asks the running program to stop, which it does between tiles and instructions
// (base/Interrupt.h), reporting the place. Code that never checks, such as LLVM compiling a kernel
// or LAPACK factorising a matrix, is abandoned after `graceMilliseconds`: a watcher thread flushes
// the script's output and ends the process without running destructors, because the abandoned
// thread may still use any object. Files being written stay unnamed until they are complete, so
// they vanish with the process. A second signal ends the grace period immediately, a third one the
// process.
//
//   stopOnInterrupt();             // at the start of main
//   program.run(context);          // throws Error(..., ErrorKind::Interrupted)
#ifndef TOKAMAK_TOOLS_TOKAMAK_INTERRUPTSIGNALS_H
#define TOKAMAK_TOOLS_TOKAMAK_INTERRUPTSIGNALS_H

namespace tokamak {

inline constexpr int graceMilliseconds = 500;

void stopOnInterrupt();

} // namespace tokamak
#endif
