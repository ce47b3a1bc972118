#include "frontend/dml/DescentParser.h"

#include "base/NearestNames.h"
#include "frontend/dml/Builtins.h"
#include "frontend/dml/ForeignNames.h"
#include "frontend/dml/Parser.h"
#include "frontend/dml/Spellings.h"
#include "support/SourceText.h"

namespace tokamak::frontend {

// Parsing stops after this many errors: later ones are mostly consequences of earlier ones.
static constexpr uint32_t maximumErrors = 50;

// The keywords in front of a parenthesis at the beginning of a statement and of a value.
static const std::vector<std::string> wordsOfCalls(callLikeKeywords.begin(),
                                                   callLikeKeywords.end());
static const std::string wordsOfValues[] = {"function", "ifdef"};

std::unique_ptr<Program> parseProgram(FileId file, const SourceManager &sources,
                                      support::DiagnosticEngine &engine) {
  const SourceFile &source = sources.file(file);
  engine.addSource(source.path(), source.text());
  if (std::optional<std::string> what = support::whatIsNoText(source.text())) {
    engine.error(source.path(), 0, 0, "this is not a text file").note(*what);
    return nullptr;
  }
  uint32_t errorsBefore = engine.errorCount();
  SourceReporter reporter(sources, engine);
  std::unique_ptr<Program> program = DescentParser(file, reporter).parse();
  return engine.errorCount() == errorsBefore ? std::move(program) : nullptr;
}

std::unique_ptr<Program> DescentParser::parse() {
  program_->file = file_;
  for (const Token &token : tokens_)
    if (token.is(TokenKind::Argument))
      program_->arguments.emplace(text(token).substr(1));
  std::vector<const Statement *> statements;
  parseStatements(statements, /*isTopLevel=*/true);
  program_->statements = copy(statements);
  for (const Statement *statement : program_->statements)
    if (auto *source = llvm::dyn_cast<SourceStatement>(statement))
      program_->sources.push_back(source);
  return std::move(program_);
}

//===-- Tokens --===//

static std::string_view spellingOf(TokenKind kind) {
  switch (kind) {
  case TokenKind::LeftParenthesis:
    return "'('";
  case TokenKind::RightParenthesis:
    return "')'";
  case TokenKind::LeftBracket:
    return "'['";
  case TokenKind::RightBracket:
    return "']'";
  case TokenKind::LeftBrace:
    return "'{'";
  case TokenKind::RightBrace:
    return "'}'";
  case TokenKind::Comma:
    return "','";
  case TokenKind::Assign:
    return "'='";
  case TokenKind::As:
    return "'as'";
  case TokenKind::In:
    return "'in'";
  case TokenKind::Implemented:
    return "'implemented'";
  case TokenKind::Identifier:
    return "a name";
  case TokenKind::String:
    return "a string";
  case TokenKind::Argument:
    return "a command line argument such as $name";
  default:
    llvm_unreachable("the parser expects no such token by kind");
  }
}

const Token &DescentParser::advance() {
  const Token &token = peek();
  if (position_ + 1 < tokens_.size())
    ++position_;
  return token;
}

bool DescentParser::accept(TokenKind kind) {
  if (!at(kind))
    return false;
  advance();
  return true;
}

bool DescentParser::expect(TokenKind kind, std::string_view context) {
  if (accept(kind))
    return true;
  errorExpected(spellingOf(kind), context);
  return false;
}

bool DescentParser::expectClosing(uint32_t open) {
  TokenKind closing = tokens_[open].is(TokenKind::LeftParenthesis) ? TokenKind::RightParenthesis
                      : tokens_[open].is(TokenKind::LeftBracket)   ? TokenKind::RightBracket
                                                                   : TokenKind::RightBrace;
  if (accept(closing))
    return true;
  auto &diagnostic = errorExpected(spellingOf(closing));
  diagnostic.notes.push_back(reporter_.noteAt(
      rangeOf(tokens_[open]), "to close the '" + std::string(text(tokens_[open])) + "' here"));
  return false;
}

//===-- Errors --===//

support::Diagnostic &DescentParser::error(SourceRange range, std::string message) {
  droppedDiagnostic_ = {};
  if (isAbandoned_ || lastErrorPosition_ == position_)
    return droppedDiagnostic_;
  lastErrorPosition_ = position_;
  auto &diagnostic = reporter_.error(range, std::move(message));
  if (++errorCount_ == maximumErrors) {
    diagnostic.note("too many errors; the rest of the file was not checked");
    abandon();
  }
  bool followsLongString = position_ > 0 && previous().is(TokenKind::String) &&
                           text(previous()).find('\n') != std::string_view::npos;
  if (followsLongString)
    diagnostic.notes.push_back(
        reporter_.noteAt({file_, previous().begin, previous().begin + 1},
                         "this string goes over several lines: is a quotation mark missing?"));
  addMisspelling(diagnostic, statementBegin_, wordsOfCalls);
  if (position_ >= 3 && tokens_[position_ - 3].isAssignment())
    addMisspelling(diagnostic, position_ - 2, wordsOfValues);
  return diagnostic;
}

static std::vector<std::string> nearestWords(std::string_view word,
                                             llvm::ArrayRef<std::string> words) {
  llvm::StringRef name(word.data(), word.size());
  return findBuiltin(name) ? std::vector<std::string>() : nearestCandidates(word, words, 1);
}

bool DescentParser::isMisspelledKeyword(std::string_view word) {
  return !nearestWords(word, wordsOfCalls).empty();
}

/// The keywords that may stand here: those with which statements begin, if one may, and 'else'.
std::vector<std::string> DescentParser::wordsOfStatement(bool mayBegin) const {
  std::vector<std::string> words = mayBegin ? wordsOfCalls : std::vector<std::string>();
  if (endOfIf_ == position_)
    words.emplace_back("else");
  return words;
}

/// Adds a note if a name in front of a parenthesis is nearly one of the words.
void DescentParser::addMisspelling(support::Diagnostic &diagnostic, uint32_t word,
                                   Words words) const {
  const Token &token = tokens_[word];
  if (word >= position_ || !token.is(TokenKind::Identifier) ||
      !tokens_[word + 1].is(TokenKind::LeftParenthesis))
    return;
  for (const std::string &keyword : nearestWords(text(token), words))
    diagnostic.notes.push_back(
        reporter_.noteAt(rangeOf(token), "did you mean the keyword '" + keyword + "'?"));
}

support::Diagnostic &DescentParser::errorExpected(std::string_view what, std::string_view context,
                                                  Words words) {
  std::string message = "expected " + std::string(what);
  if (!context.empty())
    message += " " + std::string(context);
  message += ", found " + describe(peek());
  auto &diagnostic = error(rangeOf(peek()), std::move(message));
  addHints(diagnostic, peek(), words);
  return diagnostic;
}

std::string DescentParser::describe(const Token &token) const {
  if (token.is(TokenKind::EndOfFile))
    return "the end of the file";
  std::string shown(text(token).substr(0, 40));
  if (shown.size() < text(token).size())
    shown += "...";
  if (token.is(TokenKind::String) && shown.find('\n') != std::string::npos)
    return "a string of several lines";
  std::string quoted = token.is(TokenKind::String) ? shown : "'" + shown + "'";
  if (token.isKeyword())
    return "the keyword " + quoted;
  switch (token.kind) {
  case TokenKind::String:
    return "the string " + quoted;
  case TokenKind::Integer:
  case TokenKind::Double:
    return "the number " + quoted;
  default:
    return quoted;
  }
}

void DescentParser::addHint(support::Diagnostic &diagnostic, std::string hint) {
  if (!hint.empty())
    diagnostic.note(std::move(hint));
}

/// Adds notes on what users of R, or users who made a typo, usually mean by a token that can't
/// stand where it was found.
void DescentParser::addHints(support::Diagnostic &diagnostic, const Token &found,
                             Words words) const {
  const Token *next = &found + (found.is(TokenKind::EndOfFile) ? 0 : 1);
  bool touchesPrevious = &found != &tokens_[0] && (&found)[-1].end == found.begin;
  if (position_ > 0 && text(previous()) == "not")
    addHint(diagnostic, hintForWord("not"));
  switch (found.kind) {
  case TokenKind::LeftArrow:
    diagnostic.note("'<-' is always an assignment; to compare with a negative number write '< -'");
    break;
  case TokenKind::Assign:
    diagnostic.note("use '==' to compare");
    break;
  case TokenKind::Colon:
    if (next->is(TokenKind::Colon))
      diagnostic.note("a qualified name is written without blanks: ns::name");
    else
      diagnostic.note(
          "':' is allowed in loop ranges and index ranges only; use seq(from, to) for a vector");
    break;
  case TokenKind::Argument:
    if (touchesPrevious)
      diagnostic.note(
          "elements of a list are read with L[\"name\"]; '$' begins a command line argument");
    break;
  case TokenKind::Else:
    diagnostic.note("'else' follows the body of an 'if'");
    break;
  case TokenKind::Function:
    diagnostic.note("functions are defined at the top level as name = function(...) { ... }");
    break;
  case TokenKind::Ifdef:
    diagnostic.note("ifdef can only be the whole right side of an assignment: x = ifdef($x, 1)");
    break;
  case TokenKind::ValueType:
    if (next->is(TokenKind::LeftParenthesis))
      diagnostic.note("convert with as.double, as.integer, as.logical, or toString");
    else if (position_ > 0 && previous().is(TokenKind::Return))
      diagnostic.note("results stand in parentheses: return (double y)");
    else if (next->is(TokenKind::Identifier) && position_ == statementBegin_)
      diagnostic.note("a variable needs no declaration: " + std::string(text(*next)) + " = ...");
    else
      diagnostic.note("keywords can't be used as names");
    break;
  case TokenKind::Return:
    diagnostic.note("there is no return statement: a function gives back the variables named in "
                    "its signature");
    break;
  case TokenKind::If:
    if (position_ > 0 && previous().isAssignment())
      diagnostic.note(
          "'if' gives no value: assign in both branches, or use ifelse(condition, a, b)");
    break;
  case TokenKind::Identifier:
    diagnostic.candidates = nearestWords(text(found), words);
    addHint(diagnostic, hintForWord(text(found)));
    break;
  default:
    if (found.isKeyword() && !found.is(TokenKind::True) && !found.is(TokenKind::False))
      diagnostic.note("keywords can't be used as names");
    break;
  }
}

void DescentParser::abandon() {
  isAbandoned_ = true;
  position_ = static_cast<uint32_t>(tokens_.size() - 1);
}

bool DescentParser::Nesting::isTooDeep() const {
  if (parser_.depth_ <= maximumNestingDepth)
    return false;
  parser_
      .error(parser_.rangeOf(parser_.peek()),
             "nested deeper than " + std::to_string(maximumNestingDepth) + " levels")
      .note("assign inner parts to variables or move them into functions");
  parser_.abandon();
  return true;
}

//===-- Recovery --===//

/// Skips to after the bracket that matches the one at `open`; false if there is none.
bool DescentParser::skipBehind(uint32_t open) {
  uint32_t match = tokens_[open].match;
  if (isAbandoned_ || match == Token::noMatch)
    return false;
  position_ = std::max(position_, match + 1);
  return true;
}

bool DescentParser::startsMultiAssignment(uint32_t ahead) const {
  const Token &open = peek(ahead);
  if (!open.is(TokenKind::LeftBracket) || open.match == Token::noMatch)
    return false;
  return tokens_[open.match + 1].isAssignment();
}

bool DescentParser::startsStatement(const Token &token) const {
  switch (token.kind) {
  case TokenKind::If:
  case TokenKind::While:
  case TokenKind::For:
  case TokenKind::Parfor:
  case TokenKind::Source:
  case TokenKind::SetWorkingDirectory:
    return true;
  case TokenKind::LeftBracket:
    return token.match != Token::noMatch && tokens_[token.match + 1].isAssignment();
  case TokenKind::Identifier: {
    const Token &next = (&token)[1];
    return next.isAssignment() || next.is(TokenKind::PlusAssign) ||
           next.is(TokenKind::LeftParenthesis) || next.is(TokenKind::LeftBracket);
  }
  default:
    return false;
  }
}

/// After an error in a statement: skips to the likely start of the next one, which is a line that
/// begins like a statement or the token after a semicolon. Blocks of the broken statement are
/// skipped as a whole.
void DescentParser::synchronise() {
  while (!at(TokenKind::EndOfFile)) {
    switch (peek().kind) {
    case TokenKind::Semicolon:
      advance();
      return;
    case TokenKind::RightBrace:
      if (blockDepth_ > 0)
        return;
      break;
    case TokenKind::LeftBrace: {
      uint32_t open = position_;
      advance();
      skipBehind(open);
      if (!at(TokenKind::Else))
        return;
      break;
    }
    default:
      if (peek().isFirstOnLine && startsStatement(peek()))
        return;
      break;
    }
    advance();
  }
}

} // namespace tokamak::frontend
