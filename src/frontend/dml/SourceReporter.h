// Reports diagnostics at ranges of source text.
//
//   SourceReporter reporter(sources, engine);
//   reporter.error(node.range(), "expected ')'").note("'(' is never closed");
#ifndef TOKAMAK_FRONTEND_DML_SOURCEREPORTER_H
#define TOKAMAK_FRONTEND_DML_SOURCEREPORTER_H

#include "frontend/dml/Source.h"
#include "support/SourceDiagnostics.h"

namespace tokamak::frontend {

class SourceReporter {
public:
  SourceReporter(const SourceManager &sources, support::DiagnosticEngine &engine)
      : sources_(sources), engine_(engine) {}

  support::Diagnostic &report(support::Severity severity, SourceRange range, std::string message);
  support::Diagnostic &error(SourceRange range, std::string message) {
    return report(support::Severity::Error, range, std::move(message));
  }
  support::Diagnostic &warning(SourceRange range, std::string message) {
    return report(support::Severity::Warning, range, std::move(message));
  }

  /// A note with its own source position, different from that of its diagnostic.
  support::DiagnosticNote noteAt(SourceRange range, std::string message) const;

  const SourceManager &sources() const { return sources_; }
  support::DiagnosticEngine &engine() { return engine_; }

private:
  const SourceManager &sources_;
  support::DiagnosticEngine &engine_;
};

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_SOURCEREPORTER_H
