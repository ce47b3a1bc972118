#include "codegen/VectorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tokamak::codegen;

// Arrays are aligned to doubles only: a view may begin at any row.
static constexpr unsigned alignment = 8;

VectorBuilder::VectorBuilder(ModuleOp module)
    : module_(module), builder_(module.getContext()), location_(module.getLoc()),
      vector_(VectorType::get(lanes, builder_.getF64Type())),
      mask_(VectorType::get(lanes, builder_.getI1Type())),
      pointer_(LLVM::LLVMPointerType::get(module.getContext())) {
  builder_.setInsertionPointToEnd(module.getBody());
}

Value VectorBuilder::integer(int64_t value) {
  return builder_.create<arith::ConstantOp>(location_, builder_.getI64IntegerAttr(value));
}
Value VectorBuilder::number(double value) {
  return builder_.create<arith::ConstantOp>(location_, DenseElementsAttr::get(vector_, value));
}
Value VectorBuilder::splat(Value scalar) {
  return builder_.create<vector::SplatOp>(location_, vector_, scalar);
}
Value VectorBuilder::lane(Value vector, int64_t lane) {
  return builder_.create<vector::ExtractOp>(location_, vector, lane);
}
Value VectorBuilder::splatLane(Value vector, int64_t lane) {
  return shuffle(vector, vector, SmallVector<int64_t>(lanes, lane));
}
Value VectorBuilder::shuffle(Value a, Value b, ArrayRef<int64_t> order) {
  return builder_.create<vector::ShuffleOp>(location_, a, b, order);
}
Value VectorBuilder::laneNumbers() {
  double numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
  return builder_.create<arith::ConstantOp>(location_,
                                            DenseElementsAttr::get(vector_, ArrayRef(numbers)));
}
Value VectorBuilder::maskBelow(Value count) {
  int64_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
  auto type = VectorType::get(lanes, builder_.getI64Type());
  Value all = builder_.create<arith::ConstantOp>(location_,
                                                 DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value bound = builder_.create<vector::SplatOp>(location_, type, count);
  return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::slt, all, bound);
}
Value VectorBuilder::maskBelow(int64_t count) {
  SmallVector<bool> bits;
  for (int64_t i = 0; i < lanes; ++i)
    bits.push_back(i < count);
  return builder_.create<arith::ConstantOp>(location_,
                                            DenseElementsAttr::get(mask_, ArrayRef<bool>(bits)));
}

Value VectorBuilder::add(Value a, Value b) {
  return builder_.create<arith::AddIOp>(location_, a, b);
}
Value VectorBuilder::subtract(Value a, Value b) {
  return builder_.create<arith::SubIOp>(location_, a, b);
}
Value VectorBuilder::multiply(Value a, Value b) {
  return builder_.create<arith::MulIOp>(location_, a, b);
}
Value VectorBuilder::roundDownToLanes(Value value) {
  return builder_.create<arith::AndIOp>(location_, value, integer(-lanes));
}
Value VectorBuilder::maximum(Value a, Value b) {
  return builder_.create<arith::MaxSIOp>(location_, a, b);
}
Value VectorBuilder::less(Value a, Value b) {
  return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::slt, a, b);
}
Value VectorBuilder::fma(Value a, Value b, Value c) {
  return builder_.create<LLVM::FMAOp>(location_, a.getType(), a, b, c);
}
Value VectorBuilder::select(Value mask, Value yes, Value no) {
  return builder_.create<arith::SelectOp>(location_, mask, yes, no);
}

Value VectorBuilder::offset(Value pointer, Value doubles) {
  return builder_.create<LLVM::GEPOp>(location_, pointer_, builder_.getF64Type(), pointer, doubles,
                                      /*inbounds=*/true);
}
Value VectorBuilder::load(Value pointer, Value mask) {
  if (!mask)
    return builder_.create<LLVM::LoadOp>(location_, vector_, pointer, alignment);
  return builder_.create<LLVM::MaskedLoadOp>(location_, vector_, pointer, mask, number(0),
                                             alignment);
}
void VectorBuilder::store(Value value, Value pointer, Value mask) {
  if (mask)
    builder_.create<LLVM::MaskedStoreOp>(location_, value, pointer, mask, alignment);
  else
    builder_.create<LLVM::StoreOp>(location_, value, pointer, alignment);
}
void VectorBuilder::prefetch(Value pointer) {
  builder_.create<LLVM::Prefetch>(location_, pointer, /*rw=*/0, /*hint=*/3, /*cache=*/1);
}
Value VectorBuilder::loadScalar(Value pointer) {
  return builder_.create<LLVM::LoadOp>(location_, builder_.getF64Type(), pointer, alignment);
}
void VectorBuilder::storeScalar(Value value, Value pointer) {
  builder_.create<LLVM::StoreOp>(location_, value, pointer, alignment);
}
Value VectorBuilder::loadMember(Value structure, int64_t bytes, Type type) {
  Value address = builder_.create<LLVM::GEPOp>(location_, pointer_, builder_.getI8Type(), structure,
                                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)},
                                               /*inbounds=*/true);
  return builder_.create<LLVM::LoadOp>(location_, type, address, alignment);
}

Value VectorBuilder::callMath(StringRef function, ValueRange operands) {
  if (!module_.lookupSymbol(function)) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(module_.getBody());
    SmallVector<Type> types(operands.size(), vector_);
    builder_.create<LLVM::LLVMFuncOp>(location_, function,
                                      LLVM::LLVMFunctionType::get(vector_, types));
  }
  return builder_.create<LLVM::CallOp>(location_, TypeRange(vector_), function, operands)
      .getResult();
}

void VectorBuilder::forLoop(Value begin, Value end, int64_t step, State &state, LoopBody body) {
  auto loop = builder_.create<scf::ForOp>(
      location_, begin, end, integer(step), state,
      [&](OpBuilder &inner, Location, Value index, ValueRange carried) {
        OpBuilder::InsertionGuard guard(builder_);
        builder_.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        State current(carried.begin(), carried.end());
        body(index, current);
        builder_.create<scf::YieldOp>(location_, current);
      });
  state.assign(loop.getResults().begin(), loop.getResults().end());
}

void VectorBuilder::ifThen(Value condition, State &state, llvm::function_ref<void(State &)> body) {
  auto branch = builder_.create<scf::IfOp>(
      location_, condition,
      [&](OpBuilder &inner, Location) {
        OpBuilder::InsertionGuard guard(builder_);
        builder_.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        State current = state;
        body(current);
        builder_.create<scf::YieldOp>(location_, current);
      },
      [&](OpBuilder &inner, Location) { inner.create<scf::YieldOp>(location_, state); });
  state.assign(branch.getResults().begin(), branch.getResults().end());
}
