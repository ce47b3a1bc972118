#include "frontend/dml/DescentParser.h"

namespace tokamak::frontend {

/// Parses the predicate and its parentheses. After an error inside them returns a constant, so that
/// the body is still checked; null means that the start of the body is unknown.
const Expression *DescentParser::parsePredicate() {
  std::string keyword(text(previous()));
  uint32_t open = position_;
  if (!expect(TokenKind::LeftParenthesis, "after '" + keyword + "'"))
    return nullptr;
  const Expression *predicate = parseExpression();
  if (predicate && expectClosing(open))
    return predicate;
  if (!skipBehind(open))
    return nullptr;
  return make<BooleanLiteral>(rangeOf(tokens_[open]), false);
}

const Statement *DescentParser::parseIf() {
  SourceRange begin = rangeOf(advance());
  const Expression *predicate = parsePredicate();
  if (!predicate)
    return nullptr;
  std::vector<const Statement *> thenBody, elseBody;
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
  } else {
    endOfIf_ = position_;
  }
  return make<IfStatement>(range, predicate, copy(thenBody), copy(elseBody));
}

const Statement *DescentParser::parseWhile() {
  SourceRange begin = rangeOf(advance());
  const Expression *predicate = parsePredicate();
  std::vector<const Statement *> body;
  if (!predicate || !parseBody(body))
    return nullptr;
  return make<WhileStatement>(rangeFrom(begin), predicate, copy(body));
}

const Statement *DescentParser::parseFor() {
  bool isParallel = at(TokenKind::Parfor);
  SourceRange begin = rangeOf(advance());
  uint32_t open = position_;
  if (!expect(TokenKind::LeftParenthesis, isParallel ? "after 'parfor'" : "after 'for'"))
    return nullptr;
  SourceRange variableRange;
  IterationRange iteration;
  std::vector<LoopOption> options;
  bool isComplete = parseLoopHead(variableRange, iteration, options) && expectClosing(open);
  if (!isComplete && !skipBehind(open))
    return nullptr;
  std::vector<const Statement *> body;
  if (!parseBody(body))
    return nullptr;
  return make<ForStatement>(rangeFrom(begin), isParallel, intern(text(variableRange)),
                            variableRange, iteration, copy(options), copy(body));
}

/// Parses the head of a loop, inside its parentheses: i in from:to, check=0, ...
bool DescentParser::parseLoopHead(SourceRange &variableRange, IterationRange &iteration,
                                  std::vector<LoopOption> &options) {
  if (at(TokenKind::Identifier))
    checkAssignable(peek());
  variableRange = rangeOf(peek());
  if (!expect(TokenKind::Identifier, "for the loop variable") ||
      !expect(TokenKind::In, "after the loop variable") || !parseIteration(iteration))
    return false;
  while (accept(TokenKind::Comma))
    if (std::optional<LoopOption> option = parseLoopOption())
      options.push_back(*option);
    else
      return false;
  return true;
}

bool DescentParser::parseIteration(IterationRange &iteration) {
  SourceRange begin = rangeOf(peek());
  bool isSequence = at(TokenKind::Identifier) && text(peek()) == "seq" &&
                    peek(1).is(TokenKind::LeftParenthesis) && peek(1).match != Token::noMatch &&
                    !tokens_[peek(1).match + 1].is(TokenKind::Colon);
  if (isSequence)
    return parseSequence(iteration);
  iteration.from = parseExpression();
  if (!iteration.from)
    return false;
  if (!at(TokenKind::Colon)) {
    auto &diagnostic =
        error(rangeFrom(begin), "a loop needs a range: from:to or seq(from, to, increment)");
    if (llvm::isa<NameExpression>(iteration.from)) {
      std::string name(text(iteration.from->range()));
      diagnostic.note("to go through the rows of a matrix or the elements of a list, write "
                      "for (i in 1:nrow(" +
                      name + ")) or for (i in 1:length(" + name + "))");
    }
    return false;
  }
  advance();
  iteration.to = parseExpression();
  if (!iteration.to)
    return false;
  iteration.range = rangeFrom(begin);
  if (at(TokenKind::Colon)) {
    error(rangeOf(peek()), "a range has two ends")
        .note("use seq(from, to, increment) for other steps");
    return false;
  }
  return true;
}

/// Parses seq(from, to[, increment]); the arguments may be named from, to and incr.
bool DescentParser::parseSequence(IterationRange &iteration) {
  SourceRange begin = rangeOf(advance());
  std::optional<llvm::ArrayRef<CallArgument>> arguments = parseArguments();
  if (!arguments)
    return false;
  iteration.range = rangeFrom(begin);
  const Expression **const places[] = {&iteration.from, &iteration.to, &iteration.increment};
  for (size_t i = 0; i < arguments->size(); ++i) {
    const CallArgument &argument = (*arguments)[i];
    size_t place = !argument.isNamed()       ? i
                   : argument.name == "from" ? 0
                   : argument.name == "to"   ? 1
                   : argument.name == "incr" ? 2
                                             : 3;
    if (place > 2 || *places[place]) {
      error(argument.value->range(), "a loop range is seq(from, to, increment)");
      return false;
    }
    *places[place] = argument.value;
  }
  if (!iteration.from || !iteration.to) {
    error(iteration.range, "seq needs two ends: seq(from, to, increment)");
    return false;
  }
  return true;
}

std::optional<LoopOption> DescentParser::parseLoopOption() {
  SourceRange begin = rangeOf(peek());
  std::string_view name = text(peek());
  if (!expect(TokenKind::Identifier, "of a loop option such as check=0") ||
      !expect(TokenKind::Assign, "after the name of the loop option"))
    return std::nullopt;
  const Expression *value = parseExpression();
  if (!value)
    return std::nullopt;
  const auto *argument = llvm::dyn_cast<ArgumentExpression>(value);
  return LoopOption{intern(name), intern(text(value->range())),
                    argument ? argument->name() : intern({}), rangeFrom(begin)};
}

} // namespace tokamak::frontend
