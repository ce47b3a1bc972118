#include "runtime/transform/CellFunction.h"

#include "base/Error.h"
#include "base/NearestNames.h"
#include "runtime/transform/CellFunctionLibrary.h"
#include "runtime/values/Characters.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>

namespace tokamak::runtime {

using CellValue = CellFunctionValue;

// `text`: of a literal's operator, a parameter's number or a function; what the children are depends on the kind.
struct CellExpression {
  enum class Kind : uint8_t { Literal, Parameter, Unary, Binary, Choice, Index, Array, Call } kind;
  CellValue literal;
  size_t parameter = 0;
  std::string op;
  CellLibraryFunction *function = nullptr;
  std::vector<std::unique_ptr<CellExpression>> children;
};

namespace {

using Expression = std::unique_ptr<CellExpression>;
using Kind = CellExpression::Kind;

Expression make(Kind kind, std::vector<Expression> children = {}) {
  auto made = std::make_unique<CellExpression>();
  made->kind = kind;
  made->children = std::move(children);
  return made;
}

//===- parser --------------------------------------------------------------------------------===//

class Parser {
public:
  Parser(std::string_view text, std::vector<std::string> &parameters)
      : text_(text), parameters_(parameters) {}

  Expression parse() {
    parseParameters();
    Expression body = parseChoice();
    skipBlanks();
    if (at_ < text_.size())
      fail(fmt::format("unexpected '{}'", text_.substr(at_)));
    return body;
  }

private:
  [[noreturn]] void fail(const std::string &reason) const {
    throw Error(fmt::format("map: \"{}\", at character {}: {}", text_, at_ + 1, reason));
  }

