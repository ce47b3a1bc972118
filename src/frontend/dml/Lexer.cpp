#include "frontend/dml/Lexer.h"

#include "base/NearestNames.h"
#include "frontend/dml/ForeignNames.h"
#include "frontend/dml/Spellings.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace tokamak::frontend {

namespace {

bool isLetter(char c) { return llvm::isAlpha(c); }
bool isNameCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }
bool isControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool isKnownEscape(char c) {
  return std::string_view("btnfr'\"\\").find(c) != std::string_view::npos;
}

class Lexer {
public:
  Lexer(FileId file, SourceReporter &reporter)
      : file_(file), reporter_(reporter), text_(reporter.sources().file(file).text()) {}

  TokenList run();

private:
  char at(size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  SourceRange rangeTo(size_t begin, size_t end) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  void add(TokenKind kind, size_t begin);

  void skipBlanksAndComments();
  void skipBlockComment();
  void lexToken();
  void lexName();
  size_t endOfDottedName(size_t begin) const;
  void lexUnknownDottedName(size_t begin);
  void lexNumber();
  void checkInteger(size_t begin, size_t end);
  void lexString();
  void lexArgument();
  bool refuseTypographic();
  bool refuseLoneDollar();
  void dropStrayCharacters();
  void matchBrackets();

  FileId file_;
  SourceReporter &reporter_;
  std::string_view text_;
  size_t position_ = 0;
  bool isFirstOnLine_ = true;
  std::optional<SourceRange> firstLongString_; // its opening quotation mark
  TokenList tokens_;
};

TokenList Lexer::run() {
  tokens_.reserve(text_.size() / 2 + 2); // what isn't used isn't touched
  if (text_.starts_with("\xEF\xBB\xBF"))
    position_ = 3;
  for (;;) {
    skipBlanksAndComments();
    if (position_ >= text_.size())
      break;
    lexToken();
  }
  Token last;
  last.begin = last.end = tokens_.empty() ? 0 : tokens_.back().end;
  tokens_.push_back(last);
  matchBrackets();
  return std::move(tokens_);
}

void Lexer::add(TokenKind kind, size_t begin) {
  Token token;
  token.kind = kind;
  token.isFirstOnLine = isFirstOnLine_;
  token.begin = static_cast<uint32_t>(begin);
  token.end = static_cast<uint32_t>(position_);
  isFirstOnLine_ = false;
  tokens_.push_back(token);
}

void Lexer::skipBlanksAndComments() {
  while (position_ < text_.size()) {
    char c = text_[position_];
    if (c == '\n') {
      isFirstOnLine_ = true;
      ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (size_t length = lengthOfOtherBlank(text_.substr(position_))) {
      position_ += length;
    } else if (c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == '/' && at(position_ + 1) == '*') {
      skipBlockComment();
    } else {
      return;
    }
  }
}

void Lexer::skipBlockComment() {
  size_t end = text_.find("*/", position_ + 2);
  if (end == std::string_view::npos) {
    reporter_.error(rangeTo(position_, position_ + 2), "this comment is never closed")
        .note("expected '*/' before the end of the file");
    position_ = text_.size();
    return;
  }
  isFirstOnLine_ |= text_.substr(position_, end - position_).find('\n') != std::string_view::npos;
  position_ = end + 2;
}

void Lexer::lexToken() {
  char c = text_[position_];
  if (isLetter(c))
    return lexName();
  if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(at(position_ + 1))))
    return lexNumber();
  if (c == '"' || c == '\'')
    return lexString();
  if (c == '$' && isNameCharacter(at(position_ + 1)) && at(position_ + 1) != '_')
    return lexArgument();
  if (const Spelling *punctuation = findPunctuation(text_.substr(position_))) {
    size_t begin = position_;
    position_ += punctuation->text.size();
    add(punctuation->kind, begin);
    return;
  }
  if (!refuseTypographic() && !refuseLoneDollar())
    dropStrayCharacters();
}

void Lexer::lexName() {
  size_t begin = position_;
  while (isNameCharacter(at(position_)))
    ++position_;
  bool isQualified = text_.substr(position_).starts_with("::") && isLetter(at(position_ + 2));
  if (isQualified) {
    position_ += 2;
    while (isNameCharacter(at(position_)))
      ++position_;
  }
  if (at(position_) == '.' && isLetter(at(position_ + 1))) {
    size_t end = isQualified ? begin : endOfDottedName(begin);
    if (end == begin)
      return lexUnknownDottedName(begin);
    position_ = end;
    add(TokenKind::Identifier, begin);
    return;
  }
  add(kindOfWord(text_.substr(begin, position_ - begin)), begin);
}

/// The end of the name of `dottedNames` that starts at `begin`; `begin` if there is none.
size_t Lexer::endOfDottedName(size_t begin) const {
  for (std::string_view name : dottedNames) {
    size_t end = begin + name.size();
    if (text_.substr(begin).starts_with(name) && !isNameCharacter(at(end)))
      return end;
  }
  return begin;
}

