// The parsed command line of `tokamak` as plain data.
//
//   CommandLine line;
//   if (std::optional<int> status = parseCommandLine(argc, argv, line))
//     return *status;                                  // after --help or a usage error
#ifndef TOKAMAK_TOOLS_TOKAMAK_COMMANDLINE_H
#define TOKAMAK_TOOLS_TOKAMAK_COMMANDLINE_H

#include "exec/ProgramOptions.h"
#include "runtime/natives/Native.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tokamak {

enum class Command : uint8_t {
  Run,
  Explain,
  Check,
  Compile,
  Doctor,
  LanguageStatus,
  OnnxOperators
};
enum class Engine : uint8_t { Native, Reference };

enum class Statistics : uint8_t { None, Text, Json };

struct CommandLine {
  Command command = Command::Run;
  std::string file;
  std::map<std::string, std::string> arguments; // script arguments: "name" or "1" -> text
  std::string call; // a function of the script, called instead of running its statements; or empty
  Engine engine = Engine::Native;
  bool compare = false;    // run both engines and find the first operator whose values differ
  int threads = 0;         // 0: all cores
  int64_t memoryBytes = 0; // 0: decided from the machine
  int64_t seed = -1;
  runtime::RandomNumbers randomNumbers = runtime::RandomNumbers::Own;
  // Of a model, as written: NAME=SOURCE, NAME=SIZES, NAME=FILE; how often it runs, 0: once, untimed.
  std::vector<std::string> inputs, shapes, outputs;
  int repetitions = 0;
  std::vector<std::string> entries, fixed; // of compile: functions, NAME=VALUE
  std::string output, target;              // of compile: the file or folder, what code is for
  std::vector<std::string> libraries;      // folders with more DML builtins, searched first
  bool singlePrecision = false;            // matrices of f32
  bool quiet = false;
  bool color = false;
  Statistics statistics = Statistics::None; // of the run, on stderr
  std::string trace;                        // output file for a timeline; empty for none
  std::string page;                         // output file of explain --html; empty for none
  bool calibrate = false, json = false;     // of doctor
  exec::ProgramOptions program;
};

// Returns the exit status if there is no command to run: after --help or a usage error.
std::optional<int> parseCommandLine(int argc, char **argv, CommandLine &line);

} // namespace tokamak
#endif
