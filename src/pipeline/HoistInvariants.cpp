#include "pipeline/HoistInvariants.h"

#include "pipeline/MissingValues.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace tokamak;

void pipeline::hoistInvariants(ModuleOp module) {
  MissingValues missing(module);
  module.walk([&](LoopLikeOpInterface loop) {
    moveLoopInvariantCode(
        loop.getLoopRegions(),
        [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
        [&](Operation *op, Region *) {
          return isMemoryEffectFree(op) && isSpeculatable(op) && !missing.mayFailFor(op);
        },
        [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  });
}
