// For the tests of loops: random valid operators with random operands. A body has one to four axes and
// at most one of windows beside them; it reads arrays at shifted, strided, reversed and gathered
// places, computes cells, reduces, scans, reads along other axes, and writes several results, some of
// them in two parts.
//
//   RandomBody body = RandomBody::make(/*seed=*/17);
//   plan::OperatorOp op = parse(body.text);
//   meaningOf(op, body.operands)                  // within body.tolerance of what a kernel computes
#ifndef TOKAMAK_CODEGEN_TESTING_RANDOMBODY_H
#define TOKAMAK_CODEGEN_TESTING_RANDOMBODY_H

#include "reference/BodyMeaning.h"

#include <random>
#include <string>

namespace tokamak::codegen {

using Generator = std::mt19937_64;

struct RandomBody {
  std::string text;
  std::vector<reference::CellArray> operands;
  double tolerance = 0;
  static RandomBody make(uint64_t seed);
};

// From `low` to `high`, both included; the same on every machine.
inline int64_t randomNumber(Generator &generator, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(generator() % static_cast<uint64_t>(high - low + 1));
}
inline bool happens(Generator &generator, int percent) {
  return randomNumber(generator, 1, 100) <= percent;
}
template <typename List> const auto &oneOf(Generator &generator, const List &list) {
  return list[randomNumber(generator, 0, static_cast<int64_t>(std::size(list)) - 1)];
}
template <typename List> void shuffle(Generator &generator, List &list) {
  for (size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[randomNumber(generator, 0, static_cast<int64_t>(i) - 1)]);
}

} // namespace tokamak::codegen
#endif
