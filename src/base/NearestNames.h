// Suggests the names a user may have meant when a name is unknown.
//
//   nearestCandidates("colsum", {"colSums", "rowSums", "sum"})   // {"colSums"}
#ifndef TOKAMAK_BASE_NEARESTNAMES_H
#define TOKAMAK_BASE_NEARESTNAMES_H

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

/// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into
/// `b`; a change of case counts half of a replacement, so the result is in half steps.
unsigned editDistance(std::string_view a, std::string_view b);

/// At most `limit` of `names` that are close to `name`, nearest first and then by their order in
/// `names`; a longer name may differ in more letters. `name` itself is never a candidate.
std::vector<std::string> nearestCandidates(std::string_view name,
                                           std::span<const std::string> names, size_t limit = 3);

} // namespace tokamak

#endif // TOKAMAK_BASE_NEARESTNAMES_H
