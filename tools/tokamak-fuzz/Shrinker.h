// Cuts pieces out of a program as long as it still fails.
//
//   Node small =
//       shrink(program, [&](const std::string &text) { return stillFails(text); }, limits);
//
// Statements go, compound statements become their bodies, expressions become operands of theirs or
// numbers, sizes shrink together, and random matrices of few cells become their cells.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_SHRINKER_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_SHRINKER_H

#include "tokamak-fuzz/SyntaxTree.h"

#include <chrono>
#include <functional>
#include <optional>

namespace tokamak::fuzz {

struct ShrinkLimits {
  std::chrono::seconds time{120};
  // The cells of a matrix expression without variables, if it can be computed.
  std::function<std::optional<std::vector<double>>(const std::string &expression)> cellsOf;
};

Node shrink(Node program, const std::function<bool(const std::string &)> &fails,
            const ShrinkLimits &limits);

} // namespace tokamak::fuzz
#endif
