#include "frontend/dml/DescentParser.h"

#include <limits>
#include <numbers>

namespace tokamak::frontend {

namespace {

// Levels of DML's precedence table; a higher level binds tighter.
constexpr int notOperandPrecedence = 6;
constexpr int signOperandPrecedence = 11;

struct OperatorInfo {
  BinaryOperator op;
  int precedence;
  bool isRightAssociative = false;
};

std::optional<OperatorInfo> binaryOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::Caret:
    return OperatorInfo{BinaryOperator::Power, 12, /*isRightAssociative=*/true};
  case TokenKind::MatrixMultiply:
    return OperatorInfo{BinaryOperator::MatrixMultiply, 10};
  case TokenKind::Modulus:
    return OperatorInfo{BinaryOperator::Modulus, 9};
  case TokenKind::IntegerDivide:
    return OperatorInfo{BinaryOperator::IntegerDivide, 9};
  case TokenKind::Star:
    return OperatorInfo{BinaryOperator::Multiply, 8};
  case TokenKind::Slash:
    return OperatorInfo{BinaryOperator::Divide, 8};
  case TokenKind::Plus:
    return OperatorInfo{BinaryOperator::Add, 7};
  case TokenKind::Minus:
    return OperatorInfo{BinaryOperator::Subtract, 7};
  case TokenKind::Less:
    return OperatorInfo{BinaryOperator::Less, 6};
  case TokenKind::LessEqual:
    return OperatorInfo{BinaryOperator::LessEqual, 6};
  case TokenKind::Greater:
    return OperatorInfo{BinaryOperator::Greater, 6};
  case TokenKind::GreaterEqual:
    return OperatorInfo{BinaryOperator::GreaterEqual, 6};
  case TokenKind::Equal:
    return OperatorInfo{BinaryOperator::Equal, 6};
  case TokenKind::NotEqual:
    return OperatorInfo{BinaryOperator::NotEqual, 6};
  case TokenKind::And:
  case TokenKind::AndAnd:
    return OperatorInfo{BinaryOperator::And, 4};
  case TokenKind::Or:
  case TokenKind::OrOr:
    return OperatorInfo{BinaryOperator::Or, 3};
  default:
    return std::nullopt;
  }
}

std::optional<double> constantValue(std::string_view name) {
  if (name == "pi")
    return std::numbers::pi;
  if (name == "Inf")
    return std::numeric_limits<double>::infinity();
  if (name == "NaN")
    return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

} // namespace

/// Precedence climbing: parses operators of at least `minimumPrecedence`.
ExpressionPtr DescentParser::parseExpression(int minimumPrecedence) {
  ExpressionPtr left = parseOperand();
  while (left) {
    Token token = peek();
    std::optional<OperatorInfo> info = binaryOperator(token.kind);
    if (!info || info->precedence < minimumPrecedence)
      break;
    advance();
    bool isDoubled = token.is(TokenKind::AndAnd) || token.is(TokenKind::OrOr);
    if (isDoubled && !notedShortCircuit_) {
      notedShortCircuit_ = true;
      reporter_.report(support::Severity::Note, token.range,
                       "'" + std::string(text(token)) + "' is read as '" + spelling(info->op) +
                           "': both sides are always evaluated");
    }
    ExpressionPtr right = parseRightOperand(info->precedence, info->isRightAssociative);
    if (!right)
      return nullptr;
    SourceRange range = left->range().to(right->range());
    left = checkHeight(std::make_unique<BinaryExpression>(range, info->op, token.range,
                                                          std::move(left), std::move(right)));
  }
  return left;
}

ExpressionPtr DescentParser::parseRightOperand(int precedence, bool isRightAssociative) {
  if (!isRightAssociative)
    return parseExpression(precedence + 1);
  Nesting nesting(*this);
  return nesting.isTooDeep() ? nullptr : parseExpression(precedence);
}

ExpressionPtr DescentParser::checkHeight(ExpressionPtr expression) {
  if (expression->height() <= maximumExpressionHeight)
    return expression;
  error(previous().range, "the expression has more than " +
                              std::to_string(maximumExpressionHeight) + " operators in a row")
      .note("assign parts of it to variables");
  abandon();
  return nullptr;
}

