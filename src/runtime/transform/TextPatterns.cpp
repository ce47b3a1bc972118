#include "runtime/transform/TextPatterns.h"

#include "base/Error.h"

#include <algorithm>
#include <map>

namespace tokamak::runtime {
namespace {

constexpr char digit = 'd', lower = 'l', upper = 'u', letter = 'a', blank = 's', point = 't',
               minus = '-', other = 'y', anyNumber = '+';

char classOf(char c) {
  if (c >= '0' && c <= '9')
    return digit;
  if (c >= 'a' && c <= 'z')
    return lower;
  if (c >= 'A' && c <= 'Z')
    return upper;
  return c == ' ' ? blank : c == '.' ? point : c == '-' ? minus : other;
}

// "d4-1": each class with how often it follows itself.
std::string runsOfClasses(std::string_view text) {
  std::string pattern;
  for (size_t begin = 0; begin < text.size();) {
    char first = classOf(text[begin]);
    int count = 0;
    for (; begin < text.size() && classOf(text[begin]) == first; ++begin)
      count +=
          (static_cast<unsigned char>(text[begin]) & 0xC0) != 0x80; // bytes that begin a character
    pattern += first + std::to_string(count);
  }
  return pattern;
}

std::string withoutCounts(std::string pattern) {
  for (char &c : pattern)
    if (c >= '0' && c <= '9')
      c = anyNumber;
  return pattern;
}

void appendOnce(std::string &pattern, char c) {
  if (!pattern.empty() && pattern.back() != anyNumber)
    pattern += c;
}

// Letters of either case that follow each other become one.
std::string withoutCase(std::string_view pattern) {
  std::string joined;
  bool isInWord = false;
  for (char c : pattern) {
    if (c == anyNumber) {
      appendOnce(joined, c);
    } else if (c != upper && c != lower) {
      joined += c;
      isInWord = false;
    } else if (!isInWord) {
      joined += letter;
      isInWord = true;
    }
  }
  return joined;
}

// Joins what `inner` separates: d+t+d+ becomes d+ for digits and points.
std::string joinedAcross(std::string_view pattern, char outer, char inner) {
  std::string joined;
  bool isInside = false;
  for (char c : pattern) {
    if (isInside && (c == outer || c == inner))
      continue;
    if (c == inner || c == anyNumber) {
      appendOnce(joined, c);
    } else {
      isInside = c == outer;
      joined += c;
    }
  }
  return joined;
}

std::string withoutMinus(std::string_view pattern) {
  std::string joined;
  bool isAfterMinus = false;
  for (char c : pattern) {
    if (c == minus && !isAfterMinus) {
      isAfterMinus = true;
      continue;
    }
    if (isAfterMinus && c != digit)
      joined += minus;
    joined += c;
    isAfterMinus = false;
  }
  return joined;
}

} // namespace

std::string patternOfText(std::string_view text, int level) {
  switch (level) {
  case 1:
    return runsOfClasses(text);
  case 2:
    return withoutCounts(patternOfText(text, 1));
  case 3:
    return withoutCase(patternOfText(text, 2));
  case 4:
    return joinedAcross(patternOfText(text, 3), digit, point);
  case 5:
    return joinedAcross(patternOfText(text, 4), letter, blank);
  case 6:
    return withoutMinus(patternOfText(text, 5));
  default:
    internalError("no such level of text patterns");
  }
}

std::vector<int64_t> rowsOffPattern(std::span<const std::string> texts, double threshold) {
  auto rows = static_cast<double>(texts.size());
  for (int level = 1; level <= textPatternLevels; ++level) {
    std::map<std::string, int64_t> counts;
    for (const std::string &text : texts)
      ++counts[patternOfText(text.empty() ? "NULL" : text, level)];
    auto most = std::max_element(counts.begin(), counts.end(),
                                 [](const auto &a, const auto &b) { return a.second < b.second; });
    if (most == counts.end() || static_cast<double>(most->second) / rows <= threshold)
      continue;
    std::vector<int64_t> off;
    for (int64_t i = 0; i < std::ssize(texts); ++i)
      if (patternOfText(texts[i], level) != most->first)
        off.push_back(i);
    return off;
  }
  return {};
}

} // namespace tokamak::runtime
