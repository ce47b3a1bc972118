#include "frontend/dml/ArgumentValue.h"

#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace tokamak::frontend {

static std::optional<double> parseDouble(llvm::StringRef text) {
  bool isNegative = text.consume_front("-");
  if (!isNegative)
    text.consume_front("+");
  double sign = isNegative ? -1 : 1;
  if (text == "NaN")
    return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity" || text == "Inf")
    return sign * std::numeric_limits<double>::infinity();
  // from_chars also accepts "inf" and "nan", which are ordinary strings here.
  if (text.empty() || !(llvm::isDigit(text.front()) || text.front() == '.'))
    return std::nullopt;
  if (llvm::StringRef("dDfF").contains(text.back()))
    text = text.drop_back();
  double value = 0;
  auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (end != text.end() || error == std::errc::invalid_argument)
    return std::nullopt;
  if (error == std::errc::result_out_of_range)
    value = text.contains("e-") || text.contains("E-") ? 0.0 : HUGE_VAL;
  return sign * value;
}

static std::string unquote(llvm::StringRef text) {
  bool isQuoted = text.size() >= 2 && text.front() == text.back() &&
                  (text.front() == '"' || text.front() == '\'');
  if (isQuoted)
    text = text.drop_front().drop_back();
  constexpr llvm::StringLiteral letters = "btnfr'\"", meanings = "\b\t\n\f\r'\"";
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t escape =
        text[i] == '\\' && i + 1 < text.size() ? letters.find(text[i + 1]) : llvm::StringRef::npos;
    if (escape == llvm::StringRef::npos)
      result += text[i];
    else
      result += meanings[(++i, escape)];
  }
  return result;
}

ArgumentValue parseArgumentValue(llvm::StringRef text) {
  if (text == "TRUE" || text == "FALSE")
    return text == "TRUE";
  llvm::StringRef digits = text;
  digits.consume_front("+");
  int64_t integer = 0;
  if (!digits.starts_with("+") && !digits.getAsInteger(10, integer))
    return integer;
  if (std::optional<double> number = parseDouble(text))
    return *number;
  return unquote(text);
}

} // namespace tokamak::frontend
