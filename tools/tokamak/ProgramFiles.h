// Programs that earlier runs have compiled: a script that is run again with the same arguments is
// neither read as DML nor analysed.
//
//   exec::CompiledFiles files(line.program.cacheFolder);
//   ProgramFiles programs(files, line, text);              // of this script
//   std::unique_ptr<exec::Program> program = programs.find(diagnostics);
//   if (!program) {
//     frontend::ImportOptions options = programs.watched(importOptions);
//     ...                                                  // import with them, compile
//     programs.keep(*program, sources);
//   }
//
// A program is kept under the script's name and text, its arguments and the options that decide what
// it is compiled to, together with what else was read on the way: scripts that it loads, models that it calls, and
// metadata of data that gave types. It is found only if these are the same now.
#ifndef TOKAMAK_TOOLS_TOKAMAK_PROGRAMFILES_H
#define TOKAMAK_TOOLS_TOKAMAK_PROGRAMFILES_H

#include "exec/Program.h"
#include "tokamak/CommandLine.h"

#include "exec/CompiledFiles.h"
#include "frontend/dml/Import.h"
#include "support/SourceDiagnostics.h"

#include <memory>
#include <string>

namespace tokamak {

class ProgramFiles {
public:
  // Programs are kept for runs of DML scripts that show nothing of their compilation, and take library
  // functions only from this build. References must outlive the object.
  ProgramFiles(exec::CompiledFiles &files, const CommandLine &line, const std::string &text);

  // Those of the command line, with which the program is to be compiled.
  exec::ProgramOptions options() const;
  // Null if there is none. `diagnostics` gets the texts of its scripts. Does not fail.
  std::unique_ptr<exec::Program> find(support::DiagnosticEngine &diagnostics) const;
  // The same options, but what is read is noted here.
  frontend::ImportOptions watched(frontend::ImportOptions options);
  // `sources`: those of the import with the watched options, which gave no warning.
  void keep(const exec::Program &program, const frontend::SourceManager &sources) const;

private:
  exec::CompiledFiles &files_;
  const CommandLine &line_;
  const std::string &text_;
  std::string key_;                        // empty: the program is neither kept nor found
  std::vector<std::string> describedData_; // paths of data whose metadata were asked for
  std::vector<std::string> modelFiles_;    // paths of models that the script calls
};

} // namespace tokamak
#endif
