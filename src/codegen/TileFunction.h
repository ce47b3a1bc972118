// The functions around the code of a tile: `name`, of type TokKernel (abi/Kernel.h), unpacks the
// arguments and calls `name_tile`, whose pointers don't alias.
//
//   emitKernelFunctions(vectors, "cell_exp_1", plan, [&](const TileArguments &tile) {
//     mlir::Value x = vectors.load(vectors.offset(tile.inputs[0], tile.begin), {});
//   });
#ifndef TOKAMAK_CODEGEN_TILEFUNCTION_H
#define TOKAMAK_CODEGEN_TILEFUNCTION_H

#include "abi/KernelPlan.h"
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
  llvm::SmallVector<mlir::Value> outputs;        // pointers, by result; null of partial ones
  llvm::SmallVector<mlir::Value> bypassing;      // likewise: not 0 if stores bypass the caches
  mlir::Value scalars, sizes, partials, scratch; // pointers
  mlir::Value begin, end;                        // rows, cells or places
};

// The plan says which inputs and outputs there are.
void emitKernelFunctions(VectorBuilder &vectors, llvm::StringRef name, const abi::KernelPlan &plan,
                         llvm::function_ref<void(const TileArguments &)> emitTile);

} // namespace tokamak::codegen
#endif
