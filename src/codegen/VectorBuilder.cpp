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
static unsigned alignmentOf(Type cells) { return (cells.getIntOrFloatBitWidth() + 7) / 8; }
static Type cellsOf(Value value) { return getElementTypeOrSelf(value.getType()); }

VectorBuilder::VectorBuilder(ModuleOp module)
    : module_(module), builder_(module.getContext()), location_(module.getLoc()),
      pointer_(LLVM::LLVMPointerType::get(module.getContext())) {
  builder_.setInsertionPointToEnd(module.getBody());
  setWidth(lanes);
}

void VectorBuilder::setWidth(int64_t width) {
  vector_ = VectorType::get(width, builder_.getF64Type());
  mask_ = VectorType::get(width, builder_.getI1Type());
}

Value VectorBuilder::integer(int64_t value) {
  return builder_.create<arith::ConstantOp>(location_, builder_.getI64IntegerAttr(value));
}
Value VectorBuilder::integers(int64_t value) {
  return builder_.create<arith::ConstantOp>(
      location_, DenseElementsAttr::get(vector_.clone(builder_.getI64Type()), value));
}
Type VectorBuilder::registerType(ElementType cells) {
  if (cells == ElementType::F64)
    return builder_.getF64Type();
  if (isFloat(cells))
    return builder_.getF32Type();
  return builder_.getIntegerType(static_cast<unsigned>(8 * byteSize(cells)));
}
Value VectorBuilder::number(double value, Type cells) {
  if (auto integer = dyn_cast_or_null<IntegerType>(cells))
    return builder_.create<arith::ConstantOp>(
        location_, DenseElementsAttr::get(vector_.clone(cells),
                                          builder_.getIntegerAttr(integer, int64_t(value))));
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
  return shuffle(vector, vector, SmallVector<int64_t>(width(), lane));
}
Value VectorBuilder::shuffle(Value a, Value b, ArrayRef<int64_t> order) {
  return builder_.create<vector::ShuffleOp>(location_, a, b, order);
}
// Exchanges lanes within pairs, then pairs within groups of four, and so on up to halves.
State VectorBuilder::transpose(ArrayRef<Value> rows) {
  State current(rows.begin(), rows.end());
  for (int64_t distance = 1; distance < width(); distance *= 2) {
    SmallVector<int64_t> first, second;
    for (int64_t lane = 0; lane < width(); ++lane) {
      bool isOfB = (lane & distance) != 0;
      first.push_back(isOfB ? width() + lane - distance : lane);
      second.push_back(isOfB ? width() + lane : lane + distance);
    }
    for (int64_t i = 0; i < width(); ++i)
      if ((i & distance) == 0) {
        Value a = current[i], b = current[i + distance];
        current[i] = shuffle(a, b, first);
        current[i + distance] = shuffle(a, b, second);
      }
  }
  return current;
}
Value VectorBuilder::laneNumbers() {
  double numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
  return builder_.create<arith::ConstantOp>(location_,
                                            DenseElementsAttr::get(vector_, ArrayRef(numbers)));
}
Value VectorBuilder::maskBelow(Value count) {
  static constexpr int64_t numbers[mostLanes] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                 8, 9, 10, 11, 12, 13, 14, 15};
  auto type = VectorType::get(width(), builder_.getI64Type());
  Value all = builder_.create<arith::ConstantOp>(
      location_, DenseElementsAttr::get(type, ArrayRef(numbers).take_front(width())));
  Value bound = builder_.create<vector::SplatOp>(location_, type, count);
  return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::slt, all, bound);
}
Value VectorBuilder::maskBelow(int64_t count) {
  SmallVector<bool> bits;
  for (int64_t i = 0; i < width(); ++i)
    bits.push_back(i < count);
  return builder_.create<arith::ConstantOp>(location_,
                                            DenseElementsAttr::get(mask_, ArrayRef<bool>(bits)));
}

