#include "codegen/SparseSchedule.h"

#include "schedule/Instructions.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

// An estimate for a sampled product: the inner product of two rows at each of eight entries.
constexpr int instructionsOfSampledProduct = 200;

class Scheduler {
public:
  explicit Scheduler(const SparseBody &body) : body_(body) {}
  SparseSchedule schedule();

private:
  // For Wide values: the first pass in which they can be computed. For others: the first pass at
  // whose beginning they are complete.
  unsigned stage(Value value);
  void addWide(Value value, EntryPass &pass, unsigned number);
  EntryPass &passAt(unsigned number) {
    while (schedule_.passes.size() <= number)
      schedule_.passes.emplace_back();
    return schedule_.passes[number];
  }

  const SparseBody &body_;
  SparseSchedule schedule_;
  llvm::DenseMap<Value, unsigned> stages_;
  llvm::DenseMap<Value, unsigned> computedIn_; // expensive Wide values
  llvm::DenseSet<Value> visited_;              // by addWide, in the current pass
};

} // namespace

Value codegen::rowAggregated(const SparseBody &body, plan::ReduceOp op) {
  const EntryProduct *product = body.productOf(op);
  return product ? product->left : op.getOperand();
}

unsigned Scheduler::stage(Value value) {
  if (isRead(value) || body_.kindOf(value) == SparseKind::Uniform)
    return 0;
  if (auto known = stages_.find(value); known != stages_.end())
    return known->second;
  unsigned result = 0;
  if (auto reduce = value.getDefiningOp<plan::ReduceOp>()) {
    Value aggregated = rowAggregated(body_, reduce);
    result = stage(aggregated);
    if (body_.kindOf(aggregated) == SparseKind::Wide)
      passAt(result++).rowOperations.push_back(reduce);
  } else {
    for (Value operand : value.getDefiningOp()->getOperands())
      result = std::max(result, stage(operand));
  }
  stages_[value] = result;
  return result;
}

// Records the operands and kept values that `pass` needs to compute `value`.
void Scheduler::addWide(Value value, EntryPass &pass, unsigned number) {
  SparseKind kind = body_.kindOf(value);
  if (kind == SparseKind::PerRow) {
    pass.perRowOperands.insert(value);
    return;
  }
  if ((kind != SparseKind::Wide && kind != SparseKind::PerColumn) || !visited_.insert(value).second)
    return;
  if (auto input = value.getDefiningOp<plan::ReadOp>()) {
    if (kind == SparseKind::Wide && !body_.hasEntriesOfDriver(input)) {
      schedule_.isFlat = false;
      if (body_.isSparse(input) && !llvm::is_contained(schedule_.lookups, input))
        schedule_.lookups.push_back(input);
    }
    return;
  }
  Operation *op = value.getDefiningOp();
  auto product = dyn_cast<plan::ReduceOp>(op);
  if (kind == SparseKind::Wide && (product || schedule::isExpensive(op))) {
    auto [entry, isNew] = computedIn_.try_emplace(value, number);
    if (!isNew && entry->second != number) {
      schedule_.passes[entry->second].kept.insert(value);
      pass.loaded.insert(value);
      schedule_.scratchSlots.try_emplace(value, schedule_.scratchSlots.size());
      return;
    }
  }
  if (product) {
    pass.instructions += instructionsOfSampledProduct;
    pass.sampled.push_back(product);
    schedule_.isFlat = false;
    return;
  }
  pass.instructions += schedule::instructionsOf(op);
  for (Value operand : op->getOperands())
    addWide(operand, pass, number);
}

SparseSchedule Scheduler::schedule() {
  for (const SparseRoot &root : body_.roots()) {
    unsigned when = std::max(stage(root.value), root.factor ? stage(root.factor) : 0);
    if (body_.kindOf(root.value) == SparseKind::Wide)
      passAt(when).roots.push_back(&root);
    else
      schedule_.rowRoots.push_back(&root);
  }
  for (auto [number, pass] : llvm::enumerate(schedule_.passes)) {
    visited_.clear();
    for (plan::ReduceOp op : pass.rowOperations)
      addWide(rowAggregated(body_, op), pass, number);
    for (const SparseRoot *root : pass.roots) {
      addWide(root->value, pass, number);
      if (root->kind == SparseRoot::Kind::OuterProduct)
        pass.narrowOperands.insert(root->factor);
    }
    schedule_.isFlat &=
        pass.rowOperations.empty() && pass.perRowOperands.empty() && pass.narrowOperands.empty();
  }
  schedule_.isFlat &= schedule_.rowRoots.empty() && schedule_.passes.size() <= 1;
  return std::move(schedule_);
}

SparseSchedule codegen::scheduleEntries(const SparseBody &body) {
  return Scheduler(body).schedule();
}
