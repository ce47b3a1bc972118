// The recursive-descent parser behind parseProgram (Parser.h): the state shared by its parts
// DescentParser.cpp (tokens, errors, recovery), ParseExpressions.cpp, ParseStatements.cpp,
// ParseControlFlow.cpp and ParseFunctions.cpp.
//
// Every parse function either returns a node, or reports an error and returns null. Null propagates
// to the nearest caller that can resume parsing: after a closing bracket, or at the next statement
// (synchronise).
//
//   DescentParser parser(file, reporter);
//   std::unique_ptr<Program> program = parser.parse();
#ifndef TOKAMAK_FRONTEND_DML_DESCENTPARSER_H
#define TOKAMAK_FRONTEND_DML_DESCENTPARSER_H

#include "frontend/dml/Ast.h"
#include "frontend/dml/Lexer.h"
#include "frontend/dml/SourceReporter.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tokamak::frontend {

class DescentParser {
public:
  DescentParser(FileId file, SourceReporter &reporter)
      : file_(file), reporter_(reporter), source_(reporter.sources().file(file).text()),
        tokens_(lex(file, reporter)) {}

  /// Parses the whole file; the result lacks the statements that could not be parsed.
  std::unique_ptr<Program> parse();

private:
  //===-- Tokens --===//
  const Token &peek(uint32_t ahead = 0) const {
    size_t position = position_ + ahead;
    return position < tokens_.size() ? tokens_[position] : tokens_.back();
  }
  const Token &previous() const { return tokens_[position_ > 0 ? position_ - 1 : 0]; }
  const Token &advance();
  bool at(TokenKind kind) const { return peek().is(kind); }
  bool accept(TokenKind kind);
  /// Consumes a token of `kind`, or reports that it was expected; `context` says where, as in
  /// "after the predicate".
  bool expect(TokenKind kind, std::string_view context);
  /// Consumes the bracket that closes the one at token index `open`.
  bool expectClosing(uint32_t open);
  std::string_view text(SourceRange range) const { return reporter_.sources().text(range); }
  std::string_view text(const Token &token) const {
    return source_.substr(token.begin, token.end - token.begin);
  }
  SourceRange rangeOf(const Token &token) const { return {file_, token.begin, token.end}; }
  /// From the beginning of `first` to the end of the last consumed token.
  SourceRange rangeFrom(SourceRange first) const { return first.to(rangeOf(previous())); }

  //===-- Nodes --===//
  template <typename Node, typename... Arguments> const Node *make(Arguments &&...arguments) {
    return program_->arena.make<Node>(std::forward<Arguments>(arguments)...);
  }
  template <typename List> auto copy(const List &list) { return program_->arena.copy(list); }
  const std::string &intern(std::string_view text) { return program_->arena.intern(text); }

  //===-- Errors and recovery --===//
  /// Reports an error unless one was already reported since the last token was consumed: a second
  /// one would only repeat it.
  support::Diagnostic &error(SourceRange range, std::string message);
  /// `words` are what may stand here: the ones that the name found is nearly equal to are suggested.
  using Words = llvm::ArrayRef<std::string>;
  support::Diagnostic &errorExpected(std::string_view what, std::string_view context = {},
                                     Words words = {});
  static void addHint(support::Diagnostic &diagnostic, std::string hint);
  void addHints(support::Diagnostic &diagnostic, const Token &found, Words words = {}) const;
  void addMisspelling(support::Diagnostic &diagnostic, uint32_t word, Words words) const;
  static bool isMisspelledKeyword(std::string_view word);
  std::vector<std::string> wordsOfStatement(bool mayBegin) const;
  std::string describe(const Token &token) const;
  /// Skips the rest of the file after an error that would cause endless follow-up errors.
  void abandon();
  bool skipBehind(uint32_t open);
  void synchronise();
  bool startsStatement(const Token &token) const;
  bool startsMultiAssignment(uint32_t ahead) const;

