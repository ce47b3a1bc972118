// What a run planned: every plan of a block, and the texts of its kernels. Given to a program, it is
// filled while the program runs; `tokamak explain --html` shows it.
//
//   PlanRecord record;
//   ProgramOptions withRecord{.record = &record};
//   Program::compile(module, withRecord)->run(context);
//   for (const PlanRecord::Plan &plan : record.plans())
//     show(plan.block, plan.facts);
#ifndef TOKAMAK_EXEC_PLANRECORD_H
#define TOKAMAK_EXEC_PLANRECORD_H

#include "base/Error.h"
#include "codegen/KernelCompiler.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace tokamak::exec {

struct SpecializationEvent;

// Thread-safe while it is filled; to be read when the run has ended.
class PlanRecord {
public:
  struct Plan {
    std::string block;
    SourcePlace place;
    std::string inputs; // sizes and bound scalars
    std::string reason; // why it was made
    double milliseconds = 0;
    std::string facts;                      // JSON (fusion/select/FusionFacts.h)
    std::map<int64_t, std::string> kernels; // names by the numbers of operators
  };
  // The texts of --explain=schedule, loops and asm.
  struct Kernel {
    std::string schedule, loops, assembly;
  };

  void add(const SpecializationEvent &event);
  // Stores texts of kernels; the record must outlive the function.
  codegen::KernelCompilerOptions::Sink sinkOf(std::string Kernel::*text);

  const std::vector<Plan> &plans() const { return plans_; }
  const std::map<std::string, Kernel> &kernels() const { return kernels_; } // by name

private:
  std::mutex mutex_;
  std::vector<Plan> plans_;
  std::map<std::string, Kernel> kernels_;
};

} // namespace tokamak::exec
#endif
