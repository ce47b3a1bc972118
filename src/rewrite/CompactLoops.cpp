// Operators over few places. Compiling a kernel takes milliseconds; loops that are unrolled, or that compute
// the rows of a block together, are several times as much code and save less than a microsecond there.
#include "rewrite/BlockRules.h"

using namespace mlir;
using namespace tokamak;

// Compact loops take at most about a quarter of a nanosecond longer for each place: with so many of
// them 2 us for each launch, where compiling them takes about 3 ms less. So they pay up to a thousand launches.
static constexpr int64_t fewPlaces = 8192;
// A plan holds for sizes in ranges, in whose upper part it may have more places than estimated.
static constexpr int64_t mostPlaces = 16 * fewPlaces;

static bool hasFewPlaces(plan::OperatorOp op) {
  Size places = Size::constant(1);
  for (const Size &axis : op.axisSizes())
    places = places * axis;
  return !places.isUnknown() && places.range().high <= mostPlaces &&
         places.estimate(mostPlaces) <= fewPlaces;
}

bool rewrite::makeLoopsCompact(func::FuncOp block, analysis::FactsAnalysis &) {
  bool fired = false;
  for (auto op : block.getOps<plan::OperatorOp>())
    if (hasFewPlaces(op)) {
      op.setCompact(true);
      fired = true;
    }
  return fired;
}
