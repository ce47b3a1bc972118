// Flat kernels: one loop over cells, for bodies whose arrays all have the same shape. The unrolled
// loop computes vectors of eight cells, its epilogue masked vectors. Both use the same code, so
// that the position of a cell doesn't change its bits.
#include "codegen/CellEmission.h"
#include "codegen/KernelEmitter.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class FlatEmitter {
public:
  explicit FlatEmitter(KernelContext &kernel) : kernel_(kernel), vectors_(kernel.vectors) {}
  void emit();

private:
  int unrolling() const;
  // Computes all results of the eight cells from `cell` on. Each aggregate has `unrolling_`
  // accumulators in `state`; these cells are added to number `copy`.
  void emitCells(Value cell, Value mask, int copy, State &state);
  Value emitValue(Value value);
  void finish(State &state);

  KernelContext &kernel_;
  VectorBuilder &vectors_;
  int unrolling_ = 1;
  Value cell_, mask_; // of the vector that is being emitted
  llvm::DenseMap<Value, Value> memo_;
};

} // namespace

// A body with few instructions is unrolled four times, so that independent instructions hide each
// other's latency. A long body has enough independent instructions already, and more code takes
// longer to compile.
int FlatEmitter::unrolling() const {
  int instructions = 0;
  for (Operation &operation : kernel_.body.op().getBody().front())
    instructions += instructionsOf(&operation);
  return instructions <= 50 ? 4 : instructions <= 150 ? 2 : 1;
}

void FlatEmitter::emit() {
  unrolling_ = unrolling();
  State state;
  for (const Root &root : kernel_.body.roots())
    if (root.kind == Root::Kind::FullAggregate)
      state.append(unrolling_, vectors_.number(neutralElement(root.aggregate)));
  int64_t step = VectorBuilder::lanes * unrolling_;
  Value begin = kernel_.tile.begin, end = kernel_.tile.end;
  // End of the unrolled loop: begin + (end - begin) / step * step.
  Value whole = vectors_.subtract(end, begin);
  whole = vectors_.builder().create<arith::AndIOp>(vectors_.builder().getUnknownLoc(), whole,
                                                   vectors_.integer(-step));
  Value wholeEnd = vectors_.add(begin, whole);
  vectors_.forLoop(begin, wholeEnd, step, state, [&](Value cell, State &current) {
    for (int copy = 0; copy < unrolling_; ++copy)
      emitCells(vectors_.add(cell, vectors_.integer(copy * VectorBuilder::lanes)), {}, copy,
                current);
  });
  vectors_.forLoop(wholeEnd, end, VectorBuilder::lanes, state, [&](Value cell, State &current) {
    emitCells(cell, vectors_.maskBelow(vectors_.subtract(end, cell)), 0, current);
  });
  finish(state);
}

// Emits operands before their users, with an explicit stack: a body may be one long chain of
// operations, too deep for recursion.
Value FlatEmitter::emitValue(Value wanted) {
  auto isUniform = [&](Value value) { return kernel_.body.extentOf(value) == Extent::Uniform; };
  auto isEmitted = [&](Value value) { return isUniform(value) || memo_.contains(value); };
  auto emitted = [&](Value value) {
    return isUniform(value) ? kernel_.uniform.lookup(value) : memo_.lookup(value);
  };
  SmallVector<Value> pending = {wanted};
  while (!pending.empty()) {
    Value value = pending.back();
    if (isEmitted(value)) {
      pending.pop_back();
      continue;
    }
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Value array = kernel_.tile.inputs[kernel_.body.arrayIndex(argument)];
      Type cells = cellType(vectors_, value.getType());
      memo_[value] = vectors_.load(vectors_.offset(array, cell_, cells), mask_, cells);
      continue;
    }
    Operation *op = value.getDefiningOp();
    size_t known = pending.size();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(withoutCasts(operand));
    for (Value operand : llvm::reverse(operands))
      if (!isEmitted(operand))
        pending.push_back(operand);
    if (pending.size() > known)
      continue;
    for (Value &operand : operands)
      operand = emitted(operand);
    memo_[value] = emitCell(vectors_, op, operands);
  }
  return emitted(wanted);
}

void FlatEmitter::emitCells(Value cell, Value mask, int copy, State &state) {
  cell_ = cell;
  mask_ = mask;
  memo_.clear();
  int slot = copy;
  for (const Root &root : kernel_.body.roots()) {
    if (root.kind == Root::Kind::Array) {
      Value array = kernel_.tile.outputs[kernel_.outputIndex(root)];
      Type cells = cellType(vectors_, root.type);
      vectors_.store(vectors_.round(emitValue(root.value), cells),
                     vectors_.offset(array, cell, cells), mask);
      continue;
    }
    Contribution contribution = kernel_.contribution(root.value, root.factor, root.aggregate,
                                                     [&](Value value) { return emitValue(value); });
    state[slot] = accumulate(vectors_, root.aggregate, state[slot], contribution, mask);
    slot += unrolling_;
  }
}

void FlatEmitter::finish(State &state) {
  Value *slot = state.begin();
  for (const Root &root : kernel_.body.roots()) {
    if (root.kind == Root::Kind::Array)
      continue;
    for (int distance = unrolling_ / 2; distance > 0; distance /= 2)
      for (int i = 0; i < distance; ++i)
        slot[i] = combine(vectors_, root.aggregate, slot[i], slot[i + distance]);
    vectors_.store(reduceOne(vectors_, root.aggregate, {slot[0], {}}), kernel_.partialPointer(root),
                   {});
    slot += unrolling_;
  }
}

void codegen::emitFlatTile(KernelContext &kernel) { FlatEmitter(kernel).emit(); }
