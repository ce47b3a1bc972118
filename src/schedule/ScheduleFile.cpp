#include "schedule/ScheduleFile.h"

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::schedule;

GivenSchedules schedule::readSchedules(std::string_view text, const std::string &file) {
  GivenSchedules schedules;
  GivenSchedule *current = nullptr;
  llvm::StringRef rest(text.data(), text.size());
  for (int number = 1; !rest.empty(); ++number) {
    auto [line, behind] = rest.split('\n');
    rest = behind;
    llvm::StringRef words = line.split('#').first.trim();
    SourcePlace place{file, number, static_cast<int>(line.size() - line.ltrim().size()) + 1};
    if (words.consume_front("kernel ")) {
      auto [entry, isNew] = schedules.try_emplace(words.trim().str(), GivenSchedule{place, ""});
      if (!isNew)
        throw Error(fmt::format("kernel {} has a schedule in line {} already", words.trim().str(),
                                entry->second.place.line))
            .at(place);
      current = &entry->second;
    } else if (current) {
      current->text += line.str() + "\n";
    } else if (!words.empty()) {
      throw Error("expected 'kernel NAME' before the lines of its schedule").at(place);
    }
  }
  return schedules;
}
