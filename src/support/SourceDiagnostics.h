// Diagnostics about a user's program: collected, sorted by position and shown with the source line
// underlined.
//
//   DiagnosticEngine engine;
//   engine.addSource("script.dml", text);
//   engine.error("script.dml", 3, 5, "unknown variable 'bta'").candidates = {"beta"};
//   engine.render(llvm::errs(), /*color=*/true);
//
// prints, as text:
//
//   script.dml:3:5: error: unknown variable 'bta'
//       y = bta * 2
//           ^~~
//     note: did you mean 'beta'?
//
// MlirDiagnosticForwarder forwards the diagnostics that passes report at MLIR locations to the same
// engine.
#ifndef TOKAMAK_SUPPORT_SOURCEDIAGNOSTICS_H
#define TOKAMAK_SUPPORT_SOURCEDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace tokamak::support {

enum class Severity { Error, Warning, Note };

/// A note attached to a diagnostic; it has its own position unless `line` is 0.
struct DiagnosticNote {
  std::string message;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};

/// Lines and columns count from 1, columns count characters; line 0 means that there is no position, column 0
/// that `file` names a place in no text (base/PlaceText.h).
/// `endColumn` is one past the last column to underline on the same line; 0 underlines the word or
/// number that starts at `column`.
struct Diagnostic {
  Severity severity = Severity::Error;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t endColumn = 0;
  std::string message;
  std::vector<DiagnosticNote> notes;
  /// Similar known names; shown as "did you mean".
  std::vector<std::string> candidates;

  Diagnostic &note(std::string text) {
    notes.push_back({std::move(text), {}, 0, 0});
    return *this;
  }
};

/// Collects the diagnostics of one program. Not thread-safe.
class DiagnosticEngine {
public:
  /// Registers the text of file `path`; other files are read from disk when one of their lines is
  /// shown.
  void addSource(llvm::StringRef path, llvm::StringRef text);

  /// The reference stays valid until clear().
  Diagnostic &report(Diagnostic diagnostic);
  Diagnostic &error(llvm::StringRef file, uint32_t line, uint32_t column, std::string message);
  Diagnostic &warning(llvm::StringRef file, uint32_t line, uint32_t column, std::string message);

  /// Whether one with this place and this message has been reported.
  bool has(const Diagnostic &diagnostic) const;

  /// Whether similar names are worth a search for `latest`, the last error reported: not after the first hundred,
  /// because each takes time for every known name, and nobody reads so many. The first one without says so.
  bool wantsCandidates(Diagnostic &latest);

  bool hasErrors() const { return errorCount_ > 0; }
  uint32_t errorCount() const { return errorCount_; }
  void clear();

  /// Sorted by file (in the order of registration), line and column; then by order of reporting.
  std::vector<const Diagnostic *> sorted() const;

  /// Writes all diagnostics in sorted order; `color` adds ANSI escapes.
  void render(llvm::raw_ostream &os, bool color = false);

  /// Writes one diagnostic, which need not have been reported to the engine: used for run-time
  /// errors.
  void render(const Diagnostic &diagnostic, llvm::raw_ostream &os, bool color = false);

private:
  struct SourceText {
    uint32_t order;
    std::string text;
    std::vector<size_t> lineBegins = {}; // of all lines, once one of them is shown
  };

  uint32_t fileOrder(llvm::StringRef path) const;
  SourceText &sourceText(llvm::StringRef path);
  llvm::StringRef sourceLine(llvm::StringRef path, uint32_t line);

  std::deque<Diagnostic> diagnostics_;
  llvm::StringSet<> reported_; // their places and messages
  llvm::StringMap<SourceText> sources_;
  uint32_t errorCount_ = 0;
  bool saidWithoutCandidates_ = false;
};

/// A diagnostic with the position of `location` and notes for the calls that lead there; severity
/// and message are left to the caller.
Diagnostic diagnosticAt(mlir::Location location);

/// During its lifetime, diagnostics of `context` go only to `engine`. Remarks become notes.
/// `onError`, if given, is called after each error.
class MlirDiagnosticForwarder : public mlir::ScopedDiagnosticHandler {
public:
  MlirDiagnosticForwarder(mlir::MLIRContext *context, DiagnosticEngine &engine,
                          std::function<void()> onError = {});
};

} // namespace tokamak::support

#endif // TOKAMAK_SUPPORT_SOURCEDIAGNOSTICS_H
