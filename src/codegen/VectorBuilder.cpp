#include "codegen/VectorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tokamak::codegen;

// Arrays are only aligned to their cell size, because a view may begin at any row.
static constexpr unsigned alignment = 8;
static unsigned alignmentOf(Type cells) { return cells.isF32() ? 4 : alignment; }
static Type cellsOf(Value value) { return getElementTypeOrSelf(value.getType()); }

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
Value VectorBuilder::number(double value, Type cells) {
  if (cells && cells.isF32())
    return builder_.create<arith::ConstantOp>(
        location_, DenseElementsAttr::get(vector_.clone(cells), static_cast<float>(value)));
  return builder_.create<arith::ConstantOp>(location_, DenseElementsAttr::get(vector_, value));
}
Value VectorBuilder::splat(Value scalar) {
  return builder_.create<vector::SplatOp>(location_, vector_.clone(scalar.getType()), scalar);
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
// Exchanges lanes within pairs, then 128-bit parts within halves, then halves.
State VectorBuilder::transpose(ArrayRef<Value> rows) {
  static constexpr int64_t evenLanes[] = {0, 8, 2, 10, 4, 12, 6, 14},
                           oddLanes[] = {1, 9, 3, 11, 5, 13, 7, 15},
                           evenParts[] = {0, 1, 8, 9, 4, 5, 12, 13},
                           oddParts[] = {2, 3, 10, 11, 6, 7, 14, 15},
                           lowHalves[] = {0, 1, 2, 3, 8, 9, 10, 11},
                           highHalves[] = {4, 5, 6, 7, 12, 13, 14, 15};
  State current(rows.begin(), rows.end());
  auto step = [&](int distance, ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
    for (int i = 0; i < lanes; ++i)
      if ((i & distance) == 0) {
        Value a = current[i], b = current[i + distance];
        current[i] = shuffle(a, b, first);
        current[i + distance] = shuffle(a, b, second);
      }
  };
  step(1, evenLanes, oddLanes);
  step(2, evenParts, oddParts);
  step(4, lowHalves, highHalves);
  return current;
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
Value VectorBuilder::minimum(Value a, Value b) {
  return builder_.create<arith::MinSIOp>(location_, a, b);
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

Value VectorBuilder::extend(Value value) {
  if (cellsOf(value).isF64())
    return value;
  Type type = builder_.getF64Type();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  return builder_.create<arith::ExtFOp>(location_, type, value);
}
Value VectorBuilder::round(Value value, Type cells) {
  if (cellsOf(value) == cells)
    return value;
  if (cells.isF64())
    return extend(value);
  Type type = cells;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  return builder_.create<arith::TruncFOp>(location_, type, value);
}

Value VectorBuilder::offset(Value pointer, Value cellCount, Type cells) {
  return builder_.create<LLVM::GEPOp>(location_, pointer_, cells ? cells : doubleType(), pointer,
                                      cellCount, /*inbounds=*/true);
}
Value VectorBuilder::load(Value pointer, Value mask, Type cells) {
  if (!cells)
    cells = doubleType();
  Type type = vector_.clone(cells);
  if (!mask)
    return builder_.create<LLVM::LoadOp>(location_, type, pointer, alignmentOf(cells));
  return builder_.create<LLVM::MaskedLoadOp>(location_, type, pointer, mask, number(0, cells),
                                             alignmentOf(cells));
}
void VectorBuilder::store(Value value, Value pointer, Value mask) {
  unsigned known = alignmentOf(cellsOf(value));
  if (mask)
    builder_.create<LLVM::MaskedStoreOp>(location_, value, pointer, mask, known);
  else
    builder_.create<LLVM::StoreOp>(location_, value, pointer, known);
}
void VectorBuilder::prefetch(Value pointer) {
  builder_.create<LLVM::Prefetch>(location_, pointer, /*rw=*/0, /*hint=*/3, /*cache=*/1);
}
void VectorBuilder::prefetch(Value pointer, Value cellCount, Type cells) {
  prefetch(builder_.create<LLVM::GEPOp>(location_, pointer_, cells, pointer, cellCount));
}
Value VectorBuilder::loadScalar(Value pointer, Type cells) {
  if (!cells)
    cells = doubleType();
  return builder_.create<LLVM::LoadOp>(location_, cells, pointer, alignmentOf(cells));
}
void VectorBuilder::storeScalar(Value value, Value pointer) {
  builder_.create<LLVM::StoreOp>(location_, value, pointer, alignmentOf(cellsOf(value)));
}
Value VectorBuilder::loadMember(Value structure, int64_t bytes, Type type) {
  Value address = builder_.create<LLVM::GEPOp>(location_, pointer_, builder_.getI8Type(), structure,
                                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)},
                                               /*inbounds=*/true);
  return builder_.create<LLVM::LoadOp>(location_, type, address, alignment);
}

Value VectorBuilder::callMath(StringRef function, ValueRange operands) {
  Type type = operands.front().getType();
  if (!module_.lookupSymbol(function)) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(module_.getBody());
    SmallVector<Type> types(operands.size(), type);
    builder_.create<LLVM::LLVMFuncOp>(location_, function,
                                      LLVM::LLVMFunctionType::get(type, types));
  }
  return builder_.create<LLVM::CallOp>(location_, TypeRange(type), function, operands).getResult();
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

void VectorBuilder::forLoop(Value begin, Value end, int64_t step,
                            llvm::function_ref<void(Value)> body) {
  State none;
  forLoop(begin, end, step, none, [&](Value index, State &) { body(index); });
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
