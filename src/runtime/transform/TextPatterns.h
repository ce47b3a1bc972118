// Finds texts that stand for missing values ("abc" or "9999" in a column of dates) by the pattern that most texts of a
// column have, as the library's dmv does. A pattern is as exact as it can be while more than a share of the texts has it.
// (Qahtan et al. 2018, "FAHES: A Robust Disguised Missing Values Detector", section 3.1.)
//
//   std::string dates[] = {"2020-01-01", "2021-12-05", "abc"};
//   rowsOffPattern(dates, 0.6);                                     // {2}
#ifndef TOKAMAK_RUNTIME_TRANSFORM_TEXTPATTERNS_H
#define TOKAMAK_RUNTIME_TRANSFORM_TEXTPATTERNS_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::runtime {

// Levels of generality, the most exact first: classes of characters and how often each follows itself ("d4-1d2-1d2");
// "+" for how often ("d+-+d+-+d+"); letters regardless of case; numbers with and without points; words regardless of
// blanks; numbers with and without a minus.
constexpr int textPatternLevels = 6;

// Of levels 1 to textPatternLevels. Characters beyond ASCII are of one class, neither letters nor digits.
std::string patternOfText(std::string_view text, int level);

// The places of the texts that differ from the pattern that more than `threshold` (0 to 1) of them have, at the first
// level that has one; none if no level has. An empty text counts as the text NULL in search of the pattern.
std::vector<int64_t> rowsOffPattern(std::span<const std::string> texts, double threshold);

} // namespace tokamak::runtime
#endif
