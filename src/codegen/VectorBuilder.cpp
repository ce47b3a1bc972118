#include "codegen/VectorBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/Sequence.h"

#include <bit>

using namespace mlir;
using namespace tokamak::codegen;

// Arrays are only aligned to their cell size, because a view may begin at any row.
static unsigned alignmentOf(Type cells) { return (cells.getIntOrFloatBitWidth() + 7) / 8; }
static Type cellsOf(Value value) { return getElementTypeOrSelf(value.getType()); }
// `cells`, or vectors of them where `value` is a vector.
static Type shapedLike(Value value, Type cells) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.clone(cells) : cells;
}

VectorBuilder::VectorBuilder(ModuleOp module)
    : module_(module), builder_(module.getContext()), location_(module.getLoc()),
      vector_(VectorType::get(lanes, doubleType())),
      pointer_(LLVM::LLVMPointerType::get(module.getContext())) {
  builder_.setInsertionPointToEnd(module.getBody());
}

Type VectorBuilder::registerType(ElementType cells) {
  if (cells == ElementType::F64)
    return builder_.getF64Type();
  if (isFloat(cells))
    return builder_.getF32Type();
  return builder_.getIntegerType(static_cast<unsigned>(8 * byteSize(cells)));
}

// Each constant stands once, where its function begins: most operations would be constants
// otherwise, and every one takes time to lower.
Value VectorBuilder::constant(TypedAttr value) {
  Block *entry = builder_.getBlock();
  while (!isa<LLVM::LLVMFuncOp>(entry->getParentOp()))
    entry = entry->getParentOp()->getBlock();
  Value &known = constants_[{entry, value}];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(entry);
    known = create<arith::ConstantOp>(value);
  }
  return known;
}
// `cell`, in all lanes if the type is one of vectors.
Value VectorBuilder::constant(Type type, TypedAttr cell) {
  auto vector = dyn_cast<VectorType>(type);
  return constant(vector ? DenseElementsAttr::get(vector, Attribute(cell)) : cell);
}
Value VectorBuilder::integer(int64_t value) { return constant(builder_.getI64IntegerAttr(value)); }
Value VectorBuilder::number(double value, Type cells) {
  if (!cells)
    cells = doubleType();
  return constant(vector_.clone(cells),
                  isa<IntegerType>(cells)
                      ? TypedAttr(builder_.getIntegerAttr(cells, static_cast<int64_t>(value)))
                      : builder_.getFloatAttr(cells, value));
}
Value VectorBuilder::integers(int64_t value) {
  return constant(vector_.clone(builder_.getI64Type()), builder_.getI64IntegerAttr(value));
}
Value VectorBuilder::integerLike(Value value, int64_t cell) {
  return constant(value.getType(), builder_.getIntegerAttr(cellsOf(value), cell));
}
Value VectorBuilder::zeroOf(Type type) { return constant(builder_.getZeroAttr(type)); }

