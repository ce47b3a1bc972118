#include "codegen/RowSchedule.h"

#include "codegen/CellEmission.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

Value codegen::rowAggregated(Operation *op) { return withoutCasts(op->getOperand(0)); }

namespace {

class Scheduler {
public:
  explicit Scheduler(const KernelBody &body) : body_(body) {}
  RowSchedule schedule();

private:
  static bool isRowAggregate(Operation *op) {
    return isa_and_nonnull<tok::AggregateOp, tok::MatmulOp>(op);
  }
  // The pass in which a wide value can first be computed; for others, the pass before which they
  // are complete.
  unsigned stage(Value value);
  void addWide(Value value, RowPass &pass, unsigned number);
  RowPass &passAt(unsigned number) {
    while (schedule_.passes.size() <= number)
      schedule_.passes.emplace_back();
    return schedule_.passes[number];
  }

  const KernelBody &body_;
  RowSchedule schedule_;
  llvm::DenseMap<Value, unsigned> stages_;
  llvm::DenseMap<Value, unsigned> computedIn_; // expensive wide values
  llvm::DenseSet<Value> visited_;              // in the pass at hand
};

} // namespace

unsigned Scheduler::stage(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return 0;
  if (auto known = stages_.find(value); known != stages_.end())
    return known->second;
  unsigned result = 0;
  if (isRowAggregate(op)) {
    Value aggregated = rowAggregated(op);
    result = stage(aggregated);
    if (body_.extentOf(aggregated) == Extent::Wide) {
      passAt(result).rowAggregates.push_back(op);
      ++result;
    }
  } else {
    for (Value operand : op->getOperands())
      result = std::max(result, stage(withoutCasts(operand)));
  }
  stages_[value] = result;
  return result;
}

// Notes what `pass` needs to compute `value`.
void Scheduler::addWide(Value value, RowPass &pass, unsigned number) {
  Operation *op = value.getDefiningOp();
  Extent extent = body_.extentOf(value);
  if (extent == Extent::PerRow) {
    pass.perRowOperands.insert(value);
    return;
  }
  if (extent != Extent::Wide || !op || !visited_.insert(value).second)
    return;
  if (isExpensive(op)) {
    auto [entry, isNew] = computedIn_.try_emplace(value, number);
    if (!isNew && entry->second != number) {
      schedule_.passes[entry->second].kept.insert(value);
      pass.loaded.insert(value);
      schedule_.scratchSlots.try_emplace(value, schedule_.scratchSlots.size());
      return;
    }
  }
  schedule_.wideInstructions += instructionsOf(op);
  for (Value operand : op->getOperands())
    addWide(withoutCasts(operand), pass, number);
}

RowSchedule Scheduler::schedule() {
  for (const Root &root : body_.roots()) {
    unsigned when = std::max(stage(root.value), root.factor ? stage(root.factor) : 0);
    if (body_.extentOf(root.value) == Extent::Wide)
      passAt(when).roots.push_back(&root);
    else
      schedule_.perRowRoots.push_back(&root);
  }
  for (auto [number, pass] : llvm::enumerate(schedule_.passes)) {
    visited_.clear();
    for (Operation *op : pass.rowAggregates)
      addWide(rowAggregated(op), pass, number);
    for (const Root *root : pass.roots) {
      addWide(root->value, pass, number);
      if (root->factor)
        addWide(root->factor, pass, number);
    }
  }
  return std::move(schedule_);
}

RowSchedule codegen::scheduleRows(const KernelBody &body) { return Scheduler(body).schedule(); }
