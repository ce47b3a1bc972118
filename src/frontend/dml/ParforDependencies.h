// Tests whether the iterations of a parfor are independent of each other.
//
//   for (const ParforConflict &conflict : findParforConflicts(loop, surroundings))
//     reporter.error(conflict.place, conflict.message);
//
// A conflict, in DML:
//
//   parfor (i in 2:10) A[i, 1] = A[i - 1, 1] + 1      # one iteration reads what another one writes
//
// The test is conservative: it accepts only loops whose iterations are independent. Subscripts are
// compared as linear functions of the loop indices (different constants, greatest common divisors,
// bounds, dependence distances); a non-linear subscript may denote any cell. What inner loops do
// counts whether or not they are to be tested themselves. A variable that only the body defines is
// private to each iteration. A variable defined before the loop may only be written cell by cell,
// or accumulated by `+=` if it is a matrix and the body uses it in no other way.
#ifndef TOKAMAK_FRONTEND_DML_PARFORDEPENDENCIES_H
#define TOKAMAK_FRONTEND_DML_PARFORDEPENDENCIES_H

#include "frontend/dml/VariableReads.h"

#include "llvm/ADT/StringRef.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tokamak::frontend {

/// Facts about variables at the start of the loop.
struct ParforSurroundings {
  std::function<bool(const std::string &)> isDefined;
  std::function<bool(const std::string &)> isMatrix;
  std::function<bool(const std::string &)> isNeededAfter;
  /// The value of a scalar variable, if it is known.
  std::function<std::optional<double>(const std::string &)> constant;
  ResolveFunction resolve;
};

struct ParforConflict {
  SourceRange place;
  std::string message;
  SourceRange otherPlace;
  std::string otherMessage;
};

/// At most one conflict for each variable; none if the iterations are independent.
std::vector<ParforConflict> findParforConflicts(const ForStatement &loop,
                                                const ParforSurroundings &surroundings);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_PARFORDEPENDENCIES_H