Value VectorBuilder::add(Value a, Value b) {
  return builder_.createOrFold<arith::AddIOp>(location_, a, b);
}
Value VectorBuilder::subtract(Value a, Value b) {
  return builder_.createOrFold<arith::SubIOp>(location_, a, b);
}
Value VectorBuilder::multiply(Value a, Value b) {
  return builder_.createOrFold<arith::MulIOp>(location_, a, b);
}
Value VectorBuilder::roundDown(Value value, int64_t unit) {
  if (llvm::isPowerOf2_64(unit))
    return create<arith::AndIOp>(value, integer(-unit));
  return multiply(create<arith::DivSIOp>(value, integer(unit)), integer(unit));
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

Value VectorBuilder::zeroOf(Type type) {
  return builder_.create<arith::ConstantOp>(location_, builder_.getZeroAttr(type));
}

//===- element types -------------------------------------------------------------------------===//

Type VectorBuilder::memoryType(ElementType cells) {
  if (cells == ElementType::F16)
    return builder_.getF16Type();
  return cells == ElementType::BF16 ? Type(builder_.getI16Type()) : registerType(cells);
}

// Applies a conversion to a vector or a scalar.
template <typename Op> Value VectorBuilder::change(Value value, Type cells) {
  Type type = cells;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  return builder_.create<Op>(location_, type, value);
}

Value VectorBuilder::integerLike(Value value, int64_t constant) {
  auto type = getElementTypeOrSelf(value.getType());
  auto cell = builder_.getIntegerAttr(type, constant);
  auto vector = dyn_cast<VectorType>(value.getType());
  return builder_.create<arith::ConstantOp>(
      location_,
      vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(cell))) : TypedAttr(cell));
}

// A bf16 is the upper half of an f32. CPUs without instructions for it would call a function for
// each lane, so the bits are rounded here (ties to even; NaN stays NaN).
Value VectorBuilder::toMemory(Value value, ElementType cells) {
  if (cells == ElementType::F16)
    return change<arith::TruncFOp>(value, builder_.getF16Type());
  if (cells != ElementType::BF16)
    return value;
  Value bits = change<arith::BitcastOp>(value, builder_.getI32Type());
  Value upper = builder_.create<arith::ShRUIOp>(location_, bits, integerLike(bits, 16));
  Value odd = builder_.create<arith::AndIOp>(location_, upper, integerLike(bits, 1));
  Value half = builder_.create<arith::AddIOp>(location_, odd, integerLike(bits, 0x7fff));
  Value rounded = builder_.create<arith::AddIOp>(location_, bits, half);
  rounded = builder_.create<arith::ShRUIOp>(location_, rounded, integerLike(bits, 16));
  Value quiet = builder_.create<arith::OrIOp>(location_, upper, integerLike(bits, 0x40));
  Value isNan = builder_.create<arith::CmpFOp>(location_, arith::CmpFPredicate::UNO, value, value);
  return change<arith::TruncIOp>(select(isNan, quiet, rounded), builder_.getI16Type());
}

Value VectorBuilder::fromMemory(Value value, ElementType cells) {
  if (cells == ElementType::F16)
    return change<arith::ExtFOp>(value, builder_.getF32Type());
  if (cells != ElementType::BF16)
    return value;
  Value bits = change<arith::ExtUIOp>(value, builder_.getI32Type());
  bits = builder_.create<arith::ShLIOp>(location_, bits, integerLike(bits, 16));
  return change<arith::BitcastOp>(bits, builder_.getF32Type());
}

Value VectorBuilder::roundToHalf(Value value, ElementType cells) {
  return fromMemory(toMemory(value, cells), cells);
}

Value VectorBuilder::truth(Value mask) {
  return change<arith::ExtUIOp>(mask, builder_.getI8Type());
}
Value VectorBuilder::isTrue(Value value) {
  Value zero = zeroOf(value.getType());
  if (isa<FloatType>(cellsOf(value)))
    return builder_.create<arith::CmpFOp>(location_, arith::CmpFPredicate::UNE, value, zero);
  return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ne, value, zero);
}

