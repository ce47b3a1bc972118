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

unsigned editDistance(std::string_view a, std::string_view b) {
  std::vector<unsigned> beforePrevious(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    previous[j] = static_cast<unsigned>(j) * fullStep;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<unsigned>(i) * fullStep;
    for (size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min({previous[j] + fullStep, current[j - 1] + fullStep,
                             previous[j - 1] + replacementCost(a[i - 1], b[j - 1])});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped)
        current[j] = std::min(current[j], beforePrevious[j - 2] + fullStep);
    }
    beforePrevious.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
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
  // A third of the letters may differ; in names of one or two letters only the case of one letter.
  size_t threshold = name.size() < 3 ? 1 : name.size() / 3 * fullStep;
  std::vector<Candidate> candidates;
  for (const std::string &other : names) {
    if (other != name && isSameInLowerCase(name, other)) {
      candidates.push_back({0, &other});
      continue;
    }
    auto [shorter, longer] = std::minmax({name.size(), other.size()});
    if ((longer - shorter) * fullStep > threshold || other == name)
      continue;
    unsigned distance = editDistance(name, other);
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
