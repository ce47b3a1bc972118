#include "frontend/dml/Lexer.h"

#include <gtest/gtest.h>

#include <limits>

using namespace tokamak::frontend;
using Kind = TokenKind;

namespace {

/// The tokens of a text and the diagnostics reported for it.
struct Lexed {
  explicit Lexed(std::string text) : reporter(sources, engine) {
    tokens = lex(sources.add("test.dml", std::move(text)), reporter);
  }

  /// The kinds of all tokens except the last, which must be EndOfFile.
  std::vector<Kind> kinds() const {
    std::vector<Kind> result;
    for (const Token &token : tokens)
      result.push_back(token.kind);
    EXPECT_EQ(result.back(), Kind::EndOfFile);
    result.pop_back();
    return result;
  }
  std::string_view text(size_t i) const {
    return sources.file(0).text().substr(tokens[i].begin, tokens[i].end - tokens[i].begin);
  }
  std::string messages() const {
    std::string result;
    for (const tokamak::support::Diagnostic *d : engine.sorted())
      result +=
          std::to_string(d->line) + ":" + std::to_string(d->column) + ": " + d->message + "\n";
    return result;
  }

  SourceManager sources;
  tokamak::support::DiagnosticEngine engine;
  SourceReporter reporter;
  TokenList tokens;
};

using Kinds = std::vector<Kind>;

} // namespace

TEST(Lexer, readsNamesAndKeywords) {
  Lexed lexed("x X_1 if If TRUE true matrix int Double");
  EXPECT_EQ(lexed.kinds(),
            (Kinds{Kind::Identifier, Kind::Identifier, Kind::If, Kind::Identifier, Kind::True,
                   Kind::Identifier, Kind::Identifier, Kind::ValueType, Kind::ValueType}));
  EXPECT_EQ(lexed.messages(), "");
}

TEST(Lexer, readsQualifiedAndDottedNamesAsOneToken) {
  Lexed lexed("ns::f as.scalar index.return a :: b list::if");
  EXPECT_EQ(lexed.text(0), "ns::f");
  EXPECT_EQ(lexed.text(1), "as.scalar");
  EXPECT_EQ(lexed.text(2), "index.return");
  EXPECT_EQ(lexed.text(3), "a");
  EXPECT_EQ(lexed.tokens[4].kind, Kind::Colon);
  EXPECT_EQ(lexed.text(7), "list::if");
  EXPECT_EQ(lexed.tokens[7].kind, Kind::Identifier);
}

TEST(Lexer, refusesOtherDottedNames) {
  Lexed lexed("my.value = as.sclar(x)");
  EXPECT_EQ(lexed.messages(), "1:1: 'my.value': a name can't contain a dot\n"
                              "1:12: 'as.sclar': a name can't contain a dot\n");
  EXPECT_EQ(lexed.engine.sorted()[1]->candidates, std::vector<std::string>{"as.scalar"});
}

