#include "codegen/SparseSchedule.h"

#include "codegen/CellEmission.h"

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

unsigned Scheduler::stage(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || body_.kindOf(value) == SparseKind::Uniform)
    return 0;
  if (auto known = stages_.find(value); known != stages_.end())
    return known->second;
  auto product = dyn_cast<tok::MatmulOp>(op);
  unsigned result = 0;
  if (product && isSampledProduct(product)) {
    result = 0;
  } else if (product || isa<tok::AggregateOp>(op)) {
    Value aggregated = withoutCasts(op->getOperand(0));
    result = stage(aggregated);
    if (body_.kindOf(aggregated) == SparseKind::Wide) {
      passAt(result).rowOperations.push_back(op);
      ++result;
    }
  } else {
    for (Value operand : op->getOperands())
      result = std::max(result, stage(withoutCasts(operand)));
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
  auto input = dyn_cast<BlockArgument>(value);
  if (input) {
    if (kind == SparseKind::Wide && !body_.hasEntriesOfDriver(input)) {
      schedule_.isFlat = false;
      if (body_.isCsr(input) && !llvm::is_contained(schedule_.lookups, input))
        schedule_.lookups.push_back(input);
    }
    return;
  }
  Operation *op = value.getDefiningOp();
  auto product = dyn_cast<tok::MatmulOp>(op);
  if (kind == SparseKind::Wide && (product || isExpensive(op))) {
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
  pass.instructions += instructionsOf(op);
  for (Value operand : op->getOperands())
    addWide(withoutCasts(operand), pass, number);
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
    for (Operation *op : pass.rowOperations)
      addWide(withoutCasts(op->getOperand(0)), pass, number);
    for (const SparseRoot *root : pass.roots) {
      addWide(root->value, pass, number);
      if (root->kind == SparseRoot::Kind::OuterProduct)
        pass.narrowOperands.insert(root->factor);
      else if (root->factor)
        addWide(root->factor, pass, number);
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
