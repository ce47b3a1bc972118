#include "fusion/select/FuseBlock.h"

#include "fusion/select/ExplainFusion.h"
#include "fusion/select/FusionFacts.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr StringRef selectorNames[] = {"none", "patterns", "all", "no-redundancy", "cost"};

StringRef fusion::name(Selector selector) { return selectorNames[static_cast<int>(selector)]; }

std::optional<Selector> fusion::findSelector(StringRef name) {
  auto found = llvm::find(selectorNames, name);
  if (found == std::end(selectorNames))
    return std::nullopt;
  return static_cast<Selector>(found - std::begin(selectorNames));
}

LogicalResult fusion::fuseBlock(func::FuncOp block, FactsFunction facts,
                                const FusionOptions &options) {
  if (!block.getBody().hasOneBlock() ||
      !llvm::all_of(block.getBody().front(), [](Operation &operation) {
        return operation.getNumRegions() == 0 || isa<plan::OperatorOp>(operation);
      }))
    return block.emitError("only straight-line functions can be fused");

  BlockGraph graph(block, facts);
  // Where nearly every result is stored before it is read, all sparse ones may be drivers.
  bool storesMost = options.selector == Selector::None || options.selector == Selector::Patterns;
  MemoTable memo = explore(graph, storesMost ? Drivers::All : Drivers::Shared);
  OperatorPool pool(graph, memo, *options.machine, options.selector);
  Plan plan = searchPlan(pool);
  buildOperators(pool, plan.operators, [&](ArrayRef<BuiltOperator> built) {
    if (options.explanation)
      *options.explanation += explainFusion(block.getName(), pool, plan, built);
    if (options.facts)
      *options.facts = fusionFacts(block.getName(), pool, plan, built);
  });
  return success();
}
