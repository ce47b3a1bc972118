#include "frontend/dml/DescentParser.h"

#include "frontend/dml/ForeignNames.h"

#include "llvm/ADT/SmallVector.h"

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
const Expression *DescentParser::parseExpression(int minimumPrecedence) {
  const Expression *left = parseOperand();
  while (left) {
    Token token = peek();
    std::optional<OperatorInfo> info = binaryOperator(token.kind);
    if (!info || info->precedence < minimumPrecedence)
      break;
    advance();
    bool isDoubled = token.is(TokenKind::AndAnd) || token.is(TokenKind::OrOr);
    if (isDoubled && !notedShortCircuit_) {
      notedShortCircuit_ = true;
      reporter_.report(support::Severity::Note, rangeOf(token),
                       "'" + std::string(text(token)) + "' is read as '" + spelling(info->op) +
                           "': both sides are always evaluated");
    }
    const Expression *right = parseRightOperand(info->precedence, info->isRightAssociative);
    if (!right)
      return nullptr;
    SourceRange range = left->range().to(right->range());
    left = checkHeight(make<BinaryExpression>(range, info->op, rangeOf(token), left, right));
  }
  return left;
}

const Expression *DescentParser::parseRightOperand(int precedence, bool isRightAssociative) {
  if (!isRightAssociative)
    return parseExpression(precedence + 1);
  Nesting nesting(*this);
  return nesting.isTooDeep() ? nullptr : parseExpression(precedence);
}

const Expression *DescentParser::checkHeight(const Expression *expression) {
  if (expression->height() <= maximumExpressionHeight)
    return expression;
  error(rangeOf(previous()), "the expression has more than " +
                                 std::to_string(maximumExpressionHeight) + " operators in a row")
      .note("assign parts of it to variables");
  abandon();
  return nullptr;
}

const Expression *DescentParser::parseOperand() {
  Nesting nesting(*this);
  if (nesting.isTooDeep())
    return nullptr;
  Token token = peek();
  switch (token.kind) {
  case TokenKind::Integer:
    advance();
    return make<IntegerLiteral>(rangeOf(token), integerValue(text(token)));
  case TokenKind::Double:
    advance();
    return make<DoubleLiteral>(rangeOf(token), doubleValue(text(token)));
  case TokenKind::String: {
    advance();
    std::string_view quoted = text(token);
    return make<StringLiteral>(rangeOf(token),
                               intern(unescape(quoted.substr(1, quoted.size() - 2))));
  }
  case TokenKind::True:
  case TokenKind::False:
    advance();
    return make<BooleanLiteral>(rangeOf(token), token.is(TokenKind::True));
  case TokenKind::Argument:
    advance();
    return make<ArgumentExpression>(rangeOf(token), intern(text(token).substr(1)));
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
      const Expression *call = parseCall();
      if (call && refuseIndexAfter("the result of a call"))
        return nullptr;
      return call;
    }
    return isIndexAhead(1) ? parseIndex() : parseNameOrConstant();
  default: {
    std::string context;
    if (position_ > 0 && (binaryOperator(previous().kind) || previous().is(TokenKind::Not)))
      context = "after '" + std::string(text(previous())) + "'";
    auto &diagnostic = errorExpected("an expression", context);
    if (position_ > 0 && previous().end == token.begin)
      addHint(diagnostic, hintForOperator(text(SourceRange{file_, previous().begin, token.end})));
    return nullptr;
  }
  }
}

const Expression *DescentParser::parsePrefix(UnaryOperator op, int operandPrecedence) {
  SourceRange operatorRange = rangeOf(advance());
  const Expression *operand = parseExpression(operandPrecedence);
  if (!operand)
    return nullptr;
  SourceRange range = operatorRange.to(operand->range());
  bool isNegative = op == UnaryOperator::Minus;
  if (op != UnaryOperator::Not) {
    if (auto *literal = llvm::dyn_cast<IntegerLiteral>(operand))
      return make<IntegerLiteral>(range, isNegative ? -literal->value() : literal->value());
    if (auto *literal = llvm::dyn_cast<DoubleLiteral>(operand))
      return make<DoubleLiteral>(range, isNegative ? -literal->value() : literal->value());
  }
  return checkHeight(make<UnaryExpression>(range, op, operatorRange, operand));
}

const Expression *DescentParser::parseParenthesised() {
  uint32_t open = position_;
  advance();
  const Expression *inner = parseExpression();
  if (!inner || !expectClosing(open)) {
    skipBehind(open);
    return nullptr;
  }
  if (refuseIndexAfter("an expression in parentheses"))
    return nullptr;
  return inner;
}

const Expression *DescentParser::parseList() {
  uint32_t open = position_;
  SourceRange begin = rangeOf(advance());
  std::vector<const Expression *> elements;
  do {
    const Expression *element = parseExpression();
    if (!element) {
      skipBehind(open);
      return nullptr;
    }
    elements.push_back(element);
  } while (accept(TokenKind::Comma));
  if (!expectClosing(open)) {
    skipBehind(open);
    return nullptr;
  }
  return checkHeight(make<ListExpression>(rangeFrom(begin), copy(elements)));
}

