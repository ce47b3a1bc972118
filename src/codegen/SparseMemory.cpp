// Sizes and addresses in a kernel over entries: scratch memory, outputs, partials, columns.
#include "codegen/SparseTile.h"

#include "codegen/CellEmission.h"
#include "codegen/LaunchSizes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr int64_t lanes = VectorBuilder::lanes;
// Narrow rows with at most this constant number of columns stay in registers. The same on every
// machine, so that sums add up in the same order.
static constexpr int64_t columnsInRegisters = 64;

Value codegen::sizeValue(VectorBuilder &vectors, const Size &sizeAtLaunch,
                         llvm::function_ref<Value(int64_t, int)> load) {
  if (sizeAtLaunch.isConstant())
    return vectors.integer(sizeAtLaunch.constantValue());
  assert(sizeAtLaunch.isSymbol() && "sizes of values in a row are columns of an input");
  int64_t symbol = sizeAtLaunch.symbolId();
  return load(symbol / abi::mostDimensions, static_cast<int>(symbol % abi::mostDimensions));
}

Value codegen::sparsePartialSize(VectorBuilder &vectors, const SparseBody &body,
                                 const SparseRoot &root,
                                 llvm::function_ref<Value(const Size &)> valueOf) {
  if (root.kind == SparseRoot::Kind::FullAggregate)
    return vectors.integer(lanes);
  Value size = valueOf(body.columnsOf(root.value));
  if (root.kind == SparseRoot::Kind::OuterProduct)
    size = vectors.multiply(size, valueOf(body.columnsOf(root.factor)));
  return vectors.roundDownToLanes(vectors.add(size, vectors.integer(lanes - 1)));
}

Value SparseTile::valueOf(const Size &dimension) {
  if (dimension.isConstant())
    return vectors_.integer(dimension.constantValue());
  size_t array = 0;
  for (const SmallVector<Size> &sizes : body_.op().operandSizes()) {
    if (!sizes.empty() && sizes.back().provedEqual(dimension))
      return arguments_.inputs[array].columns;
    array += !sizes.empty();
  }
  llvm_unreachable("sizes of values in a row are columns of an input");
}

bool SparseTile::inRegisters(Value narrow) const {
  Size columns = body_.columnsOf(narrow);
  return columns.isConstant() && columns.constantValue() <= columnsInRegisters;
}

int64_t SparseTile::registersOf(Value narrow) const {
  return (body_.columnsOf(narrow).constantValue() + lanes - 1) / lanes;
}

void SparseTile::overColumns(Value narrow, State &state, PerColumns body) {
  if (inRegisters(narrow)) {
    int64_t count = body_.columnsOf(narrow).constantValue();
    for (int64_t first = 0; first < count; first += lanes)
      body({vectors_.integer(first),
            count - first < lanes ? vectors_.maskBelow(count - first) : Value(),
            static_cast<int>(first / lanes)},
           state);
    return;
  }
  auto chunk = [&](Value first, Value mask, State &current) {
    narrowColumns_.clear();
    body({first, mask}, current);
    narrowColumns_.clear();
  };
  Value count = valueOf(body_.columnsOf(narrow));
  Value wholeEnd = vectors_.roundDownToLanes(count);
  vectors_.forLoop(vectors_.integer(0), wholeEnd, lanes, state,
                   [&](Value first, State &current) { chunk(first, {}, current); });
  vectors_.ifThen(vectors_.less(wholeEnd, count), state, [&](State &current) {
    chunk(wholeEnd, vectors_.maskBelow(vectors_.subtract(count, wholeEnd)), current);
  });
}

Value SparseTile::rowOf(plan::ReadOp matrix) {
  const SparseInput &from = input(matrix);
  return vectors_.offset(from.data, vectors_.multiply(row_, from.columns), from.cells);
}

Type SparseTile::outputCells(const SparseRoot &root) const {
  return cellType(vectors_, root.value);
}

