// From the body of a fused operator to a module of MLIR with two functions, of types TokKernel and
// TokMerge (abi/Kernel.h):
//
//   name        unpacks the arguments and calls name_tile, whose pointers are known not to overlap
//   name_merge  joins two tiles' partial aggregates; absent if nothing is partial
//
// Flat bodies become one loop over cells (FlatEmitter.cpp), the others blocks of rows
// (RowEmitter.cpp).
#ifndef TOKAMAK_CODEGEN_KERNELEMITTER_H
#define TOKAMAK_CODEGEN_KERNELEMITTER_H

#include "codegen/Aggregation.h"
#include "codegen/KernelBody.h"
#include "codegen/VectorBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tokamak::codegen {

// Builds into `context`, which has the dialects arith, scf, vector and llvm loaded and may be
// another one than the body's. Fills what the plan says of scratch memory.
mlir::OwningOpRef<mlir::ModuleOp> emitKernel(const KernelBody &body, llvm::StringRef name,
                                             mlir::MLIRContext *context, abi::KernelPlan &plan);

// The arguments of name_tile as values of its entry block.
struct TileArguments {
  llvm::SmallVector<mlir::Value> inputs;  // pointers, by number of the array input
  llvm::SmallVector<mlir::Value> outputs; // pointers, by number of the array result
  mlir::Value scalars, partials, scratch; // pointers
  mlir::Value begin, end;                 // rows or cells
  mlir::Value columns;                    // of the iteration space
};

// What both emitters know of a kernel under construction.
struct KernelContext {
  const KernelBody &body;
  VectorBuilder &vectors;
  TileArguments tile;
  // Values that are the same everywhere: scalars, constants and what is computed of them.
  llvm::DenseMap<mlir::Value, mlir::Value> uniform;

  // Number of the root among those of Kind::Array.
  unsigned outputIndex(const Root &root) const;
  // Where the root's partial aggregate begins, and its doubles, rounded up as abi/KernelPlan.h
  // says.
  mlir::Value partialPointer(const Root &root);
  mlir::Value partialSize(const Root &root);
  // The two factors of a root that sums products, else the value alone. `valueOf` emits an operand.
  Contribution contribution(mlir::Value value, mlir::Value factor, AggregateKind kind,
                            llvm::function_ref<mlir::Value(mlir::Value)> valueOf) const;
};

// Scratch memory: lines as long as a row of the iteration space, and other doubles.
struct ScratchSize {
  int64_t lines = 0, doubles = 0;
};

void emitFlatTile(KernelContext &kernel);
ScratchSize emitRowTile(KernelContext &kernel);

} // namespace tokamak::codegen
#endif
