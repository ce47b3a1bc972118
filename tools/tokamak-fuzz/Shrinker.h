// Reduces a program to a smaller one that still fails.
//
//   Node small =
//       shrink(program, [&](const std::string &text) { return stillFails(text); }, limits);
//
// Removes statements, replaces compound statements by their bodies and expressions by their
// operands or by numbers, reduces sizes together, and replaces small random matrices by literal
// cells.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_SHRINKER_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_SHRINKER_H

#include "tokamak-fuzz/SyntaxTree.h"

#include <chrono>
#include <functional>
#include <optional>

namespace tokamak::fuzz {

struct ShrinkLimits {
  std::chrono::seconds time{120};
  // Computes the cells of a matrix expression without variables, if possible.
  std::function<std::optional<std::vector<double>>(const std::string &expression)> cellsOf;
};

Node shrink(Node program, const std::function<bool(const std::string &)> &fails,
            const ShrinkLimits &limits);

} // namespace tokamak::fuzz
#endif
