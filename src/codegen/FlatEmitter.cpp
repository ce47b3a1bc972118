// Flat kernels: one loop over cells, for bodies whose arrays all have the same shape. The unrolled
// loop computes vectors of eight cells, or of sixteen if no cell has more than 32 bits; its epilogue
// masked vectors. Both use the same code, so that the position of a cell doesn't change its bits.
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
  int64_t lanes() const;
  // Makes vectors of uniform values as wide as those of cells.
  void widenUniformValues();
  // Computes all results of the vector of cells from `cell` on. Each aggregate has `unrolling_`
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
  for (Operation &operation : kernel_.body.block())
    instructions += instructionsOf(&operation);
  // The same on every machine: each copy has accumulators of its own.
  return instructions <= 50 ? 4 : instructions <= 150 ? 2 : 1;
}

int64_t FlatEmitter::lanes() const {
  constexpr int64_t narrowBytes = 4;
  // Values that are the same everywhere are computed once, and the products of a sum, which are
  // doubles, by its multiply-add.
  auto isSummed = [](Operation *user) { return isa<plan::ReduceOp>(user); };
  auto isFactor = [&](Operation *user) {
    auto product = dyn_cast<plan::BinaryOp>(user);
    return product && product.getKind() == BinaryOperator::Mul &&
           llvm::all_of(user->getUsers(), isSummed);
  };
  bool isNarrow = llvm::all_of(kernel_.body.block(), [&](Operation &operation) {
    if (operation.getNumResults() == 0 || isa<plan::ReduceOp>(operation) ||
        kernel_.body.extentOf(operation.getResult(0)) == Extent::Uniform)
      return true;
    bool isInSum = isFactor(&operation) ||
                   (isa<plan::CastOp>(operation) && llvm::all_of(operation.getUsers(), isFactor));
    return isInSum || byteSize(cellsOf(operation.getResult(0))) <= narrowBytes;
  });
  return isNarrow ? VectorBuilder::mostLanes : VectorBuilder::lanes;
}

// They were computed in vectors of eight, for which all functions exist.
void FlatEmitter::widenUniformValues() {
  for (auto &[value, vector] : kernel_.uniform)
    vector = vectors_.splat(vectors_.lane(vector, 0));
}

void FlatEmitter::emit() {
  unrolling_ = unrolling();
  vectors_.setWidth(lanes());
  if (vectors_.width() != VectorBuilder::lanes)
    widenUniformValues();
  State state;
  for (const Root &root : kernel_.body.roots())
    if (root.kind == Root::Kind::FullAggregate)
      state.append(unrolling_, neutralElement(vectors_, reductionOf(root)));
  int64_t step = vectors_.width() * unrolling_;
  Value begin = kernel_.tile.begin, end = kernel_.tile.end;
  // End of the unrolled loop: begin + (end - begin) / step * step.
  Value whole = vectors_.subtract(end, begin);
  whole = vectors_.builder().create<arith::AndIOp>(vectors_.builder().getUnknownLoc(), whole,
                                                   vectors_.integer(-step));
  Value wholeEnd = vectors_.add(begin, whole);
  vectors_.forLoop(begin, wholeEnd, step, state, [&](Value cell, State &current) {
    for (int copy = 0; copy < unrolling_; ++copy)
      emitCells(vectors_.add(cell, vectors_.integer(copy * vectors_.width())), {}, copy, current);
  });
  vectors_.forLoop(wholeEnd, end, vectors_.width(), state, [&](Value cell, State &current) {
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
    if (auto read = value.getDefiningOp<plan::ReadOp>()) {
      Value array = kernel_.tile.inputs[kernel_.body.inputIndex(read)];
      memo_[value] = vectors_.loadCells(array, cell_, mask_, cellsOf(value));
      continue;
    }
    Operation *op = value.getDefiningOp();
    size_t known = pending.size();
    SmallVector<Value> operands;
    operands.assign(op->operand_begin(), op->operand_end());
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
      vectors_.storeCells(emitValue(root.value), array, cell, mask, cellsOf(root.value));
      continue;
    }
    Contribution contribution = kernel_.contribution(root.value, root.aggregate,
                                                     [&](Value value) { return emitValue(value); });
    state[slot] = accumulate(vectors_, reductionOf(root), state[slot], contribution, mask);
    slot += unrolling_;
  }
}

void FlatEmitter::finish(State &state) {
  Value *slot = state.begin();
  int64_t width = vectors_.width();
  for (const Root &root : kernel_.body.roots()) {
    if (root.kind == Root::Kind::Array)
      continue;
    vectors_.setWidth(width);
    for (int distance = unrolling_ / 2; distance > 0; distance /= 2)
      for (int i = 0; i < distance; ++i)
        slot[i] = combine(vectors_, reductionOf(root), slot[i], slot[i + distance]);
    Value total = slot[0];
    if (width != VectorBuilder::lanes) {
      static constexpr int64_t lowLanes[] = {0, 1, 2, 3, 4, 5, 6, 7},
                               highLanes[] = {8, 9, 10, 11, 12, 13, 14, 15};
      Value low = vectors_.shuffle(total, total, lowLanes),
            high = vectors_.shuffle(total, total, highLanes);
      vectors_.setWidth(VectorBuilder::lanes);
      total = combine(vectors_, reductionOf(root), low, high);
    }
    vectors_.store(reduceOne(vectors_, reductionOf(root), {total, {}}),
                   kernel_.partialPointer(root), {});
    slot += unrolling_;
  }
  vectors_.setWidth(VectorBuilder::lanes);
}

void codegen::emitFlatTile(KernelContext &kernel) { FlatEmitter(kernel).emit(); }
