// The text of a size, and sizes of texts.
#include "base/SizePolynomial.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace tokamak {

// Friends of Size, which the parser passes on.
Size floorDivide(const Size &a, const Size &b);
Size minimum(const Size &a, const Size &b);
Size maximum(const Size &a, const Size &b);

std::string Size::text() const {
  return text([](const Size &symbol) {
    std::string text = fmt::format("s{}", symbol.value_);
    if (symbol.range_ != ofArrays)
      text += fmt::format(":{}..{}", symbol.range_.low, symbol.range_.high);
    return symbol.estimate_ < 0 ? text : text + fmt::format("~{}", symbol.estimate_);
  });
}

std::string Size::text(const std::function<std::string(const Size &symbol)> &nameOf) const {
  switch (kind_) {
  case Kind::Unknown:
    return "unknown";
  case Kind::Constant:
    return fmt::format("{}", value_);
  case Kind::Symbol:
    return nameOf(*this);
  case Kind::FloorDivision:
  case Kind::Minimum:
  case Kind::Maximum: {
    std::string text = kind_ == Kind::FloorDivision ? "floordiv"
                       : kind_ == Kind::Minimum     ? "min"
                                                    : "max";
    for (size_t i = 0; i < compound_->operands.size(); ++i)
      text += (i == 0 ? "(" : ", ") + compound_->operands[i].text(nameOf);
    return text + ")";
  }
  case Kind::Sum:
    break;
  }
  std::string text;
  auto sign = [&](bool isNegative) {
    if (text.empty())
      text = isNegative ? "-" : "";
    else
      text += isNegative ? " - " : " + ";
  };
  auto magnitude = [](int64_t value) {
    return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  };
  for (const Compound::Term &term : compound_->terms) {
    sign(term.coefficient < 0);
    if (magnitude(term.coefficient) != 1)
      text += fmt::format("{}*", magnitude(term.coefficient));
    for (size_t i = 0; i < term.factors.size(); ++i)
      text += (i == 0 ? "" : "*") + term.factors[i].text(nameOf);
  }
  if (compound_->constant != 0) {
    sign(compound_->constant < 0);
    text += fmt::format("{}", magnitude(compound_->constant));
  }
  return text;
}

// Recursive descent over the grammar of text(); nesting is limited.
class Size::Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Size> parse() {
    if (text_ == "unknown")
      return unknown();
    int64_t value = 0;
    if (std::string_view all = text_; number(value) && text_.empty())
      return constant(value);
    else
      text_ = all;
    std::optional<Size> size = sum();
    return size && !size->isUnknown() && atEnd() ? size : std::nullopt;
  }

private:
  bool atEnd() {
    skipBlanks();
    return text_.empty();
  }
  void skipBlanks() { text_.remove_prefix(std::min(text_.find_first_not_of(' '), text_.size())); }
  bool take(std::string_view word) {
    skipBlanks();
    if (!text_.starts_with(word))
      return false;
    text_.remove_prefix(word.size());
    return true;
  }
  template <typename Number> bool number(Number &value) {
    auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc())
      return false;
    text_.remove_prefix(end - text_.data());
    return true;
  }

  std::optional<Size> sum() {
    if (++depth_ > 64)
      return std::nullopt;
    bool isNegative = take("-");
    std::optional<Size> total = product();
    if (total && isNegative)
      total = -1 * *total;
    isNegative = false;
    while (total && (take("+") || (isNegative = take("-")))) {
      std::optional<Size> next = product();
      if (!next)
        return std::nullopt;
      total = isNegative ? *total - *next : *total + *next;
      isNegative = false;
    }
    --depth_;
    return total;
  }

  std::optional<Size> product() {
    std::optional<Size> total = factor();
    while (total && take("*")) {
      std::optional<Size> next = factor();
      if (!next)
        return std::nullopt;
      total = *total * *next;
    }
    return total;
  }

  std::optional<Size> factor() {
    if (take("floordiv"))
      return function(floorDivide);
    if (take("min"))
      return function(minimum);
    if (take("max"))
      return function(maximum);
    if (take("s"))
      return symbol();
    skipBlanks();
    int64_t value = 0;
    return number(value) && value >= 0 ? std::optional(constant(value)) : std::nullopt;
  }

  std::optional<Size> symbol() {
    int64_t id = 0, estimate = -1;
    Range range = ofArrays;
    if (!number(id) || id < 0)
      return std::nullopt;
    if (text_.starts_with(":")) {
      text_.remove_prefix(1);
      if (!number(range.low) || !take("..") || !number(range.high) || range.low > range.high)
        return std::nullopt;
    }
    if (text_.starts_with("~")) {
      text_.remove_prefix(1);
      if (!number(estimate) || estimate < 0)
        return std::nullopt;
    }
    return Size::symbol(id, estimate, range);
  }

  std::optional<Size> function(Size (*of)(const Size &, const Size &)) {
    if (!take("("))
      return std::nullopt;
    std::optional<Size> total = sum();
    int operands = 1;
    for (; total && take(","); ++operands) {
      std::optional<Size> next = sum();
      if (!next)
        return std::nullopt;
      total = of(*total, *next);
    }
    bool isWhole = operands == 2 || (operands > 2 && of != floorDivide);
    return take(")") && isWhole ? total : std::nullopt;
  }

  std::string_view text_;
  int depth_ = 0;
};

std::optional<Size> Size::parse(std::string_view text) { return Parser(text).parse(); }

} // namespace tokamak