ExpressionPtr DescentParser::parseOperand() {
  Nesting nesting(*this);
  if (nesting.isTooDeep())
    return nullptr;
  Token token = peek();
  switch (token.kind) {
  case TokenKind::Integer:
    advance();
    return std::make_unique<IntegerLiteral>(token.range, token.integer);
  case TokenKind::Double:
    advance();
    return std::make_unique<DoubleLiteral>(token.range, token.real);
  case TokenKind::String: {
    advance();
    std::string_view quoted = text(token);
    return std::make_unique<StringLiteral>(token.range,
                                           unescape(quoted.substr(1, quoted.size() - 2)));
  }
  case TokenKind::True:
  case TokenKind::False:
    advance();
    return std::make_unique<BooleanLiteral>(token.range, token.is(TokenKind::True));
  case TokenKind::Argument:
    advance();
    return std::make_unique<ArgumentExpression>(token.range, std::string(text(token).substr(1)));
  case TokenKind::Minus:
    return parsePrefix(UnaryOperator::Minus, signOperandPrecedence);
  case TokenKind::Plus:
    return parsePrefix(UnaryOperator::Plus, signOperandPrecedence);
  case TokenKind::Not:
    return parsePrefix(UnaryOperator::Not, notOperandPrecedence);
  case TokenKind::LeftParenthesis:
    return parseParenthesised();
  case TokenKind::LeftBracket:
    return parseList();
  case TokenKind::Identifier:
    if (peek(1).is(TokenKind::LeftParenthesis)) {
      ExpressionPtr call = parseCall();
      if (call && refuseIndexAfter("the result of a call"))
        return nullptr;
      return call;
    }
    return isIndexAhead(1) ? parseIndex() : parseNameOrConstant();
  default: {
    std::string context;
    if (position_ > 0 && (binaryOperator(previous().kind) || previous().is(TokenKind::Not)))
      context = "after '" + std::string(text(previous())) + "'";
    errorExpected("an expression", context);
    return nullptr;
  }
  }
}

ExpressionPtr DescentParser::parsePrefix(UnaryOperator op, int operandPrecedence) {
  SourceRange operatorRange = advance().range;
  ExpressionPtr operand = parseExpression(operandPrecedence);
  if (!operand)
    return nullptr;
  SourceRange range = operatorRange.to(operand->range());
  bool isNegative = op == UnaryOperator::Minus;
  if (op != UnaryOperator::Not) {
    if (auto *literal = llvm::dyn_cast<IntegerLiteral>(operand.get()))
      return std::make_unique<IntegerLiteral>(range,
                                              isNegative ? -literal->value() : literal->value());
    if (auto *literal = llvm::dyn_cast<DoubleLiteral>(operand.get()))
      return std::make_unique<DoubleLiteral>(range,
                                             isNegative ? -literal->value() : literal->value());
  }
  return checkHeight(
      std::make_unique<UnaryExpression>(range, op, operatorRange, std::move(operand)));
}

ExpressionPtr DescentParser::parseParenthesised() {
  uint32_t open = position_;
  advance();
  ExpressionPtr inner = parseExpression();
  if (!inner || !expectClosing(open)) {
    skipBehind(open);
    return nullptr;
  }
  if (refuseIndexAfter("an expression in parentheses"))
    return nullptr;
  return inner;
}

ExpressionPtr DescentParser::parseList() {
  uint32_t open = position_;
  SourceRange begin = advance().range;
  std::vector<ExpressionPtr> elements;
  do {
    ExpressionPtr element = parseExpression();
    if (!element) {
      skipBehind(open);
      return nullptr;
    }
    elements.push_back(std::move(element));
  } while (accept(TokenKind::Comma));
  if (!expectClosing(open)) {
    skipBehind(open);
    return nullptr;
  }
  return checkHeight(std::make_unique<ListExpression>(rangeFrom(begin), std::move(elements)));
}

ExpressionPtr DescentParser::parseNameOrConstant() {
  const Token &token = peek();
  std::string_view name = text(token);
  if (name == "NULL" || name == "NA") {
    auto &diagnostic = error(token.range, "there is no '" + std::string(name) + "'");
    diagnostic.note(name == "NA"
                        ? "missing values are NaN"
                        : "an empty matrix is matrix(0, rows=0, cols=0), an empty list is list()");
    advance();
    return nullptr;
  }
  if (name.find("::") != std::string_view::npos) {
    error(token.range, "'" + std::string(name) + "' is not called")
        .note("only functions have a namespace");
    advance();
    return nullptr;
  }
  advance();
  if (std::optional<double> value = constantValue(name))
    return std::make_unique<DoubleLiteral>(token.range, *value);
  return std::make_unique<NameExpression>(token.range, std::string(name));
}

//===-- Indexing --===//

/// Whether a bracket indexes the name before it. If an assignment operator follows the closing
/// bracket, the bracket begins a multi-assignment, which is the next statement:
/// x = y NEWLINE [a, b] = f(z).
bool DescentParser::isIndexAhead(uint32_t bracketAhead) const {
  return peek(bracketAhead).is(TokenKind::LeftBracket) && !startsMultiAssignment(bracketAhead);
}