TEST(Lexer, readsNumbers) {
  Lexed lexed("10 1. 1.5 .5 1e3 1E-3 9223372036854775807 1e999");
  EXPECT_EQ(lexed.kinds(), (Kinds{Kind::Integer, Kind::Double, Kind::Double, Kind::Double,
                                  Kind::Double, Kind::Double, Kind::Integer, Kind::Double}));
  EXPECT_EQ(integerValue(lexed.text(0)), 10);
  EXPECT_EQ(doubleValue(lexed.text(1)), 1.0);
  EXPECT_EQ(doubleValue(lexed.text(3)), 0.5);
  EXPECT_EQ(doubleValue(lexed.text(5)), 1e-3);
  EXPECT_EQ(integerValue(lexed.text(6)), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(doubleValue(lexed.text(7)), std::numeric_limits<double>::infinity());
}

TEST(Lexer, refusesLargeIntegersAndSuffixes) {
  Lexed lexed("9223372036854775808 10L");
  EXPECT_EQ(lexed.messages(), "1:1: the integer doesn't fit into 64 bits\n"
                              "1:21: a number can't have the suffix 'L'\n");
}

TEST(Lexer, readsStringsOverLinesWithEscapes) {
  Lexed lexed("'a\nb' \"it's \\\"x\\\"\" 'c\\\\d'");
  EXPECT_EQ(lexed.kinds(), (Kinds{Kind::String, Kind::String, Kind::String}));
  EXPECT_EQ(lexed.messages(), "");
  EXPECT_EQ(unescape("a\\tb\\n\\\"\\'\\b\\f\\r"), "a\tb\n\"'\b\f\r");
  EXPECT_EQ(unescape("c\\\\d"), "c\\\\d");
}

TEST(Lexer, refusesUnknownEscapesAndUnclosedText) {
  EXPECT_EQ(Lexed("x = 'a\\qb'").messages(), "1:7: unknown escape in a string\n");
  EXPECT_EQ(Lexed("x = 'abc\ny = 1").messages(), "1:5: this string is never closed\n");
  EXPECT_EQ(Lexed("x = 1 /* no end\ny = 1").messages(), "1:7: this comment is never closed\n");
}

TEST(Lexer, goesOnBehindTheLineOfAnUnclosedString) {
  Lexed lexed("x = 'abc\ny = 1");
  EXPECT_EQ(lexed.kinds(), (Kinds{Kind::Identifier, Kind::Assign, Kind::String, Kind::Identifier,
                                  Kind::Assign, Kind::Integer}));
}

TEST(Lexer, dropsComments) {
  Lexed lexed("a # b\n/* c /* d */ e");
  EXPECT_EQ(lexed.kinds(), (Kinds{Kind::Identifier, Kind::Identifier}));
  EXPECT_TRUE(lexed.tokens[1].isFirstOnLine);
}

TEST(Lexer, readsTheArrowAsOneToken) {
  EXPECT_EQ(Lexed("a<-1").kinds(), (Kinds{Kind::Identifier, Kind::LeftArrow, Kind::Integer}));
  EXPECT_EQ(Lexed("a < -1").kinds(),
            (Kinds{Kind::Identifier, Kind::Less, Kind::Minus, Kind::Integer}));
}

TEST(Lexer, readsOperators) {
  EXPECT_EQ(Lexed("%*% %% %/% <= >= == != += && || & | ! ^").kinds(),
            (Kinds{Kind::MatrixMultiply, Kind::Modulus, Kind::IntegerDivide, Kind::LessEqual,
                   Kind::GreaterEqual, Kind::Equal, Kind::NotEqual, Kind::PlusAssign, Kind::AndAnd,
                   Kind::OrOr, Kind::And, Kind::Or, Kind::Not, Kind::Caret}));
  EXPECT_EQ(Lexed("x %in% y").messages(), "1:3: unknown operator '%in%'\n");
}

TEST(Lexer, readsArguments) {
  Lexed lexed("$X_1 $12 $3a");
  EXPECT_EQ(lexed.text(0), "$X_1");
  EXPECT_EQ(lexed.text(1), "$12");
  EXPECT_EQ(lexed.text(2), "$3");
}

TEST(Lexer, dropsStrayCharactersWithAWarning) {
  Lexed lexed("stop('a').\nx = 1 @@ \x01 _y");
  EXPECT_EQ(lexed.messages(), "1:10: stray text '.' is ignored\n"
                              "2:7: stray text '@@' is ignored\n"
                              "2:10: the control character 0x01 is ignored\n"
                              "2:12: stray text '_' is ignored\n");
  EXPECT_FALSE(lexed.engine.hasErrors());
  EXPECT_EQ(lexed.kinds().size(), 8u);
}

TEST(Lexer, saysWhatToWriteInsteadOfTypographicCharacters) {
  Lexed lexed("x = \u201cabc\u201d + 3 \u2013 2\ny = x \u2264 $ k\n");
  EXPECT_EQ(lexed.messages(), "1:5: '\u201c' is no character of DML\n"
                              "1:15: '\u2013' is no character of DML\n"
                              "2:7: '\u2264' is no character of DML\n"
                              "2:9: '$' stands directly before the name of an argument\n");
  EXPECT_EQ(lexed.kinds(),
            (std::vector{TokenKind::Identifier, TokenKind::Assign, TokenKind::String,
                         TokenKind::Plus, TokenKind::Integer, TokenKind::Minus, TokenKind::Integer,
                         TokenKind::Identifier, TokenKind::Assign, TokenKind::Identifier,
                         TokenKind::LessEqual, TokenKind::Argument}));
}

TEST(Lexer, takesOtherBlanksForBlanks) {
  Lexed lexed("x\u00a0=\u200b 1\u3000+ 2\n");
  EXPECT_EQ(lexed.messages(), "");
  EXPECT_EQ(lexed.kinds().size(), 5u);
}

TEST(Lexer, skipsAByteOrderMarkAndCarriageReturns) {
  Lexed lexed("\xEF\xBB\xBFx = 1\r\ny = 2\r\n");
  EXPECT_EQ(lexed.kinds().size(), 6u);
  EXPECT_EQ(lexed.messages(), "");
}

TEST(Lexer, matchesBrackets) {
  Lexed lexed("f ( x [ 1 ] { ) }");
  EXPECT_EQ(lexed.tokens[3].match, 5u);
  // A parenthesis does not match across a brace.
  EXPECT_EQ(lexed.tokens[1].match, Token::noMatch);
  EXPECT_EQ(lexed.tokens[7].match, Token::noMatch);
  EXPECT_EQ(lexed.tokens[6].match, 8u);
}

TEST(Lexer, endsWithTheLastToken) {
  Lexed lexed("x = 1   \n\n");
  EXPECT_EQ(lexed.tokens.back().begin, 5u);
  EXPECT_EQ(Lexed("").tokens.size(), 1u);
}

TEST(Source, convertsOffsetsToLinesAndColumns) {
  SourceFile file("a.dml", "ab\n\ncd");
  EXPECT_EQ(file.lineColumn(0), (LineColumn{1, 1}));
  EXPECT_EQ(file.lineColumn(2), (LineColumn{1, 3}));
  EXPECT_EQ(file.lineColumn(3), (LineColumn{2, 1}));
  EXPECT_EQ(file.lineColumn(5), (LineColumn{3, 2}));
  EXPECT_EQ(file.lineColumn(6), (LineColumn{3, 3}));
}

TEST(Source, countsCharactersInColumns) {
  std::string text = "\u00e9\n\u6570\u5b66 = 1\n";
  for (int i = 0; i < 1000; ++i)
    text += "\u00e9";
  SourceFile file("a.dml", text + "x");
  EXPECT_EQ(file.lineColumn(2), (LineColumn{1, 2}));
  EXPECT_EQ(file.lineColumn(3), (LineColumn{2, 1}));
  EXPECT_EQ(file.lineColumn(10), (LineColumn{2, 4}));
  EXPECT_EQ(file.lineColumn(static_cast<uint32_t>(text.size())), (LineColumn{3, 1001}));
}
