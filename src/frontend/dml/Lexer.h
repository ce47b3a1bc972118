// Turns the text of a DML file into tokens. Blanks, newlines and comments separate tokens and are
// dropped; a newline has no meaning of its own, but tokens remember whether they are the first of
// their line, for messages and recovery.
//
//   TokenList tokens = lex(file, reporter);       // ends with TokenKind::EndOfFile
#ifndef TOKAMAK_FRONTEND_DML_LEXER_H
#define TOKAMAK_FRONTEND_DML_LEXER_H

#include "base/HugePages.h"
#include "frontend/dml/Source.h"
#include "frontend/dml/SourceReporter.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::frontend {

// clang-format off
enum class TokenKind : uint8_t {
  EndOfFile,
  // `name`, `ns::name`, and the closed list of names with a dot, such as `as.scalar`.
  Identifier,
  Integer, Double, String,
  // `$name`, `$1`
  Argument,
  // int, Double, ...
  ValueType,
  As, Else, ExternalFunction, False, For, Function, If, Ifdef, Implemented, In, Parfor, Return,
  SetWorkingDirectory, Source, True, While,
  LeftParenthesis, RightParenthesis, LeftBracket, RightBracket, LeftBrace, RightBrace,
  Comma, Semicolon, Colon,
  // `=`, `<-`, `+=`
  Assign, LeftArrow, PlusAssign,
  Plus, Minus, Star, Slash, Caret, MatrixMultiply, Modulus, IntegerDivide,
  Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual,
  And, AndAnd, Or, OrOr, Not
};
// clang-format on

struct Token {
  /// The value of `match` for an unmatched bracket.
  static constexpr uint32_t noMatch = std::numeric_limits<uint32_t>::max();

  /// The bytes [begin, end) of the file. A file of a million lines has ten million tokens, so that
  /// they leave out what the text says: its file and the values of numbers.
  uint32_t begin = 0;
  uint32_t end = 0;
  /// For a bracket of any kind: the index of the matching bracket in the token vector.
  uint32_t match = noMatch;
  TokenKind kind = TokenKind::EndOfFile;
  bool isFirstOnLine = false;

  bool is(TokenKind other) const { return kind == other; }
  /// `=` or `<-`.
  bool isAssignment() const { return is(TokenKind::Assign) || is(TokenKind::LeftArrow); }
  bool isKeyword() const { return kind >= TokenKind::ValueType && kind <= TokenKind::While; }
};

using TokenList = std::vector<Token, HugePageAllocator<Token>>;

/// The tokens of `file`; the last is EndOfFile, positioned at the end of the last real token.
/// Reports errors (unterminated strings and comments, unknown escapes, integers beyond 64 bits) and
/// warnings (stray characters, which are dropped).
TokenList lex(FileId file, SourceReporter &reporter);

/// The value of the text of an Integer; 0 for larger numbers than fit, which were reported.
int64_t integerValue(std::string_view text);

/// The value of the text of a Double: beyond the range of doubles an infinity or zero.
double doubleValue(std::string_view text);

/// Replaces the escapes `\b \t \n \f \r \' \"` in the text of a string token, or in any other text;
/// `\\` and unknown escapes stay two characters.
std::string unescape(std::string_view text);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_LEXER_H