  /// Increments the nesting depth during its lifetime; isTooDeep reports the error once and
  /// abandons the file.
  class Nesting {
  public:
    explicit Nesting(DescentParser &parser) : parser_(parser) { ++parser_.depth_; }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting &) = delete;
    Nesting &operator=(const Nesting &) = delete;
    bool isTooDeep() const;

  private:
    DescentParser &parser_;
  };

  //===-- Expressions --===//
  const Expression *parseExpression(int minimumPrecedence = 0);
  const Expression *parseRightOperand(int precedence, bool isRightAssociative);
  const Expression *parseOperand();
  const Expression *parsePrefix(UnaryOperator op, int operandPrecedence);
  const Expression *parseParenthesised();
  const Expression *parseList();
  const Expression *parseNameOrConstant();
  const Expression *parseIndex();
  bool parseDimension(IndexDimension &dimension);
  const CallExpression *parseCall();
  std::optional<llvm::ArrayRef<CallArgument>> parseArguments();
  std::optional<CallArgument> parseArgument();
  bool refuseIndexAfter(std::string_view what);
  const Expression *checkHeight(const Expression *expression);
  bool isIndexAhead(uint32_t bracketAhead) const;

  //===-- Statements --===//
  void parseStatements(std::vector<const Statement *> &statements, bool isTopLevel);
  const Statement *parseStatement();
  const Statement *parseNamedStatement();
  const Statement *parseAssignment(const Expression *target, SourceRange begin);
  const Statement *parseIfdef(const Expression *target, SourceRange begin);
  const Statement *parseMultiAssignment();
  const Statement *parseCallStatement();
  const Statement *parseIf();
  const Statement *parseWhile();
  const Statement *parseFor();
  bool parseLoopHead(SourceRange &variableRange, IterationRange &iteration,
                     std::vector<LoopOption> &options);
  bool parseIteration(IterationRange &iteration);
  bool parseSequence(IterationRange &iteration);
  std::optional<LoopOption> parseLoopOption();
  const Statement *parseSource();
  const Statement *parseSetWorkingDirectory();
  std::optional<std::string> parsePathArgument(SourceRange &range);
  const Expression *parsePredicate();
  const Expression *parseTarget();
  void checkAssignable(const Token &name);
  bool parseBody(std::vector<const Statement *> &body);
  void parseStatementInto(std::vector<const Statement *> &statements);
  bool checkEndOfStatement();
  void refuseStatement();
  void refuseNamedStatement();
  void checkTopLevel(SourceRange range, std::string_view what);

  //===-- Functions --===//
  bool atFunctionDefinition() const;
  void parseFunctionDefinition();
  std::unique_ptr<FunctionDefinition> parseFunction();
  void parseExternalFunction();
  bool parseSignature(std::vector<Parameter> &parameters, std::vector<Parameter> &outputs);
  /// Parses a list in parentheses; `what` is "a parameter" or "an output".
  bool parseParameters(std::vector<Parameter> &parameters, std::string_view what);
  bool parseParameter(Parameter &parameter, std::string_view what);
  bool parseType(DeclaredType &type);

  FileId file_;
  SourceReporter &reporter_;
  std::string_view source_;
  TokenList tokens_;
  uint32_t position_ = 0;
  /// Where the innermost statement begins that is being parsed.
  uint32_t statementBegin_ = 0;
  uint32_t depth_ = 0;
  /// Where the last 'if' ended that has no 'else'.
  std::optional<uint32_t> endOfIf_;
  /// The number of blocks, bodies and functions around the current statement.
  uint32_t blockDepth_ = 0;
  bool isAbandoned_ = false;
  llvm::StringMap<SourceRange> functionNames_;
  bool notedShortCircuit_ = false;
  uint32_t errorCount_ = 0;
  /// Where the last error was reported; errors at the same place are dropped.
  std::optional<uint32_t> lastErrorPosition_;
  support::Diagnostic droppedDiagnostic_;
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
};

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_DESCENTPARSER_H
