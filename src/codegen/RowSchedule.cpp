#include "codegen/RowSchedule.h"

#include "codegen/CellEmission.h"

#include <map>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

Value codegen::rowAggregated(const KernelBody &body, plan::ReduceOp op) {
  const RowProduct *product = body.productOf(op);
  return product ? product->left : op.getOperand();
}

bool codegen::isComputedInPlace(const KernelBody &body, plan::ReduceOp op) {
  const RowProduct &product = *body.productOf(op);
  return body.extentOf(product.left) == Extent::Narrow &&
         body.extentOf(op.getCell()) == Extent::Wide && !product.isTransposed;
}

plan::ReduceOp codegen::productDefining(const KernelBody &body, Value value) {
  auto reduce = value.getDefiningOp<plan::ReduceOp>();
  return reduce && body.productOf(reduce) ? reduce : plan::ReduceOp();
}

bool codegen::hasProductPanel(const KernelBody &body, Value value) {
  plan::ReduceOp product = productDefining(body, value);
  return product && !isComputedInPlace(body, product);
}

std::optional<int64_t> codegen::constantWidth(const KernelBody &body, Value value) {
  switch (body.extentOf(value)) {
  case Extent::Wide:
  case Extent::Shared:
    return body.constantColumns();
  case Extent::Narrow:
  case Extent::SharedNarrow:
    return body.narrowColumns(value);
  default:
    return 1;
  }
}

TransposedRoles codegen::transposedRoles(const KernelBody &body, const Root &root) {
  auto width = [&](Value value) { return constantWidth(body, value).value_or(INT64_MAX); };
  if (width(root.factor) >= width(root.value))
    return {root.factor, root.value, true};
  return {root.value, root.factor, false};
}

namespace {

class Scheduler {
public:
  explicit Scheduler(const KernelBody &body) : body_(body) {}
  RowSchedule schedule();

private:
  struct Step {
    unsigned stage;
    int64_t width; // -1: wide
    bool operator<(const Step &other) const {
      return std::tie(stage, width) < std::tie(other.stage, other.width);
    }
  };

  bool isWide(Value value) const { return body_.extentOf(value) == Extent::Wide; }
  bool isNarrow(Value value) const { return body_.extentOf(value) == Extent::Narrow; }
  // True if all cells of the value are in memory anyway, without being kept.
  bool isInputOrProduct(Value value) const {
    return isRead(value) || hasProductPanel(body_, value);
  }

  // For values over columns: the first stage at which they can be computed. For m×1 values and
  // products with panels: the first stage at which they are complete.
  unsigned stage(Value value);
  unsigned stageOfProduct(plan::ReduceOp product);
  // The first stage at which whole rows of the value are in memory; keeps the value if necessary.
  unsigned stageOfWholeRows(Value value);
  RowPass &passAt(unsigned stage, Value value);
  void placeRoot(const Root &root);
  void addValue(Value value, RowPass &pass);
  void addOperandsOf(RowPass &pass);
  void placeAccumulators();
  bool fitsRegisters() const;
  int64_t panel(Value value) {
    auto [entry, isNew] = schedule_.scratch.panels.try_emplace(value, 0);
    if (isNew)
      entry->second = schedule_.scratch.addConstant(*constantWidth(body_, value) * 8);
    return entry->second;
  }
  void keep(Value value, RowPass &pass) {
    pass.kept.insert(value);
    if (isNarrow(value))
      panel(value);
    else if (auto [line, isNew] = schedule_.scratch.wideLines.try_emplace(value, 0); isNew)
      line->second = schedule_.scratch.addLines(8);
  }

  const KernelBody &body_;
  RowSchedule schedule_;
  std::map<Step, RowPass> passes_;
  llvm::DenseMap<Value, unsigned> stages_;
  llvm::DenseMap<Value, RowPass *> computedIn_; // of expensive and of kept values
  llvm::DenseSet<Value> visited_;               // by addValue, in the current pass
};

} // namespace

