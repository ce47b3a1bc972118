// Builds the operations that kernels consist of: vectors of eight cells on every CPU, of sixteen in
// some kernels on cells of at most 32 bits (LLVM splits them if registers are narrower), memory
// accesses through plain pointers, loops that carry a list of values.
//
// Cells of every element type are computed in a register type: f64 in f64; f32, f16 and bf16 in f32
// (those of 16 bits are rounded after each operation); integers in integers of their size; i1 in
// bytes that are 0 or 1. `load` and `store` move registers, `loadCells` and `storeCells` cells of
// arrays. Without a type they are doubles.
//
//   Value x = vectors.load(vectors.offset(pointer, i), {});    // eight doubles at pointer + i
//   Value y = vectors.loadCells(array, i, {}, ElementType::F16);
//   vectors.forLoop(begin, end, 8, state, [&](Value i, State &state) { state[0] = x; });
#ifndef TOKAMAK_CODEGEN_VECTORBUILDER_H
#define TOKAMAK_CODEGEN_VECTORBUILDER_H

#include "base/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

#include "llvm/Support/SaveAndRestore.h"

namespace tokamak::codegen {

// The values that a loop or branch carries, such as accumulators.
using State = llvm::SmallVector<mlir::Value>;

class VectorBuilder {
public:
  static constexpr int64_t lanes = 8, mostLanes = 16;

  // Builds at the insertion point of `builder()`, initially the end of `module`.
  explicit VectorBuilder(mlir::ModuleOp module);
  mlir::OpBuilder &builder() { return builder_; }
  // What has no function of its own here.
  template <typename Op, typename... Arguments> Op create(Arguments &&...arguments) {
    return builder_.create<Op>(location_, std::forward<Arguments>(arguments)...);
  }

  // The number of cells of the vectors that are built from here on, `lanes` or `mostLanes`: another
  // one as long as what withWidth returns lives.
  int64_t width() const { return vector_.getNumElements(); }
  [[nodiscard]] llvm::SaveAndRestore<mlir::VectorType> withWidth(int64_t width) {
    return {vector_, mlir::VectorType::get(width, doubleType())};
  }

  mlir::Type pointerType() const { return pointer_; }
  mlir::Type doubleType() { return builder_.getF64Type(); }
  mlir::Type registerType(ElementType cells);

  mlir::Value integer(int64_t value);
  // Vectors: of `cells`, of 64-bit integers.
  mlir::Value number(double value, mlir::Type cells = {});
  mlir::Value integers(int64_t value);
  mlir::Value splat(mlir::Value scalar) {
    return create<mlir::vector::SplatOp>(vector_.clone(scalar.getType()), scalar);
  }
  mlir::Value lane(mlir::Value vector, int64_t lane) { // a scalar
    return create<mlir::vector::ExtractOp>(vector, lane);
  }
  mlir::Value splatLane(mlir::Value vector, int64_t lane) { // a vector
    return shuffle(vector, vector, llvm::SmallVector<int64_t>(width(), lane));
  }
  mlir::Value shuffle(mlir::Value a, mlir::Value b, llvm::ArrayRef<int64_t> lanes) {
    return create<mlir::vector::ShuffleOp>(a, b, lanes);
  }
  // Half 0 or 1 of sixteen lanes; sixteen lanes of two halves.
  mlir::Value half(mlir::Value vector, int64_t number);
  mlir::Value join(mlir::Value lower, mlir::Value upper);
  // Transposes as many vectors as they have lanes: lane i of result j is lane j of vector i.
  State transpose(llvm::ArrayRef<mlir::Value> vectors);
  // The vector 0, 1, ... of 64-bit integers.
  mlir::Value laneNumbers();
  // The mask of lanes below `count`.
  mlir::Value maskBelow(mlir::Value count) { return less(laneNumbers(), splat(count)); }
  mlir::Value maskBelow(int64_t count);