  void skipBlanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
  }
  bool accept(std::string_view token) {
    skipBlanks();
    if (!text_.substr(at_).starts_with(token))
      return false;
    at_ += token.size();
    return true;
  }
  // `|` is not the beginning of `||`.
  bool acceptBinary(std::string_view op) {
    skipBlanks();
    bool isDoubled = at_ + 1 < text_.size() && text_[at_ + 1] == text_[at_];
    return !((op == "|" || op == "&") && isDoubled) && accept(op);
  }
  void expect(std::string_view token) {
    if (!accept(token))
      fail(fmt::format("expected '{}'", token));
  }
  std::string name() {
    skipBlanks();
    size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  // `x ->`, `(x, y) ->`; without them the expression is of no parameter.
  void parseParameters() {
    if (text_.find("->") == text_.npos)
      return;
    if (accept("(")) {
      do
        parameters_.push_back(name());
      while (accept(","));
      expect(")");
    } else {
      parameters_.push_back(name());
    }
    expect("->");
    if (std::ranges::count(parameters_, ""))
      fail("a parameter has no name");
  }

  // Each call is one level of the expression's nesting, which is bounded so that the stack suffices.
  struct Level {
    explicit Level(Parser &parser) : parser(parser) {
      constexpr int deepest = 200;
      if (++parser.depth_ > deepest)
        parser.fail("the expression is nested too deeply");
    }
    ~Level() { --parser.depth_; }
    Parser &parser;
  };

  Expression parseChoice() {
    Level level(*this);
    Expression condition = parseBinary(0);
    if (!accept("?"))
      return condition;
    std::vector<Expression> parts;
    parts.push_back(std::move(condition));
    parts.push_back(parseChoice());
    expect(":");
    parts.push_back(parseChoice());
    return make(Kind::Choice, std::move(parts));
  }

  Expression parseBinary(size_t level) {
    static const std::vector<std::vector<std::string_view>> levels = {
        {"||"},     {"&&"},         {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
        {"+", "-"}, {"*", "/", "%"}};
    if (level == levels.size())
      return parseUnary();
    Expression left = parseBinary(level + 1);
    while (true) {
      auto found = std::ranges::find_if(levels[level],
                                        [&](std::string_view op) { return acceptBinary(op); });
      if (found == levels[level].end())
        return left;
      std::vector<Expression> operands;
      operands.push_back(std::move(left));
      operands.push_back(parseBinary(level + 1));
      left = make(Kind::Binary, std::move(operands));
      left->op = *found;
    }
  }

  Expression parseUnary() {
    Level level(*this);
    for (std::string_view op : {"!", "-"})
      if (accept(op)) {
        std::vector<Expression> operands;
        operands.push_back(parseUnary());
        Expression made = make(Kind::Unary, std::move(operands));
        made->op = op;
        return made;
      }
    return parsePostfix(parsePrimary());
  }

  Expression parsePostfix(Expression value) {
    while (true) {
      if (accept("[")) {
        std::vector<Expression> parts;
        parts.push_back(std::move(value));
        parts.push_back(parseChoice());
        expect("]");
        value = make(Kind::Index, std::move(parts));
      } else if (accept(".")) {
        size_t begin = at_ - 1;
        std::string method = "." + name();
        CellLibraryFunction *found = functionNamed(method, begin);
        std::vector<Expression> arguments;
        arguments.push_back(std::move(value));
        // `array.length` is no call.
        value = accept("(") ? parseCall(method, found, std::move(arguments))
                            : callOf(method, found, std::move(arguments));
      } else {
        return value;
      }
    }
  }

  // Behind its opening parenthesis.
  Expression parseCall(const std::string &name, CellLibraryFunction *function,
                       std::vector<Expression> arguments) {
    if (!accept(")")) {
      do
        arguments.push_back(parseChoice());
      while (accept(",") || accept(";"));
      expect(")");
    }
    return callOf(name, function, std::move(arguments));
  }

  static Expression callOf(const std::string &name, CellLibraryFunction *function,
                           std::vector<Expression> arguments) {
    Expression made = make(Kind::Call, std::move(arguments));
    made->function = function;
    made->op = name;
    return made;
  }

  // `begin`: where its name stands.
  CellLibraryFunction *functionNamed(const std::string &name, size_t begin) {
    if (CellLibraryFunction *found = findCellFunction(name))
      return found;
    at_ = begin;
    std::vector<std::string> near = nearestCandidates(name, cellFunctionNames());
    fail(fmt::format("unknown function '{}'{}", name,
                     near.empty() ? "" : fmt::format("; did you mean '{}'?", near.front())));
  }

  Expression parsePrimary() {
    skipBlanks();
    if (at_ >= text_.size())
      fail("the expression ends too early");
    size_t begin = at_;
    char c = text_[at_];
    if (accept("(")) {
      Expression inner = parseChoice();
      expect(")");
      return inner;
    }
    if (c == '"')
      return literal(quoted(c));
    if (c == '\'') {
      std::string text = quoted(c);
      bool isCharacter = !text.empty() && bytesOfCharacter(text, 0) == text.size();
      return literal(isCharacter ? CellValue(static_cast<char32_t>(codeOfCharacter(text)))
                                 : CellValue(text));
    }
    if (std::isdigit(static_cast<unsigned char>(c)))
      return number();
    std::string word = name();
    if (word == "true" || word == "false")
      return literal(word == "true");
    if (word == "null")
      return literal({});
    if (word == "new")
      return array();
    auto parameter = std::ranges::find(parameters_, word);
    if (parameter != parameters_.end()) {
      Expression made = make(Kind::Parameter);
      made->parameter = static_cast<size_t>(parameter - parameters_.begin());
      return made;
    }
    if (word.empty() || !accept(".")) {
      at_ = begin;
      fail(word.empty() ? fmt::format("unexpected '{}'", c)
                        : fmt::format("unknown name '{}'", word));
    }
    std::string function = word + "." + name();
    CellLibraryFunction *found = functionNamed(function, begin);
    expect("(");
    return parseCall(function, found, {});
  }

  // new String[]{a, b}
  Expression array() {
    if (name() != "String")
      fail("only arrays of strings can be made: new String[]{...}");
    expect("[");
    expect("]");
    expect("{");
    std::vector<Expression> elements;
    if (!accept("}")) {
      do
        elements.push_back(parseChoice());
      while (accept(","));
      expect("}");
    }
    return make(Kind::Array, std::move(elements));
  }

  static Expression literal(CellValue value) {
    Expression made = make(Kind::Literal);
    made->literal = std::move(value);
    return made;
  }

  // Escapes that a text has no character for stay as they are: they belong to a regular expression.
  std::string quoted(char quote) {
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] != '\\' || at_ + 1 == text_.size()) {
        value += text_[at_];
        continue;
      }
      char escaped = text_[++at_];
      constexpr std::string_view codes = "nt\"'\\", characters = "\n\t\"'\\";
      size_t place = codes.find(escaped);
      value += place == codes.npos ? std::string{'\\', escaped} : std::string(1, characters[place]);
    }
    if (at_ == text_.size())
      fail("a string is not closed");
    ++at_;
    return value;
  }

  Expression number() {
    size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.'))
      ++at_;
    std::string_view digits = text_.substr(begin, at_ - begin);
    if (std::optional<int64_t> integer = parseInteger(digits))
      return literal(*integer);
    std::optional<double> value = parseDouble(digits);
    if (!value)
      fail(fmt::format("'{}' is no number", digits));
    return literal(*value);
  }

  std::string_view text_;
  std::vector<std::string> &parameters_;
  size_t at_ = 0;
  int depth_ = 0;
};

//===- evaluation ----------------------------------------------------------------------------===//

[[noreturn]] void failOperator(const std::string &op, const CellValue &value) {
  throw Error(fmt::format("map: '{}' is not defined for {}", op, describeCell(value)));
}

bool truth(const CellValue &value, const std::string &op) {
  if (const bool *boolean = std::get_if<bool>(&value))
    return *boolean;
  failOperator(op, value);
}

bool areEqual(const CellValue &first, const CellValue &second) {
  auto comparable = [](const CellValue &value, const CellValue &other) {
    bool isCharacterBesideText =
        std::holds_alternative<char32_t>(value) && std::holds_alternative<std::string>(other);
    return isCharacterBesideText ? CellValue(textOfCell(value)) : promoted(value);
  };
  CellValue left = comparable(first, second), right = comparable(second, first);
  bool areNumbers = isCellNumber(left) && isCellNumber(right) && left.index() != right.index();
  return areNumbers ? cellNumber(left, "==") == cellNumber(right, "==") : left == right;
}

