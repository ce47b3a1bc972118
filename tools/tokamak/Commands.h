// The commands of `tokamak`; each returns the exit status of the process.
//
//   return runCommand(line);
#ifndef TOKAMAK_TOOLS_TOKAMAK_COMMANDS_H
#define TOKAMAK_TOOLS_TOKAMAK_COMMANDS_H

#include "tokamak/CommandLine.h"

namespace tokamak {

// 0, 1 (the program failed while it ran, whether or not it had printed anything), 2 (a mistake
// found before anything of the program was executed), 70 (a bug of ours, which leaves a
// reproducer), 130 (the user interrupted it).
enum ExitStatus {
  Success = 0,
  RunFailed = 1,
  Rejected = 2,
  InternalFailure = 70,
  Interrupted = 130
};

// run, explain and check: all that begins with a script.
int scriptCommand(const CommandLine &line);
int doctorCommand(const CommandLine &line);

} // namespace tokamak
#endif
