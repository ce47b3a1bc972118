// Builds the operations kernels are made of: vectors of eight cells, whatever the CPU (LLVM splits
// them where its registers are narrower), memory through plain pointers, loops that carry a list of
// values. Cells are doubles unless a type, f32, is given.
//
//   Value x = vectors.load(vectors.offset(pointer, i), {});    // eight doubles at pointer + i
//   vectors.forLoop(begin, end, 8, state, [&](Value i, State &state) { state[0] = ...; });
#ifndef TOKAMAK_CODEGEN_VECTORBUILDER_H
#define TOKAMAK_CODEGEN_VECTORBUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tokamak::codegen {

// Values that a loop or branch changes: accumulators.
using State = llvm::SmallVector<mlir::Value>;

class VectorBuilder {
public:
  static constexpr int64_t lanes = 8;

  // Builds into `module`; the insertion point is `builder()`'s.
  explicit VectorBuilder(mlir::ModuleOp module);
  mlir::OpBuilder &builder() { return builder_; }

  mlir::Type pointerType() const { return pointer_; }
  mlir::Type vectorType() const { return vector_; }
  mlir::Type doubleType() { return builder_.getF64Type(); }

  mlir::Value integer(int64_t value);
  mlir::Value number(double value, mlir::Type cells = {}); // the same in all lanes
  mlir::Value splat(mlir::Value scalar);
  mlir::Value lane(mlir::Value vector, int64_t lane);      // a scalar
  mlir::Value splatLane(mlir::Value vector, int64_t lane); // a vector
  mlir::Value shuffle(mlir::Value a, mlir::Value b, llvm::ArrayRef<int64_t> lanes);
  // Eight vectors to eight: lane i of result j is lane j of vector i.
  State transpose(llvm::ArrayRef<mlir::Value> vectors);
  // 0, 1, ... 7 as doubles.
  mlir::Value laneNumbers();
  // Lanes below `count`.
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
  // A vector or scalar as doubles, exactly; doubles rounded to `cells`. No-ops where the type fits.
  mlir::Value extend(mlir::Value value);
  mlir::Value round(mlir::Value value, mlir::Type cells);

  // Offsets are in cells; a null mask means all lanes. Lanes that are not loaded are 0.
  mlir::Value offset(mlir::Value pointer, mlir::Value cellCount, mlir::Type cells = {});
  mlir::Value load(mlir::Value pointer, mlir::Value mask, mlir::Type cells = {});
  void store(mlir::Value value, mlir::Value pointer, mlir::Value mask);
  void prefetch(mlir::Value pointer); // into the nearest cache; any address will do
  // The same at an offset, which may lead out of the array.
  void prefetch(mlir::Value pointer, mlir::Value cellCount, mlir::Type cells);
  mlir::Value loadScalar(mlir::Value pointer, mlir::Type cells = {});
  void storeScalar(mlir::Value value, mlir::Value pointer);
  // A member of a C structure (or of an array of structures), `bytes` after the pointer.
  mlir::Value loadMember(mlir::Value structure, int64_t bytes, mlir::Type type);
  mlir::Value integerMember(mlir::Value structure, int64_t bytes) {
    return loadMember(structure, bytes, builder_.getI64Type());
  }
  mlir::Value pointerMember(mlir::Value structure, int64_t bytes) {
    return loadMember(structure, bytes, pointer_);
  }

  // Calls a function of VectorMath.cpp.
  mlir::Value callMath(llvm::StringRef function, mlir::ValueRange operands);

  using LoopBody = llvm::function_ref<void(mlir::Value, State &)>;
  void forLoop(mlir::Value begin, mlir::Value end, int64_t step, State &state, LoopBody body);
  // The same where nothing is carried.
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
