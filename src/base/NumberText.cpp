#include "base/NumberText.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace tokamak {

std::string textOf(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "Infinity" : "-Infinity";
  std::string text = std::signbit(value) ? "-" : "";
  if (value == 0)
    return text + "0.0";
  // d.ddde+xx: all significant digits, then the exponent.
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value),
                           std::chars_format::scientific);
  std::string_view shortest(buffer, static_cast<size_t>(end.ptr - buffer));
  size_t mark = shortest.find('e');
  int exponent = 0;
  bool signedExponent = shortest[mark + 1] == '+'; // from_chars takes no plus
  std::from_chars(buffer + mark + 1 + signedExponent, end.ptr, exponent);
  std::string digits(1, shortest[0]);
  if (mark > 2)
    digits += shortest.substr(2, mark - 2);
  if (exponent < -3 || exponent >= 7) {
    text += digits[0];
    text += '.';
    text += digits.size() > 1 ? digits.substr(1) : "0";
    return text + 'E' + std::to_string(exponent);
  }
  if (exponent < 0)
    return text + "0." + std::string(-exponent - 1, '0') + digits;
  size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() < whole)
    digits.append(whole - digits.size(), '0');
  std::string fraction = digits.substr(whole);
  return text + digits.substr(0, whole) + '.' + (fraction.empty() ? "0" : fraction);
}

} // namespace tokamak
