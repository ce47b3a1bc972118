#include "tokamak/GivenSchedules.h"

#include "base/Error.h"
#include "base/RunInputs.h"
#include "support/SourceText.h"

#include <fmt/format.h>

using namespace tokamak;

schedule::GivenSchedules tokamak::readGivenSchedules(const std::string &path,
                                                     support::DiagnosticEngine &diagnostics) {
  if (path.empty())
    return {};
  std::string reason;
  std::optional<std::string> text = support::readSourceText(path, reason);
  if (!text)
    throw Error(fmt::format("can't read '{}': {}", path, reason));
  noteInputText(path, *text);
  diagnostics.addSource(path, *text);
  return schedule::readSchedules(*text, path);
}
