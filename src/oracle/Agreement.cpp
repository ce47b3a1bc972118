#include "oracle/Agreement.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace tokamak::oracle {
namespace {

using runtime::Value;

bool agree(double expected, double error, double actual) {
  if (error == CellErrors::anything)
    return true;
  if (error == CellErrors::zeroSign)
    return actual == 0;
  if (std::isnan(expected) && std::isnan(actual))
    return true;
  if (error > 0)
    return expected == actual || std::fabs(expected - actual) <= error;
  return std::bit_cast<uint64_t>(expected) == std::bit_cast<uint64_t>(actual);
}

std::string kindOf(const Value &value) {
  if (value.isArray())
    return fmt::format("a {} matrix", value.array()->shape().text());
  if (value.isString())
    return fmt::format("\"{}\"", value.text());
  return std::string(value.describe());
}

std::optional<Difference> listDisagreement(const runtime::List &expected, const CellErrors &errors,
                                           const runtime::List &actual) {
  if (expected.elements.size() != actual.elements.size() || expected.names != actual.names)
    return Difference{fmt::format("a list of {}", expected.elements.size()),
                      fmt::format("a list of {}, or other names", actual.elements.size())};
  if (!errors.isExact())
    return std::nullopt;
  for (size_t i = 0; i < expected.elements.size(); ++i)
    if (auto difference = disagreement(expected.elements[i], {}, actual.elements[i]))
      return difference;
  return std::nullopt;
}

} // namespace

std::optional<Difference> disagreement(const Value &expected, const CellErrors &errors,
                                       const Value &actual) {
  if (expected.isNumber() != actual.isNumber() || expected.describe() != actual.describe())
    return Difference{kindOf(expected), kindOf(actual)};
  if (expected.isList())
    return listDisagreement(*expected.list(), errors, *actual.list());
  if (expected.isUndefined() || expected.isNothing())
    return std::nullopt;
  if (expected.isString()) {
    if (!errors.isExact() || expected.text() == actual.text())
      return std::nullopt;
    return Difference{kindOf(expected), kindOf(actual)};
  }
  if (expected.isArray() && expected.array()->shape() != actual.array()->shape())
    return Difference{kindOf(expected), kindOf(actual)};
  CellView left(expected), right(actual);
  std::optional<Difference> first;
  for (int64_t i = 0; i < left.cells(); ++i) {
    if (agree(left[i], errors[i], right[i]))
      continue;
    if (!first)
      first = Difference{fmt::format("{:.17g}", left[i]),
                         fmt::format("{:.17g}", right[i]),
                         expected.isArray() ? i / left.columns() + 1 : 0,
                         expected.isArray() ? i % left.columns() + 1 : 0,
                         std::fmax(errors[i], 0),
                         0};
    ++first->cells;
  }
  return first;
}

std::string describe(const Difference &difference) {
  std::string text = difference.row > 0
                         ? fmt::format("cell [{}, {}]: ", difference.row, difference.column)
                         : std::string();
  text += fmt::format("expected {}, got {}", difference.expected, difference.actual);
  if (difference.allowed > 0)
    text += fmt::format(" (may be {:.3g} off)", difference.allowed);
  if (difference.cells > 1)
    text += fmt::format("; {} cells are wrong", difference.cells);
  return text;
}

} // namespace tokamak::oracle
