// What the runtime has to know of a loop body to launch its kernel and to cut tiles. The bytes that
// a step touches are estimates.
#include "abi/TileBytes.h"
#include "codegen/loops/LoopBody.h"
#include "ir/tok/ElementTypes.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static int64_t guess(const Size &size, int64_t otherwise) {
  return size.isConstant() ? std::max<int64_t>(1, size.constantValue()) : otherwise;
}

// Steps are places along the longest inner axis, whose size is the second extent. For each of them
// there are bytes that a place of a tile reads and writes, and a share of the bytes beside. Arrays
// that are the same for all places don't count.
static void describePlaces(const LoopBody &body, abi::KernelPlan &plan) {
  constexpr int64_t guessedSize = 64;
  const schedule::Schedule &schedule = body.schedule();
  ArrayRef<Size> sizes = body.axes();
  auto isLonger = [](const Size &a, const Size &b) {
    return b.isConstant() && (!a.isConstant() || a.constantValue() > b.constantValue());
  };
  llvm::BitVector used(sizes.size());
  for (Operation &operation : body.block())
    for (Value result : operation.getResults())
      for (unsigned axis : schedule.innerAxes(result))
        used.set(axis);
  Size inner = Size::constant(1);
  for (unsigned axis : used.set_bits())
    if (isLonger(sizes[axis], inner))
      inner = sizes[axis];
  auto isInner = [&](unsigned axis) { return sizes[axis] == inner; };
  auto bytesAlong = [&](int64_t bytes, ArrayRef<unsigned> axes) {
    for (unsigned axis : axes)
      bytes *= guess(sizes[axis], guessedSize);
    return bytes;
  };
  int64_t perInner = 0, beside = 0, most = 1;
  for (Operation &operation : body.block()) {
    auto write = dyn_cast<plan::WriteOp>(operation);
    bool isArray = isa<plan::ReadOp>(operation) || (write && !schedule.isOfTiles(write));
    if (isArray && llvm::any_of(body.tileAxes(), [&](unsigned axis) {
          return body.accessOf(&operation).dependsOn(axis);
        })) {
      Value cell = write ? Value(write.getCell()) : operation.getResult(0);
      SmallVector<unsigned> others = schedule.innerAxes(cell);
      auto *along = llvm::find_if(others, isInner);
      int64_t &bytes = along == others.end() ? beside : perInner;
      if (along != others.end())
        others.erase(along);
      bytes += bytesAlong(byteSize(plan::cellsOf(cell)), others);
    }
    for (Value result : operation.getResults()) {
      SmallVector<unsigned> others = schedule.innerAxes(result);
      llvm::erase_if(others, isInner);
      most = std::max(most, bytesAlong(8, others));
    }
  }
  plan.extents[0] = Size::constant(1);
  for (unsigned axis : body.tileAxes())
    plan.extents[0] = plan.extents[0] * sizes[axis];
  plan.extents[1] = inner;
  int64_t innerSize = guess(inner, guessedSize);
  plan.tileBytesPerStep = std::max<int64_t>(1, perInner + (beside + innerSize - 1) / innerSize);
  // Where more is computed than read, that decides; but a tile that leaves aggregates behind reads
  // much more than it leaves.
  bool computesMore = llvm::any_of(body.block().getOps<plan::ReduceOp>(), [&](auto reduce) {
    return !schedule.isOfBlocks(reduce) && !schedule.isOfTiles(reduce);
  });
  if (computesMore && body.tileAggregates().empty())
    plan.tileBytesPerStep = std::max(plan.tileBytesPerStep, most);
  // So that copying takes a small share of the time.
  constexpr int64_t placesOfPacked = 256;
  if (llvm::any_of(schedule.packed,
                   [&](auto packed) { return !schedule.isParallel(packed.second); }))
    plan.rowsPerCopy = placesOfPacked;
  // A tile takes a part of each row along what is scanned. Short parts are read at the speed of
  // address translation, several times slower than memory: they have 1,024 cells.
  if (body.carriesInMemory()) {
    plan.extents[1] = Size::constant(1);
    plan.tileBytesPerStep = 512;
  }
}

// Steps are entries. For each of them, a gather from a factor or from another matrix touches a
// cache line.
static void describeEntries(const LoopBody &body, abi::KernelPlan &plan) {
  constexpr int64_t bytesPerEntry = 12, bytesPerGather = 64, columnsOfFactor = 32;
  const schedule::EntryLevel &level = *body.entries();
  plan.tileBytesPerStep = bytesPerEntry;
  for (plan::ReadOp read : body.block().getOps<plan::ReadOp>()) {
    if (read == level.driver || !tok::isArray(read.getOperand().getType()))
      continue;
    plan::CellType cell = read.getType();
    if (body.isDriver(read))
      plan.tileBytesPerStep += 8;
    else if (cell.runsOver(level.column) && cell.runsOver(level.row))
      plan.tileBytesPerStep += bytesPerGather;
    else if (cell.runsOver(level.column))
      for (unsigned axis : cell.getAxes())
        if (axis != level.column)
          plan.tileBytesPerStep +=
              8 * std::min(columnsOfFactor, guess(body.axes()[axis], columnsOfFactor));
  }
  for (plan::WriteOp write : body.block().getOps<plan::WriteOp>())
    if (body.schedule().isOfTiles(write) && write.getCell().getType().getAxes().size() == 2)
      plan.tileBytesPerStep += 8 * columnsOfFactor;
  plan.extents[0] = body.axes()[level.row];
  plan.extents[1] = body.axes()[level.column];
}

abi::KernelPlan LoopBody::describe() const {
  abi::KernelPlan plan;
  for (auto [number, operand] : llvm::enumerate(op_.getInputs())) {
    ElementType cells = *tok::elementTypeOf(plan::cellsOfOperand(operand.getType()));
    if (!tok::isArray(operand.getType())) {
      plan.integerScalars.push_back(cells == ElementType::I64);
      continue;
    }
    if (op_.hasDrivers() && op_.getDrivers().front() == static_cast<int64_t>(number))
      plan.driver = static_cast<int32_t>(plan.inputs.size());
    plan.inputs.push_back({cells, op_.isSparseOperand(number) ? TOK_CSR : TOK_DENSE,
                           op_.isDriver(number) && op_.getDrivers().size() > 1});
  }
  for (auto [number, type, sizes] : llvm::enumerate(op_.getResultTypes(), op_.resultSizes())) {
    abi::KernelOutput &output = plan.outputs.emplace_back();
    output.kind = abi::KernelOutput::Kind::PartialScalar;
    if (!tok::isArray(type))
      continue;
    output.kind = abi::KernelOutput::Kind::PartialArray;
    for (const Size &size : sizes)
      output.sizes.push_back(sizeAtLaunch(op_, size));
    output.elementType = *tok::elementTypeOf(plan::cellsOfOperand(type));
    if (op_.isSparseResult(number))
      output.layout = TOK_CSR;
  }
  for (plan::WriteOp write : block().getOps<plan::WriteOp>()) {
    abi::KernelOutput &output = plan.outputs[write.getNumber()];
    output.isInteger = !isFloat(plan::cellsOf(write.getCell()));
    if (!schedule_.isOfTiles(write))
      output.kind = abi::KernelOutput::Kind::Array;
  }
  if (entries_)
    describeEntries(*this, plan);
  else
    describePlaces(*this, plan);
  return plan;
}