const Expression *DescentParser::parseNameOrConstant() {
  const Token &token = peek();
  std::string_view name = text(token);
  if (name == "NULL" || name == "NA") {
    auto &diagnostic = error(rangeOf(token), "there is no '" + std::string(name) + "'");
    diagnostic.note(name == "NA"
                        ? "missing values are NaN"
                        : "an empty matrix is matrix(0, rows=0, cols=0), an empty list is list()");
    advance();
    return nullptr;
  }
  if (name.find("::") != std::string_view::npos) {
    error(rangeOf(token), "'" + std::string(name) + "' is not called")
        .note("only functions have a namespace");
    advance();
    return nullptr;
  }
  advance();
  if (std::optional<double> value = constantValue(name))
    return make<DoubleLiteral>(rangeOf(token), *value);
  return make<NameExpression>(rangeOf(token), intern(name));
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
  error(rangeOf(peek()), std::string(what) + " can't be indexed")
      .note("assign it to a variable first and index that");
  advance();
  skipBehind(open);
  return true;
}

const Expression *DescentParser::parseIndex() {
  SourceRange nameRange = rangeOf(advance());
  uint32_t open = position_;
  advance();
  if (at(TokenKind::LeftBracket) && previous().end == peek().begin) {
    error(rangeOf(peek()), "there is no '[['")
        .note("unwrap a list element with as.scalar(L[i]), as.matrix(L[i]) or as.list(L[i])");
    skipBehind(open);
    return nullptr;
  }
  if (at(TokenKind::RightBracket)) {
    error(rangeOf(peek()), "expected an index before ']'").note("X[,] is the whole of a matrix");
    skipBehind(open);
    return nullptr;
  }
  llvm::SmallVector<IndexDimension, 2> dimensions;
  do {
    if (dimensions.size() == 2) {
      error(rangeOf(previous()), "an index has one or two dimensions");
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
  return checkHeight(make<IndexExpression>(rangeFrom(nameRange), intern(text(nameRange)), nameRange,
                                           copy(dimensions)));
}

bool DescentParser::parseDimension(IndexDimension &dimension) {
  auto atEnd = [this] { return at(TokenKind::Comma) || at(TokenKind::RightBracket); };
  dimension.range = {file_, peek().begin, peek().begin};
  if (atEnd())
    return true;
  if (at(TokenKind::Colon)) {
    error(rangeOf(peek()), "an index range needs both ends").note("the first position is 1");
    return false;
  }
  dimension.lower = parseExpression();
  if (!dimension.lower)
    return false;
  if (at(TokenKind::Colon)) {
    advance();
    if (atEnd()) {
      error(rangeOf(previous()), "an index range needs both ends")
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

const CallExpression *DescentParser::parseCall() {
  SourceRange calleeRange = rangeOf(advance());
  std::optional<llvm::ArrayRef<CallArgument>> arguments = parseArguments();
  if (!arguments)
    return nullptr;
  const auto *call = make<CallExpression>(rangeFrom(calleeRange), intern(text(calleeRange)),
                                          calleeRange, *arguments);
  if (call->height() > maximumExpressionHeight) {
    checkHeight(call);
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
std::optional<llvm::ArrayRef<CallArgument>> DescentParser::parseArguments() {
  uint32_t open = position_;
  advance();
  llvm::SmallVector<CallArgument, 4> arguments;
  if (accept(TokenKind::RightParenthesis))
    return llvm::ArrayRef<CallArgument>();
  do {
    std::optional<CallArgument> argument = parseArgument();
    if (!argument) {
      skipBehind(open);
      return std::nullopt;
    }
    arguments.push_back(*argument);
  } while (accept(TokenKind::Comma));
  if (!expectClosing(open)) {
    skipBehind(open);
    return std::nullopt;
  }
  return copy(arguments);
}

std::optional<CallArgument> DescentParser::parseArgument() {
  const Token &first = peek();
  const Token &second = peek(1);
  std::string_view name;
  SourceRange nameRange;
  if (first.is(TokenKind::Identifier) && second.is(TokenKind::Assign)) {
    name = text(first);
    nameRange = rangeOf(first);
    advance();
    advance();
  } else if (first.is(TokenKind::Identifier) && second.is(TokenKind::LeftArrow)) {
    auto &diagnostic = error(rangeOf(second), "an assignment can't be an argument");
    diagnostic.note("name an argument with '=': " + std::string(text(first)) + "=value");
    addHints(diagnostic, second);
    return std::nullopt;
  } else if (first.is(TokenKind::Comma) || first.is(TokenKind::RightParenthesis)) {
    errorExpected("an argument");
    return std::nullopt;
  }
  const Expression *value = parseExpression();
  if (!value)
    return std::nullopt;
  return CallArgument{intern(name), nameRange, value};
}

} // namespace tokamak::frontend
