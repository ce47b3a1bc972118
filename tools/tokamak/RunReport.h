// What --stats says of a run: where its time went, operator by operator, and what compiling took.
//
//   RunReport report{&profile, program->counts(), wallNanoseconds};
//   writeText(report, std::cerr);      // or writeJson
#ifndef TOKAMAK_TOOLS_TOKAMAK_RUNREPORT_H
#define TOKAMAK_TOOLS_TOKAMAK_RUNREPORT_H

#include "exec/Program.h"
#include "runtime/Profile.h"

#include <iosfwd>

namespace tokamak {

struct RunReport {
  const runtime::Profile *profile;
  exec::RunCounts counts;
  int64_t importTime = 0; // nanoseconds: reading, checking and the static phase
  int64_t runTime = 0;    // nanoseconds from the first instruction to the last
  int threads = 1;
};

// A table for people; GB/s count every array an operator reads or writes once, and of slices and
// replaced cells what was moved.
void writeText(const RunReport &report, std::ostream &out);
// One JSON object with the same figures: times in nanoseconds, memory in bytes.
void writeJson(const RunReport &report, std::ostream &out);

} // namespace tokamak
#endif
