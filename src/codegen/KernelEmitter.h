// From the body of a fused operator to an MLIR module with two functions of the types TokKernel and
// TokMerge (abi/Kernel.h).
//
//   auto module = emitKernel(body, "row_exp_sum_3", &context, plan);
//
// The functions, as a table:
//
//   name        computes a tile (TileFunction.h)
//   name_merge  merges two tiles' partial aggregates; absent if there are none
//
// Flat bodies become one loop over cells (FlatEmitter.cpp), the others blocks of rows
// (RowEmitter.cpp).
#ifndef TOKAMAK_CODEGEN_KERNELEMITTER_H
#define TOKAMAK_CODEGEN_KERNELEMITTER_H

#include "codegen/Aggregation.h"
#include "codegen/KernelBody.h"
#include "codegen/TileFunction.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tokamak::codegen {

// Builds the module in `context`, which must have the dialects arith, scf, vector and llvm loaded
// and may differ from the body's context. Sets the plan's sizes of scratch memory.
mlir::OwningOpRef<mlir::ModuleOp> emitKernel(const KernelBody &body, llvm::StringRef name,
                                             mlir::MLIRContext *context, abi::KernelPlan &plan);

// What the root aggregates.
Reduction reductionOf(const Root &root);

// A kernel under construction, as the flat and the row emitter share it.
struct KernelContext {
  const KernelBody &body;
  VectorBuilder &vectors;
  TileArguments tile;
  // Uniform values of the body (scalars, constants and their combinations) and their vectors.
  llvm::DenseMap<mlir::Value, mlir::Value> uniform;

  // The index of the root among those of Kind::Array.
  unsigned outputIndex(const Root &root) const;
  // The address and the size of the root's partial aggregate. The size is in doubles, rounded up as
  // abi/KernelPlan.h specifies.
  mlir::Value partialPointer(const Root &root);
  mlir::Value partialSize(const Root &root);
  // The two factors of a sum of products, else the value alone. `valueOf` emits an operand.
  Contribution contribution(mlir::Value value, AggregateKind kind,
                            llvm::function_ref<mlir::Value(mlir::Value)> valueOf) const;
};

// Size of scratch memory: `lines`, each as long as a row of the iteration space, plus `doubles`.
struct ScratchSize {
  int64_t lines = 0, doubles = 0;
};

void emitFlatTile(KernelContext &kernel);
ScratchSize emitRowTile(KernelContext &kernel);

} // namespace tokamak::codegen
#endif
