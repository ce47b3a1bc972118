#include "runtime/transform/CellFunctionLibrary.h"

#include "base/Error.h"
#include "runtime/values/Characters.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tokamak::runtime {

using CellValue = CellFunctionValue;

std::string textOfCell(const CellValue &value) {
  if (std::holds_alternative<std::monostate>(value))
    return "null";
  if (const auto *text = std::get_if<std::string>(&value))
    return *text;
  if (const auto *integer = std::get_if<int64_t>(&value))
    return fmt::format("{}", *integer);
  if (const auto *number = std::get_if<double>(&value))
    return textOf(*number);
  if (const auto *boolean = std::get_if<bool>(&value))
    return *boolean ? "true" : "false";
  if (const auto *character = std::get_if<char32_t>(&value))
    return textOfCharacter(*character);
  return fmt::format("[{}]", fmt::join(std::get<CellTextArray>(value), ", "));
}

std::string describeCell(const CellValue &value) {
  if (const auto *text = std::get_if<std::string>(&value))
    return fmt::format("the text \"{}\"", *text);
  if (const auto *character = std::get_if<char32_t>(&value))
    return fmt::format("the character '{}'", textOfCharacter(*character));
  if (std::holds_alternative<CellTextArray>(value))
    return "an array of texts";
  return textOfCell(value);
}

CellValue promoted(const CellValue &value) {
  const auto *character = std::get_if<char32_t>(&value);
  return character ? CellValue(int64_t{*character}) : value;
}

bool isCellNumber(const CellValue &value) {
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value);
}

double cellNumber(const CellValue &value, std::string_view op) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    return static_cast<double>(*integer);
  if (const auto *number = std::get_if<double>(&value))
    return *number;
  throw Error(fmt::format("map: '{}' needs a number, got {}", op, describeCell(value)));
}

std::string textAt(std::span<const CellValue> values, size_t i, std::string_view function) {
  if (const auto *text = std::get_if<std::string>(&values[i]))
    return *text;
  if (std::holds_alternative<char32_t>(values[i]))
    return textOfCell(values[i]);
  bool isReceiver = i == 0 && function.starts_with('.');
  if (isReceiver && (isCellNumber(values[i]) || std::holds_alternative<bool>(values[i])))
    return textOfCell(values[i]);
  throw Error(fmt::format("map: '{}' needs a text, got {}", function, describeCell(values[i])));
}

int64_t integerAt(std::span<const CellValue> values, size_t i, std::string_view function) {
  if (const auto *integer = std::get_if<int64_t>(&values[i]))
    return *integer;
  throw Error(fmt::format("map: '{}' needs an integer, got {}", function, describeCell(values[i])));
}

CellValue CellLibraryFunction::operator()(std::span<const CellValue> values) const {
  if (values.size() >= least && values.size() <= most)
    return call(values, name);
  std::string counts = most == anyCount ? fmt::format("at least {}", least)
                       : least == most  ? fmt::format("{}", least)
                                        : fmt::format("{} to {}", least, most);
  throw Error(fmt::format("map: '{}' takes {} arguments, got {}", name, counts, values.size()));
}

const CellLibraryFunction *findCellFunction(std::string_view name) {
  for (std::span<const CellLibraryFunction> table : {cellTextFunctions(), cellNumberFunctions()})
    if (auto found = std::ranges::find(table, name, &CellLibraryFunction::name);
        found != table.end())
      return &*found;
  return nullptr;
}

std::vector<std::string> cellFunctionNames() {
  std::vector<std::string> names;
  for (std::span<const CellLibraryFunction> table : {cellTextFunctions(), cellNumberFunctions()})
    for (const CellLibraryFunction &function : table)
      names.emplace_back(function.name);
  return names;
}

} // namespace tokamak::runtime
