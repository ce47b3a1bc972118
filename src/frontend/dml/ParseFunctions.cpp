#include "frontend/dml/DescentParser.h"

#include "base/NearestNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

namespace tokamak::frontend {

bool DescentParser::atFunctionDefinition() const {
  return at(TokenKind::Identifier) && peek(1).isAssignment() &&
         (peek(2).is(TokenKind::Function) || peek(2).is(TokenKind::ExternalFunction));
}

void DescentParser::parseFunctionDefinition() {
  checkTopLevel(rangeOf(peek()), "a function definition");
  checkAssignable(peek());
  if (peek(2).is(TokenKind::ExternalFunction))
    return parseExternalFunction();
  std::unique_ptr<FunctionDefinition> function = parseFunction();
  if (!function)
    return synchronise();
  auto [first, isNew] = functionNames_.try_emplace(function->name, function->nameRange);
  if (!isNew) {
    reporter_.error(function->nameRange, "the function '" + function->name + "' is already defined")
        .notes.push_back(reporter_.noteAt(first->second, "first defined here"));
    return;
  }
  program_->functions.push_back(std::move(function));
}

std::unique_ptr<FunctionDefinition> DescentParser::parseFunction() {
  auto function = std::make_unique<FunctionDefinition>();
  function->nameRange = rangeOf(advance());
  function->name = text(function->nameRange);
  advance();
  advance();
  if (!parseSignature(function->parameters, function->outputs))
    return nullptr;
  if (!at(TokenKind::LeftBrace)) {
    static const std::string words[] = {"return"};
    bool mayReturn = function->outputs.empty();
    errorExpected("'{'", "before the body of the function", mayReturn ? Words(words) : Words());
    return nullptr;
  }
  uint32_t open = position_;
  uint32_t errorsBefore = errorCount_;
  std::vector<const Statement *> body;
  if (!parseBody(body))
    return nullptr;
  function->body = copy(body);
  if (function->body.empty() && errorCount_ == errorsBefore)
    error(rangeOf(tokens_[open]), "the body of the function '" + function->name + "' is empty");
  function->range = rangeFrom(function->nameRange);
  return function;
}

/// Functions implemented in Java can't be called; warn once, at their definition.
void DescentParser::parseExternalFunction() {
  SourceRange nameRange = rangeOf(advance());
  advance();
  advance();
  FunctionDefinition signature;
  if (!parseSignature(signature.parameters, signature.outputs) ||
      !expect(TokenKind::Implemented, "after the signature of an external function") ||
      !expect(TokenKind::In, "after 'implemented'"))
    return synchronise();
  uint32_t open = position_;
  if (!expect(TokenKind::LeftParenthesis, "after 'implemented in'"))
    return synchronise();
  if (!skipBehind(open)) {
    error(rangeOf(tokens_[open]), "this '(' is never closed");
    return synchronise();
  }
  std::string name(text(nameRange));
  reporter_.warning(nameRange, "the external function '" + name +
                                   "' is ignored: functions in Java can't be called");
  program_->externalFunctions.push_back({std::move(name), nameRange});
}

//===-- Signatures --===//

bool DescentParser::parseSignature(std::vector<Parameter> &parameters,
                                   std::vector<Parameter> &outputs) {
  if (!parseParameters(parameters, "a parameter"))
    return false;
  return !accept(TokenKind::Return) || parseParameters(outputs, "an output");
}

bool DescentParser::parseParameters(std::vector<Parameter> &parameters, std::string_view what) {
  uint32_t open = position_;
  if (!expect(TokenKind::LeftParenthesis, "after '" + std::string(text(previous())) + "'"))
    return false;
  if (accept(TokenKind::RightParenthesis))
    return true;
  llvm::StringSet<> names;
  do {
    // After an error, skip the list if its end is known, so that the body is still checked.
    if (!parseParameter(parameters.emplace_back(), what))
      return skipBehind(open);
    const Parameter &parameter = parameters.back();
    if (!names.insert(parameter.name).second)
      error(parameter.nameRange, "'" + parameter.name + "' is declared twice");
  } while (accept(TokenKind::Comma));
  return expectClosing(open) || skipBehind(open);
}

bool DescentParser::parseParameter(Parameter &parameter, std::string_view what) {
  if (!parseType(parameter.type))
    return false;
  if (at(TokenKind::Identifier))
    checkAssignable(peek());
  parameter.nameRange = rangeOf(peek());
  parameter.name = text(peek());
  if (!expect(TokenKind::Identifier, "for " + std::string(what) + " after its type"))
    return false;
  if (!at(TokenKind::Assign))
    return true;
  if (what == "an output") {
    error(rangeOf(peek()), "an output has no default")
        .note("assign '" + parameter.name + "' in the body of the function");
    return false;
  }
  advance();
  parameter.defaultValue = parseExpression();
  return parameter.defaultValue != nullptr;
}

static std::optional<DeclaredDataType> dataTypeNamed(std::string_view name) {
  return llvm::StringSwitch<std::optional<DeclaredDataType>>({name.data(), name.size()})
      .Cases("matrix", "Matrix", DeclaredDataType::Matrix)
      .Cases("frame", "Frame", DeclaredDataType::Frame)
      .Cases("list", "List", DeclaredDataType::List)
      .Cases("scalar", "Scalar", DeclaredDataType::Scalar)
      .Default(std::nullopt);
}

static DeclaredValueType valueTypeNamed(std::string_view name) {
  return llvm::StringSwitch<DeclaredValueType>({name.data(), name.size()})
      .Cases("int", "integer", "Int", "Integer", DeclaredValueType::Integer)
      .Cases("double", "Double", DeclaredValueType::Double)
      .Cases("boolean", "Boolean", DeclaredValueType::Boolean)
      .Cases("string", "String", DeclaredValueType::String)
      .Default(DeclaredValueType::Unknown);
}

/// Parses a value type alone, or data[value].
bool DescentParser::parseType(DeclaredType &type) {
  static const std::string typeNames[] = {"matrix", "frame",  "list",    "scalar", "int",
                                          "double", "string", "boolean", "integer"};
  SourceRange begin = rangeOf(peek());
  if (at(TokenKind::ValueType)) {
    type = {DeclaredDataType::Scalar, valueTypeNamed(text(advance())), begin};
    return true;
  }
  if (!at(TokenKind::Identifier)) {
    errorExpected("a type such as int or matrix[double]");
    return false;
  }
  std::string name(text(peek()));
  std::optional<DeclaredDataType> dataType = dataTypeNamed(name);
  bool isLastWord = peek(1).is(TokenKind::Comma) || peek(1).is(TokenKind::RightParenthesis) ||
                    peek(1).is(TokenKind::Assign);
  if (isLastWord && !dataType) {
    error(begin, "'" + name + "' needs a type before it")
        .note("for example: matrix[double] " + name + ", or double " + name);
    return false;
  }
  if (!dataType) {
    auto &diagnostic = error(begin, "unknown type '" + name + "'");
    diagnostic.candidates = nearestCandidates(name, typeNames);
    diagnostic.note(
        "the types are int, double, boolean, string, matrix[double], frame[unknown] and "
        "list[unknown]");
    return false;
  }
  advance();
  uint32_t open = position_;
  std::string elementType = *dataType == DeclaredDataType::Matrix ? "double" : "unknown";
  if (!at(TokenKind::LeftBracket)) {
    error(begin, "'" + name + "' needs the type of its values: " + name + "[" + elementType + "]");
    return false;
  }
  advance();
  if (!at(TokenKind::ValueType)) {
    static const std::string words[] = {"double", "int", "integer", "string", "boolean", "unknown"};
    errorExpected("a value type such as double or string", {}, words);
    return false;
  }
  DeclaredValueType valueType = valueTypeNamed(text(advance()));
  if (!expectClosing(open))
    return false;
  type = {*dataType, valueType, rangeFrom(begin)};
  return true;
}

} // namespace tokamak::frontend
