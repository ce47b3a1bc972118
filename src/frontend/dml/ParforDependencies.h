// Tests whether the iterations of a parfor are independent of each other.
//
//   parfor (i in 2:10) A[i, 1] = A[i - 1, 1] + 1      # one iteration reads what another one writes
//
// The test is safe: what it accepts is independent. Cells are compared by their subscripts, linear
// functions of the loop indices: own cells, different constants, greatest common divisors, bounds,
// distances. What isn't linear may be any cell. A variable that the body assigns first is private;
// one from before may be written by cells only, or summed up by
// `+=` as its only use.
#ifndef TOKAMAK_FRONTEND_DML_PARFORDEPENDENCIES_H
#define TOKAMAK_FRONTEND_DML_PARFORDEPENDENCIES_H

#include "frontend/dml/Ast.h"

#include "llvm/ADT/StringRef.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tokamak::frontend {

/// What is known where the loop starts.
struct ParforSurroundings {
  std::function<bool(const std::string &)> isDefined;
  std::function<bool(const std::string &)> isMatrix;
  std::function<bool(const std::string &)> isNeededAfter;
  /// The value of a scalar variable, if it is known.
  std::function<std::optional<double>(const std::string &)> constant;
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
