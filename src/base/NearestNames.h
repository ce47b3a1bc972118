// Suggests the names a user may have meant when a name is unknown.
//
//   std::vector<std::string> names = {"colSums", "rowSums", "sum"};
//   nearestCandidates("colsum", names)   // {"colSums"}
#ifndef TOKAMAK_BASE_NEARESTNAMES_H
#define TOKAMAK_BASE_NEARESTNAMES_H

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

/// The edit distance in half steps: an insertion, deletion, replacement or swap of neighbouring
/// letters counts 2, a change of case 1. Of distances beyond `bound` it says only that they are: it returns
/// bound + 1, and takes the less time the smaller the bound is.
unsigned editDistance(std::string_view a, std::string_view b,
                      unsigned bound = std::numeric_limits<unsigned>::max() / 2);

/// At most `limit` of `names` that are close to `name`, nearest first, ties in the order of
/// `names`. The longer `name` is, the more letters may differ. `name` itself is never a candidate.
std::vector<std::string> nearestCandidates(std::string_view name,
                                           std::span<const std::string> names, size_t limit = 3);

} // namespace tokamak

#endif // TOKAMAK_BASE_NEARESTNAMES_H
