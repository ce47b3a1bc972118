// The page of `tokamak explain FILE --html=OUT`: one HTML file that needs nothing else. It holds
// tools/tokamak/page, and as JSON the facts about the program that this draws: the sources, the plans
// of all blocks with predicted and measured times, and the texts of their kernels.
//
//   std::string html = explainPage("script.dml", report, record);
#ifndef TOKAMAK_TOOLS_TOKAMAK_EXPLAINPAGE_H
#define TOKAMAK_TOOLS_TOKAMAK_EXPLAINPAGE_H

#include "exec/PlanRecord.h"
#include "tokamak/RunReport.h"

#include <string>

namespace tokamak {

// The report's profile is that of the run that filled the record.
std::string explainPage(const std::string &script, const RunReport &report,
                        const exec::PlanRecord &record);

} // namespace tokamak
#endif
