#include "runtime/transform/CellExpression.h"

#include "base/Error.h"
#include "base/NearestNames.h"
#include "runtime/values/Characters.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tokamak::runtime {
namespace {

using CellValue = CellFunctionValue;
using Expression = CellExpressionPointer;
using Kind = CellExpression::Kind;

Expression make(Kind kind, std::vector<Expression> children = {}) {
  auto made = std::make_unique<CellExpression>();
  made->kind = kind;
  made->children = std::move(children);
  return made;
}

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
    if (const CellLibraryFunction *cast = acceptCast()) {
      std::vector<Expression> operands;
      operands.push_back(parseUnary());
      return callOf(std::string(cast->name), cast, std::move(operands));
    }
    return parsePostfix(parsePrimary());
  }

  // `(int)`: a function with this name. Other names in parentheses are values.
  const CellLibraryFunction *acceptCast() {
    size_t begin = at_;
    if (accept("(")) {
      std::string type = name();
      if (accept(")"))
        if (const CellLibraryFunction *found = findCellFunction("(" + type + ")"))
          return found;
    }
    at_ = begin;
    return nullptr;
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
        const CellLibraryFunction *found = functionNamed(method, begin);
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
  Expression parseCall(const std::string &name, const CellLibraryFunction *function,
                       std::vector<Expression> arguments) {
    if (!accept(")")) {
      do
        arguments.push_back(parseChoice());
      while (accept(",") || accept(";"));
      expect(")");
    }
    return callOf(name, function, std::move(arguments));
  }

  static Expression callOf(const std::string &name, const CellLibraryFunction *function,
                           std::vector<Expression> arguments) {
    Expression made = make(Kind::Call, std::move(arguments));
    made->function = function;
    made->op = name;
    return made;
  }

  // `begin`: where its name stands.
  const CellLibraryFunction *functionNamed(const std::string &name, size_t begin) {
    if (const CellLibraryFunction *found = findCellFunction(name))
      return found;
    at_ = begin;
    std::vector<std::string> near = nearestCandidates(name, cellFunctionNames());
    fail(fmt::format("unknown function '{}'; {}", name,
                     near.empty() ? whatThereIs(name)
                                  : fmt::format("did you mean '{}'?", near.front())));
  }

  // The functions of the same class, or the classes.
  static std::string whatThereIs(std::string_view name) {
    auto classOf = [](std::string_view function) {
      return function.substr(0, function.find('.') + 1);
    };
    std::vector<std::string> alike;
    std::set<std::string> classes;
    for (const std::string &function : cellFunctionNames()) {
      if (classOf(function) == classOf(name))
        alike.push_back(function);
      if (function.front() != '.' && function.front() != '(')
        classes.insert(function.substr(0, function.find('.')));
    }
    return alike.empty() ? fmt::format("there are functions of {}, and methods of texts",
                                       fmt::join(classes, ", "))
                         : fmt::format("there are {}", fmt::join(alike, ", "));
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
    if (isDigit(at_) || (c == '.' && isDigit(at_ + 1)))
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
    const CellLibraryFunction *found = functionNamed(function, begin);
    if (found->most == 0) // a constant
      return callOf(function, found, {});
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

  bool isDigit(size_t place) const {
    return place < text_.size() && std::isdigit(static_cast<unsigned char>(text_[place]));
  }

  // 12, 12L, 0xff, 1.5, 1.5f, 2d, 1e-4.
  Expression number() {
    size_t begin = at_;
    bool isHexadecimal = text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
    auto isPart = [&](char c) {
      bool isSign = (c == '+' || c == '-') && !isHexadecimal && at_ > begin &&
                    (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      return isSign || c == '.' || std::isalnum(static_cast<unsigned char>(c));
    };
    while (at_ < text_.size() && isPart(text_[at_]))
      ++at_;
    std::string_view written = text_.substr(begin, at_ - begin), digits = written;
    auto endsWith = [&](char lower, char upper) {
      bool ends = digits.back() == lower || digits.back() == upper;
      digits.remove_suffix(ends ? 1 : 0);
      return ends;
    };
    bool isLong = endsWith('l', 'L'), isFloat = !isLong && !isHexadecimal && endsWith('f', 'F'),
         isDouble = !isLong && !isHexadecimal && !isFloat && endsWith('d', 'D');
    if (std::optional<int64_t> integer =
            isHexadecimal ? hexadecimal(digits.substr(2)) : parseInteger(digits);
        integer && !isFloat && !isDouble)
      return literal(*integer);
    std::optional<double> value = isLong || isHexadecimal ? std::nullopt : parseDouble(digits);
    if (!value)
      fail(fmt::format("'{}' is no number", written));
    return literal(isFloat ? double{static_cast<float>(*value)} : *value);
  }

  static std::optional<int64_t> hexadecimal(std::string_view digits) {
    int64_t value = 0;
    const char *end = digits.data() + digits.size();
    auto read = std::from_chars(digits.data(), end, value, 16);
    return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
  }

  std::string_view text_;
  std::vector<std::string> &parameters_;
  size_t at_ = 0;
  int depth_ = 0;
};

} // namespace

CellExpressionPointer parseCellFunction(std::string_view text,
                                        std::vector<std::string> &parameters) {
  return Parser(text, parameters).parse();
}

} // namespace tokamak::runtime
