// The functions around the code of a tile: `name`, of type TokKernel (abi/Kernel.h), unpacks the
// arguments and calls `name_tile`, whose pointers don't alias.
//
//   emitKernelFunctions(vectors, "cell_exp_1", inputs, sparse, outputs, [&](const TileArguments &tile) {
//     mlir::Value x = vectors.load(vectors.offset(tile.inputs[0], tile.begin), {});
//   });
#ifndef TOKAMAK_CODEGEN_TILEFUNCTION_H
#define TOKAMAK_CODEGEN_TILEFUNCTION_H

#include "codegen/VectorBuilder.h"

#include <map>

namespace tokamak::codegen {

// The addresses of a sparse array's row offsets and column indices; arrays that share both have the
// same entries.
struct SparsePattern {
  mlir::Value offsets, indices;
};

// The arguments of name_tile as values of its entry block.
struct TileArguments {
  llvm::SmallVector<mlir::Value> inputs;         // pointers, by index of the array input
  std::map<unsigned, SparsePattern> patterns;    // of sparse inputs, likewise
  llvm::SmallVector<mlir::Value> outputs;        // pointers, by index of the array result
  mlir::Value scalars, sizes, partials, scratch; // pointers
  mlir::Value begin, end;                        // rows, cells or places
};

// `sparse` are the indices of the inputs that are sparse.
void emitKernelFunctions(VectorBuilder &vectors, llvm::StringRef name, unsigned inputs,
                         llvm::ArrayRef<unsigned> sparse, unsigned outputs,
                         llvm::function_ref<void(const TileArguments &)> emitTile);

} // namespace tokamak::codegen
#endif
