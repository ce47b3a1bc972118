#include "runtime/transform/CellFunctionLibrary.h"

#include "base/Error.h"
#include "runtime/transform/PorterStemmer.h"
#include "runtime/transform/RegularExpression.h"
#include "runtime/values/Characters.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <sstream>

namespace tokamak::runtime {

using CellValue = CellFunctionValue;
using CellValues = std::span<const CellFunctionValue>;

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

namespace {

// What a method is called on may be the number of a cell: its text. A character is a text of one.
std::string textAt(CellValues values, size_t i, std::string_view function) {
  if (const auto *text = std::get_if<std::string>(&values[i]))
    return *text;
  if (std::holds_alternative<char32_t>(values[i]))
    return textOfCell(values[i]);
  bool isReceiver = i == 0 && function.starts_with('.');
  if (isReceiver && (isCellNumber(values[i]) || std::holds_alternative<bool>(values[i])))
    return textOfCell(values[i]);
  throw Error(fmt::format("map: '{}' needs a text, got {}", function, describeCell(values[i])));
}

int64_t integerAt(CellValues values, size_t i, std::string_view function) {
  if (const auto *integer = std::get_if<int64_t>(&values[i]))
    return *integer;
  throw Error(fmt::format("map: '{}' needs an integer, got {}", function, describeCell(values[i])));
}

void checkCount(CellValues values, size_t least, size_t most, std::string_view function) {
  if (values.size() < least || values.size() > most)
    throw Error(
        fmt::format("map: '{}' takes {} arguments, got {}", function,
                    least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
                    values.size()));
}

// All letters of Unicode that have one letter of the other case; and the German one that has two.
std::string mapped(std::string_view text, wint_t (*map)(wint_t, locale_t)) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string result;
  for (size_t byte = 0; byte < text.size(); byte += bytesOfCharacter(text, byte)) {
    std::string_view character = text.substr(byte, bytesOfCharacter(text, byte));
    auto code = static_cast<wint_t>(codeOfCharacter(character));
    if (character == "\u00df" && map == towupper_l)
      result += "SS";
    else if (wint_t other = code < 0x80 || unicode ? map(code, unicode) : code; other != code)
      result += textOfCharacter(other);
    else
      result += character;
  }
  return result;
}

CellValue trimmed(const std::string &text) {
  size_t begin = text.find_first_not_of(" \t\n\r\f\v"), end = text.find_last_not_of(" \t\n\r\f\v");
  return begin == text.npos ? std::string() : text.substr(begin, end - begin + 1);
}

const RegularExpression &expressionOf(const std::string &text) {
  return RegularExpression::of(text, "map");
}

// An empty text stands between all characters.
std::string replacedAll(const std::string &text, const std::string &from, const std::string &to) {
  std::string result;
  size_t copied = 0;
  for (size_t at = 0; (at = text.find(from, at)) != text.npos;) {
    result += text.substr(copied, at - copied) + to;
    copied = at + from.size();
    if (from.empty() && at == text.size())
      break;
    at += from.empty() ? bytesOfCharacter(text, at) : from.size();
  }
  return result + text.substr(copied);
}

std::string part(const std::string &text, int64_t begin, int64_t end) {
  int64_t count = countCharacters(text);
  if (begin < 0 || begin > end || end > count)
    throw Error(fmt::format("map: '.substring' from {} to {} of the text \"{}\" with {} characters",
                            begin, end, text, count));
  size_t first = byteOfCharacter(text, begin);
  return text.substr(first, byteOfCharacter(text, end) - first);
}

std::string_view characterIn(const std::string &text, int64_t place, std::string_view function) {
  std::string_view character = place < 0 ? "" : characterAt(text, place);
  if (character.empty())
    throw Error(
        fmt::format("map: '{}': there is no character {} in \"{}\"", function, place, text));
  return character;
}

// The character at which a part of the text begins; -1 if there is none.
int64_t placeOf(const std::string &text, size_t byte) {
  return byte == text.npos ? -1 : countCharacters(std::string_view(text).substr(0, byte));
}

CellValue parsedInteger(const CellValue &value, std::string_view function) {
  if (std::holds_alternative<int64_t>(value))
    return value;
  const std::string &text = textAt(CellValues(&value, 1), 0, function);
  if (std::optional<int64_t> integer = parseInteger(text))
    return *integer;
  throw Error(fmt::format("map: '{}': \"{}\" is no integer", function, text));
}

CellValue parsedDouble(const CellValue &value, std::string_view function) {
  if (isCellNumber(value))
    return cellNumber(value, function);
  const std::string &text = textAt(CellValues(&value, 1), 0, function);
  if (std::optional<double> number = parseDouble(text))
    return *number;
  throw Error(fmt::format("map: '{}': \"{}\" is no number", function, text));
}

// Of 32 bits: integers lose the upper ones, doubles end at the limits.
int64_t intValue(const CellValue &value, std::string_view function) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    return static_cast<int32_t>(*integer);
  return convertCell<int32_t>(cellNumber(value, function));
}

