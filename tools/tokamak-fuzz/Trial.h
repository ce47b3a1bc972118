// One program on trial: it runs as the reference does and on the native engine in several
// configurations, all in this process, and what it computes is compared.
//
//   TrialResources resources("machine-model.json");
//   Verdict verdict = tryProgram(program.source(), configurations, resources);
//   if (verdict.kind == Verdict::Kind::Differs) std::cout << verdict.finding.what;
//
// A program is compared by what it prints and by the values that the print statements at its end
// show; these are compared as values, not as texts.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_TRIAL_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_TRIAL_H

#include "codegen/KernelCompiler.h"
#include "runtime/TileScheduler.h"
#include "tokamak-fuzz/Configuration.h"
#include "tokamak-fuzz/SourceText.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::fuzz {

// What all programs of a process share: kernels, threads.
class TrialResources {
public:
  explicit TrialResources(std::string machineModel)
      : machineModel(std::move(machineModel)), kernels({.cacheCapacity = 20'000}) {}
  runtime::Scheduler &scheduler(int threads);

  const std::string machineModel; // a file
  codegen::KernelCompiler kernels;

private:
  std::map<int, std::unique_ptr<runtime::Scheduler>> schedulers_;
};

// A difference, or what else should not be.
struct Finding {
  // value, output, error, rejected, internal, plans, threads; crash and timeout come from outside
  std::string kind;
  std::vector<Configuration> configurations; // which to try to see it again
  std::string what;                          // for people
};

// Where the time goes, in nanoseconds.
struct Times {
  int64_t reference = 0;
  int64_t native = 0;         // all of it
  int64_t specialization = 0; // of that, with kernels
  int64_t kernels = 0;        // of that
  int64_t kernelsCompiled = 0, kernelsReused = 0;
  Times &operator+=(const Times &other);
};

struct Verdict {
  enum class Kind : uint8_t {
    Agrees,
    Undecided, // the program's way depends on cells that may differ
    Invalid,   // the front end does not take it
    Differs,
  };
  Kind kind = Kind::Agrees;
  Finding finding;                      // Differs
  std::string reason;                   // Undecided, Invalid
  int64_t cells = 0, comparedCells = 0; // of the reference's results; those that have to be right
  bool failed = false;                  // the program ends with an error, on every engine
  Times times;
  std::map<std::string, int64_t> rulesFired; // how often, over all configurations
};

Verdict tryProgram(const SourceText &program, const std::vector<Configuration> &configurations,
                   TrialResources &resources);

} // namespace tokamak::fuzz
#endif
