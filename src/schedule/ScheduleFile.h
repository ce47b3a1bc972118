// A file with schedules for some kernels of a program (--schedule=FILE). What --explain=schedule shows
// has the same form, so that it can be changed and given back. As text:
//
//   kernel row_mul_sum_1
//     block 4
//     unroll 3
//
// Each line behind a name replaces that line of the kernel's default schedule (Schedule.h).
//
//   auto given = tokamak::schedule::readSchedules("kernel row_1\n  block 4\n", "my.schedule");
//   given.at("row_1").text        // "  block 4\n"
#ifndef TOKAMAK_SCHEDULE_SCHEDULEFILE_H
#define TOKAMAK_SCHEDULE_SCHEDULEFILE_H

#include "base/Error.h"

#include <map>
#include <string>
#include <string_view>

namespace tokamak::schedule {

struct GivenSchedule {
  SourcePlace place; // of the line with the name
  std::string text;  // the lines behind it
};
using GivenSchedules = std::map<std::string, GivenSchedule>;

// Throws Error at the line that belongs to no kernel, or that names one again.
GivenSchedules readSchedules(std::string_view text, const std::string &file);

} // namespace tokamak::schedule
#endif