Value VectorBuilder::convert(Value value, ElementType from, ElementType to) {
  Type type = registerType(to);
  if (from == to)
    return value;
  if (isFloat(from) && isFloat(to)) {
    Value rounded = round(value, type);
    return isHalf(to) ? roundToHalf(rounded, to) : rounded;
  }
  if (isFloat(to)) {
    bool isSigned = isSignedInteger(from);
    Value number =
        isSigned ? change<arith::SIToFPOp>(value, type) : change<arith::UIToFPOp>(value, type);
    return isHalf(to) ? roundToHalf(number, to) : number;
  }
  if (to == ElementType::Bool)
    return truth(isTrue(value));
  if (isFloat(from)) { // towards zero, saturating, NaN to 0
    Type result = type;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      result = vector.clone(type);
    StringRef name = isUnsignedInteger(to) ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
    return builder_.create<LLVM::CallIntrinsicOp>(location_, TypeRange(result), name, value)
        ->getResult(0);
  }
  if (byteSize(from) > byteSize(to))
    return change<arith::TruncIOp>(value, type);
  if (byteSize(from) == byteSize(to))
    return value;
  return isSignedInteger(from) ? change<arith::ExtSIOp>(value, type)
                               : change<arith::ExtUIOp>(value, type);
}

Value VectorBuilder::offsetCells(Value array, Value index, ElementType cells) {
  return index ? offset(array, index, memoryType(cells)) : array;
}
Value VectorBuilder::loadCells(Value array, Value index, Value mask, ElementType cells) {
  return fromMemory(load(offsetCells(array, index, cells), mask, memoryType(cells)), cells);
}
void VectorBuilder::storeCells(Value value, Value array, Value index, Value mask,
                               ElementType cells) {
  store(toMemory(value, cells), offsetCells(array, index, cells), mask);
}
Value VectorBuilder::addressesOf(Value array, Value numbers, Type cells) {
  Type addresses = LLVM::LLVMFixedVectorType::get(pointer_, static_cast<unsigned>(width()));
  return builder_.create<LLVM::GEPOp>(location_, addresses, cells, array, numbers);
}
Value VectorBuilder::gatherCells(Value array, Value numbers, Value mask, ElementType cells) {
  Type memory = memoryType(cells);
  Value none = zeroOf(vector_.clone(memory));
  Value gathered = builder_.create<LLVM::masked_gather>(
      location_, none.getType(), addressesOf(array, numbers, memory),
      mask ? mask : maskBelow(width()), none, alignmentOf(memory));
  return fromMemory(gathered, cells);
}
void VectorBuilder::scatterCells(Value value, Value array, Value numbers, Value mask,
                                 ElementType cells) {
  Type memory = memoryType(cells);
  builder_.create<LLVM::masked_scatter>(location_, toMemory(value, cells),
                                        addressesOf(array, numbers, memory),
                                        mask ? mask : maskBelow(width()), alignmentOf(memory));
}
Value VectorBuilder::loadCell(Value array, Value index, ElementType cells) {
  return fromMemory(loadScalar(offsetCells(array, index, cells), memoryType(cells)), cells);
}
void VectorBuilder::storeCell(Value vector, Value array, Value index, ElementType cells) {
  storeScalar(lane(toMemory(vector, cells), 0), offsetCells(array, index, cells));
}

//===- memory --------------------------------------------------------------------------------===//

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
  return builder_.create<LLVM::MaskedLoadOp>(location_, type, pointer, mask, zeroOf(type),
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
    auto declaration = builder_.create<LLVM::LLVMFuncOp>(location_, function,
                                                         LLVM::LLVMFunctionType::get(type, types));
    // Calls may be moved and merged like other operations on cells.
    using enum LLVM::ModRefInfo;
    declaration.setMemoryAttr(
        LLVM::MemoryEffectsAttr::get(builder_.getContext(), NoModRef, NoModRef, NoModRef));
    declaration.setPassthroughAttr(
        builder_.getStrArrayAttr({"nounwind", "willreturn", "nosync", "nofree"}));
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