  // Of integers.
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return builder_.createOrFold<mlir::arith::AddIOp>(location_, a, b);
  }
  mlir::Value subtract(mlir::Value a, mlir::Value b) {
    return builder_.createOrFold<mlir::arith::SubIOp>(location_, a, b);
  }
  mlir::Value multiply(mlir::Value a, mlir::Value b) {
    return builder_.createOrFold<mlir::arith::MulIOp>(location_, a, b);
  }
  mlir::Value maximum(mlir::Value a, mlir::Value b) { return create<mlir::arith::MaxSIOp>(a, b); }
  mlir::Value minimum(mlir::Value a, mlir::Value b) { return create<mlir::arith::MinSIOp>(a, b); }
  mlir::Value less(mlir::Value a, mlir::Value b) {
    return create<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::slt, a, b);
  }
  // Of a number that is not negative.
  mlir::Value roundDown(mlir::Value value, int64_t unit);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) {
    return create<mlir::LLVM::FMAOp>(a.getType(), a, b, c);
  }
  mlir::Value select(mlir::Value mask, mlir::Value yes, mlir::Value no) {
    return create<mlir::arith::SelectOp>(mask, yes, no);
  }
  // A vector or scalar of floats as `cells`: exact, or rounded.
  mlir::Value round(mlir::Value value, mlir::Type cells);

  // A mask as registers of i1, and the mask of cells that are not 0.
  mlir::Value truth(mlir::Value mask);
  mlir::Value isTrue(mlir::Value value);
  // Vectors or scalars of registers, by the rules of base/ElementType.h.
  mlir::Value convert(mlir::Value value, ElementType from, ElementType to);

  // Offsets are in cells; a null mask means all lanes. Masked-off lanes of a load are 0.
  mlir::Value offset(mlir::Value pointer, mlir::Value cellCount, mlir::Type cells = {});
  mlir::Value load(mlir::Value pointer, mlir::Value mask, mlir::Type cells = {});
  void store(mlir::Value value, mlir::Value pointer, mlir::Value mask);
  // Cell number `index` of an array and the seven behind it. A null index means 0.
  mlir::Value offsetCells(mlir::Value array, mlir::Value index, ElementType cells);
  mlir::Value loadCells(mlir::Value array, mlir::Value index, mlir::Value mask, ElementType cells);
  void storeCells(mlir::Value value, mlir::Value array, mlir::Value index, mlir::Value mask,
                  ElementType cells);
  // Cells of numbers given by a vector of 64-bit integers. Masked-off lanes of a gather are 0.
  mlir::Value gatherCells(mlir::Value array, mlir::Value numbers, mlir::Value mask,
                          ElementType cells);
  void scatterCells(mlir::Value value, mlir::Value array, mlir::Value numbers, mlir::Value mask,
                    ElementType cells);
  // One cell; storeCell stores the first of a vector.
  mlir::Value loadCell(mlir::Value array, mlir::Value index, ElementType cells);
  void storeCell(mlir::Value vector, mlir::Value array, mlir::Value index, ElementType cells);
  // Stores that bypass the caches, of vectors of a multiple of 32 bytes: whether the address may have
  // them, being a multiple of that, too; one of them; and what makes other threads see all before it.
  static constexpr int64_t bytesOfBypassing = 32;
  mlir::Value isForBypassing(mlir::Value pointer);
  void storeBypassing(mlir::Value vector, mlir::Value pointer, ElementType cells);
  void finishBypassing();
  // Into the nearest cache; the address may be invalid.
  enum class Use : int32_t { Read, Write };
  void prefetch(mlir::Value pointer, Use use = Use::Read) {
    create<mlir::LLVM::Prefetch>(pointer, static_cast<int32_t>(use), /*hint=*/3, /*cache=*/1);
  }
  mlir::Value loadScalar(mlir::Value pointer, mlir::Type cells = {});
  void storeScalar(mlir::Value value, mlir::Value pointer) { store(value, pointer, {}); }
  // Loads a member of a C structure (or of an array of structures) at offset `bytes`.
  mlir::Value loadMember(mlir::Value structure, int64_t bytes, mlir::Type type);
  mlir::Value integerMember(mlir::Value structure, int64_t bytes) {
    return loadMember(structure, bytes, builder_.getI64Type());
  }
  mlir::Value pointerMember(mlir::Value structure, int64_t bytes) {
    return loadMember(structure, bytes, pointer_);
  }

  // Calls a function of VectorMath.cpp: the result has the type of the operands.
  mlir::Value callMath(llvm::StringRef function, mlir::ValueRange operands);

  using LoopBody = llvm::function_ref<void(mlir::Value, State &)>;
  void forLoop(mlir::Value begin, mlir::Value end, int64_t step, State &state, LoopBody body);
  // The same without carried values.
  void forLoop(mlir::Value begin, mlir::Value end, int64_t step,
               llvm::function_ref<void(mlir::Value)> body);
  void ifElse(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
  // The same with carried values, of which each branch may change some.
  void ifElse(mlir::Value condition, State &state, llvm::function_ref<void(State &)> then,
              llvm::function_ref<void(State &)> otherwise);
  void ifThen(mlir::Value condition, State &state, llvm::function_ref<void(State &)> body) {
    ifElse(condition, state, body, [](State &) {});
  }

private:
  mlir::Value loadFirst(mlir::Value pointer, int64_t count, mlir::Type cells);
  mlir::Type memoryType(ElementType cells);
  mlir::Value fromMemory(mlir::Value value, ElementType cells);
  mlir::Value toMemory(mlir::Value value, ElementType cells);
  template <typename Op> mlir::Value change(mlir::Value value, mlir::Type cells);
  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value constant(mlir::Type type, mlir::TypedAttr cell);
  mlir::Value integerLike(mlir::Value value, int64_t constant);
  mlir::Value zeroOf(mlir::Type type);
  mlir::Value addressesOf(mlir::Value array, mlir::Value numbers, mlir::Type cells);

  mlir::ModuleOp module_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
  mlir::VectorType vector_;
  mlir::Type pointer_;
  llvm::DenseMap<std::pair<mlir::Block *, mlir::Attribute>, mlir::Value> constants_;
};

} // namespace tokamak::codegen
#endif
