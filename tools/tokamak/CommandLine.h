// The command line of `tokamak`: what was asked for, as plain data.
//
//   CommandLine line;
//   if (std::optional<int> status = parseCommandLine(argc, argv, line))
//     return *status;                                  // --help was asked for, or a mistake was made
#ifndef TOKAMAK_TOOLS_TOKAMAK_COMMANDLINE_H
#define TOKAMAK_TOOLS_TOKAMAK_COMMANDLINE_H

#include "exec/Program.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tokamak {

enum class Command : uint8_t { Run, Explain, Check, Doctor, LanguageStatus };
enum class Engine : uint8_t { Native, Reference };

enum class Statistics : uint8_t { None, Text, Json };

struct CommandLine {
  Command command = Command::Run;
  std::string file;
  std::map<std::string, std::string> arguments; // of the script: "name" or "1" -> text
  Engine engine = Engine::Native;
  bool compare = false;    // both engines, to find the first operator whose value differs
  int threads = 0;         // 0: all cores
  int64_t memoryBytes = 0; // 0: decided from the machine
  int64_t seed = -1;
  std::vector<std::string> libraries; // folders with more DML builtins, searched first
  bool singlePrecision = false;       // matrices of f32
  bool quiet = false;
  bool color = false;
  Statistics statistics = Statistics::None; // of the run, on stderr
  std::string trace;                        // file for a timeline; empty: none
  bool calibrate = false, json = false;     // of doctor
  exec::ProgramOptions program;
};

// Exit status if there is nothing to run.
std::optional<int> parseCommandLine(int argc, char **argv, CommandLine &line);

} // namespace tokamak
#endif
