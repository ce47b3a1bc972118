// Ctrl-C and SIGTERM: the process ends within a second, with status 130, whatever it is doing.
//
// The first signal asks the running program to stop, which it does between tiles and instructions
// (base/Interrupt.h) and then says where. What never asks, such as LLVM compiling a kernel or
// LAPACK factorising a matrix, is abandoned after `graceMilliseconds`: a thread of its own writes
// out what the script has printed and ends the process without running destructors, so that nothing
// the abandoned thread uses is taken away. Files that are being written have no name until they are
// whole and vanish with the process. A second signal shortens the grace to nothing, a third one
// ends the process at once.
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