RowPass &Scheduler::passAt(unsigned stage, Value value) {
  int64_t width = isWide(value) ? -1 : body_.narrowColumns(value);
  RowPass &pass = passes_[Step{stage, width}];
  pass.isWide = width < 0;
  pass.width = width;
  return pass;
}

unsigned Scheduler::stageOfWholeRows(Value value) {
  unsigned when = stage(value);
  if (isInputOrProduct(value) || body_.extentOf(value) == Extent::PerRow)
    return when;
  keep(value, passAt(when, value));
  return when + 1;
}

unsigned Scheduler::stageOfProduct(plan::ReduceOp product) {
  Value left = rowAggregated(body_, product);
  if (isComputedInPlace(body_, product))
    return stageOfWholeRows(left);
  unsigned when = stage(left);
  RowPass &pass = passAt(when, left);
  panel(product.getCell());
  if (pass.isWide && schedule_.scratch.staging < 0)
    schedule_.scratch.staging = schedule_.scratch.addConstant(64);
  pass.products.push_back(product);
  if (isNarrow(left) && !isInputOrProduct(left))
    keep(left, pass);
  return when + 1;
}

unsigned Scheduler::stage(Value value) {
  if (isRead(value))
    return 0;
  if (auto known = stages_.find(value); known != stages_.end())
    return known->second;
  unsigned result = 0;
  auto reduce = value.getDefiningOp<plan::ReduceOp>();
  if (reduce && body_.productOf(reduce)) {
    result = stageOfProduct(reduce);
  } else if (reduce) {
    Value aggregated = reduce.getOperand();
    result = stage(aggregated);
    passAt(result++, aggregated).rowAggregates.push_back(reduce);
  } else {
    for (Value operand : value.getDefiningOp()->getOperands())
      result = std::max(result, stage(operand));
  }
  stages_[value] = result;
  return result;
}

// Records the inputs, per-row operands and kept values that `pass` needs to compute `value`.
void Scheduler::addValue(Value value, RowPass &pass) {
  Operation *op = value.getDefiningOp();
  Extent extent = body_.extentOf(value);
  if (extent == Extent::PerRow) {
    pass.perRowOperands.insert(value);
    return;
  }
  if ((extent != Extent::Wide && extent != Extent::Narrow) || !visited_.insert(value).second)
    return;
  if (isRead(value)) {
    if (extent == Extent::Narrow)
      schedule_.panelInputs.insert(value);
    else
      pass.wideInputs.insert(value);
    return;
  }
  if (hasProductPanel(body_, value))
    return;
  plan::ReduceOp product = productDefining(body_, value);
  if (product || isExpensive(op) || schedule_.scratch.panels.contains(value) ||
      schedule_.scratch.wideLines.contains(value)) {
    auto [entry, isNew] = computedIn_.try_emplace(value, &pass);
    if (!isNew && entry->second != &pass) {
      keep(value, *entry->second);
      pass.loaded.insert(value);
      return;
    }
  }
  if (product)
    return;
  if (extent == Extent::Wide)
    schedule_.wideInstructions += instructionsOf(op);
  for (Value operand : op->getOperands())
    addValue(operand, pass);
}

void Scheduler::placeRoot(const Root &root) {
  if (body_.extentOf(root.value) == Extent::PerRow) {
    stage(root.value);
    schedule_.perRowRoots.push_back(&root);
    return;
  }
  if (root.kind == Root::Kind::TransposedProduct) {
    auto [vectors, cells, isNatural] = transposedRoles(body_, root);
    unsigned cellsComplete = stageOfWholeRows(cells);
    if (isWide(vectors)) {
      passAt(std::max(stage(vectors), cellsComplete), vectors).roots.push_back(&root);
    } else {
      // Panels are transposed to rows at the end of the pass that computes them.
      unsigned complete = stageOfWholeRows(vectors);
      unsigned when = isInputOrProduct(vectors) ? complete : complete - 1;
      passAt(std::max(when, cellsComplete), vectors).roots.push_back(&root);
    }
    return;
  }
  RowPass &pass = passAt(stage(root.value), root.value);
  pass.roots.push_back(&root);
  if (root.kind == Root::Kind::Array && isNarrow(root.value) && !isInputOrProduct(root.value))
    keep(root.value, pass);
}

