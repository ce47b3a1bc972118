#include "runtime/transform/RegularExpression.h"

#include "base/Error.h"
#include "runtime/transform/PatternLibrary.h"
#include "runtime/values/Characters.h"

#include <fmt/format.h>
#include <new>
#include <optional>

namespace tokamak::runtime {

static std::string messageOf(int error) {
  char text[256] = {};
  PatternLibrary::instance().get_error_message(error, text, sizeof(text));
  return text;
}

// What groups match; group 0 is all of the match.
class RegularExpression::Match {
public:
  explicit Match(const void *code)
      : data_(library_.match_data_create_from_pattern(code, nullptr), library_.match_data_free) {
    if (!data_)
      throw std::bad_alloc();
  }
  void *data() const { return data_.get(); }
  size_t groups() const { return library_.get_ovector_count(data()); }
  size_t begin() const { return offsets()[0]; }
  size_t end() const { return offsets()[1]; }
  bool isEmpty() const { return begin() >= end(); }
  std::string_view group(size_t number, std::string_view text) const {
    const size_t *pair = offsets() + 2 * number;
    return pair[0] == PatternLibrary::unset ? "" : text.substr(pair[0], pair[1] - pair[0]);
  }

private:
  const size_t *offsets() const { return library_.get_ovector_pointer(data()); }

  const PatternLibrary &library_ = PatternLibrary::instance();
  std::unique_ptr<void, void (*)(void *)> data_;
};

RegularExpression::RegularExpression(std::string pattern, std::string user)
    : pattern_(std::move(pattern)), user_(std::move(user)) {
  const PatternLibrary &library = PatternLibrary::instance();
  int error = 0;
  size_t place = 0;
  code_.reset(library.compile(pattern_.data(), pattern_.size(),
                              PatternLibrary::utf | PatternLibrary::invalidUtf, &error, &place,
                              nullptr),
              [&library](void *code) { library.code_free(code); });
  if (!code_)
    throw Error(fmt::format("{}: \"{}\" is no regular expression: {}, at character {}", user_,
                            pattern_, messageOf(error),
                            countCharacters(std::string_view(pattern_).substr(0, place)) + 1));
}

const RegularExpression &RegularExpression::of(const std::string &pattern,
                                               const std::string &user) {
  thread_local std::optional<RegularExpression> last;
  if (!last || last->pattern_ != pattern || last->user_ != user)
    last.emplace(pattern, user);
  return *last;
}

int RegularExpression::run(std::string_view text, size_t from, uint32_t options,
                           const Match &match) const {
  int found = PatternLibrary::instance().match(code_.get(), text.data(), text.size(), from, options,
                                               match.data(), nullptr);
  if (found < PatternLibrary::noMatch)
    throw Error(
        fmt::format("{}: the regular expression \"{}\" fails on a text of {} characters: {}", user_,
                    pattern_, countCharacters(text), messageOf(found)));
  return found;
}

bool RegularExpression::matches(std::string_view text) const {
  Match match(code_.get());
  return run(text, 0, PatternLibrary::anchored | PatternLibrary::endAnchored, match) !=
         PatternLibrary::noMatch;
}

void RegularExpression::forEachMatch(std::string_view text,
                                     const std::function<bool(const Match &)> &visit) const {
  Match match(code_.get());
  for (size_t from = 0; from <= text.size() &&
                        run(text, from, 0, match) != PatternLibrary::noMatch && visit(match);) {
    from = match.end();
    if (match.isEmpty()) // the next one begins behind the next character
      from += from < text.size() ? bytesOfCharacter(text, from) : 1;
  }
}

void RegularExpression::appendReplacement(const std::string &replacement, std::string_view text,
                                          const Match &match, std::string &result) const {
  auto fail = [&](std::string_view reason) {
    throw Error(fmt::format("{}: the replacement \"{}\" {}", user_, replacement, reason));
  };
  auto isDigit = [&](size_t i) {
    return i < replacement.size() && replacement[i] >= '0' && replacement[i] <= '9';
  };
  for (size_t i = 0; i < replacement.size(); ++i) {
    char c = replacement[i];
    if (c == '\\') {
      if (++i == replacement.size())
        fail("ends with \\, which takes the next character as it is");
      result += replacement[i];
    } else if (c != '$') {
      result += c;
    } else if (isDigit(i + 1)) {
      size_t group = replacement[++i] - '0';
      if (group >= match.groups())
        fail(fmt::format("names group {} of {}", group, match.groups() - 1));
      // More digits belong to the number as long as there is such a group.
      while (isDigit(i + 1) && group * 10 + (replacement[i + 1] - '0') < match.groups())
        group = group * 10 + (replacement[++i] - '0');
      result += match.group(group, text);
    } else {
      size_t end = replacement.find('}', i);
      if (!replacement.substr(i + 1).starts_with('{') || end == replacement.npos)
        fail("needs a number or {name} behind $; \\$ is the character itself");
      std::string name = replacement.substr(i + 2, end - i - 2);
      int group = PatternLibrary::instance().substring_number_from_name(code_.get(), name.c_str());
      if (group < 0)
        fail(fmt::format("names a group \"{}\" that the expression doesn't have", name));
      result += match.group(static_cast<size_t>(group), text);
      i = end;
    }
  }
}

std::string RegularExpression::replace(std::string_view text, const std::string &replacement,
                                       bool all) const {
  std::string result;
  size_t copied = 0;
  forEachMatch(text, [&](const Match &match) {
    result += text.substr(copied, match.begin() - copied);
    appendReplacement(replacement, text, match, result);
    copied = match.end();
    return all;
  });
  return result += text.substr(copied);
}

std::string RegularExpression::replaceFirst(std::string_view text,
                                            const std::string &replacement) const {
  return replace(text, replacement, /*all=*/false);
}
std::string RegularExpression::replaceAll(std::string_view text,
                                          const std::string &replacement) const {
  return replace(text, replacement, /*all=*/true);
}

std::vector<RegularExpression::Part> RegularExpression::parts(std::string_view text) const {
  std::vector<Part> parts;
  size_t begin = 0;
  forEachMatch(text, [&](const Match &match) {
    if (match.end() == 0) // before the first character nothing is separated
      return true;
    parts.push_back({begin, match.begin()});
    begin = match.end();
    return true;
  });
  parts.push_back({begin, text.size()});
  return parts;
}

std::vector<std::string> RegularExpression::split(std::string_view text, int64_t limit) const {
  std::vector<Part> found = parts(text);
  if (limit > 0 && std::ssize(found) > limit) {
    found.resize(static_cast<size_t>(limit));
    found.back().end = text.size();
  }
  bool isWhole = found.size() == 1;
  while (limit == 0 && !isWhole && !found.empty() && found.back().begin == found.back().end)
    found.pop_back();
  std::vector<std::string> texts;
  for (const Part &part : found)
    texts.emplace_back(text.substr(part.begin, part.end - part.begin));
  return texts;
}

} // namespace tokamak::runtime