Value SparseTile::outputPointer(const SparseRoot &root, Value offset) {
  unsigned index = 0;
  for (const SparseRoot *other = body_.roots().begin(); other != &root; ++other)
    index += other->kind == SparseRoot::Kind::Array;
  return vectors_.offset(arguments_.outputs[index], offset, outputCells(root));
}

Value SparseTile::partialPointer(const SparseRoot &root) {
  Value pointer = arguments_.partials;
  for (const SparseRoot *other = body_.roots().begin(); other != &root; ++other)
    if (other->kind != SparseRoot::Kind::Array)
      pointer = vectors_.offset(
          pointer, sparsePartialSize(vectors_, body_, *other,
                                     [&](const Size &dimension) { return valueOf(dimension); }));
  return pointer;
}

Value SparseTile::columnIndices() {
  if (!columnIndices_) {
    if (!isFollowed())
      fetchEntries(driver().indices, vectors_.builder().getI32Type());
    columnIndices_ = loadIndices(vectors_, driver().indices, chunk_->position, chunk_->mask);
  }
  return columnIndices_;
}

Value SparseTile::columnOf(int lane) {
  Value &column = laneColumns_[lane];
  if (!column) {
    Value position = vectors_.add(chunk_->position, vectors_.integer(lane));
    if (chunk_->mask && lane > 0)
      position = minimum(vectors_, position, vectors_.subtract(end_, vectors_.integer(1)));
    column = loadIndex(vectors_, driver().indices, position);
  }
  return column;
}

Value SparseTile::columnAhead(int64_t entries) {
  Value position = vectors_.add(chunk_->position, vectors_.integer(entries));
  return loadIndex(vectors_, driver().indices, minimum(vectors_, position, lastEntry_));
}

Value SparseTile::keptPointer(Value kept) {
  Value number = vectors_.integer(schedule_.scratchSlots.lookup(kept));
  Value buffer = vectors_.offset(keptBuffers_, vectors_.multiply(number, paddedColumns_));
  return vectors_.offset(buffer, vectors_.subtract(chunk_->position, begin_));
}

// The layout: eight doubles for single lanes, eight vectors for sampled products, a row for each
// lookup and each kept value, then narrow rows.
void SparseTile::layOutScratch(abi::KernelPlan &plan) {
  paddedColumns_ =
      vectors_.roundDownToLanes(vectors_.add(driver().columns, vectors_.integer(lanes - 1)));
  Value next = laneBuffer_ = arguments_.scratch;
  next = sampledBuffer_ = vectors_.offset(next, vectors_.integer(lanes));
  next = vectors_.offset(next, vectors_.integer(lanes * lanes));
  plan.scratchDoubles = lanes + lanes * lanes;
  for (plan::ReadOp other : schedule_.lookups) {
    lookupBuffers_[other] = next;
    next = vectors_.offset(next, paddedColumns_);
  }
  keptBuffers_ = next;
  int64_t kept = schedule_.scratchSlots.size();
  next = vectors_.offset(next, vectors_.multiply(paddedColumns_, vectors_.integer(kept)));
  plan.scratchDoublesPerColumn = schedule_.lookups.size() + kept;
  plan.scratchDoubles += plan.scratchDoublesPerColumn * lanes;
  auto addNarrow = [&](Value value) {
    if (inRegisters(value) || !narrowBuffers_.try_emplace(value, next).second)
      return;
    Size columns = body_.columnsOf(value);
    plan.scratchSizes.push_back(sizeAtLaunch(body_.op(), columns));
    next = vectors_.offset(next, vectors_.roundDownToLanes(
                                     vectors_.add(valueOf(columns), vectors_.integer(lanes - 1))));
  };
  for (const EntryPass &pass : schedule_.passes) {
    for (plan::ReduceOp op : pass.rowOperations)
      if (body_.kindOf(op.getCell()) == SparseKind::Narrow)
        addNarrow(op.getCell());
    for (Value value : pass.narrowOperands)
      if (!isRead(value))
        addNarrow(value);
  }
}