void Scheduler::addOperandsOf(RowPass &pass) {
  visited_.clear();
  llvm::SmallVector<Value> kept(pass.kept.begin(), pass.kept.end());
  for (Value value : kept)
    addValue(value, pass);
  for (plan::ReduceOp op : pass.rowAggregates)
    addValue(op.getOperand(), pass);
  for (plan::ReduceOp product : pass.products)
    addValue(rowAggregated(body_, product), pass);
  for (const Root *root : pass.roots) {
    if (root->kind == Root::Kind::TransposedProduct) {
      // Narrow inputs are read row by row from their array, without a panel.
      if (Value vectors = transposedRoles(body_, *root).vectors; isWide(vectors))
        addValue(vectors, pass);
      continue;
    }
    addValue(root->value, pass);
  }
}

void Scheduler::placeAccumulators() {
  ScratchLayout &scratch = schedule_.scratch;
  for (const Root &root : body_.roots()) {
    if (root.kind == Root::Kind::ColumnAggregate && isNarrow(root.value)) {
      scratch.accumulators[&root] = scratch.addConstant(body_.narrowColumns(root.value) * 8);
    } else if (root.kind == Root::Kind::TransposedProduct) {
      auto [vectors, cells, isNatural] = transposedRoles(body_, root);
      int64_t count = *constantWidth(body_, cells);
      if (isWide(vectors))
        scratch.accumulatorLines[&root] = scratch.addLines(count);
      else
        scratch.accumulators[&root] =
            scratch.addConstant(count * ((body_.narrowColumns(vectors) + 7) / 8 * 8));
    }
  }
}

// True if the schedule is an optional pass that aggregates rows, followed by one that only updates
// column aggregates, and these are small enough for registers.
bool Scheduler::fitsRegisters() const {
  std::optional<int64_t> columns = body_.constantColumns();
  ArrayRef<RowPass> passes = schedule_.passes;
  if (!columns || passes.empty() || passes.size() > 2 ||
      (passes.size() == 2 && !schedule_.onlyAggregatesRows(passes.front())))
    return false;
  int perRowInstructions = 0;
  for (Operation &op : body_.block())
    if (isCell(&op) && body_.extentOf(op.getResult(0)) == Extent::PerRow)
      perRowInstructions += instructionsOf(&op);
  const RowPass &last = passes.back();
  int64_t vectors = (*columns + 7) / 8;
  return last.isWide && last.rowAggregates.empty() && last.products.empty() && last.kept.empty() &&
         schedule_.wideInstructions <= mostInstructionsForMemory &&
         perRowInstructions <= mostInstructionsPerRow * vectors &&
         static_cast<int64_t>(last.roots.size()) * *columns <= abi::mostColumnsInRegisters &&
         llvm::all_of(last.roots,
                      [](const Root *root) { return root->kind == Root::Kind::ColumnAggregate; });
}

RowSchedule Scheduler::schedule() {
  schedule_.hasLongRows = body_.constantColumns().value_or(INT64_MAX) > mostNarrowColumns;
  for (const Root &root : body_.roots())
    placeRoot(root);
  for (auto &[step, pass] : passes_)
    addOperandsOf(pass);
  for (Value input : schedule_.panelInputs)
    panel(input);
  placeAccumulators();
  for (auto &[step, pass] : passes_) {
    schedule_.hasPanels |=
        !pass.isWide || !pass.products.empty() || llvm::any_of(pass.roots, [](const Root *root) {
          return root->kind == Root::Kind::TransposedProduct;
        });
    schedule_.passes.push_back(std::move(pass));
  }
  schedule_.isInRegisters = fitsRegisters();
  return std::move(schedule_);
}

RowSchedule codegen::scheduleRows(const KernelBody &body) { return Scheduler(body).schedule(); }