// The lesser of two numbers, or the greater one; NaN if one is, and -0 is less than 0.
CellValue lesser(const CellValue &a, const CellValue &b, bool isGreater,
                 std::string_view function) {
  const auto *left = std::get_if<int64_t>(&a), *right = std::get_if<int64_t>(&b);
  if (left && right)
    return isGreater ? std::max(*left, *right) : std::min(*left, *right);
  double x = cellNumber(a, function), y = cellNumber(b, function);
  if (std::isnan(x) || (x == y && std::signbit(x) != isGreater))
    return x;
  return std::isnan(y) || (isGreater ? y >= x : y <= x) ? y : x;
}

// The characters that both texts have, as a share of those that one of them has (Jaccard's index).
double similarity(const std::string &a, const std::string &b) {
  auto charactersOf = [](std::string_view text) {
    std::set<std::string_view> characters;
    for (size_t byte = 0; byte < text.size(); byte += bytesOfCharacter(text, byte))
      characters.insert(text.substr(byte, bytesOfCharacter(text, byte)));
    return characters;
  };
  std::set<std::string_view> left = charactersOf(a), right = charactersOf(b);
  size_t common = 0;
  for (std::string_view character : left)
    common += right.count(character);
  size_t all = left.size() + right.size() - common;
  return all == 0 ? 0 : static_cast<double>(common) / static_cast<double>(all);
}

