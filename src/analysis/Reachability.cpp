#include "analysis/Reachability.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::analysis;

// The reach after a branch of which either side may be taken.
static Reach either(Reach a, Reach b) { return a == b ? a : Reach::Maybe; }

static bool mayEndProgram(Operation *op) {
  return isa<tok::StopOp, tok::AssertOp, tok::RaiseOp>(op);
}

Reachability::Reachability(ModuleOp module, FactsAnalysis &facts)
    : facts_(facts), functions_(module) {
  findEndingFunctions(module);
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      called_.push_back({function, Reach::Certain});
  llvm::DenseMap<Operation *, Reach> entered;
  while (!called_.empty()) {
    auto [callee, reach] = called_.pop_back_val();
    auto function = cast<func::FuncOp>(callee);
    Reach &before = entered[function];
    if (before >= reach || function.isExternal())
      continue;
    before = reach;
    enter(function.getBody().front(), reach);
  }
}

void Reachability::findEndingFunctions(ModuleOp module) {
  llvm::DenseMap<Operation *, SmallVector<Operation *>> callers;
  SmallVector<Operation *> found;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](Operation *op) {
      if (mayEndProgram(op))
        found.push_back(function);
      else if (auto call = dyn_cast<tok::CallOp>(op))
        callers[functions_.lookup(call.getCallee())].push_back(function);
    });
  while (!found.empty()) {
    Operation *function = found.pop_back_val();
    if (ending_.insert(function).second)
      llvm::append_range(found, callers.lookup(function));
  }
}

Reach Reachability::enter(mlir::Block &block, Reach reach) {
  Reach through = Reach::Certain;
  for (Operation &op : block) {
    Reach here = std::min(reach, through);
    if (here == Reach::Never)
      break;
    Reach &known = reached_[&op];
    known = std::max(known, here);
    through = std::min(through, passage(op, here));
  }
  return through;
}

// Whether control that reaches `op` passes on to the next operation. `reach` is that of `op`
// itself, for recording the reach of operations in its regions.
Reach Reachability::passage(Operation &op, Reach reach) {
  return llvm::TypeSwitch<Operation *, Reach>(&op)
      .Case<tok::StopOp, tok::RaiseOp>([](auto) { return Reach::Never; })
      .Case([&](tok::AssertOp op) {
        return constantCondition(op.getCondition()) == true ? Reach::Certain : Reach::Maybe;
      })
      .Case([&](tok::IfOp op) { return enterBranches(op, reach); })
      .Case([&](tok::WhileOp op) { return enterWhile(op, reach); })
      .Case<tok::ForOp, tok::ParForOp>([&](auto op) { return enterLoop(op, reach); })
      .Case([&](tok::CallOp op) {
        Operation *callee = functions_.lookup(op.getCallee());
        called_.push_back({callee, reach});
        return ending_.contains(callee) ? Reach::Maybe : Reach::Certain;
      })
      .Default(Reach::Certain);
}

Reach Reachability::enterBranches(tok::IfOp op, Reach reach) {
  mlir::Block &first = op.getThenRegion().front(), &second = op.getElseRegion().front();
  if (std::optional<bool> condition = constantCondition(op.getCondition()))
    return enter(*condition ? first : second, reach);
  Reach maybe = std::min(reach, Reach::Maybe);
  return either(enter(first, maybe), enter(second, maybe));
}

Reach Reachability::enterWhile(tok::WhileOp op, Reach reach) {
  mlir::Block &head = op.getConditionRegion().front(), &body = op.getBodyRegion().front();
  Reach through = enter(head, reach);
  std::optional<bool> condition =
      constantCondition(cast<tok::ConditionOp>(head.getTerminator()).getCondition());
  if (condition == false)
    return through;
  if (condition == true) {
    enter(body, std::min(reach, through));
    return Reach::Never;
  }
  Reach bodyEnd = enter(body, std::min({reach, through, Reach::Maybe}));
  return std::min(through, either(Reach::Certain, bodyEnd));
}

// Facts of a body hold in each iteration, so the body of a loop that surely runs is as certain as
// the loop.
template <typename Loop> Reach Reachability::enterLoop(Loop loop, Reach reach) {
  mlir::Block &body = loop.getBodyRegion().front();
  Size from = facts_.factsOf(loop.getFrom()).integer, to = facts_.factsOf(loop.getTo()).integer,
       step = facts_.factsOf(loop.getStep()).integer;
  if (!from.isConstant() || !to.isConstant() || !step.isConstant())
    return either(Reach::Certain, enter(body, std::min(reach, Reach::Maybe)));
  bool runs = step.constantValue() >= 0 ? from.constantValue() <= to.constantValue()
                                        : from.constantValue() >= to.constantValue();
  return runs ? enter(body, reach) : Reach::Certain;
}

std::optional<bool> Reachability::constantCondition(Value condition) {
  auto value = dyn_cast_or_null<IntegerAttr>(facts_.factsOf(condition).value);
  return value ? std::optional(!value.getValue().isZero()) : std::nullopt;
}
