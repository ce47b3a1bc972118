// The report of --stats about a run: the time of each operator, and the cost of compilation.
//
//   RunReport report{&profile, program->counts(), importNanoseconds, runNanoseconds, threads};
//   writeText(report, std::cerr);      // or writeJson
#ifndef TOKAMAK_TOOLS_TOKAMAK_RUNREPORT_H
#define TOKAMAK_TOOLS_TOKAMAK_RUNREPORT_H

#include "exec/RunCounts.h"
#include "runtime/image/Profile.h"

#include <iosfwd>

namespace tokamak {

struct RunReport {
  const runtime::Profile *profile;
  exec::RunCounts counts;
  int64_t importTime = 0; // nanoseconds: reading, checking, the static phase, a model's weights
  int64_t runTime = 0;    // nanoseconds from the first instruction to the last
  int threads = 1;
  int64_t memoryBefore = 0;        // bytes in use before the first instruction: inputs and weights
  int64_t firstRunCompileTime = 0; // nanoseconds of compiling in the first of several runs
};

// A human-readable table. GB/s counts every array that an operator reads or writes once; for slices
// and replaced cells, only the cells moved.
void writeText(const RunReport &report, std::ostream &out);
// A JSON object with the same figures: times in nanoseconds, memory in bytes.
void writeJson(const RunReport &report, std::ostream &out);

} // namespace tokamak
#endif