void Lexer::lexUnknownDottedName(size_t begin) {
  while (isNameCharacter(at(position_)) ||
         (at(position_) == '.' && isNameCharacter(at(position_ + 1))))
    ++position_;
  std::string_view name = text_.substr(begin, position_ - begin);
  std::vector<std::string> known(dottedNames.begin(), dottedNames.end());
  auto &diagnostic = reporter_.error(rangeTo(begin, position_),
                                     "'" + std::string(name) + "': a name can't contain a dot");
  std::string_view last = name.substr(name.rfind('.') + 1),
                   object = name.substr(0, name.rfind('.'));
  std::string hint = hintForFunction(name);
  if (hint.empty())
    hint = hintForMember(object, last);
  if (!hint.empty()) {
    diagnostic.note(std::move(hint));
    return void(add(TokenKind::Identifier, begin));
  }
  diagnostic.candidates = nearestCandidates(name, known);
  if (diagnostic.candidates.empty())
    diagnostic.note("use '_' to separate words");
  add(TokenKind::Identifier, begin);
}

void Lexer::lexNumber() {
  size_t begin = position_;
  bool isDouble = false;
  auto skipDigits = [&] {
    while (llvm::isDigit(at(position_)))
      ++position_;
  };
  skipDigits();
  if (at(position_) == '.') {
    isDouble = true;
    ++position_;
    skipDigits();
  }
  if (at(position_) == 'e' || at(position_) == 'E') {
    size_t digits = position_ + 1;
    if (at(digits) == '+' || at(digits) == '-')
      ++digits;
    if (llvm::isDigit(at(digits))) {
      isDouble = true;
      position_ = digits;
      skipDigits();
    }
  }
  size_t end = position_;
  char suffix = at(position_);
  if ((suffix == 'L' || suffix == 'l') && !isNameCharacter(at(position_ + 1))) {
    ++position_;
    reporter_.error(rangeTo(begin, position_), "a number can't have the suffix 'L'")
        .note("a number without '.' and exponent is an integer: write '" +
              std::string(text_.substr(begin, end - begin)) + "'");
  }
  if (!isDouble)
    checkInteger(begin, end);
  add(isDouble ? TokenKind::Double : TokenKind::Integer, begin);
}

void Lexer::checkInteger(size_t begin, size_t end) {
  constexpr size_t digitsThatFit = 18;
  if (end - begin <= digitsThatFit)
    return;
  int64_t value = 0;
  auto result = std::from_chars(text_.data() + begin, text_.data() + end, value);
  if (result.ec == std::errc::result_out_of_range)
    reporter_.error(rangeTo(begin, end), "the integer doesn't fit into 64 bits")
        .note("the largest integer is 9223372036854775807; write '" +
              std::string(text_.substr(begin, end - begin)) + ".0' for a double");
}

void Lexer::lexString() {
  size_t begin = position_;
  char quote = text_[position_++];
  while (position_ < text_.size() && text_[position_] != quote) {
    if (text_[position_] != '\\' || position_ + 1 == text_.size()) {
      ++position_;
      continue;
    }
    if (!isKnownEscape(text_[position_ + 1]))
      reporter_.error(rangeTo(position_, position_ + 2), "unknown escape in a string")
          .note("the escapes are \\b \\t \\n \\f \\r \\' \\\" and \\\\");
    position_ += 2;
  }
  if (position_ < text_.size()) {
    ++position_;
  } else {
    // Resume after the line of the opening quote, so that the rest of the file is still checked.
    position_ = std::min(text_.find('\n', begin), text_.size());
    auto &diagnostic = reporter_.error(rangeTo(begin, position_), "this string is never closed");
    diagnostic.note(std::string("expected ") + quote + " before the end of the file");
    if (firstLongString_)
      diagnostic.notes.push_back(reporter_.noteAt(
          *firstLongString_, "or a quotation mark is missing in this string of several lines"));
  }
  if (!firstLongString_ &&
      text_.substr(begin, position_ - begin).find('\n') != std::string_view::npos)
    firstLongString_ = rangeTo(begin, begin + 1);
  add(TokenKind::String, begin);
}

void Lexer::lexArgument() {
  size_t begin = position_++;
  bool isPosition = llvm::isDigit(at(position_));
  while (isPosition ? llvm::isDigit(at(position_)) : isNameCharacter(at(position_)))
    ++position_;
  add(TokenKind::Argument, begin);
}

// Goes on as if what was meant stood there, so that there is one error.
bool Lexer::refuseTypographic() {
  const Typographic *found = findTypographic(text_.substr(position_));
  if (!found)
    return false;
  size_t begin = position_;
  position_ += found->text.size();
  reporter_
      .error(rangeTo(begin, position_), "'" + std::string(found->text) + "' is no character of DML")
      .note("write " + std::string(found->meant) + " instead");
  if (const Spelling *punctuation = findPunctuation(found->meant)) {
    add(punctuation->kind, begin);
    return true;
  }
  while (position_ < text_.size() && text_[position_] != '\n') {
    const Typographic *closing = findTypographic(text_.substr(position_));
    bool isClosing = text_.substr(position_).starts_with(found->meant) ||
                     (closing && closing->meant == found->meant);
    position_ += closing ? closing->text.size() : 1;
    if (isClosing)
      break;
  }
  add(TokenKind::String, begin);
  return true;
}

