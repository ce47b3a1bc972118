#include "pipeline/SinkCells.h"

#include "analysis/FactsAnalysis.h"
#include "cost/MachineModel.h"
#include "ir/tok/BroadcastSizes.h"
#include "ir/tok/ElementTypes.h"
#include "ir/tok/TokDialect.h"
#include "pipeline/MissingValues.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

using namespace mlir;
using namespace tokamak;

namespace {

// The operations that are hidden by reading a cell. Of the fixed model: a program is compiled before
// it is known whether this machine has to be measured, and means the same on every machine.
const double mostHiddenFlops = cost::operationsHiddenByReading(cost::MachineModel(), 8);
// An operator that no addition is as fast as is computed once. A division takes a core as long as
// reading the cell from memory, and each iteration would repeat it.
constexpr int mostFlopsOfOne = 2;

bool isInInnerLoop(Operation *user, Operation *definition) {
  for (Operation *at = user->getParentOp(); at && at != definition->getParentOp();
       at = at->getParentOp())
    if (isa<LoopLikeOpInterface>(at))
      return true;
  return false;
}

class CellSinking {
public:
  explicit CellSinking(ModuleOp module) : module_(module), missing_(module) {}

  void run() {
    // Users before their operands: when a user has moved, its operands may follow.
    SmallVector<Operation *> cells;
    module_.walk([&](Operation *op) {
      if (isa<tok::UnaryOp, tok::BinaryOp>(op) && tok::isArray(op->getResult(0).getType()) &&
          mayBeSparse(*tok::elementTypeOf(op->getResult(0).getType())))
        cells.push_back(op);
    });
    for (Operation *op : llvm::reverse(cells))
      if (isSinkable(op))
        sink(op);
  }

private:
  static int flopsOf(Operation *op) {
    if (auto unary = dyn_cast<tok::UnaryOp>(op))
      return tokamak::flopsOf(unary.getKind());
    return tokamak::flopsOf(cast<tok::BinaryOp>(op).getKind());
  }

  tok::Facts factsOf(Value value) {
    if (!facts_)
      facts_.emplace(module_);
    return facts_->factsOf(value);
  }

  // An error would come after what is printed before the user, and not at all if the loop doesn't
  // run.
  bool mayFail(Operation *op) {
    if (missing_.mayFailFor(op))
      return true;
    if (isSpeculatable(op))
      return false;
    auto binary = dyn_cast<tok::BinaryOp>(op);
    if (!binary || !tok::isArray(binary.getLhs().getType()) ||
        !tok::isArray(binary.getRhs().getType()))
      return true;
    tok::Facts lhs = factsOf(binary.getLhs()), rhs = factsOf(binary.getRhs());
    auto repeatsTo = [](const Size &whole, const Size &part) {
      return part.isConstant(1) || part.provedEqual(whole);
    };
    auto fits = [&](const Size &a, const Size &b) { return repeatsTo(a, b) || repeatsTo(b, a); };
    bool isKnown = !lhs.dims.empty() && lhs.dims.size() == rhs.dims.size();
    bool isSafe = binary.getOneRepeated()
                      ? tok::allAligned(lhs, rhs, repeatsTo) || tok::allAligned(rhs, lhs, repeatsTo)
                      : tok::allAligned(lhs, rhs, fits);
    return !isKnown || !isSafe;
  }

  bool isVector(Value value) {
    tok::Facts facts = factsOf(value);
    return facts.isMatrix() && (facts.isColumnVector() || facts.isRowVector());
  }

  // Whether the operation reads exactly one matrix; scalars and vectors don't count.
  bool readsOneMatrix(Operation *op) {
    int matrices = 0;
    for (Value operand : op->getOperands())
      matrices += tok::isArray(operand.getType()) && !isVector(operand);
    return matrices == 1;
  }

  // Whether the user is fused with the operand's definition, so that one kernel computes both.
  // Products of two matrices are natives, which read stored arrays.
  bool isFusedWith(OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tok::UnaryOp, tok::BinaryOp, tok::AggregateOp>(user))
      return true;
    if (isa<tok::TransposeOp>(user))
      return llvm::all_of(user->getUses(), [&](OpOperand &next) {
        return isa<tok::MatmulOp>(next.getOwner()) && isFusedWith(next);
      });
    auto product = dyn_cast<tok::MatmulOp>(user);
    return product && use.getOperandNumber() == 0 && isVector(product.getRhs());
  }

  bool isSinkable(Operation *op) {
    bool isRepeated = false;
    int flops = flopsOf(op), most = 0;
    if (flops > mostFlopsOfOne)
      return false;
    for (OpOperand &use : op->getUses()) {
      isRepeated |= isInInnerLoop(use.getOwner(), op);
      most = std::max(most, flopsBehind_.lookup(use.getOwner()));
    }
    return isRepeated && flops + most <= mostHiddenFlops && readsOneMatrix(op) &&
           llvm::all_of(op->getUses(), [&](OpOperand &use) { return isFusedWith(use); }) &&
           !mayFail(op);
  }

  void sink(Operation *op) {
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      Operation *user = use.getOwner(), *copy = OpBuilder(user).clone(*op);
      flopsBehind_[copy] = flopsOf(op) + flopsBehind_.lookup(user);
      use.set(copy->getResult(0));
    }
    op->erase();
  }

  ModuleOp module_;
  pipeline::MissingValues missing_;
  std::optional<analysis::FactsAnalysis> facts_; // of the module before any change
  llvm::DenseMap<Operation *, int>
      flopsBehind_; // by sunk copy: its flops and those of the copies that read it
};

} // namespace

void pipeline::sinkCells(ModuleOp module) { CellSinking(module).run(); }
