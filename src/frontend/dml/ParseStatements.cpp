#include "frontend/dml/DescentParser.h"

#include "frontend/dml/ForeignNames.h"

namespace tokamak::frontend {

void DescentParser::parseStatements(std::vector<const Statement *> &statements, bool isTopLevel) {
  while (!at(TokenKind::EndOfFile)) {
    if (accept(TokenKind::Semicolon))
      continue;
    if (at(TokenKind::RightBrace)) {
      if (!isTopLevel)
        return;
      error(rangeOf(peek()), "this '}' closes nothing");
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

void DescentParser::parseStatementInto(std::vector<const Statement *> &statements) {
  if (atFunctionDefinition())
    return parseFunctionDefinition();
  if (const Statement *statement = parseStatement())
    statements.push_back(statement);
  else
    synchronise();
}

const Statement *DescentParser::parseStatement() {
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
bool DescentParser::parseBody(std::vector<const Statement *> &body) {
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
    error(rangeOf(token), "a block needs an 'if', 'while', 'for' or function before it");
    std::vector<const Statement *> ignored;
    parseBody(ignored);
    return;
  }
  auto &diagnostic = error(rangeOf(token), "expected a statement, found " + describe(token));
  if (token.is(TokenKind::Else)) {
    diagnostic.message = "'else' without an 'if' before it";
    advance();
    std::vector<const Statement *> ignored;
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
  bool isCompound = isArithmetic && peek(2).is(TokenKind::Assign) && next.end == peek(2).begin;
  if (isCompound) {
    std::string op(text(next));
    error(rangeOf(next).to(rangeOf(peek(2))), "there is no '" + op + "='")
        .note("write " + shown + " = " + shown + " " + op + " ...");
    return;
  }
  bool isStep = (next.is(TokenKind::Plus) || next.is(TokenKind::Minus)) && peek(2).is(next.kind) &&
                next.end == peek(2).begin;
  if (isStep) {
    std::string op(text(next));
    error(rangeOf(next).to(rangeOf(peek(2))), "there is no '" + op + op + "'")
        .note("write " + shown + " = " + shown + " " + op + " 1");
    return;
  }
  if (std::string hint = hintForStatement(shown); !hint.empty()) {
    error(rangeOf(name), "there is no '" + shown + "'").note(std::move(hint));
    return;
  }
  auto &diagnostic =
      error(rangeOf(name), "expected an assignment or a call, found the name '" + shown + "'");
  bool followsValue = position_ > 0 && !name.isFirstOnLine &&
                      !previous().is(TokenKind::Semicolon) &&
                      !previous().is(TokenKind::LeftBrace) && !previous().is(TokenKind::RightBrace);
  size_t notesBefore = diagnostic.notes.size();
  addHints(diagnostic, name, wordsOfStatement(/*mayBegin=*/!followsValue));
  if (!diagnostic.candidates.empty() || diagnostic.notes.size() > notesBefore)
    return;
  if (followsValue)
    diagnostic.note("an operator or a comma may be missing before '" + shown + "'");
  else if (next.is(TokenKind::Argument) && name.end == next.begin)
    addHints(diagnostic, next);
  if (diagnostic.notes.empty())
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
      auto &diagnostic = error(rangeOf(token), "the result of a call can't be assigned to");
      std::string_view callee = text(tokens_[statementBegin_]);
      if (callee == "colnames" || callee == "names")
        diagnostic.note("as.frame(X, list(\"a\", \"b\")) gives a frame or a matrix names");
      return false;
    }
    auto &diagnostic = error(rangeOf(token), "assignments can't be chained");
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
      error(rangeOf(token), "expected the end of the statement, found " + describe(token));
  addHints(diagnostic, token);
  return false;
}

void DescentParser::checkTopLevel(SourceRange range, std::string_view what) {
  if (blockDepth_ > 0)
    error(range, std::string(what) + " is allowed at the top level of a file only");
}

//===-- Assignments and calls --===//

const Statement *DescentParser::parseNamedStatement() {
  SourceRange begin = rangeOf(peek());
  switch (peek(1).kind) {
  case TokenKind::LeftParenthesis:
    return parseCallStatement();
  case TokenKind::Assign:
  case TokenKind::LeftArrow:
  case TokenKind::PlusAssign:
  case TokenKind::LeftBracket: {
    const Expression *target = parseTarget();
    return target ? parseAssignment(target, begin) : nullptr;
  }
  default:
    refuseNamedStatement();
    return nullptr;
  }
}

void DescentParser::checkAssignable(const Token &name) {
  std::string_view shown = text(name);
  if (shown == "pi" || shown == "Inf" || shown == "NaN")
    error(rangeOf(name), "the constant '" + std::string(shown) + "' can't be assigned to");
  else if (shown.find("::") != std::string_view::npos)
    error(rangeOf(name), "a variable has no namespace");
}

const Expression *DescentParser::parseTarget() {
  if (!at(TokenKind::Identifier)) {
    errorExpected("the name of a variable");
    return nullptr;
  }
  checkAssignable(peek());
  if (peek(1).is(TokenKind::LeftBracket))
    return parseIndex();
  SourceRange range = rangeOf(advance());
  return make<NameExpression>(range, intern(text(range)));
}

const Statement *DescentParser::parseAssignment(const Expression *target, SourceRange begin) {
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
    return parseIfdef(target, begin);
  const Expression *value = parseExpression();
  if (!value || !checkEndOfStatement())
    return nullptr;
  return make<AssignStatement>(rangeFrom(begin), target, op, value);
}

const Statement *DescentParser::parseIfdef(const Expression *target, SourceRange begin) {
  advance();
  uint32_t open = position_;
  if (!expect(TokenKind::LeftParenthesis, "after 'ifdef'"))
    return nullptr;
  Token argument = peek();
  const Expression *fallback = nullptr;
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
  return make<IfdefStatement>(
      range, target, make<ArgumentExpression>(rangeOf(argument), intern(text(argument).substr(1))),
      fallback);
}

const Statement *DescentParser::parseMultiAssignment() {
  if (!startsMultiAssignment(0)) {
    error(rangeOf(peek()), "a statement can't begin with '['")
        .note("[a, b] = f(x) assigns several outputs of a call");
    return nullptr;
  }
  uint32_t open = position_;
  SourceRange begin = rangeOf(advance());
  std::vector<const Expression *> targets;
  do {
    const Expression *target = parseTarget();
    if (!target)
      return nullptr;
    targets.push_back(target);
  } while (accept(TokenKind::Comma));
  if (!expectClosing(open))
    return nullptr;
  advance();
  if (!at(TokenKind::Identifier) || !peek(1).is(TokenKind::LeftParenthesis)) {
    errorExpected("a call", "on the right of a multi-assignment");
    return nullptr;
  }
  const CallExpression *call = parseCall();
  if (!call || !checkEndOfStatement())
    return nullptr;
  return make<MultiAssignStatement>(rangeFrom(begin), copy(targets), call);
}

const Statement *DescentParser::parseCallStatement() {
  const CallExpression *call = parseCall();
  if (!call)
    return nullptr;
  std::string hint = hintForStatement(call->callee());
  if (at(TokenKind::LeftBrace) && !hint.empty() && !isMisspelledKeyword(call->callee())) {
    error(call->calleeRange(), "there is no '" + call->callee() + "'").note(std::move(hint));
    return nullptr;
  }
  if (!checkEndOfStatement())
    return nullptr;
  SourceRange range = call->range();
  return make<CallStatement>(range, call);
}

//===-- Files --===//

/// Parses ("path"); the path can't contain command line arguments.
std::optional<std::string> DescentParser::parsePathArgument(SourceRange &range) {
  std::string context = "after '" + std::string(text(previous())) + "'";
  uint32_t open = position_;
  if (!expect(TokenKind::LeftParenthesis, context))
    return std::nullopt;
  range = rangeOf(peek());
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

const Statement *DescentParser::parseSource() {
  SourceRange begin = rangeOf(advance());
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
    error(rangeOf(peek()), "a namespace is a plain name");
  if (!expect(TokenKind::Identifier, "for the namespace"))
    return nullptr;
  return make<SourceStatement>(rangeFrom(begin), intern(*path), pathRange, intern(name));
}

const Statement *DescentParser::parseSetWorkingDirectory() {
  SourceRange begin = rangeOf(advance());
  checkTopLevel(begin, "'setwd'");
  SourceRange pathRange;
  std::optional<std::string> path = parsePathArgument(pathRange);
  if (!path)
    return nullptr;
  return make<SetWorkingDirectoryStatement>(rangeFrom(begin), intern(*path));
}

} // namespace tokamak::frontend
