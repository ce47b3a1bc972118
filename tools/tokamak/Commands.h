// The commands of `tokamak`; each returns the exit status of the process.
//
//   return scriptCommand(line);
#ifndef TOKAMAK_TOOLS_TOKAMAK_COMMANDS_H
#define TOKAMAK_TOOLS_TOKAMAK_COMMANDS_H

#include "tokamak/CommandLine.h"

namespace tokamak {

// Exit statuses: Success 0; RunFailed 1, the program failed at run time, whether or not it had
// printed anything; Rejected 2, an error found before any of the program was executed;
// InternalFailure 70, a bug in Tokamak, which leaves a reproducer; Interrupted 130, by the user.
enum ExitStatus {
  Success = 0,
  RunFailed = 1,
  Rejected = 2,
  InternalFailure = 70,
  Interrupted = 130
};

// The commands that take a script: run, explain and check. For a model they call modelCommand.
int scriptCommand(const CommandLine &line);
// run and check of an ONNX model.
int modelCommand(const CommandLine &line);
int compileCommand(const CommandLine &line);
int doctorCommand(const CommandLine &line);

} // namespace tokamak
#endif
