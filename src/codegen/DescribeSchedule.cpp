#include "codegen/DescribeSchedule.h"

#include "codegen/SparseSchedule.h"
#include "schedule/Schedule.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

template <typename Passes> static std::string keptBy(const Passes &passes) {
  std::set<unsigned> numbers;
  for (const auto &pass : passes)
    for (Value value : pass.kept)
      numbers.insert(schedule::numberOf(value));
  std::string text;
  for (unsigned number : numbers)
    text += fmt::format("{}%{}", text.empty() ? "; kept: " : ", ", number);
  return text;
}

std::string codegen::describeSchedule(const SparseBody &body) {
  SparseSchedule schedule = scheduleEntries(body);
  return fmt::format("  # the entries of operand {}, {}; {} over them, in vectors{}\n",
                     cast<BlockArgument>(body.driver().getOperand()).getArgNumber() + 1,
                     schedule.isFlat ? "all in one loop" : "row by row",
                     schedule.passes.size() == 1 ? "1 pass"
                                                 : fmt::format("{} passes", schedule.passes.size()),
                     keptBy(schedule.passes));
}
