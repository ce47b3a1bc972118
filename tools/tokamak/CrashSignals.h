// What becomes of signals that only a bug of ours raises (SIGSEGV, SIGABRT, ...): a message, a
// reproducer and exit status 70, also where a stack has overflowed.
//
//   reportCrashes();          // once, in main, behind prepareReproducer
#ifndef TOKAMAK_TOOLS_TOKAMAK_CRASHSIGNALS_H
#define TOKAMAK_TOOLS_TOKAMAK_CRASHSIGNALS_H

namespace tokamak {

void reportCrashes();

} // namespace tokamak
#endif
