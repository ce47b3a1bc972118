// Tests whether the iterations of a parfor are independent of each other.
//
//   for (const ParforConflict &conflict : findParforConflicts(loop, surroundings).found)
//     reporter.error(conflict.place, conflict.message);
//
// A conflict, in DML:
//
//   parfor (i in 2:10) A[i, 1] = A[i - 1, 1] + 1      # one iteration reads what another one writes
//
// The test is conservative: what is not proved independent is a conflict, but for check=0. Subscripts are
// compared as linear functions of the loop indices (different constants, greatest common divisors,
// bounds, dependence distances); a non-linear subscript may denote any cell. What inner loops do
// counts whether or not they are to be tested themselves; but what a loop in it with check=0 does
// only under a condition, or at cells that aren't known, is its author's word against a guess: it is
// no conflict, and the iterations aren't proved independent. A variable that only the body defines is
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
  /// Whether the loop is a parfor with check=0.
  std::function<bool(const ForStatement &)> isUnchecked;
  ResolveFunction resolve;
};

struct ParforConflict {
  SourceRange place;
  std::string message;
  SourceRange otherPlace;
  std::string otherMessage;
};

struct ParforConflicts {
  /// At most one for each variable.
  std::vector<ParforConflict> found;
  /// Whether the iterations are proved independent: there may be no proof of either.
  bool isIndependent = true;
};

ParforConflicts findParforConflicts(const ForStatement &loop,
                                    const ParforSurroundings &surroundings);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_PARFORDEPENDENCIES_H
