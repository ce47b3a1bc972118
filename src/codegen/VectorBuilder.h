// Builds the operations that kernels consist of: vectors of eight cells on every CPU (LLVM splits
// them if registers are narrower), memory accesses through plain pointers, loops that carry a list
// of values. Cells are doubles unless the type f32 is given.
//
//   Value x = vectors.load(vectors.offset(pointer, i), {});    // eight doubles at pointer + i
//   vectors.forLoop(begin, end, 8, state, [&](Value i, State &state) { state[0] = ...; });
#ifndef TOKAMAK_CODEGEN_VECTORBUILDER_H
#define TOKAMAK_CODEGEN_VECTORBUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tokamak::codegen {

// The values that a loop or branch carries, such as accumulators.
using State = llvm::SmallVector<mlir::Value>;

class VectorBuilder {
public:
  static constexpr int64_t lanes = 8;

  // Builds at the insertion point of `builder()`, initially the end of `module`.
  explicit VectorBuilder(mlir::ModuleOp module);
  mlir::OpBuilder &builder() { return builder_; }

  mlir::Type pointerType() const { return pointer_; }
  mlir::Type vectorType() const { return vector_; }
  mlir::Type doubleType() { return builder_.getF64Type(); }

  mlir::Value integer(int64_t value);
  mlir::Value number(double value, mlir::Type cells = {}); // a vector
  mlir::Value splat(mlir::Value scalar);
  mlir::Value lane(mlir::Value vector, int64_t lane);      // a scalar
  mlir::Value splatLane(mlir::Value vector, int64_t lane); // a vector
  mlir::Value shuffle(mlir::Value a, mlir::Value b, llvm::ArrayRef<int64_t> lanes);
  // Transposes eight vectors: lane i of result j is lane j of vector i.
  State transpose(llvm::ArrayRef<mlir::Value> vectors);
  // The vector 0, 1, ... 7 of doubles.
  mlir::Value laneNumbers();
  // The mask of lanes below `count`.
  mlir::Value maskBelow(mlir::Value count);
  mlir::Value maskBelow(int64_t count);

  mlir::Value add(mlir::Value a, mlir::Value b); // integers
  mlir::Value subtract(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  mlir::Value roundDownToLanes(mlir::Value value);
  mlir::Value maximum(mlir::Value a, mlir::Value b);
  mlir::Value minimum(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value select(mlir::Value mask, mlir::Value yes, mlir::Value no);
  // extend: a vector or scalar as doubles (exact). round: converts to `cells`. No-ops if the type
  // is right already.
  mlir::Value extend(mlir::Value value);
  mlir::Value round(mlir::Value value, mlir::Type cells);

  // Offsets are in cells; a null mask means all lanes. Masked-off lanes of a load are 0.
  mlir::Value offset(mlir::Value pointer, mlir::Value cellCount, mlir::Type cells = {});
  mlir::Value load(mlir::Value pointer, mlir::Value mask, mlir::Type cells = {});
  void store(mlir::Value value, mlir::Value pointer, mlir::Value mask);
  void prefetch(mlir::Value pointer); // into the nearest cache; the address may be invalid
  // The same at an offset, which may be outside the array.
  void prefetch(mlir::Value pointer, mlir::Value cellCount, mlir::Type cells);
  mlir::Value loadScalar(mlir::Value pointer, mlir::Type cells = {});
  void storeScalar(mlir::Value value, mlir::Value pointer);
  // Loads a member of a C structure (or of an array of structures) at offset `bytes`.
  mlir::Value loadMember(mlir::Value structure, int64_t bytes, mlir::Type type);
  mlir::Value integerMember(mlir::Value structure, int64_t bytes) {
    return loadMember(structure, bytes, builder_.getI64Type());
  }
  mlir::Value pointerMember(mlir::Value structure, int64_t bytes) {
    return loadMember(structure, bytes, pointer_);
  }

  // Calls a function of VectorMath.cpp on doubles, of SinglePrecisionMath.cpp on f32: the result has
  // the type of the operands.
  mlir::Value callMath(llvm::StringRef function, mlir::ValueRange operands);

  using LoopBody = llvm::function_ref<void(mlir::Value, State &)>;
  void forLoop(mlir::Value begin, mlir::Value end, int64_t step, State &state, LoopBody body);
  // The same without carried values.
  void forLoop(mlir::Value begin, mlir::Value end, int64_t step,
               llvm::function_ref<void(mlir::Value)> body);
  void ifThen(mlir::Value condition, State &state, llvm::function_ref<void(State &)> body);

private:
  mlir::ModuleOp module_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
  mlir::VectorType vector_, mask_;
  mlir::Type pointer_;
};

} // namespace tokamak::codegen
#endif