bool DescentParser::refuseIndexAfter(std::string_view what) {
  if (!isIndexAhead(0))
    return false;
  uint32_t open = position_;
  error(peek().range, std::string(what) + " can't be indexed")
      .note("assign it to a variable first and index that");
  advance();
  skipBehind(open);
  return true;
}

ExpressionPtr DescentParser::parseIndex() {
  SourceRange nameRange = advance().range;
  uint32_t open = position_;
  advance();
  if (at(TokenKind::LeftBracket) && previous().range.end == peek().range.begin) {
    error(peek().range, "there is no '[['")
        .note("unwrap a list element with as.scalar(L[i]), as.matrix(L[i]) or as.list(L[i])");
    skipBehind(open);
    return nullptr;
  }
  if (at(TokenKind::RightBracket)) {
    error(peek().range, "expected an index before ']'").note("X[,] is the whole of a matrix");
    skipBehind(open);
    return nullptr;
  }
  std::vector<IndexDimension> dimensions;
  do {
    if (dimensions.size() == 2) {
      error(previous().range, "an index has one or two dimensions");
      skipBehind(open);
      return nullptr;
    }
    if (!parseDimension(dimensions.emplace_back())) {
      skipBehind(open);
      return nullptr;
    }
  } while (accept(TokenKind::Comma));
  if (!expectClosing(open)) {
    skipBehind(open);
    return nullptr;
  }
  return checkHeight(std::make_unique<IndexExpression>(
      rangeFrom(nameRange), std::string(text(nameRange)), nameRange, std::move(dimensions)));
}

bool DescentParser::parseDimension(IndexDimension &dimension) {
  auto atEnd = [this] { return at(TokenKind::Comma) || at(TokenKind::RightBracket); };
  dimension.range = {file_, peek().range.begin, peek().range.begin};
  if (atEnd())
    return true;
  if (at(TokenKind::Colon)) {
    error(peek().range, "an index range needs both ends").note("the first position is 1");
    return false;
  }
  dimension.lower = parseExpression();
  if (!dimension.lower)
    return false;
  if (at(TokenKind::Colon)) {
    advance();
    if (atEnd()) {
      error(previous().range, "an index range needs both ends")
          .note("the last position is nrow(X) or ncol(X), of a list length(L)");
      return false;
    }
    dimension.upper = parseExpression();
    if (!dimension.upper)
      return false;
  }
  dimension.range = rangeFrom(dimension.lower->range());
  return true;
}

//===-- Calls --===//

std::unique_ptr<CallExpression> DescentParser::parseCall() {
  SourceRange calleeRange = advance().range;
  std::optional<std::vector<CallArgument>> arguments = parseArguments();
  if (!arguments)
    return nullptr;
  auto call = std::make_unique<CallExpression>(
      rangeFrom(calleeRange), std::string(text(calleeRange)), calleeRange, std::move(*arguments));
  if (call->height() > maximumExpressionHeight) {
    checkHeight(std::move(call));
    return nullptr;
  }
  // A nested call may be followed by semicolons inside the argument list: f(g(x);, y).
  uint32_t semicolons = 0;
  while (peek(semicolons).is(TokenKind::Semicolon))
    ++semicolons;
  if (peek(semicolons).is(TokenKind::RightParenthesis) || peek(semicolons).is(TokenKind::Comma))
    position_ += semicolons;
  return call;
}

/// Parses the arguments of a call, including both parentheses.
std::optional<std::vector<CallArgument>> DescentParser::parseArguments() {
  uint32_t open = position_;
  advance();
  std::vector<CallArgument> arguments;
  if (accept(TokenKind::RightParenthesis))
    return arguments;
  do {
    if (!parseArgument(arguments.emplace_back())) {
      skipBehind(open);
      return std::nullopt;
    }
  } while (accept(TokenKind::Comma));
  if (!expectClosing(open)) {
    skipBehind(open);
    return std::nullopt;
  }
  return arguments;
}

bool DescentParser::parseArgument(CallArgument &argument) {
  const Token &first = peek();
  const Token &second = peek(1);
  if (first.is(TokenKind::Identifier) && second.is(TokenKind::Assign)) {
    argument.name = text(first);
    argument.nameRange = first.range;
    advance();
    advance();
  } else if (first.is(TokenKind::Identifier) && second.is(TokenKind::LeftArrow)) {
    auto &diagnostic = error(second.range, "an assignment can't be an argument");
    diagnostic.note("name an argument with '=': " + std::string(text(first)) + "=value");
    addHints(diagnostic, second);
    return false;
  } else if (first.is(TokenKind::Comma) || first.is(TokenKind::RightParenthesis)) {
    errorExpected("an argument");
    return false;
  }
  argument.value = parseExpression();
  return argument.value != nullptr;
}

} // namespace tokamak::frontend
