#include "pipeline/StaticPhase.h"

#include "pipeline/StaticPasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

LogicalResult pipeline::runStaticPhase(ModuleOp module, const StaticOptions &options,
                                       std::vector<PassRun> *runs) {
  StaticPassRunner passes(module, options);
  auto report = llvm::make_scope_exit([&] {
    if (runs)
      *runs = passes.runs();
  });
  // Sizes become constants, then branches on sizes fold, which makes more sizes constant: repeats
  // the passes until nothing changes, which takes at most one round for each operation, and two for
  // usual scripts. Then reports operations that are proved wrong.
  auto settle = [&](std::initializer_list<StringRef> names) -> LogicalResult {
    while (true) {
      if (failed(passes.runAll(names)))
        return failure();
      FailureOr<bool> folded = passes.run("fold-facts");
      if (failed(folded))
        return failure();
      if (!*folded)
        return passes.runAll({"report-contradictions"});
      if (failed(passes.run("constant-propagation")))
        return failure();
    }
  };

  bool hasCalls = !llvm::hasSingleElement(module.getOps<func::FuncOp>());
  if (hasCalls && failed(passes.runAll({"dead-functions", "inline"})))
    return failure();
  if (failed(passes.runAll({"keep-products-apart"})))
    return failure();
  // The first time nothing is erased, so that operations that are proved wrong are reported even if
  // their results are not used.
  if (failed(passes.run("constant-propagation")) || failed(settle({})) ||
      failed(settle({"canonicalize", "cse"})))
    return failure();
  return passes.runAll({"carry-doubles", "loop-invariant-code-motion", "use-literals-as-scalars",
                        "fold-scales", "prepare-weights", "sink-transpositions", "sink-cells",
                        "mark-parfor-results", "outline-blocks"});
}
