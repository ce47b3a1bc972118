// How the tokens of DML are spelt, and what stands in their place by mistake.
//
//   kindOfWord("parfor");                    // TokenKind::Parfor
//   findPunctuation("<= 3")->kind;           // TokenKind::LessEqual
//   findTypographic("\u2264 3")->meant;      // "<="
#ifndef TOKAMAK_FRONTEND_DML_SPELLINGS_H
#define TOKAMAK_FRONTEND_DML_SPELLINGS_H

#include "frontend/dml/Lexer.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tokamak::frontend {

/// Names that have a dot, which others can't.
inline constexpr std::array<std::string_view, 16> dottedNames = {
    "as.scalar",  "as.matrix",    "as.frame",     "as.list",   "as.double",   "as.integer",
    "as.logical", "as.boolean",   "is.na",        "is.nan",    "is.infinite", "lower.tri",
    "upper.tri",  "index.return", "empty.return", "lower.tail"};

struct Spelling {
  std::string_view text;
  TokenKind kind;
};

inline constexpr std::array<Spelling, 28> keywords = {{
    {"as", TokenKind::As},
    {"else", TokenKind::Else},
    {"externalFunction", TokenKind::ExternalFunction},
    {"FALSE", TokenKind::False},
    {"for", TokenKind::For},
    {"function", TokenKind::Function},
    {"if", TokenKind::If},
    {"ifdef", TokenKind::Ifdef},
    {"implemented", TokenKind::Implemented},
    {"in", TokenKind::In},
    {"parfor", TokenKind::Parfor},
    {"return", TokenKind::Return},
    {"setwd", TokenKind::SetWorkingDirectory},
    {"source", TokenKind::Source},
    {"TRUE", TokenKind::True},
    {"while", TokenKind::While},
    {"int", TokenKind::ValueType},
    {"integer", TokenKind::ValueType},
    {"string", TokenKind::ValueType},
    {"boolean", TokenKind::ValueType},
    {"double", TokenKind::ValueType},
    {"unknown", TokenKind::ValueType},
    {"Int", TokenKind::ValueType},
    {"Integer", TokenKind::ValueType},
    {"String", TokenKind::ValueType},
    {"Boolean", TokenKind::ValueType},
    {"Double", TokenKind::ValueType},
    {"Unknown", TokenKind::ValueType},
}};

/// The keywords with which statements begin; parentheses follow.
inline constexpr std::array<const char *, 6> callLikeKeywords = {"if",     "while",  "for",
                                                                 "parfor", "source", "setwd"};

/// Sorted so that a longer spelling precedes its prefixes.
inline constexpr std::array<Spelling, 31> punctuations = {{
    {"%*%", TokenKind::MatrixMultiply},
    {"%/%", TokenKind::IntegerDivide},
    {"%%", TokenKind::Modulus},
    {"<-", TokenKind::LeftArrow},
    {"<=", TokenKind::LessEqual},
    {">=", TokenKind::GreaterEqual},
    {"==", TokenKind::Equal},
    {"!=", TokenKind::NotEqual},
    {"+=", TokenKind::PlusAssign},
    {"&&", TokenKind::AndAnd},
    {"||", TokenKind::OrOr},
    {"(", TokenKind::LeftParenthesis},
    {")", TokenKind::RightParenthesis},
    {"[", TokenKind::LeftBracket},
    {"]", TokenKind::RightBracket},
    {"{", TokenKind::LeftBrace},
    {"}", TokenKind::RightBrace},
    {",", TokenKind::Comma},
    {";", TokenKind::Semicolon},
    {":", TokenKind::Colon},
    {"=", TokenKind::Assign},
    {"+", TokenKind::Plus},
    {"-", TokenKind::Minus},
    {"*", TokenKind::Star},
    {"/", TokenKind::Slash},
    {"^", TokenKind::Caret},
    {"<", TokenKind::Less},
    {">", TokenKind::Greater},
    {"&", TokenKind::And},
    {"|", TokenKind::Or},
    {"!", TokenKind::Not},
}};

/// The spellings of a table that begin with a character of ASCII, in the table's order: few do.
template <size_t most, size_t count>
constexpr auto byFirstCharacter(const std::array<Spelling, count> &spellings) {
  std::array<std::array<const Spelling *, most>, 128> table{};
  for (const Spelling &spelling : spellings) {
    auto &own = table[static_cast<unsigned char>(spelling.text.front())];
    *std::find(own.begin(), own.end(), nullptr) = &spelling;
  }
  return table;
}
inline constexpr auto keywordsOf = byFirstCharacter<6>(keywords);
inline constexpr auto punctuationsOf = byFirstCharacter<3>(punctuations);

/// The keyword's kind, or Identifier.
inline TokenKind kindOfWord(std::string_view word) {
  for (const Spelling *keyword : keywordsOf[static_cast<size_t>(word.front())]) {
    if (!keyword)
      break;
    if (word == keyword->text)
      return keyword->kind;
  }
  return TokenKind::Identifier;
}

inline bool isAscii(std::string_view rest) {
  return rest.empty() || static_cast<unsigned char>(rest.front()) < 0x80;
}

/// The punctuation that `rest` begins with, or null.
inline const Spelling *findPunctuation(std::string_view rest) {
  if (rest.empty() || !isAscii(rest))
    return nullptr;
  for (const Spelling *punctuation : punctuationsOf[static_cast<size_t>(rest.front())]) {
    if (!punctuation)
      break;
    // Most have one character, which is known to be equal.
    if (punctuation->text.size() == 1 || rest.starts_with(punctuation->text))
      return punctuation;
  }
  return nullptr;
}

/// Characters that word processors put in the place of those of DML.
struct Typographic {
  std::string_view text, meant;
};
inline constexpr std::array<Typographic, 17> typographics = {{
    {"\u201c", "\""},
    {"\u201d", "\""},
    {"\u201e", "\""},
    {"\u00ab", "\""},
    {"\u00bb", "\""},
    {"\u2018", "'"},
    {"\u2019", "'"},
    {"\u2013", "-"},
    {"\u2014", "-"},
    {"\u2212", "-"},
    {"\u00d7", "*"},
    {"\u00b7", "*"},
    {"\u00f7", "/"},
    {"\u2264", "<="},
    {"\u2265", ">="},
    {"\u2260", "!="},
    {"\u2190", "<-"},
}};

/// Blanks that aren't ASCII: no-break spaces, an ideographic space, and some of no width.
inline constexpr std::array<std::string_view, 6> otherBlanks = {"\u00a0", "\u202f", "\u2007",
                                                                "\u3000", "\u200b", "\ufeff"};

/// How long the one is that `rest` begins with; 0 if there is none.
inline size_t lengthOfOtherBlank(std::string_view rest) {
  if (isAscii(rest))
    return 0;
  for (std::string_view blank : otherBlanks)
    if (rest.starts_with(blank))
      return blank.size();
  return 0;
}

/// The one that `rest` begins with, or null.
inline const Typographic *findTypographic(std::string_view rest) {
  if (isAscii(rest))
    return nullptr;
  for (const Typographic &typographic : typographics)
    if (rest.starts_with(typographic.text))
      return &typographic;
  return nullptr;
}

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_SPELLINGS_H
