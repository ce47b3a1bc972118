#include "frontend/dml/DescentParser.h"

namespace tokamak::frontend {

/// Parses the predicate and its parentheses. After an error inside them returns a constant, so that
/// the body is still checked; null means that the start of the body is unknown.
ExpressionPtr DescentParser::parsePredicate() {
  std::string keyword(text(previous()));
  uint32_t open = position_;
  if (!expect(TokenKind::LeftParenthesis, "after '" + keyword + "'"))
    return nullptr;
  ExpressionPtr predicate = parseExpression();
  if (predicate && expectClosing(open))
    return predicate;
  if (!skipBehind(open))
    return nullptr;
  return std::make_unique<BooleanLiteral>(tokens_[open].range, false);
}

StatementPtr DescentParser::parseIf() {
  SourceRange begin = advance().range;
  ExpressionPtr predicate = parsePredicate();
  if (!predicate)
    return nullptr;
  StatementList thenBody, elseBody;
  if (!parseBody(thenBody))
    return nullptr;
  SourceRange range = rangeFrom(begin);
  uint32_t semicolons = 0;
  while (peek(semicolons).is(TokenKind::Semicolon))
    ++semicolons;
  if (peek(semicolons).is(TokenKind::Else)) {
    position_ += semicolons;
    advance();
    if (!parseBody(elseBody))
      return nullptr;
    range = rangeFrom(begin);
  }
  return std::make_unique<IfStatement>(range, std::move(predicate), std::move(thenBody),
                                       std::move(elseBody));
}

StatementPtr DescentParser::parseWhile() {
  SourceRange begin = advance().range;
  ExpressionPtr predicate = parsePredicate();
  StatementList body;
  if (!predicate || !parseBody(body))
    return nullptr;
  return std::make_unique<WhileStatement>(rangeFrom(begin), std::move(predicate), std::move(body));
}

StatementPtr DescentParser::parseFor() {
  bool isParallel = at(TokenKind::Parfor);
  SourceRange begin = advance().range;
  uint32_t open = position_;
  if (!expect(TokenKind::LeftParenthesis, isParallel ? "after 'parfor'" : "after 'for'"))
    return nullptr;
  std::string variable;
  SourceRange variableRange;
  IterationRange iteration;
  std::vector<LoopOption> options;
  bool isComplete =
      parseLoopHead(variable, variableRange, iteration, options) && expectClosing(open);
  if (!isComplete && !skipBehind(open))
    return nullptr;
  StatementList body;
  if (!parseBody(body))
    return nullptr;
  return std::make_unique<ForStatement>(rangeFrom(begin), isParallel, std::move(variable),
                                        variableRange, std::move(iteration), std::move(options),
                                        std::move(body));
}

/// Parses the head of a loop, inside its parentheses: i in from:to, check=0, ...
bool DescentParser::parseLoopHead(std::string &variable, SourceRange &variableRange,
                                  IterationRange &iteration, std::vector<LoopOption> &options) {
  if (at(TokenKind::Identifier))
    checkAssignable(peek());
  variableRange = peek().range;
  variable = text(peek());
  if (!expect(TokenKind::Identifier, "for the loop variable") ||
      !expect(TokenKind::In, "after the loop variable") || !parseIteration(iteration))
    return false;
  while (accept(TokenKind::Comma))
    if (!parseLoopOption(options.emplace_back()))
      return false;
  return true;
}

bool DescentParser::parseIteration(IterationRange &iteration) {
  SourceRange begin = peek().range;
  bool isSequence = at(TokenKind::Identifier) && text(peek()) == "seq" &&
                    peek(1).is(TokenKind::LeftParenthesis) && peek(1).match != Token::noMatch &&
                    !tokens_[peek(1).match + 1].is(TokenKind::Colon);
  if (isSequence)
    return parseSequence(iteration);
  iteration.from = parseExpression();
  if (!iteration.from)
    return false;
  if (!at(TokenKind::Colon)) {
    error(rangeFrom(begin), "a loop needs a range: from:to or seq(from, to, increment)");
    return false;
  }
  advance();
  iteration.to = parseExpression();
  if (!iteration.to)
    return false;
  iteration.range = rangeFrom(begin);
  if (at(TokenKind::Colon)) {
    error(peek().range, "a range has two ends")
        .note("use seq(from, to, increment) for other steps");
    return false;
  }
  return true;
}

/// Parses seq(from, to[, increment]); the arguments may be named from, to and incr.
bool DescentParser::parseSequence(IterationRange &iteration) {
  SourceRange begin = advance().range;
  std::optional<std::vector<CallArgument>> arguments = parseArguments();
  if (!arguments)
    return false;
  iteration.range = rangeFrom(begin);
  ExpressionPtr *const places[] = {&iteration.from, &iteration.to, &iteration.increment};
  for (size_t i = 0; i < arguments->size(); ++i) {
    CallArgument &argument = (*arguments)[i];
    size_t place = !argument.isNamed()       ? i
                   : argument.name == "from" ? 0
                   : argument.name == "to"   ? 1
                   : argument.name == "incr" ? 2
                                             : 3;
    if (place > 2 || *places[place]) {
      error(argument.value->range(), "a loop range is seq(from, to, increment)");
      return false;
    }
    *places[place] = std::move(argument.value);
  }
  if (!iteration.from || !iteration.to) {
    error(iteration.range, "seq needs two ends: seq(from, to, increment)");
    return false;
  }
  return true;
}

bool DescentParser::parseLoopOption(LoopOption &option) {
  SourceRange begin = peek().range;
  option.name = text(peek());
  if (!expect(TokenKind::Identifier, "of a loop option such as check=0") ||
      !expect(TokenKind::Assign, "after the name of the loop option"))
    return false;
  ExpressionPtr value = parseExpression();
  if (!value)
    return false;
  if (auto *argument = llvm::dyn_cast<ArgumentExpression>(value.get()))
    option.argument = argument->name();
  option.text = text(value->range());
  option.range = rangeFrom(begin);
  return true;
}

} // namespace tokamak::frontend
