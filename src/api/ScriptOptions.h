// How scripts are compiled: what run, the calls of functions by name and the C interface share.
//
//   ScriptOptions options{.path = "script.dml"};
//   options.import = importOptions({"my-library"});
#ifndef TOKAMAK_API_SCRIPTOPTIONS_H
#define TOKAMAK_API_SCRIPTOPTIONS_H

#include "exec/ProgramOptions.h"
#include "frontend/dml/Import.h"

#include <string>
#include <vector>

namespace tokamak::api {

struct ScriptOptions {
  std::string path; // of the script, for messages
  frontend::ImportOptions import;
  exec::ProgramOptions program;
  bool singlePrecision = false; // matrices of f32
  bool usesReference = false;   // interpreted by the reference instead
};

// Script builtins come from these folders first, then from the embedded library.
frontend::ImportOptions importOptions(const std::vector<std::string> &libraries);

// Where compiled code is kept: if none is `wanted`, the folder that TOKAMAK_CACHE in the environment names, or the user's. None
// for "off", "no", "false" and "0", in letters of any case.
std::string cacheFolder(std::string wanted);

// Adds what these words of --explain= ask for. Throws Error for other words.
void addExplanations(const std::vector<std::string> &words, exec::Explanations &explain);

// Adds passes and rules that may be left out. Throws Error for other names.
void addDisabled(const std::vector<std::string> &names, llvm::StringSet<> &disabled);

} // namespace tokamak::api
#endif
