#include "frontend/dml/SourceReporter.h"

#include <limits>
#include <utility>

namespace tokamak::frontend {

support::Diagnostic &SourceReporter::report(support::Severity severity, SourceRange range,
                                            std::string message) {
  const SourceFile &file = sources_.file(range.file);
  LineColumn begin = file.lineColumn(range.begin);
  LineColumn end = file.lineColumn(range.end);
  // A range over several lines is underlined to the end of its first line.
  uint32_t endColumn = end.line == begin.line ? end.column : std::numeric_limits<uint32_t>::max();
  return engine_.report(
      {severity, file.path(), begin.line, begin.column, endColumn, std::move(message), {}, {}});
}

support::DiagnosticNote SourceReporter::noteAt(SourceRange range, std::string message) const {
  LineColumn begin = sources_.begin(range);
  return {std::move(message), sources_.file(range.file).path(), begin.line, begin.column};
}

} // namespace tokamak::frontend
