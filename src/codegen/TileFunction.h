// The functions around the code of a tile: `name`, of type TokKernel (abi/Kernel.h), unpacks the
// arguments and calls `name_tile`, whose pointers don't alias.
//
//   emitKernelFunctions(vectors, "cell_exp_1", inputs, outputs, [&](const TileArguments &tile) {
//     mlir::Value x = vectors.load(vectors.offset(tile.inputs[0], tile.begin), {});
//   });
#ifndef TOKAMAK_CODEGEN_TILEFUNCTION_H
#define TOKAMAK_CODEGEN_TILEFUNCTION_H

#include "codegen/VectorBuilder.h"

namespace tokamak::codegen {

// The arguments of name_tile as values of its entry block.
struct TileArguments {
  llvm::SmallVector<mlir::Value> inputs;         // pointers, by index of the array input
  llvm::SmallVector<mlir::Value> outputs;        // pointers, by index of the array result
  mlir::Value scalars, sizes, partials, scratch; // pointers
  mlir::Value begin, end;                        // rows, cells or places
  mlir::Value columns;                           // of the iteration space
};

// A function of type TokKernel that does what is emitted and reports success.
void emitEntryFunction(
    VectorBuilder &vectors, llvm::StringRef name,
    llvm::function_ref<void(mlir::Value arguments, mlir::Value range, mlir::Value workspace)>
        emitBody);

void emitKernelFunctions(VectorBuilder &vectors, llvm::StringRef name, unsigned inputs,
                         unsigned outputs,
                         llvm::function_ref<void(const TileArguments &)> emitTile);

} // namespace tokamak::codegen
#endif