Value VectorBuilder::half(Value vector, int64_t number) {
  auto own = llvm::seq(number * lanes, (number + 1) * lanes);
  return shuffle(vector, vector, llvm::to_vector(own));
}
Value VectorBuilder::join(Value lower, Value upper) {
  return shuffle(lower, upper, llvm::to_vector(llvm::seq(mostLanes)));
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
  auto numbers = llvm::to_vector(llvm::seq(width()));
  auto type = vector_.clone(builder_.getI64Type());
  return constant(DenseElementsAttr::get(type, ArrayRef<int64_t>(numbers)));
}
Value VectorBuilder::maskBelow(int64_t count) {
  auto bits = llvm::map_to_vector(llvm::seq(width()), [&](int64_t lane) { return lane < count; });
  auto type = vector_.clone(builder_.getI1Type());
  return constant(DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

Value VectorBuilder::roundDown(Value value, int64_t unit) {
  if (llvm::isPowerOf2_64(unit))
    return create<arith::AndIOp>(value, integer(-unit));
  return multiply(create<arith::DivSIOp>(value, integer(unit)), integer(unit));
}

//===- element types -------------------------------------------------------------------------===//

Type VectorBuilder::memoryType(ElementType cells) {
  if (cells == ElementType::F16)
    return builder_.getF16Type();
  return cells == ElementType::BF16 ? Type(builder_.getI16Type()) : registerType(cells);
}

// Applies a conversion to a vector or a scalar.
template <typename Op> Value VectorBuilder::change(Value value, Type cells) {
  return create<Op>(shapedLike(value, cells), value);
}

Value VectorBuilder::round(Value value, Type cells) {
  if (cellsOf(value) == cells)
    return value;
  return cells.isF64() ? change<arith::ExtFOp>(value, cells)
                       : change<arith::TruncFOp>(value, cells);
}

// A bf16 is the upper half of an f32. CPUs without instructions for it would call a function for
// each lane, so the bits are rounded here (ties to even; NaN stays NaN).
Value VectorBuilder::toMemory(Value value, ElementType cells) {
  if (cells == ElementType::F16)
    return change<arith::TruncFOp>(value, builder_.getF16Type());
  if (cells != ElementType::BF16)
    return value;
  Value bits = change<arith::BitcastOp>(value, builder_.getI32Type());
  Value upper = create<arith::ShRUIOp>(bits, integerLike(bits, 16));
  Value odd = create<arith::AndIOp>(upper, integerLike(bits, 1));
  Value half = create<arith::AddIOp>(odd, integerLike(bits, 0x7fff));
  Value rounded = create<arith::AddIOp>(bits, half);
  rounded = create<arith::ShRUIOp>(rounded, integerLike(bits, 16));
  Value quiet = create<arith::OrIOp>(upper, integerLike(bits, 0x40));
  Value isNan = create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
  return change<arith::TruncIOp>(select(isNan, quiet, rounded), builder_.getI16Type());
}

Value VectorBuilder::fromMemory(Value value, ElementType cells) {
  if (cells == ElementType::F16)
    return change<arith::ExtFOp>(value, builder_.getF32Type());
  if (cells != ElementType::BF16)
    return value;
  Value bits = change<arith::ExtUIOp>(value, builder_.getI32Type());
  bits = create<arith::ShLIOp>(bits, integerLike(bits, 16));
  return change<arith::BitcastOp>(bits, builder_.getF32Type());
}

Value VectorBuilder::truth(Value mask) {
  return change<arith::ExtUIOp>(mask, builder_.getI8Type());
}
Value VectorBuilder::isTrue(Value value) {
  Value zero = zeroOf(value.getType());
  if (isa<FloatType>(cellsOf(value)))
    return create<arith::CmpFOp>(arith::CmpFPredicate::UNE, value, zero);
  return create<arith::CmpIOp>(arith::CmpIPredicate::ne, value, zero);
}

Value VectorBuilder::convert(Value value, ElementType from, ElementType to) {
  Type type = registerType(to);
  if (from == to)
    return value;
  if (isFloat(to)) {
    Value number = isFloat(from)           ? round(value, type)
                   : isSignedInteger(from) ? change<arith::SIToFPOp>(value, type)
                                           : change<arith::UIToFPOp>(value, type);
    return isHalf(to) ? fromMemory(toMemory(number, to), to) : number;
  }
  if (to == ElementType::Bool)
    return truth(isTrue(value));
  if (isFloat(from)) { // towards zero, saturating, NaN to 0
    StringRef name = isUnsignedInteger(to) ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
    Type result = shapedLike(value, type);
    return create<LLVM::CallIntrinsicOp>(TypeRange(result), name, value)->getResult(0);
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
  return create<LLVM::GEPOp>(addresses, cells, array, numbers);
}
Value VectorBuilder::gatherCells(Value array, Value numbers, Value mask, ElementType cells) {
  Type memory = memoryType(cells);
  Value none = zeroOf(vector_.clone(memory));
  Value gathered =
      create<LLVM::masked_gather>(none.getType(), addressesOf(array, numbers, memory),
                                  mask ? mask : maskBelow(width()), none, alignmentOf(memory));
  return fromMemory(gathered, cells);
}
void VectorBuilder::scatterCells(Value value, Value array, Value numbers, Value mask,
                                 ElementType cells) {
  Type memory = memoryType(cells);
  create<LLVM::masked_scatter>(toMemory(value, cells), addressesOf(array, numbers, memory),
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
  return create<LLVM::GEPOp>(pointer_, cells ? cells : doubleType(), pointer, cellCount,
                             /*inbounds=*/true);
}
// How many lanes a constant mask of the first ones has.
static std::optional<int64_t> constantLanes(Value mask) {
  DenseElementsAttr bits;
  if (!mask || !matchPattern(mask, m_Constant(&bits)))
    return {};
  auto lanes = bits.getValues<bool>();
  int64_t count = llvm::count(lanes, true);
  bool areFirst = llvm::all_of(llvm::seq(count), [&](int64_t lane) { return lanes[lane]; });
  return areFirst ? std::optional(count) : std::nullopt;
}

Value VectorBuilder::load(Value pointer, Value mask, Type cells) {
  if (!cells)
    cells = doubleType();
  Type type = vector_.clone(cells);
  unsigned known = alignmentOf(cells);
  if (!mask)
    return create<LLVM::LoadOp>(type, pointer, known);
  constexpr int mostParts = 2;
  std::optional<int64_t> count = constantLanes(mask);
  if (count && *count > 0 && std::popcount(static_cast<uint64_t>(*count)) <= mostParts)
    return loadFirst(pointer, *count, cells);
  return create<LLVM::MaskedLoadOp>(type, pointer, mask, zeroOf(type), known);
}

// The first so many lanes, in vectors of 8, 4, 2 and 1, and zeros: fewer bytes lie less often in two cache lines, for
// which some CPUs take long if a load has a mask.
Value VectorBuilder::loadFirst(Value pointer, int64_t count, Type cells) {
  Value loaded = zeroOf(vector_.clone(cells));
  for (int64_t length = width(), first = 0; first < count; length /= 2) {
    if (first + length > count)
      continue;
    Type type = VectorType::get(length, cells);
    Value part =
        create<LLVM::LoadOp>(type, offset(pointer, integer(first), cells), alignmentOf(cells));
    // Lanes of the part, or the first of zeros behind it.
    auto lanes = llvm::to_vector(llvm::seq(width()));
    for (int64_t &lane : lanes)
      lane = std::min(lane, length);
    part = shuffle(part, zeroOf(type), lanes);
    lanes = llvm::to_vector(llvm::seq(width()));
    for (int64_t lane = first; lane < first + length; ++lane)
      lanes[lane] = width() + lane - first;
    loaded = first == 0 ? part : shuffle(loaded, part, lanes);
    first += length;
  }
  return loaded;
}

// The first so many lanes, in vectors of 4, 2 and 1: CPUs without masks of single bits take as long
// for one masked store as for ten others.
static void storeFirst(VectorBuilder &vectors, Value value, Value pointer, int64_t count) {
  Type cells = cellsOf(value);
  for (int64_t length = vectors.width(), first = 0; first < count; length /= 2) {
    if (first + length > count)
      continue;
    Value part = vectors.shuffle(value, value, llvm::to_vector(llvm::seq(first, first + length)));
    vectors.store(part, vectors.offset(pointer, vectors.integer(first), cells), {});
    first += length;
  }
}

void VectorBuilder::store(Value value, Value pointer, Value mask) {
  unsigned known = alignmentOf(cellsOf(value));
  if (std::optional<int64_t> count = constantLanes(mask))
    storeFirst(*this, value, pointer, *count);
  else if (mask)
    create<LLVM::MaskedStoreOp>(value, pointer, mask, known);
  else
    create<LLVM::StoreOp>(value, pointer, known);
}
Value VectorBuilder::isForBypassing(Value pointer) {
  Value address = create<LLVM::PtrToIntOp>(builder_.getI64Type(), pointer);
  Value rest = create<arith::AndIOp>(address, integer(bytesOfBypassing - 1));
  return create<arith::CmpIOp>(arith::CmpIPredicate::eq, rest, integer(0));
}
void VectorBuilder::storeBypassing(Value vector, Value pointer, ElementType cells) {
  create<LLVM::StoreOp>(toMemory(vector, cells), pointer, bytesOfBypassing, /*isVolatile=*/false,
                        /*isNonTemporal=*/true);
}
void VectorBuilder::finishBypassing() {
  create<LLVM::FenceOp>(LLVM::AtomicOrdering::seq_cst, StringRef());
}
Value VectorBuilder::loadScalar(Value pointer, Type cells) {
  if (!cells)
    cells = doubleType();
  return create<LLVM::LoadOp>(cells, pointer, alignmentOf(cells));
}
Value VectorBuilder::loadMember(Value structure, int64_t bytes, Type type) {
  Value address = create<LLVM::GEPOp>(pointer_, builder_.getI8Type(), structure,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)},
                                      /*inbounds=*/true);
  return create<LLVM::LoadOp>(type, address);
}

Value VectorBuilder::callMath(StringRef function, ValueRange operands) {
  Type type = operands.front().getType();
  if (!module_.lookupSymbol(function)) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(module_.getBody());
    SmallVector<Type> types(operands.size(), type);
    auto declaration = create<LLVM::LLVMFuncOp>(function, LLVM::LLVMFunctionType::get(type, types));
    // Calls may be moved and merged like other operations on cells.
    using enum LLVM::ModRefInfo;
    declaration.setMemoryAttr(
        LLVM::MemoryEffectsAttr::get(builder_.getContext(), NoModRef, NoModRef, NoModRef));
    declaration.setPassthroughAttr(
        builder_.getStrArrayAttr({"nounwind", "willreturn", "nosync", "nofree"}));
  }
  return create<LLVM::CallOp>(TypeRange(type), function, operands).getResult();
}

void VectorBuilder::forLoop(Value begin, Value end, int64_t step, State &state, LoopBody body) {
  auto loop = create<scf::ForOp>(begin, end, integer(step), state);
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(loop.getBody());
  State current(loop.getRegionIterArgs());
  body(loop.getInductionVar(), current);
  if (!state.empty()) // otherwise the loop's body ends already
    create<scf::YieldOp>(current);
  state.assign(loop.getResults().begin(), loop.getResults().end());
}

void VectorBuilder::forLoop(Value begin, Value end, int64_t step,
                            llvm::function_ref<void(Value)> body) {
  State none;
  forLoop(begin, end, step, none, [&](Value index, State &) { body(index); });
}

void VectorBuilder::ifElse(Value condition, State &state, llvm::function_ref<void(State &)> then,
                           llvm::function_ref<void(State &)> otherwise) {
  auto branch = create<scf::IfOp>(TypeRange(ValueRange(state)), condition, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder_);
  for (auto [block, emit] :
       {std::pair(branch.thenBlock(), then), {branch.elseBlock(), otherwise}}) {
    builder_.setInsertionPointToEnd(block);
    State current = state;
    emit(current);
    create<scf::YieldOp>(current);
  }
  state.assign(branch.getResults().begin(), branch.getResults().end());
}

void VectorBuilder::ifElse(Value condition, llvm::function_ref<void()> then,
                           llvm::function_ref<void()> otherwise) {
  State none;
  ifElse(condition, none, [&](State &) { then(); }, [&](State &) { otherwise(); });
}