// How many words have to be replaced, inserted or removed to make the second text of the first (Levenshtein's distance), as
// a share of the words of the longer one.
double wordErrorRate(const std::string &reference, const std::string &hypothesis) {
  auto words = [](const std::string &text) {
    std::istringstream stream(text);
    return CellTextArray(std::istream_iterator<std::string>(stream), {});
  };
  CellTextArray from = words(reference), to = words(hypothesis);
  std::vector<size_t> row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= to.size(); ++j) {
      size_t change = diagonal + (from[i - 1] != to[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return static_cast<double>(row.back()) /
         static_cast<double>(std::max({size_t{1}, from.size(), to.size()}));
}

// "value·code" of the metadata of a recoded column.
CellTextArray splitRecodeEntry(const std::string &entry) {
  constexpr std::string_view separator = "\u00b7";
  size_t at = entry.rfind(separator);
  if (at == entry.npos)
    throw Error(fmt::format("map: \"{}\" is no entry value\u00b7code of a recoded column", entry));
  return {entry.substr(0, at), entry.substr(at + separator.size())};
}

// What is called as NAME: the number of its arguments, with the text of a method as the first, and what it does. Those are
// called with as many as they take.
struct Entry {
  std::string_view name;
  size_t least, most;
  CellValue (*call)(CellValues v, std::string_view name);
};

using View = std::string_view;
constexpr Entry table[] = {
    {".length", 1, 1,
     [](CellValues v, View n) -> CellValue {
       if (const auto *array = std::get_if<CellTextArray>(&v[0]))
         return static_cast<int64_t>(array->size());
       return countCharacters(textAt(v, 0, n));
     }},
    {".charAt", 2, 2,
     [](CellValues v, View n) -> CellValue {
       std::string text = textAt(v, 0, n);
       return static_cast<char32_t>(codeOfCharacter(characterIn(text, integerAt(v, 1, n), n)));
     }},
    {".toLowerCase", 1, 1,
     [](CellValues v, View n) -> CellValue { return mapped(textAt(v, 0, n), towlower_l); }},
    {".toUpperCase", 1, 1,
     [](CellValues v, View n) -> CellValue { return mapped(textAt(v, 0, n), towupper_l); }},
    {".trim", 1, 1, [](CellValues v, View n) -> CellValue { return trimmed(textAt(v, 0, n)); }},
    {".strip", 1, 1, [](CellValues v, View n) -> CellValue { return trimmed(textAt(v, 0, n)); }},
    {".substring", 2, 3,
     [](CellValues v, View n) -> CellValue {
       std::string text = textAt(v, 0, n);
       return part(text, integerAt(v, 1, n),
                   v.size() == 3 ? integerAt(v, 2, n) : countCharacters(text));
     }},
    {".replace", 3, 3,
     [](CellValues v, View n) -> CellValue {
       return replacedAll(textAt(v, 0, n), textAt(v, 1, n), textAt(v, 2, n));
     }},
    {".replaceAll", 3, 3,
     [](CellValues v, View n) -> CellValue {
       return expressionOf(textAt(v, 1, n)).replaceAll(textAt(v, 0, n), textAt(v, 2, n));
     }},
    {".replaceFirst", 3, 3,
     [](CellValues v, View n) -> CellValue {
       return expressionOf(textAt(v, 1, n)).replaceFirst(textAt(v, 0, n), textAt(v, 2, n));
     }},
    {".matches", 2, 2,
     [](CellValues v, View n) -> CellValue {
       return expressionOf(textAt(v, 1, n)).matches(textAt(v, 0, n));
     }},
    {".split", 2, 2,
     [](CellValues v, View n) -> CellValue {
       return expressionOf(textAt(v, 1, n)).split(textAt(v, 0, n));
     }},
    {".equals", 2, 2, [](CellValues v, View) -> CellValue { return v[0] == v[1]; }},
    {".equalsIgnoreCase", 2, 2,
     [](CellValues v, View n) -> CellValue {
       return mapped(textAt(v, 0, n), towlower_l) == mapped(textAt(v, 1, n), towlower_l);
     }},
    {".contains", 2, 2,
     [](CellValues v, View n) -> CellValue {
       return textAt(v, 0, n).find(textAt(v, 1, n)) != std::string::npos;
     }},
    {".startsWith", 2, 2,
     [](CellValues v, View n) -> CellValue {
       return textAt(v, 0, n).starts_with(textAt(v, 1, n));
     }},
    {".endsWith", 2, 2,
     [](CellValues v, View n) -> CellValue { return textAt(v, 0, n).ends_with(textAt(v, 1, n)); }},
    {".indexOf", 2, 2,
     [](CellValues v, View n) -> CellValue {
       std::string text = textAt(v, 0, n);
       return placeOf(text, text.find(textAt(v, 1, n)));
     }},
    {".lastIndexOf", 2, 2,
     [](CellValues v, View n) -> CellValue {
       std::string text = textAt(v, 0, n);
       return placeOf(text, text.rfind(textAt(v, 1, n)));
     }},
    {".isEmpty", 1, 1, [](CellValues v, View n) -> CellValue { return textAt(v, 0, n).empty(); }},
    {".concat", 2, 2,
     [](CellValues v, View n) -> CellValue { return textAt(v, 0, n) + textAt(v, 1, n); }},
    {".toString", 1, 1, [](CellValues v, View) -> CellValue { return textOfCell(v[0]); }},
    {".intValue", 1, 1, [](CellValues v, View n) -> CellValue { return intValue(v[0], n); }},
    {".doubleValue", 1, 1, [](CellValues v, View n) -> CellValue { return cellNumber(v[0], n); }},
    {"String.valueOf", 1, 1, [](CellValues v, View) -> CellValue { return textOfCell(v[0]); }},
    {"Integer.valueOf", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedInteger(v[0], n); }},
    {"Integer.parseInt", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedInteger(v[0], n); }},
    {"Long.valueOf", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedInteger(v[0], n); }},
    {"Long.parseLong", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedInteger(v[0], n); }},
    {"Double.valueOf", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedDouble(v[0], n); }},
    {"Double.parseDouble", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedDouble(v[0], n); }},
    {"Math.abs", 1, 1,
     [](CellValues v, View n) -> CellValue {
       if (const auto *integer = std::get_if<int64_t>(&v[0]))
         return *integer < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(*integer)) : *integer;
       return std::abs(cellNumber(v[0], n));
     }},
    {"Math.min", 2, 2,
     [](CellValues v, View n) -> CellValue { return lesser(v[0], v[1], /*isGreater=*/false, n); }},
    {"Math.max", 2, 2,
     [](CellValues v, View n) -> CellValue { return lesser(v[0], v[1], /*isGreater=*/true, n); }},
    {"Math.floor", 1, 1,
     [](CellValues v, View n) -> CellValue { return std::floor(cellNumber(v[0], n)); }},
    {"Math.ceil", 1, 1,
     [](CellValues v, View n) -> CellValue { return std::ceil(cellNumber(v[0], n)); }},
    {"Math.round", 1, 1,
     [](CellValues v, View n) -> CellValue {
       double number = cellNumber(v[0], n), floor = std::floor(number);
       return convertCell<int64_t>(number - floor >= 0.5 ? floor + 1 : floor);
     }},
    {"Math.sqrt", 1, 1,
     [](CellValues v, View n) -> CellValue { return std::sqrt(cellNumber(v[0], n)); }},
    {"Math.exp", 1, 1,
     [](CellValues v, View n) -> CellValue { return std::exp(cellNumber(v[0], n)); }},
    {"Math.log", 1, 1,
     [](CellValues v, View n) -> CellValue { return std::log(cellNumber(v[0], n)); }},
    {"Math.pow", 2, 2,
     [](CellValues v, View n) -> CellValue {
       return std::pow(cellNumber(v[0], n), cellNumber(v[1], n));
     }},
    {"PorterStemmer.stem", 1, 1,
     [](CellValues v, View n) -> CellValue { return porterStem(textAt(v, 0, n)); }},
    {"UtilFunctions.jaccardSim", 2, 2,
     [](CellValues v, View n) -> CellValue {
       return similarity(textAt(v, 0, n), textAt(v, 1, n));
     }},
    {"UtilFunctions.getWordErrorRate", 2, 2,
     [](CellValues v, View n) -> CellValue {
       return wordErrorRate(textAt(v, 0, n), textAt(v, 1, n));
     }},
    // Counted from 1.
    {"UtilFunctions.getAsciiAtIdx", 2, 2,
     [](CellValues v, View n) -> CellValue {
       std::string text = textAt(v, 0, n);
       return codeOfCharacter(characterIn(text, integerAt(v, 1, n) - 1, n));
     }},
    {"UtilFunctions.splitRecodeEntry", 1, 1,
     [](CellValues v, View n) -> CellValue { return splitRecodeEntry(textAt(v, 0, n)); }},
};

// A function that knows its entry: one instance for each.
template <size_t I> CellValue callEntry(CellValues values) {
  const Entry &entry = table[I];
  checkCount(values, entry.least, entry.most, entry.name);
  return entry.call(values, entry.name);
}

template <size_t... I> CellLibraryFunction *functionAt(size_t place, std::index_sequence<I...>) {
  static constexpr CellLibraryFunction *functions[] = {&callEntry<I>...};
  return functions[place];
}

} // namespace

CellLibraryFunction *findCellFunction(std::string_view name) {
  const auto *found = std::ranges::find(table, name, &Entry::name);
  if (found == std::end(table))
    return nullptr;
  return functionAt(static_cast<size_t>(found - table),
                    std::make_index_sequence<std::size(table)>());
}

std::vector<std::string> cellFunctionNames() {
  std::vector<std::string> names;
  for (const Entry &entry : table)
    names.emplace_back(entry.name);
  return names;
}

} // namespace tokamak::runtime
