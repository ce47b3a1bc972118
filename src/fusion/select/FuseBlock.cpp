#include "fusion/select/FuseBlock.h"

#include "fusion/select/BuildOperators.h"
#include "fusion/select/ExplainFusion.h"
#include "fusion/select/MergeOperators.h"
#include "fusion/select/OperatorOrder.h"
#include "fusion/select/PlanSearch.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr StringRef selectorNames[] = {"none", "all", "no-redundancy", "cost"};

StringRef fusion::name(Selector selector) { return selectorNames[static_cast<int>(selector)]; }

std::optional<Selector> fusion::findSelector(StringRef name) {
  auto found = llvm::find(selectorNames, name);
  if (found == std::end(selectorNames))
    return std::nullopt;
  return static_cast<Selector>(found - std::begin(selectorNames));
}

// The operators in the order of execution.
static SmallVector<int> inOrder(const OperatorPool &pool, ArrayRef<int> operators) {
  OperatorOrder order(pool, operators);
  SmallVector<int> result;
  for (int unit : order.sequence())
    if (unit < order.operatorCount())
      result.push_back(operators[unit]);
  return result;
}

LogicalResult fusion::fuseBlock(func::FuncOp block,
                                llvm::function_ref<const tok::Facts &(Value)> facts,
                                const FusionOptions &options) {
  if (!block.getBody().hasOneBlock() ||
      !llvm::all_of(block.getBody().front(), [](Operation &operation) {
        return operation.getNumRegions() == 0 || isa<plan::OperatorOp>(operation);
      }))
    return block.emitError("only straight-line functions can be fused");

  BlockGraph graph(block, facts);
  // Without fusion every result is stored before it is read, so all patterns may be drivers.
  MemoTable memo =
      explore(graph, options.selector == Selector::None ? Drivers::All : Drivers::Shared);
  OperatorPool pool(graph, memo, *options.machine,
                    options.selector == Selector::Cost ? Preference::Cost : Preference::Fusion);
  Plan plan = searchPlan(pool, options.selector);
  SmallVector<int> operators = plan.operators;
  std::vector<RefusedMerge> refused;
  if (options.selector == Selector::Cost)
    mergeOperators(pool, operators, &refused);
  operators = inOrder(pool, operators);
  if (options.explanation)
    *options.explanation +=
        explainFusion(block.getName(), options.selector, pool, plan, operators, refused);
  buildOperators(pool, operators);
  return success();
}
