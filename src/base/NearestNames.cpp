#include "base/NearestNames.h"

#include <algorithm>
#include <utility>

namespace tokamak {

static constexpr unsigned fullStep = 2;

static char lowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

static unsigned replacementCost(char a, char b) {
  if (a == b)
    return 0;
  return lowerCase(a) == lowerCase(b) ? 1 : fullStep;
}

unsigned editDistance(std::string_view a, std::string_view b, unsigned bound) {
  auto [shorter, longer] = std::minmax({a.size(), b.size()});
  if (longer - shorter > bound / fullStep)
    return bound + 1;
  // What is farther from the diagonal than this needs more insertions or deletions than allowed.
  size_t band = std::min<size_t>(bound / fullStep, longer);
  std::vector<unsigned> beforePrevious(b.size() + 1, bound + 1), previous(b.size() + 1, bound + 1),
      current(b.size() + 1, bound + 1);
  for (size_t j = 0; j <= std::min(band, b.size()); ++j)
    previous[j] = static_cast<unsigned>(j) * fullStep;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t begin = i > band ? i - band : 1, end = std::min(b.size(), i + band);
    current[begin - 1] = i <= band ? static_cast<unsigned>(i) * fullStep : bound + 1;
    unsigned least = current[begin - 1];
    for (size_t j = begin; j <= end; ++j) {
      current[j] = std::min({previous[j] + fullStep, current[j - 1] + fullStep,
                             previous[j - 1] + replacementCost(a[i - 1], b[j - 1])});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped)
        current[j] = std::min(current[j], beforePrevious[j - 2] + fullStep);
      least = std::min(least, current[j]);
    }
    // A swap reaches back over one row, and costs no less than the way through that row.
    if (least > bound)
      return bound + 1;
    beforePrevious.swap(previous);
    previous.swap(current);
  }
  return std::min(previous[b.size()], bound + 1);
}

// Of two letters, as 'fi' for 'if'.
static bool isSwapped(std::string_view a, std::string_view b) {
  return a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[1] == b[0];
}

static bool isSameInLowerCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lowerCase, lowerCase);
}

std::vector<std::string> nearestCandidates(std::string_view name,
                                           std::span<const std::string> names, size_t limit) {
  struct Candidate {
    unsigned distance;
    const std::string *name;
  };
  // A third of the letters may differ, up to twenty; in names of one or two letters only the case of one letter,
  // or their order.
  constexpr size_t mostDifferent = 20;
  auto different = static_cast<unsigned>(std::min(name.size() / 3, mostDifferent));
  unsigned threshold = name.size() < 3 ? 1 : different * fullStep;
  std::vector<Candidate> candidates;
  for (const std::string &other : names) {
    if (other != name && isSameInLowerCase(name, other)) {
      candidates.push_back({0, &other});
      continue;
    }
    if (other == name)
      continue;
    unsigned distance = isSwapped(name, other) ? 1 : editDistance(name, other, threshold);
    if (distance <= threshold)
      candidates.push_back({distance, &other});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
    return std::pair(a.distance, a.name) < std::pair(b.distance, b.name);
  });

  std::vector<std::string> result;
  for (const Candidate &candidate : candidates) {
    bool isNew = std::find(result.begin(), result.end(), *candidate.name) == result.end();
    if (isNew && result.size() < limit)
      result.push_back(*candidate.name);
  }
  return result;
}

} // namespace tokamak
