#include "frontend/dml/DescentParser.h"

#include "frontend/dml/ForeignNames.h"

namespace tokamak::frontend {

void DescentParser::parseStatements(StatementList &statements, bool isTopLevel) {
  while (!at(TokenKind::EndOfFile)) {
    if (accept(TokenKind::Semicolon))
      continue;
    if (at(TokenKind::RightBrace)) {
      if (!isTopLevel)
        return;
      error(peek().range, "this '}' closes nothing");
      advance();
      continue;
    }
    uint32_t begin = position_;
    parseStatementInto(statements);
    // Recovery may stop without consuming a token; skip a token that can't start a statement, to
    // guarantee progress.
    if (position_ == begin)
      advance();
  }
}

void DescentParser::parseStatementInto(StatementList &statements) {
  if (atFunctionDefinition())
    return parseFunctionDefinition();
  if (StatementPtr statement = parseStatement())
    statements.push_back(std::move(statement));
  else
    synchronise();
}

StatementPtr DescentParser::parseStatement() {
  Nesting nesting(*this);
  if (nesting.isTooDeep())
    return nullptr;
  statementBegin_ = position_;
  switch (peek().kind) {
  case TokenKind::Identifier:
    return parseNamedStatement();
  case TokenKind::LeftBracket:
    return parseMultiAssignment();
  case TokenKind::If:
    return parseIf();
  case TokenKind::While:
    return parseWhile();
  case TokenKind::For:
  case TokenKind::Parfor:
    return parseFor();
  case TokenKind::Source:
    return parseSource();
  case TokenKind::SetWorkingDirectory:
    return parseSetWorkingDirectory();
  default:
    refuseStatement();
    return nullptr;
  }
}

/// Parses the body of a statement: a block, which may be empty, or a single statement.
bool DescentParser::parseBody(StatementList &body) {
  ++blockDepth_;
  bool isComplete = true;
  if (at(TokenKind::LeftBrace)) {
    uint32_t open = position_;
    advance();
    parseStatements(body, /*isTopLevel=*/false);
    isComplete = expectClosing(open);
  } else if (at(TokenKind::EndOfFile) || at(TokenKind::RightBrace) || at(TokenKind::Semicolon)) {
    errorExpected("a statement or '{'");
    isComplete = false;
  } else {
    parseStatementInto(body);
  }
  --blockDepth_;
  return isComplete;
}

//===-- Errors --===//

/// Reports a token that can't begin a statement.
void DescentParser::refuseStatement() {
  const Token &token = peek();
  if (token.is(TokenKind::LeftBrace)) {
    error(token.range, "a block needs an 'if', 'while', 'for' or function before it");
    StatementList ignored;
    parseBody(ignored);
    return;
  }
  auto &diagnostic = error(token.range, "expected a statement, found " + describe(token));
  if (token.is(TokenKind::Else)) {
    diagnostic.message = "'else' without an 'if' before it";
    advance();
    StatementList ignored;
    parseBody(ignored);
    return;
  }
  if (token.isKeyword() && (peek(1).isAssignment() || peek(1).is(TokenKind::PlusAssign)))
    diagnostic.message = "the keyword '" + std::string(text(token)) + "' can't be used as a name";
  else
    addHints(diagnostic, token);
}

/// Reports a statement that begins with a name but is neither an assignment nor a call.
void DescentParser::refuseNamedStatement() {
  const Token &name = peek();
  const Token &next = peek(1);
  std::string shown(text(name));
  bool isArithmetic = next.kind >= TokenKind::Plus && next.kind <= TokenKind::IntegerDivide;
  bool isCompound =
      isArithmetic && peek(2).is(TokenKind::Assign) && next.range.end == peek(2).range.begin;
  if (isCompound) {
    std::string op(text(next));
    error(next.range.to(peek(2).range), "there is no '" + op + "='")
        .note("write " + shown + " = " + shown + " " + op + " ...");
    return;
  }
  bool isStep = (next.is(TokenKind::Plus) || next.is(TokenKind::Minus)) && peek(2).is(next.kind) &&
                next.range.end == peek(2).range.begin;
  if (isStep) {
    std::string op(text(next));
    error(next.range.to(peek(2).range), "there is no '" + op + op + "'")
        .note("write " + shown + " = " + shown + " " + op + " 1");
    return;
  }
  if (std::string hint = hintForStatement(shown); !hint.empty()) {
    error(name.range, "there is no '" + shown + "'").note(std::move(hint));
    return;
  }
  auto &diagnostic =
      error(name.range, "expected an assignment or a call, found the name '" + shown + "'");
  bool followsValue = position_ > 0 && !name.isFirstOnLine &&
                      !previous().is(TokenKind::Semicolon) &&
                      !previous().is(TokenKind::LeftBrace) && !previous().is(TokenKind::RightBrace);
  if (followsValue)
    diagnostic.note("an operator or a comma may be missing before '" + shown + "'");
  else if (next.is(TokenKind::Argument) && name.range.end == next.range.begin)
    addHints(diagnostic, next);
  else
    addHints(diagnostic, name);
  if (diagnostic.candidates.empty() && diagnostic.notes.empty())
    diagnostic.note("an expression is not a statement: assign or print it");
}

/// Checks, after an assignment or a call, that the next token can begin a statement or end a block.
bool DescentParser::checkEndOfStatement() {
  if (refuseIndexAfter("this"))
    return false;
  const Token &token = peek();
  switch (token.kind) {
  case TokenKind::EndOfFile:
  case TokenKind::Semicolon:
  case TokenKind::RightBrace:
  case TokenKind::Else:
  case TokenKind::Identifier:
  case TokenKind::LeftBracket:
    return true;
  case TokenKind::Assign:
  case TokenKind::LeftArrow:
  case TokenKind::PlusAssign: {
    if (previous().is(TokenKind::RightParenthesis)) {
      error(token.range, "the result of a call can't be assigned to");
      return false;
    }
    auto &diagnostic = error(token.range, "assignments can't be chained");
    if (previous().isFirstOnLine)
      diagnostic.note("a newline doesn't end a statement: '" + std::string(text(previous())) +
                      "' was read as a part of the line above");
    else if (token.is(TokenKind::LeftArrow))
      addHints(diagnostic, token);
    else
      diagnostic.note("write one assignment for each variable; '==' compares");
    return false;
  }
  default:
    break;
  }
  if (startsStatement(token))
    return true;
  auto &diagnostic =
      error(token.range, "expected the end of the statement, found " + describe(token));
  addHints(diagnostic, token);
  return false;
}

void DescentParser::checkTopLevel(SourceRange range, std::string_view what) {
  if (blockDepth_ > 0)
    error(range, std::string(what) + " is allowed at the top level of a file only");
}

//===-- Assignments and calls --===//

StatementPtr DescentParser::parseNamedStatement() {
  SourceRange begin = peek().range;
  switch (peek(1).kind) {
  case TokenKind::LeftParenthesis:
    return parseCallStatement();
  case TokenKind::Assign:
  case TokenKind::LeftArrow:
  case TokenKind::PlusAssign:
  case TokenKind::LeftBracket: {
    ExpressionPtr target = parseTarget();
    return target ? parseAssignment(std::move(target), begin) : nullptr;
  }
  default:
    refuseNamedStatement();
    return nullptr;
  }
}

void DescentParser::checkAssignable(const Token &name) {
  std::string_view shown = text(name);
  if (shown == "pi" || shown == "Inf" || shown == "NaN")
    error(name.range, "the constant '" + std::string(shown) + "' can't be assigned to");
  else if (shown.find("::") != std::string_view::npos)
    error(name.range, "a variable has no namespace");
}

ExpressionPtr DescentParser::parseTarget() {
  if (!at(TokenKind::Identifier)) {
    errorExpected("the name of a variable");
    return nullptr;
  }
  checkAssignable(peek());
  if (peek(1).is(TokenKind::LeftBracket))
    return parseIndex();
  SourceRange range = advance().range;
  return std::make_unique<NameExpression>(range, std::string(text(range)));
}

StatementPtr DescentParser::parseAssignment(ExpressionPtr target, SourceRange begin) {
  AssignOperator op =
      at(TokenKind::PlusAssign) ? AssignOperator::Accumulate : AssignOperator::Assign;
  if (!peek().isAssignment() && !at(TokenKind::PlusAssign)) {
    auto &diagnostic = errorExpected("'=', '<-' or '+='", "after the index");
    if (at(TokenKind::EndOfFile) || peek().isFirstOnLine)
      diagnostic.note("an expression is not a statement: assign or print it");
    return nullptr;
  }
  advance();
  if (at(TokenKind::Ifdef) && op == AssignOperator::Assign)
    return parseIfdef(std::move(target), begin);
  ExpressionPtr value = parseExpression();
  if (!value || !checkEndOfStatement())
    return nullptr;
  return std::make_unique<AssignStatement>(rangeFrom(begin), std::move(target), op,
                                           std::move(value));
}

StatementPtr DescentParser::parseIfdef(ExpressionPtr target, SourceRange begin) {
  advance();
  uint32_t open = position_;
  if (!expect(TokenKind::LeftParenthesis, "after 'ifdef'"))
    return nullptr;
  Token argument = peek();
  ExpressionPtr fallback;
  if (expect(TokenKind::Argument, "in ifdef") &&
      expect(TokenKind::Comma, "and the value for a missing argument"))
    fallback = parseExpression();
  if (!fallback || !expectClosing(open)) {
    skipBehind(open);
    return nullptr;
  }
  SourceRange range = rangeFrom(begin);
  if (!checkEndOfStatement())
    return nullptr;
  return std::make_unique<IfdefStatement>(
      range, std::move(target),
      std::make_unique<ArgumentExpression>(argument.range, std::string(text(argument).substr(1))),
      std::move(fallback));
}

StatementPtr DescentParser::parseMultiAssignment() {
  if (!startsMultiAssignment(0)) {
    error(peek().range, "a statement can't begin with '['")
        .note("[a, b] = f(x) assigns several outputs of a call");
    return nullptr;
  }
  uint32_t open = position_;
  SourceRange begin = advance().range;
  std::vector<ExpressionPtr> targets;
  do {
    ExpressionPtr target = parseTarget();
    if (!target)
      return nullptr;
    targets.push_back(std::move(target));
  } while (accept(TokenKind::Comma));
  if (!expectClosing(open))
    return nullptr;
  advance();
  if (!at(TokenKind::Identifier) || !peek(1).is(TokenKind::LeftParenthesis)) {
    errorExpected("a call", "on the right of a multi-assignment");
    return nullptr;
  }
  std::unique_ptr<CallExpression> call = parseCall();
  if (!call || !checkEndOfStatement())
    return nullptr;
  return std::make_unique<MultiAssignStatement>(rangeFrom(begin), std::move(targets),
                                                std::move(call));
}

StatementPtr DescentParser::parseCallStatement() {
  std::unique_ptr<CallExpression> call = parseCall();
  if (!call)
    return nullptr;
  std::string hint = hintForStatement(call->callee());
  if (at(TokenKind::LeftBrace) && !hint.empty()) {
    error(call->calleeRange(), "there is no '" + call->callee() + "'").note(std::move(hint));
    return nullptr;
  }
  if (!checkEndOfStatement())
    return nullptr;
  SourceRange range = call->range();
  return std::make_unique<CallStatement>(range, std::move(call));
}

//===-- Files --===//

/// Parses ("path"); the path can't contain command line arguments.
std::optional<std::string> DescentParser::parsePathArgument(SourceRange &range) {
  std::string context = "after '" + std::string(text(previous())) + "'";
  uint32_t open = position_;
  if (!expect(TokenKind::LeftParenthesis, context))
    return std::nullopt;
  range = peek().range;
  if (!at(TokenKind::String)) {
    errorExpected("a path as a string literal");
    skipBehind(open);
    return std::nullopt;
  }
  std::string_view quoted = text(advance());
  if (!expectClosing(open))
    return std::nullopt;
  return unescape(quoted.substr(1, quoted.size() - 2));
}

StatementPtr DescentParser::parseSource() {
  SourceRange begin = advance().range;
  checkTopLevel(begin, "'source'");
  SourceRange pathRange;
  std::optional<std::string> path = parsePathArgument(pathRange);
  if (!path)
    return nullptr;
  if (!at(TokenKind::As)) {
    errorExpected("'as' and a namespace", "after the path");
    return nullptr;
  }
  advance();
  std::string name(text(peek()));
  if (name.find("::") != std::string::npos)
    error(peek().range, "a namespace is a plain name");
  if (!expect(TokenKind::Identifier, "for the namespace"))
    return nullptr;
  return std::make_unique<SourceStatement>(rangeFrom(begin), std::move(*path), pathRange,
                                           std::move(name));
}

StatementPtr DescentParser::parseSetWorkingDirectory() {
  SourceRange begin = advance().range;
  checkTopLevel(begin, "'setwd'");
  SourceRange pathRange;
  std::optional<std::string> path = parsePathArgument(pathRange);
  if (!path)
    return nullptr;
  return std::make_unique<SetWorkingDirectoryStatement>(rangeFrom(begin), std::move(*path));
}

} // namespace tokamak::frontend
