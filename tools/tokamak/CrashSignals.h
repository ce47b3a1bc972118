// Handles signals that only a bug in Tokamak raises (SIGSEGV, SIGABRT, ...): prints a message,
// writes a reproducer and exits with status 70, even after a stack overflow.
//
//   reportCrashes();          // once, in main, after prepareReproducer
#ifndef TOKAMAK_TOOLS_TOKAMAK_CRASHSIGNALS_H
#define TOKAMAK_TOOLS_TOKAMAK_CRASHSIGNALS_H

namespace tokamak {

void reportCrashes();

} // namespace tokamak
#endif
