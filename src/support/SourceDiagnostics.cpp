#include "support/SourceDiagnostics.h"

#include "support/SourceLocations.h"

#include "base/PlaceText.h"
#include "support/SourceText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

namespace tokamak::support {

namespace {

constexpr llvm::StringLiteral resetColor = "\x1b[0m";
constexpr llvm::StringLiteral boldText = "\x1b[1m";
constexpr llvm::StringLiteral caretColor = "\x1b[1;32m";
// The maximum length of a source line shown: a line of generated code can be megabytes long.
constexpr size_t maximumShownLine = 120;
// The maximum length of a message shown: it may quote a string of the program.
constexpr size_t maximumShownMessage = 1000;
// After so many errors no similar names are searched for.
constexpr uint32_t maximumErrorsWithCandidates = 100;

struct SeverityStyle {
  llvm::StringLiteral name;
  llvm::StringLiteral color;
};

SeverityStyle styleOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return {"error", "\x1b[1;31m"};
  case Severity::Warning:
    return {"warning", "\x1b[1;35m"};
  case Severity::Note:
    return {"note", "\x1b[1;36m"};
  }
  llvm_unreachable("unknown severity");
}

/// The beginning and end of a message that is too long; other messages unchanged.
std::string shortened(llvm::StringRef message) {
  if (message.size() <= maximumShownMessage)
    return message.str();
  size_t head = maximumShownMessage / 2, tail = message.size() - maximumShownMessage / 4;
  while (continuesCharacter(message[head]))
    --head;
  while (tail < message.size() && continuesCharacter(message[tail]))
    ++tail;
  return (message.take_front(head) + "..." + message.drop_front(tail)).str();
}

void printHeader(const std::string &file, uint32_t line, uint32_t column, Severity severity,
                 llvm::StringRef message, llvm::raw_ostream &os, bool color) {
  if (color)
    os << boldText;
  if (line > 0)
    os << placeText({file, static_cast<int>(line), static_cast<int>(column)}) << ": ";
  else if (!file.empty())
    os << file << ": ";
  SeverityStyle style = styleOf(severity);
  if (color)
    os << resetColor << style.color;
  os << style.name << ": ";
  if (color)
    os << resetColor << boldText;
  os << shortened(message);
  if (color)
    os << resetColor;
  os << '\n';
}

bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == ':'; }

/// Where the character at a column begins; columns behind the line are bytes behind it.
size_t byteOfColumn(llvm::StringRef line, size_t column) {
  size_t byte = 0;
  for (; column > 1 && byte < line.size(); --column)
    do
      ++byte;
    while (byte < line.size() && continuesCharacter(line[byte]));
  return byte + (column - 1);
}

/// One past the last byte to underline.
size_t endOfUnderline(llvm::StringRef line, size_t begin, size_t endColumn) {
  size_t end = begin;
  if (endColumn == 0) {
    while (end < line.size() && isWordCharacter(line[end]))
      ++end;
    while (end > begin && line[end - 1] == ':')
      --end;
  } else {
    end = byteOfColumn(line, endColumn);
  }
  size_t least = begin + 1;
  while (least < line.size() && continuesCharacter(line[least]))
    ++least;
  return std::clamp(end, least, std::max(line.size(), least));
}

/// How many columns of a terminal the text takes: two for wide characters, none for those that are
/// put on the one before.
size_t shownWidth(llvm::StringRef text) {
  size_t width = 0;
  for (size_t byte = 0; byte < text.size();) {
    size_t length = 1;
    while (byte + length < text.size() && continuesCharacter(text[byte + length]))
      ++length;
    int own = llvm::sys::unicode::columnWidthUTF8(text.substr(byte, length));
    width += own < 0 ? 1 : static_cast<size_t>(own); // negative: what can't be shown
    byte += length;
  }
  return width;
}

