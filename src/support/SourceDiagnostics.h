// Messages about a user's program: they are collected, sorted by position and shown with the source
// line underlined.
//
//   DiagnosticEngine engine;
//   engine.addSource("script.dml", text);
//   engine.error("script.dml", 3, 5, "unknown variable 'bta'").candidates = {"beta"};
//   engine.render(llvm::errs(), /*color=*/true);
//
//   script.dml:3:5: error: unknown variable 'bta'
//       y = bta * 2
//           ^~~
//     note: did you mean 'beta'?
//
// MlirDiagnosticForwarder sends what passes report at a location into the same engine.
#ifndef TOKAMAK_SUPPORT_SOURCEDIAGNOSTICS_H
#define TOKAMAK_SUPPORT_SOURCEDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace tokamak::support {

enum class Severity { Error, Warning, Note };

/// An addition to a diagnostic; it has a position of its own where `line` is not 0.
struct DiagnosticNote {
  std::string message;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};

/// Lines and columns count from 1, columns count bytes; line 0 means that there is no position.
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
  /// Names that the user may have meant; shown as "did you mean".
  std::vector<std::string> candidates;

  Diagnostic &note(std::string text) {
    notes.push_back({std::move(text), {}, 0, 0});
    return *this;
  }
};

/// Collects the diagnostics of one program. Not safe to use from two threads.
class DiagnosticEngine {
public:
  /// Makes the text known under `path`; files that were not added are read from disk when a line of
  /// them is shown.
  void addSource(llvm::StringRef path, llvm::StringRef text);

  /// The reference stays valid until clear().
  Diagnostic &report(Diagnostic diagnostic);
  Diagnostic &error(llvm::StringRef file, uint32_t line, uint32_t column, std::string message);
  Diagnostic &warning(llvm::StringRef file, uint32_t line, uint32_t column, std::string message);

  bool hasErrors() const { return errorCount_ > 0; }
  uint32_t errorCount() const { return errorCount_; }
  void clear();

  /// In order of files as they became known, then line and column; of equal positions in order of
  /// reporting.
  std::vector<const Diagnostic *> sorted() const;

  /// Writes all diagnostics in sorted order, `color` with ANSI escapes.
  void render(llvm::raw_ostream &os, bool color = false);

  /// Writes one diagnostic that need not have been reported: run-time errors use this.
  void render(const Diagnostic &diagnostic, llvm::raw_ostream &os, bool color = false);

private:
  struct SourceText {
    uint32_t order;
    std::string text;
  };

  uint32_t fileOrder(llvm::StringRef path) const;
  const SourceText &sourceText(llvm::StringRef path);
  llvm::StringRef sourceLine(llvm::StringRef path, uint32_t line);

  std::deque<Diagnostic> diagnostics_;
  llvm::StringMap<SourceText> sources_;
  uint32_t errorCount_ = 0;
};

/// The position that a diagnostic at `location` should show: line 0 where the location has none.
/// Names are looked through, of a call site it is the callee's position, of a fused location the
/// first that has one.
struct FilePosition {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};
FilePosition positionOf(mlir::Location location);

/// `location` as a diagnostic without severity and message: its position, and notes for the calls
/// that lead there.
Diagnostic diagnosticAt(mlir::Location location);

/// While it lives, diagnostics of `context` go to `engine` and nowhere else. Remarks become notes.
/// `onError`, where given, is called behind each error.
class MlirDiagnosticForwarder : public mlir::ScopedDiagnosticHandler {
public:
  MlirDiagnosticForwarder(mlir::MLIRContext *context, DiagnosticEngine &engine,
                          std::function<void()> onError = {});
};

} // namespace tokamak::support

#endif // TOKAMAK_SUPPORT_SOURCEDIAGNOSTICS_H
