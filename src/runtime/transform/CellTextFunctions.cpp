// The functions of texts and characters that the lambda expressions of `map` call.
#include "runtime/transform/CellFunctionLibrary.h"

#include "base/Error.h"
#include "base/TrimmedText.h"
#include "runtime/transform/JavaHash.h"
#include "runtime/transform/PorterStemmer.h"
#include "runtime/transform/RegularExpression.h"
#include "runtime/values/Characters.h"
#include "runtime/values/TextFormat.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <sstream>

namespace tokamak::runtime {
namespace {

using CellValue = CellFunctionValue;
using CellValues = std::span<const CellFunctionValue>;
using View = std::string_view;

std::u16string unitsOf(std::string_view text) {
  std::u16string units;
  for (size_t byte = 0; byte < text.size();) {
    size_t bytes = bytesOfCharacter(text, byte);
    int64_t code = codeOfCharacter(text.substr(byte, bytes));
    if (code >= 0x10000)
      units += static_cast<char16_t>(0xd800 + ((code - 0x10000) >> 10));
    units += static_cast<char16_t>(code >= 0x10000 ? 0xdc00 + (code & 0x3ff) : code);
    byte += bytes;
  }
  return units;
}

// How far apart the first characters are that differ; else, the lengths.
int64_t compared(std::string_view a, std::string_view b) {
  std::u16string left = unitsOf(a), right = unitsOf(b);
  auto [i, j] = std::ranges::mismatch(left, right);
  if (i != left.end() && j != right.end())
    return static_cast<int64_t>(*i) - static_cast<int64_t>(*j);
  return std::ssize(left) - std::ssize(right);
}

// Of letters that have one letter of the other case.
int64_t inOtherCase(int64_t code, wint_t (*map)(wint_t, locale_t)) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  auto letter = static_cast<wint_t>(code);
  return code < 0x80 || unicode ? int64_t{map(letter, unicode)} : code;
}

// The German letter that has two in the other case is one more.
std::string mapped(std::string_view text, wint_t (*map)(wint_t, locale_t)) {
  std::string result;
  for (size_t byte = 0; byte < text.size(); byte += bytesOfCharacter(text, byte)) {
    std::string_view character = text.substr(byte, bytesOfCharacter(text, byte));
    int64_t code = codeOfCharacter(character);
    if (character == "\u00df" && map == towupper_l)
      result += "SS";
    else if (int64_t other = inOtherCase(code, map); other != code)
      result += textOfCharacter(other);
    else
      result += character;
  }
  return result;
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

// Its number; of a character, or a number already.
int64_t characterOf(const CellValue &value, std::string_view function) {
  CellValue code = promoted(value);
  if (const auto *number = std::get_if<int64_t>(&code))
    return *number;
  throw Error(fmt::format("map: '{}' needs a character, got {}", function, describeCell(value)));
}

// Whether a character is one of a class: up to 127 a function says so, of all others a regular expression.
bool isOfClass(CellValues values, std::string_view function, bool (*isAscii)(char),
               const char *others) {
  int64_t code = characterOf(values[0], function);
  if (code >= 0 && code < 0x80)
    return isAscii(static_cast<char>(code));
  return code > 0 && code <= 0x10ffff && expressionOf(others).matches(textOfCharacter(code));
}

bool isUpperAscii(char c) { return c >= 'A' && c <= 'Z'; }
bool isLowerAscii(char c) { return c >= 'a' && c <= 'z'; }
bool isLetterAscii(char c) { return isUpperAscii(c) || isLowerAscii(c); }
bool isDigitAscii(char c) { return c >= '0' && c <= '9'; }
bool isSpaceAscii(char c) {
  return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
}

CellValue characterInOtherCase(CellValues values, std::string_view function,
                               wint_t (*map)(wint_t, locale_t)) {
  int64_t code = inOtherCase(characterOf(values[0], function), map);
  return std::holds_alternative<char32_t>(values[0]) ? CellValue(static_cast<char32_t>(code))
                                                     : CellValue(code);
}

// Of digits, and of letters as digits of larger bases.
int64_t numericValue(int64_t code) {
  if (code >= 0x80 || code < 0)
    return -1;
  auto c = static_cast<char>(code);
  return isDigitAscii(c)   ? c - '0'
         : isUpperAscii(c) ? c - 'A' + 10
         : isLowerAscii(c) ? c - 'a' + 10
                           : -1;
}

std::string formatted(CellValues values) {
  std::vector<Value> arguments;
  for (const CellValue &value : values.subspan(1)) {
    if (const auto *integer = std::get_if<int64_t>(&value))
      arguments.emplace_back(*integer);
    else if (const auto *number = std::get_if<double>(&value))
      arguments.emplace_back(*number);
    else if (const auto *boolean = std::get_if<bool>(&value))
      arguments.emplace_back(*boolean);
    else
      arguments.emplace_back(textOfCell(value));
  }
  return formatText(textAt(values, 0, "String.format"), arguments, "map: 'String.format'");
}

std::string joined(CellValues values, std::string_view function) {
  CellTextArray texts;
  for (size_t i = 1; i < values.size(); ++i)
    if (const auto *array = std::get_if<CellTextArray>(&values[i]))
      texts.insert(texts.end(), array->begin(), array->end());
    else
      texts.push_back(textAt(values, i, function));
  return fmt::format("{}", fmt::join(texts, textAt(values, 0, function)));
}

std::string repeated(const std::string &text, int64_t times) {
  constexpr int64_t mostBytes = int64_t{1} << 31; // as many as a text of Java has
  if (times < 0 || (!text.empty() && times > mostBytes / std::ssize(text)))
    throw Error(fmt::format("map: '.repeat': a text of {} bytes, {} times", text.size(), times));
  std::string result;
  for (int64_t i = 0; i < times && !text.empty(); ++i)
    result += text;
  return result;
}

constexpr CellLibraryFunction table[] = {
    {"(String)", 1, 1,
     [](CellValues v, View) -> CellValue {
       bool isNull = std::holds_alternative<std::monostate>(v[0]);
       return isNull ? CellValue() : CellValue(textOfCell(v[0]));
     }},
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
    {".trim", 1, 1,
     [](CellValues v, View n) -> CellValue {
       return std::string(trimmed(textAt(v, 0, n), spaceCharacters));
     }},
    {".strip", 1, 1,
     [](CellValues v, View n) -> CellValue {
       return std::string(trimmed(textAt(v, 0, n), spaceCharacters));
     }},
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
    {".split", 2, 3,
     [](CellValues v, View n) -> CellValue {
       return expressionOf(textAt(v, 1, n))
           .split(textAt(v, 0, n), v.size() == 3 ? integerAt(v, 2, n) : 0);
     }},
    {".equals", 2, 2, [](CellValues v, View) -> CellValue { return v[0] == v[1]; }},
    {".equalsIgnoreCase", 2, 2,
     [](CellValues v, View n) -> CellValue {
       return mapped(textAt(v, 0, n), towlower_l) == mapped(textAt(v, 1, n), towlower_l);
     }},
    {".compareTo", 2, 2,
     [](CellValues v, View n) -> CellValue { return compared(textAt(v, 0, n), textAt(v, 1, n)); }},
    {".hashCode", 1, 1,
     [](CellValues v, View n) -> CellValue { return int64_t{hashOf(textAt(v, 0, n))}; }},
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
    {".indexOf", 2, 3,
     [](CellValues v, View n) -> CellValue {
       std::string text = textAt(v, 0, n);
       int64_t from = v.size() == 3 ? std::max<int64_t>(integerAt(v, 2, n), 0) : 0;
       return placeOf(text, text.find(textAt(v, 1, n), byteOfCharacter(text, from)));
     }},
    {".lastIndexOf", 2, 3,
     [](CellValues v, View n) -> CellValue {
       std::string text = textAt(v, 0, n), part = textAt(v, 1, n);
       if (v.size() == 2)
         return placeOf(text, text.rfind(part));
       int64_t from = integerAt(v, 2, n);
       return from < 0 ? int64_t{-1} : placeOf(text, text.rfind(part, byteOfCharacter(text, from)));
     }},
    {".isBlank", 1, 1,
     [](CellValues v, View n) -> CellValue {
       return trimmed(textAt(v, 0, n), spaceCharacters).empty();
     }},
    {".repeat", 2, 2,
     [](CellValues v, View n) -> CellValue {
       return repeated(textAt(v, 0, n), integerAt(v, 1, n));
     }},
    {".isEmpty", 1, 1, [](CellValues v, View n) -> CellValue { return textAt(v, 0, n).empty(); }},
    {".concat", 2, 2,
     [](CellValues v, View n) -> CellValue { return textAt(v, 0, n) + textAt(v, 1, n); }},
    {".toString", 1, 1, [](CellValues v, View) -> CellValue { return textOfCell(v[0]); }},
    {"String.valueOf", 1, 1, [](CellValues v, View) -> CellValue { return textOfCell(v[0]); }},
    {"String.format", 1, CellLibraryFunction::anyCount,
     [](CellValues v, View) -> CellValue { return formatted(v); }},
    {"String.join", 1, CellLibraryFunction::anyCount,
     [](CellValues v, View n) -> CellValue { return joined(v, n); }},
    {"Integer.toString", 1, 1, [](CellValues v, View) -> CellValue { return textOfCell(v[0]); }},
    {"Double.toString", 1, 1, [](CellValues v, View) -> CellValue { return textOfCell(v[0]); }},
    {"Character.toString", 1, 1, [](CellValues v, View) -> CellValue { return textOfCell(v[0]); }},
    {"Character.isDigit", 1, 1,
     [](CellValues v, View n) -> CellValue { return isOfClass(v, n, isDigitAscii, "\\p{Nd}"); }},
    {"Character.isLetter", 1, 1,
     [](CellValues v, View n) -> CellValue { return isOfClass(v, n, isLetterAscii, "\\p{L}"); }},
    {"Character.isAlphabetic", 1, 1,
     [](CellValues v, View n) -> CellValue {
       return isOfClass(v, n, isLetterAscii, "[\\p{L}\\p{Nl}]");
     }},
    {"Character.isLetterOrDigit", 1, 1,
     [](CellValues v, View n) -> CellValue {
       return isOfClass(
           v, n, [](char c) { return isLetterAscii(c) || isDigitAscii(c); }, "[\\p{L}\\p{Nd}]");
     }},
    {"Character.isUpperCase", 1, 1,
     [](CellValues v, View n) -> CellValue { return isOfClass(v, n, isUpperAscii, "\\p{Lu}"); }},
    {"Character.isLowerCase", 1, 1,
     [](CellValues v, View n) -> CellValue { return isOfClass(v, n, isLowerAscii, "\\p{Ll}"); }},
    // Not those blanks at which no line is broken.
    {"Character.isWhitespace", 1, 1,
     [](CellValues v, View n) -> CellValue {
       return isOfClass(v, n, isSpaceAscii, "(?![\\x{a0}\\x{2007}\\x{202f}])\\p{Z}");
     }},
    {"Character.toUpperCase", 1, 1,
     [](CellValues v, View n) { return characterInOtherCase(v, n, towupper_l); }},
    {"Character.toLowerCase", 1, 1,
     [](CellValues v, View n) { return characterInOtherCase(v, n, towlower_l); }},
    {"Character.getNumericValue", 1, 1,
     [](CellValues v, View n) -> CellValue { return numericValue(characterOf(v[0], n)); }},
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

} // namespace

std::span<const CellLibraryFunction> cellTextFunctions() { return table; }

} // namespace tokamak::runtime