CellValue arithmetic(const std::string &op, const CellValue &left, const CellValue &right) {
  const auto *a = std::get_if<int64_t>(&left), *b = std::get_if<int64_t>(&right);
  if (!a || !b) {
    double x = cellNumber(left, op), y = cellNumber(right, op);
    switch (op.front()) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    case '/':
      return x / y;
    default:
      return std::fmod(x, y);
    }
  }
  bool divides = op == "/" || op == "%";
  if (divides && *b == 0)
    throw Error("map: an integer is divided by 0");
  // Wraps around, as Java's does.
  auto x = static_cast<uint64_t>(*a), y = static_cast<uint64_t>(*b);
  switch (op.front()) {
  case '+':
    return static_cast<int64_t>(x + y);
  case '-':
    return static_cast<int64_t>(x - y);
  case '*':
    return static_cast<int64_t>(x * y);
  case '/':
    return *b == -1 ? static_cast<int64_t>(0 - x) : *a / *b;
  default:
    return *b == -1 ? int64_t{0} : *a % *b;
  }
}

CellValue binary(const std::string &op, const CellValue &first, const CellValue &second) {
  if (op == "==" || op == "!=")
    return areEqual(first, second) == (op == "==");
  bool isText =
      std::holds_alternative<std::string>(first) || std::holds_alternative<std::string>(second);
  if (op == "+" && isText)
    return textOfCell(first) + textOfCell(second);
  CellValue left = promoted(first), right = promoted(second);
  if (op.front() == '<' || op.front() == '>') {
    const auto *a = std::get_if<int64_t>(&left), *b = std::get_if<int64_t>(&right);
    std::partial_ordering order =
        a && b ? std::partial_ordering(*a <=> *b) : cellNumber(left, op) <=> cellNumber(right, op);
    bool orEqual = op.size() == 2 && order == 0;
    return orEqual || (op.front() == '<' ? order < 0 : order > 0);
  }
  return arithmetic(op, left, right);
}

// A cell that is added to a character is a text, whatever its type: all parameters are in SystemDS.
CellValue binaryOfCells(const CellExpression &expression, CellValue left, CellValue right) {
  auto isCell = [&](size_t i) { return expression.children[i]->kind == Kind::Parameter; };
  if (expression.op == "+" && isCell(0) && std::holds_alternative<char32_t>(right))
    left = textOfCell(left);
  else if (expression.op == "+" && isCell(1) && std::holds_alternative<char32_t>(left))
    right = textOfCell(right);
  return binary(expression.op, left, right);
}

CellValue evaluate(const CellExpression &expression, std::span<const CellValue> arguments) {
  auto child = [&](size_t i) { return evaluate(*expression.children[i], arguments); };
  switch (expression.kind) {
  case Kind::Literal:
    return expression.literal;
  case Kind::Parameter:
    return arguments[expression.parameter];
  case Kind::Unary:
    return expression.op == "!" ? CellValue(!truth(child(0), "!"))
                                : binary("*", int64_t{-1}, child(0));
  case Kind::Binary:
    if (expression.op == "&&")
      return truth(child(0), "&&") && truth(child(1), "&&");
    if (expression.op == "||")
      return truth(child(0), "||") || truth(child(1), "||");
    if (expression.op == "&" || expression.op == "|" || expression.op == "^") {
      bool left = truth(child(0), expression.op), right = truth(child(1), expression.op);
      return expression.op == "&"   ? left && right
             : expression.op == "|" ? left || right
                                    : left != right;
    }
    return binaryOfCells(expression, child(0), child(1));
  case Kind::Choice:
    return truth(child(0), "?") ? child(1) : child(2);
  case Kind::Index: {
    CellValue array = child(0), place = child(1);
    const auto *texts = std::get_if<CellTextArray>(&array);
    const auto *index = std::get_if<int64_t>(&place);
    if (!texts || !index)
      failOperator("[]", texts ? place : array);
    if (*index < 0 || *index >= std::ssize(*texts))
      throw Error(
          fmt::format("map: index {} is outside of an array of {} texts", *index, texts->size()));
    return (*texts)[*index];
  }
  case Kind::Array: {
    CellTextArray texts;
    for (size_t i = 0; i < expression.children.size(); ++i)
      texts.push_back(textOfCell(child(i)));
    return texts;
  }
  case Kind::Call: {
    std::vector<CellValue> values;
    for (size_t i = 0; i < expression.children.size(); ++i)
      values.push_back(child(i));
    return expression.function(values);
  }
  }
  internalError("unknown expression of a cell function");
}

} // namespace

CellFunction::CellFunction(std::string_view text) { body_ = Parser(text, parameters_).parse(); }
CellFunction::CellFunction(CellFunction &&) noexcept = default;
CellFunction &CellFunction::operator=(CellFunction &&) noexcept = default;
CellFunction::~CellFunction() = default;

CellFunctionValue CellFunction::call(std::span<const CellFunctionValue> arguments) const {
  return evaluate(*body_, arguments);
}

} // namespace tokamak::runtime