/// Prints the line and, below it, a caret under `column` and tildes up to the end.
void printExcerpt(llvm::StringRef line, size_t column, size_t endColumn, llvm::raw_ostream &os,
                  bool color) {
  size_t begin = byteOfColumn(line, column), end = endOfUnderline(line, begin, endColumn);
  // Show only the surroundings of the column of a long line.
  llvm::StringRef cut;
  if (begin >= maximumShownLine) {
    size_t start = begin + 1 - maximumShownLine / 2;
    while (start < line.size() && continuesCharacter(line[start]))
      ++start;
    cut = "...";
    line = line.drop_front(std::min(start, line.size()));
    begin -= start;
    end -= start;
  }
  size_t most = maximumShownLine - cut.size(), length = std::min(line.size(), most);
  while (length < line.size() && continuesCharacter(line[length]))
    --length;
  llvm::StringRef shown = line.take_front(length);
  end = std::max(std::min(end, most), begin + 1);
  os << "    " << cut << shown << (shown.size() < line.size() ? "..." : "") << "\n    ";
  os.indent(cut.size());
  llvm::StringRef before = line.take_front(begin);
  while (!before.empty()) {
    auto [blank, rest] = before.split('\t');
    os.indent(shownWidth(blank));
    if (blank.size() < before.size())
      os << '\t';
    before = rest;
  }
  os.indent(begin - std::min(begin, line.size()));
  if (color)
    os << caretColor;
  size_t width = shownWidth(line.slice(begin, end));
  os << '^' << std::string(std::max<size_t>(width, 1) - 1, '~');
  if (color)
    os << resetColor;
  os << '\n';
}

std::string didYouMean(const std::vector<std::string> &candidates) {
  std::string text = "did you mean ";
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (i > 0)
      text += i + 1 == candidates.size() ? " or " : ", ";
    text += "'" + candidates[i] + "'";
  }
  return text + "?";
}

} // namespace

//===-- DiagnosticEngine --===//

void DiagnosticEngine::addSource(llvm::StringRef path, llvm::StringRef text) {
  sources_.try_emplace(path, SourceText{sources_.size(), text.str()});
}

static std::string placeAndMessage(const Diagnostic &diagnostic) {
  return diagnostic.file + ":" + std::to_string(diagnostic.line) + ":" +
         std::to_string(diagnostic.column) + ":" + diagnostic.message;
}

bool DiagnosticEngine::has(const Diagnostic &diagnostic) const {
  return reported_.contains(placeAndMessage(diagnostic));
}

Diagnostic &DiagnosticEngine::report(Diagnostic diagnostic) {
  reported_.insert(placeAndMessage(diagnostic));
  if (diagnostic.severity == Severity::Error)
    ++errorCount_;
  diagnostics_.push_back(std::move(diagnostic));
  return diagnostics_.back();
}

Diagnostic &DiagnosticEngine::error(llvm::StringRef file, uint32_t line, uint32_t column,
                                    std::string message) {
  return report({Severity::Error, file.str(), line, column, 0, std::move(message), {}, {}});
}

Diagnostic &DiagnosticEngine::warning(llvm::StringRef file, uint32_t line, uint32_t column,
                                      std::string message) {
  return report({Severity::Warning, file.str(), line, column, 0, std::move(message), {}, {}});
}

bool DiagnosticEngine::wantsCandidates(Diagnostic &latest) {
  if (errorCount_ <= maximumErrorsWithCandidates)
    return true;
  if (!std::exchange(saidWithoutCandidates_, true))
    latest.note("similar names are not searched for after " +
                std::to_string(maximumErrorsWithCandidates) + " errors");
  return false;
}

void DiagnosticEngine::clear() {
  diagnostics_.clear();
  reported_.clear();
  errorCount_ = 0;
  saidWithoutCandidates_ = false;
}

uint32_t DiagnosticEngine::fileOrder(llvm::StringRef path) const {
  auto found = sources_.find(path);
  return found == sources_.end() ? std::numeric_limits<uint32_t>::max() : found->second.order;
}

std::vector<const Diagnostic *> DiagnosticEngine::sorted() const {
  auto key = [this](size_t i) {
    const Diagnostic &d = diagnostics_[i];
    return std::make_tuple(fileOrder(d.file), std::string_view(d.file), d.line, d.column, i);
  };
  std::vector<size_t> order(diagnostics_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<const Diagnostic *> result;
  for (size_t i : order)
    result.push_back(&diagnostics_[i]);
  return result;
}

DiagnosticEngine::SourceText &DiagnosticEngine::sourceText(llvm::StringRef path) {
  auto found = sources_.find(path);
  if (found != sources_.end())
    return found->second;
  std::string reason;
  addSource(path, readSourceText(path.str(), reason).value_or(""));
  return sources_.find(path)->second;
}

llvm::StringRef DiagnosticEngine::sourceLine(llvm::StringRef path, uint32_t line) {
  SourceText &source = sourceText(path);
  llvm::StringRef text = source.text;
  if (source.lineBegins.empty()) {
    source.lineBegins.push_back(0);
    for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 1))
      source.lineBegins.push_back(end + 1);
  }
  if (line == 0 || line > source.lineBegins.size())
    return {};
  return text.substr(source.lineBegins[line - 1]).split('\n').first.rtrim('\r');
}

