// What LoopBody knows of operators with a driver.
#include "codegen/LaunchSizes.h"
#include "codegen/loops/LoopBody.h"
#include "ir/tok/ElementTypes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

bool LoopBody::isDriver(plan::ReadOp read) const {
  return entries_ && op_.isDriver(cast<BlockArgument>(read.getOperand()).getArgNumber());
}

// Conversions to the accumulator's type are left out.
static plan::ReadOp readOf(Value factor) {
  auto cast = factor.getDefiningOp<plan::CastOp>();
  if (cast && plan::cellsOf(factor) == ElementType::F64 &&
      plan::cellsOf(cast.getOperand()) == ElementType::F32)
    factor = cast.getOperand();
  return factor.getDefiningOp<plan::ReadOp>();
}

std::optional<SampledProduct> LoopBody::sampledProduct(plan::ReduceOp reduce) const {
  plan::BinaryOp product = plan::productIn(reduce);
  if (!entries_ || !product || reduce.getOver().size() != 1 ||
      !isFloat(plan::cellsOf(product.getResult())))
    return {};
  auto axis = static_cast<unsigned>(reduce.getOver().front());
  // Along the axis and that of rows, or of columns; the latter along its own rows.
  auto isFactor = [&](plan::ReadOp read, unsigned other) {
    return read && read.getType().getAxes().size() == 2 && read.getType().runsOver(other) &&
           accessOf(read).cell.factors[axis].isConstant(1);
  };
  plan::ReadOp left = readOf(product.getLhs()), right = readOf(product.getRhs());
  if (!isFactor(left, entries_->row))
    std::swap(left, right);
  if (axis == entries_->column || !isFactor(left, entries_->row) ||
      !isFactor(right, entries_->column))
    return {};
  return SampledProduct{left, right, axis, plan::cellsOf(product.getResult())};
}

// Steps are entries. An estimate: for each of them, a gather from a factor or from another matrix
// touches a cache line.
abi::KernelPlan LoopBody::describeEntries() const {
  constexpr int64_t bytesPerEntry = 12, bytesPerGather = 64, columnsOfFactor = 32;
  abi::KernelPlan plan = describeArrays(op_);
  plan.tileBytesPerStep = bytesPerEntry;
  for (plan::ReadOp read : block().getOps<plan::ReadOp>()) {
    if (read == entries_->driver || !tok::isArray(read.getOperand().getType()))
      continue;
    plan::CellType cell = read.getType();
    if (isDriver(read)) {
      plan.tileBytesPerStep += 8;
    } else if (cell.runsOver(entries_->column)) {
      int64_t columns = 1;
      for (unsigned axis : cell.getAxes())
        if (axis != entries_->row && axis != entries_->column)
          columns = axes_[axis].isConstant()
                        ? std::min(columnsOfFactor, axes_[axis].constantValue())
                        : columnsOfFactor;
      if (cell.runsOver(entries_->row))
        plan.tileBytesPerStep += bytesPerGather;
      else if (cell.getAxes().size() > 1)
        plan.tileBytesPerStep += 8 * columns;
    }
  }
  for (plan::WriteOp write : block().getOps<plan::WriteOp>())
    if (!isTileAggregate(write))
      plan.outputs[write.getNumber()].kind = abi::KernelOutput::Kind::Array;
    else if (write.getCell().getType().getAxes().size() == 2)
      plan.tileBytesPerStep += 8 * columnsOfFactor;
  plan.extents[0] = axes_[entries_->row];
  plan.extents[1] = axes_[entries_->column];
  return plan;
}