// A `$` that blanks separate from the name of its argument.
bool Lexer::refuseLoneDollar() {
  size_t begin = position_,
         name = std::min(text_.find_first_not_of(" \t", begin + 1), text_.size());
  if (text_[begin] != '$' || name == begin + 1 || !isNameCharacter(at(name)))
    return false;
  size_t end = name;
  while (isNameCharacter(at(end)))
    ++end;
  position_ = end;
  reporter_.error(rangeTo(begin, end), "'$' stands directly before the name of an argument")
      .note("write $" + std::string(text_.substr(name, end - name)));
  add(TokenKind::Argument, begin);
  return true;
}

void Lexer::dropStrayCharacters() {
  size_t begin = position_;
  size_t closing = text_.find('%', begin + 1);
  if (text_[begin] == '%' && closing != std::string_view::npos &&
      llvm::all_of(text_.substr(begin + 1, closing - begin - 1), isNameCharacter)) {
    position_ = closing + 1;
    std::string spelling(text_.substr(begin, position_ - begin));
    std::string hint = hintForOperator(spelling);
    reporter_.error(rangeTo(begin, position_), "unknown operator '" + spelling + "'")
        .note(hint.empty() ? "the operators in percent signs are %*%, %% and %/%" : hint);
    // What is behind it is parsed as if the operator were known.
    add(TokenKind::Modulus, begin);
    return;
  }
  auto isStray = [&](size_t offset) {
    char c = at(offset);
    bool startsToken =
        isNameCharacter(c) ? c != '_' : findPunctuation(text_.substr(offset)) != nullptr;
    return offset < text_.size() && !startsToken && !llvm::isSpace(c) && c != '"' && c != '\'' &&
           c != '$' && c != '#' && !(c == '.' && llvm::isDigit(at(offset + 1))) &&
           !findTypographic(text_.substr(offset)) && !lengthOfOtherBlank(text_.substr(offset));
  };
  do
    ++position_;
  while (isStray(position_));
  std::string shown;
  llvm::raw_string_ostream os(shown);
  std::string_view dropped = text_.substr(begin, position_ - begin);
  const auto *control = llvm::find_if(dropped, isControl);
  if (control == dropped.end())
    os << "stray text '" << dropped << "'";
  else
    os << "the control character " << llvm::format_hex(static_cast<unsigned char>(*control), 4);
  auto &diagnostic = reporter_.warning(rangeTo(begin, position_), shown + " is ignored");
  if (dropped.back() == '_' && isLetter(at(position_)))
    diagnostic.note("a name begins with a letter");
  if (std::string hint = hintForOperator(dropped); !hint.empty())
    diagnostic.note(std::move(hint));
}

void Lexer::matchBrackets() {
  std::vector<uint32_t> open;
  auto partnerOf = [](TokenKind closing) {
    return closing == TokenKind::RightParenthesis ? TokenKind::LeftParenthesis
           : closing == TokenKind::RightBracket   ? TokenKind::LeftBracket
                                                  : TokenKind::LeftBrace;
  };
  for (uint32_t i = 0; i < tokens_.size(); ++i) {
    switch (tokens_[i].kind) {
    case TokenKind::LeftParenthesis:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
      open.push_back(i);
      break;
    case TokenKind::RightParenthesis:
    case TokenKind::RightBracket:
    case TokenKind::RightBrace: {
      // A closing bracket may match across unclosed brackets inside it, but only a closing brace
      // may match across an opening brace: a missing parenthesis must not break up blocks.
      size_t depth = open.size();
      while (depth > 0 && tokens_[open[depth - 1]].kind != partnerOf(tokens_[i].kind) &&
             (tokens_[i].is(TokenKind::RightBrace) ||
              !tokens_[open[depth - 1]].is(TokenKind::LeftBrace)))
        --depth;
      if (depth == 0 || tokens_[open[depth - 1]].kind != partnerOf(tokens_[i].kind))
        break;
      tokens_[i].match = open[depth - 1];
      tokens_[open[depth - 1]].match = i;
      open.resize(depth - 1);
      break;
    }
    default:
      break;
    }
  }
}

} // namespace

TokenList lex(FileId file, SourceReporter &reporter) { return Lexer(file, reporter).run(); }

int64_t integerValue(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double doubleValue(std::string_view text) {
  double value = 0;
  auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  // from_chars sets no value beyond the range of a double; strtod returns the infinity or zero
  // wanted.
  return result.ec == std::errc::result_out_of_range
             ? std::strtod(std::string(text).c_str(), nullptr)
             : value;
}

std::string unescape(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    switch (char escape = text[++i]) {
    case 'b':
      result += '\b';
      break;
    case 't':
      result += '\t';
      break;
    case 'n':
      result += '\n';
      break;
    case 'f':
      result += '\f';
      break;
    case 'r':
      result += '\r';
      break;
    case '\'':
    case '"':
      result += escape;
      break;
    default:
      result += '\\';
      result += escape;
      break;
    }
  }
  return result;
}

} // namespace tokamak::frontend
