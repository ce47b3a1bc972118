#include "tokamak/GivenSchedules.h"

#include "base/RunInputs.h"
#include "support/SourceText.h"

using namespace tokamak;

schedule::GivenSchedules tokamak::readGivenSchedules(const std::string &path,
                                                     support::DiagnosticEngine &diagnostics) {
  if (path.empty())
    return {};
  std::string text = support::readSourceText(path);
  noteInputText(path, text);
  diagnostics.addSource(path, text);
  return schedule::readSchedules(text, path);
}
