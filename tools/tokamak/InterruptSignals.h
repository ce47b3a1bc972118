// Ctrl-C and SIGTERM while a script runs: the first one asks it to stop, which it does between
// tiles and instructions (base/Interrupt.h), the second one ends the process at once. Files that
// are being written have no name until they are whole, so that nothing half-written stays in either
// case.
//
//   stopOnInterrupt();
//   program.run(context);          // throws Error(..., ErrorKind::Interrupted)
#ifndef TOKAMAK_TOOLS_TOKAMAK_INTERRUPTSIGNALS_H
#define TOKAMAK_TOOLS_TOKAMAK_INTERRUPTSIGNALS_H

namespace tokamak {

void stopOnInterrupt();

} // namespace tokamak
#endif