// A node of a model is in no text: what is wrong with it is shown where a script calls the model.
static Diagnostic placedInText(Diagnostic diagnostic) {
  bool isInNoText = diagnostic.line > 0 && diagnostic.column == 0;
  auto call = llvm::find_if(diagnostic.notes, [](const auto &note) { return note.column > 0; });
  if (!isInNoText || call == diagnostic.notes.end())
    return diagnostic;
  diagnostic.message = diagnostic.file + ": " + diagnostic.message;
  diagnostic.file = call->file;
  diagnostic.line = call->line;
  diagnostic.column = call->column;
  diagnostic.notes.erase(call);
  return diagnostic;
}

void DiagnosticEngine::render(const Diagnostic &reported, llvm::raw_ostream &os, bool color) {
  const Diagnostic diagnostic = placedInText(reported);
  printHeader(diagnostic.file, diagnostic.line, diagnostic.column, diagnostic.severity,
              diagnostic.message, os, color);
  if (diagnostic.line > 0 && diagnostic.column > 0 && !diagnostic.file.empty()) {
    llvm::StringRef line = sourceLine(diagnostic.file, diagnostic.line);
    if (!line.empty())
      printExcerpt(line, diagnostic.column, diagnostic.endColumn, os, color);
  }
  for (const DiagnosticNote &note : diagnostic.notes) {
    os << "  ";
    printHeader(note.file, note.line, note.column, Severity::Note, note.message, os, color);
  }
  if (!diagnostic.candidates.empty()) {
    os << "  ";
    printHeader({}, 0, 0, Severity::Note, didYouMean(diagnostic.candidates), os, color);
  }
}

void DiagnosticEngine::render(llvm::raw_ostream &os, bool color) {
  for (const Diagnostic *diagnostic : sorted())
    render(*diagnostic, os, color);
}

//===-- MLIR locations and diagnostics --===//

Diagnostic diagnosticAt(mlir::Location location) {
  Diagnostic diagnostic;
  std::vector<SourcePlace> places = placesOf(location);
  if (places.empty())
    return diagnostic;
  diagnostic.file = places.front().file;
  diagnostic.line = static_cast<uint32_t>(places.front().line);
  diagnostic.column = static_cast<uint32_t>(places.front().column);
  for (const SourcePlace &caller : llvm::drop_begin(places))
    diagnostic.notes.push_back({"called from here", caller.file, static_cast<uint32_t>(caller.line),
                                static_cast<uint32_t>(caller.column)});
  return diagnostic;
}

static Severity severityOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Error:
    return Severity::Error;
  case mlir::DiagnosticSeverity::Warning:
    return Severity::Warning;
  case mlir::DiagnosticSeverity::Note:
  case mlir::DiagnosticSeverity::Remark:
    return Severity::Note;
  }
  llvm_unreachable("unknown severity");
}

MlirDiagnosticForwarder::MlirDiagnosticForwarder(mlir::MLIRContext *context,
                                                 DiagnosticEngine &engine,
                                                 std::function<void()> onError)
    : ScopedDiagnosticHandler(context) {
  setHandler([&engine, onError = std::move(onError)](mlir::Diagnostic &source) {
    Diagnostic diagnostic = diagnosticAt(source.getLocation());
    diagnostic.severity = severityOf(source.getSeverity());
    bool isError = diagnostic.severity == Severity::Error;
    diagnostic.message = source.str();
    for (mlir::Diagnostic &note : source.getNotes()) {
      Diagnostic at = diagnosticAt(note.getLocation());
      bool isElsewhere = at.file != diagnostic.file || at.line != diagnostic.line ||
                         at.column != diagnostic.column;
      if (!isElsewhere)
        at = {};
      diagnostic.notes.push_back({note.str(), at.file, at.line, at.column});
    }
    // The same error appears once per inlined copy of a function: report it only once.
    if (!engine.has(diagnostic))
      engine.report(std::move(diagnostic));
    if (isError && onError)
      onError();
    return mlir::success();
  });
}

} // namespace tokamak::support
