// Operators over few places. Compiling a kernel takes milliseconds; loops that are unrolled, or that compute
// the rows of a block together, are several times as much code and save few microseconds there.
#include "rewrite/BlockRules.h"

using namespace mlir;
using namespace tokamak;

// Compact loops take at most about 0.06 ns longer for each place: with so many of them 4 us for each
// launch, where compiling takes about 4 ms less. So they pay up to a thousand launches.
static constexpr int64_t fewPlaces = 65536;
// Each row takes up to 8 ns longer if it fills no vector: as long as so many places.
static constexpr int64_t narrowRow = 16, placesOfNarrowRow = 128;
// A plan holds for sizes in ranges, in whose upper part it may have more places than estimated.
static constexpr int64_t mostPlaces = 16 * fewPlaces;

static bool hasFewPlaces(plan::OperatorOp op) {
  SmallVector<Size> axes = op.axisSizes();
  if (axes.size() == 2 && axes[1].isConstant() && axes[1].constantValue() <= narrowRow)
    axes[1] = Size::constant(placesOfNarrowRow);
  Size places = Size::constant(1);
  for (const Size &axis : axes)
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
