#include "aot/ExpectedShapes.h"

#include "base/Error.h"
#include "base/NearestNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>
#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::aot;

[[noreturn]] static void reject(const std::string &text, size_t place, const std::string &what) {
  throw Error(
      fmt::format("--shape {}: {}\n    {}\n    {}^", text, what, text, std::string(place, ' ')));
}

ExpectedShapes::ExpectedShapes(std::span<const std::string> texts) {
  for (const std::string &text : texts) {
    size_t equal = text.find('=');
    if (equal == text.npos || equal == 0)
      reject(text, equal == 0 ? 0 : text.size(), "expected NAME=SIZES, such as X=?x100");
    std::string name = text.substr(0, equal);
    if (parts_.contains(name))
      reject(text, 0, fmt::format("'{}' has sizes already", name));
    std::vector<Part> &parts = parts_[name];
    texts_[name] = text;
    for (size_t begin = equal + 1;;) {
      size_t end = std::min(text.find('x', begin), text.size());
      llvm::StringRef word = llvm::StringRef(text).slice(begin, end);
      Part part{"", Size::ofArrays};
      auto [low, high] = word.split("..");
      bool isNumber = !word.empty() && llvm::isDigit(word.front());
      bool isWrong = word.empty();
      if (isNumber) {
        isWrong = low.getAsInteger(10, part.range.low) ||
                  (word.contains("..") ? high : low).getAsInteger(10, part.range.high) ||
                  part.range.low > part.range.high || !isSize(part.range.high);
      } else if (word != "?") {
        isWrong =
            isWrong || !llvm::all_of(word, [](char c) { return llvm::isAlnum(c) || c == '_'; });
        part.name = word.str();
      }
      if (isWrong)
        reject(text, begin,
               fmt::format("expected a size: a number, ? for any, LOW..HIGH, or a name (without an "
                           "x) that stands "
                           "for the same size wherever it is written; got '{}'",
                           word.str()));
      parts.push_back(part);
      if (end == text.size())
        break;
      begin = end + 1;
    }
  }
}

Size ExpectedShapes::sizeOf(const Part &part, int64_t usual) {
  if (part.isConstant())
    return Size::constant(part.range.low);
  if (auto known = named_.find(part.name); known != named_.end() && !part.name.empty())
    return known->second;
  bool isOpen = part.range == Size::ofArrays;
  auto middle =
      static_cast<int64_t>(std::sqrt(static_cast<double>(std::max<int64_t>(part.range.low, 1)) *
                                     static_cast<double>(part.range.high)));
  Size size = Size::symbol(symbols_++, isOpen ? usual : middle, part.range);
  if (!part.name.empty())
    named_[part.name] = size;
  return size;
}

std::vector<Size> ExpectedShapes::of(const std::string &parameter, int rank) {
  // What sizes that may be any are taken for when costs are estimated: many rows of some columns.
  constexpr int64_t usualRows = 10'000, usualColumns = 100;
  auto usual = [&](int dimension) {
    return rank == 0 ? 10 : dimension == 0 ? usualRows : usualColumns;
  };
  std::vector<Part> parts(std::max(rank, 1), Part{"", Size::ofArrays});
  std::string expected = rank == 0 ? "a number has one value, such as k=5"
                                   : fmt::format("'{}' has {} sizes, such as {}=?{}", parameter,
                                                 rank, parameter, rank > 1 ? "x100" : "");
  if (const std::vector<Part> *wanted = given(parameter, parts.size(), expected))
    parts = *wanted;
  std::vector<Size> sizes;
  for (size_t dimension = 0; dimension < parts.size(); ++dimension)
    sizes.push_back(sizeOf(parts[dimension], usual(static_cast<int>(dimension))));
  return sizes;
}

const std::vector<ExpectedShapes::Part> *
ExpectedShapes::given(const std::string &parameter, size_t count, const std::string &expected) {
  auto found = parts_.find(parameter);
  if (found == parts_.end())
    return nullptr;
  if (found->second.size() != count)
    reject(texts_[parameter], parameter.size() + 1, expected);
  return &found->second;
}

std::vector<Size> ExpectedShapes::of(const std::string &parameter,
                                     std::span<const Declared> declared) {
  constexpr int64_t usualFirst = 16, usualOther = 128; // samples, and what one consists of
  std::vector<std::string> words;
  for (const Declared &each : declared)
    words.push_back(each.size >= 0 ? std::to_string(each.size) : "?");
  std::string expected = declared.empty()
                             ? fmt::format("'{}' has no dimensions: expected no --shape", parameter)
                             : fmt::format("'{}' has {} sizes: {}={}", parameter, declared.size(),
                                           parameter, fmt::join(words, "x"));
  const std::vector<Part> *wanted = given(parameter, declared.size(), expected);
  std::vector<Size> sizes;
  for (size_t i = 0; i < declared.size(); ++i) {
    const auto &[size, name] = declared[i];
    Part part{name, size >= 0 ? Size::Range{size, size} : Size::ofArrays};
    if (wanted && size < 0)
      part = (*wanted)[i];
    else if (wanted && ((*wanted)[i].range.low > size || (*wanted)[i].range.high < size))
      reject(texts_[parameter], parameter.size() + 1, expected);
    sizes.push_back(sizeOf(part, i == 0 ? usualFirst : usualOther));
  }
  return sizes;
}

void ExpectedShapes::checkNames(std::span<const std::string> parameters) const {
  for (const auto &[name, text] : texts_) {
    if (std::find(parameters.begin(), parameters.end(), name) != parameters.end())
      continue;
    std::vector<std::string> near = nearestCandidates(name, parameters);
    reject(text, 0,
           near.empty()
               ? fmt::format("no function that is compiled has a parameter '{}'; there are {}",
                             name, fmt::join(parameters, ", "))
               : fmt::format("no parameter '{}'; did you mean '{}'?", name, near.front()));
  }
}
