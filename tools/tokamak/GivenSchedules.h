// The file of --schedule: schedules that the user gives to some kernels.
//
//   options.schedules = readGivenSchedules(options.scheduleFile, diagnostics);
#ifndef TOKAMAK_TOOLS_TOKAMAK_GIVENSCHEDULES_H
#define TOKAMAK_TOOLS_TOKAMAK_GIVENSCHEDULES_H

#include "schedule/ScheduleFile.h"
#include "support/SourceDiagnostics.h"

#include <string>

namespace tokamak {

// No schedules for an empty path. `diagnostics` receives the text, to show lines of it. Throws Error, with its place, for a
// file that can't be read and for wrong lines.
schedule::GivenSchedules readGivenSchedules(const std::string &path,
                                            support::DiagnosticEngine &diagnostics);

} // namespace tokamak
#endif
