// Tests one program: runs it on the reference and on the native engine in several configurations,
// all in this process, and compares the results.
//
//   TrialResources resources("machine-model.json");
//   Verdict verdict = tryProgram(program.source(), configurations, resources);
//   if (verdict.kind == Verdict::Kind::Differs) std::cout << verdict.finding.what;
//
// Compares the printed output, and the values that the print statements at the program's end show;
// these are compared as values, not as text.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_TRIAL_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_TRIAL_H

#include "codegen/KernelCompiler.h"
#include "runtime/parallel/TileScheduler.h"
#include "tokamak-fuzz/Configuration.h"
#include "tokamak-fuzz/SourceText.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::fuzz {

// Resources that all programs of a process share: kernels, threads.
class TrialResources {
public:
  explicit TrialResources(std::string machineModel)
      : machineModel(std::move(machineModel)), kernels({.cacheCapacity = 20'000}) {}
  runtime::Scheduler &scheduler(int threads);

  const std::string machineModel; // path of the file
  codegen::KernelCompiler kernels;

private:
  std::map<int, std::unique_ptr<runtime::Scheduler>> schedulers_;
};

// A difference or another error found.
struct Finding {
  // value, output, error, rejected, import (an internal error of a front end, or one without its
  // place), internal, plans or threads; from the parent process: crash, timeout
  std::string kind;
  std::vector<Configuration> configurations; // the configurations that reproduce it
  std::string what;                          // human-readable description
};

// Time spent, in nanoseconds; and numbers of kernels.
struct Times {
  int64_t reference = 0;
  int64_t native = 0;         // total of the native engine
  int64_t specialization = 0; // part of native, including kernels
  int64_t kernels = 0;        // part of specialization
  int64_t kernelsCompiled = 0, kernelsReused = 0;
  Times &operator+=(const Times &other);
};

struct Verdict {
  enum class Kind : uint8_t {
    Agrees,
    Undecided, // control flow depends on cells that may differ
    Invalid,   // rejected by the front end
    Differs,
  };
  Kind kind = Kind::Agrees;
  Finding finding;                      // Differs
  std::string reason;                   // Undecided, Invalid
  int64_t cells = 0, comparedCells = 0; // of the reference's results; with a finite error bound
  bool failed = false;                  // the program ends with an error, on every engine
  Times times;
  std::map<std::string, int64_t> rulesFired; // number of times, over all configurations
};

Verdict tryProgram(const SourceText &program, const std::vector<Configuration> &configurations,
                   TrialResources &resources);

} // namespace tokamak::fuzz
#endif
