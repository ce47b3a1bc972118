// Operators over few places. Compiling a kernel takes milliseconds; loops that are unrolled, or that compute
// the rows of a block together, are several times as much code and save few microseconds there.
#include "ir/plan/IterationSpace.h"
#include "rewrite/BlockRules.h"

using namespace mlir;
using namespace tokamak;

bool rewrite::makeLoopsCompact(func::FuncOp block, analysis::FactsAnalysis &) {
  bool fired = false;
  for (auto op : block.getOps<plan::OperatorOp>())
    if (plan::hasFewPlaces(op.axisSizes())) {
      op.setCompact(true);
      fired = true;
    }
  return fired;
}
