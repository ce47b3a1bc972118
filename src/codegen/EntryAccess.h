// Memory accesses of sparse kernels: column indices and row offsets of sparse arrays, and cells
// gathered by column index.
//
//   Value columns = loadIndices(vectors, indices, position, mask);     // eight columns, as i64
//   Value x = gather(vectors, pointer, columns, mask, cells);          // pointer[columns[lane]]
#ifndef TOKAMAK_CODEGEN_ENTRYACCESS_H
#define TOKAMAK_CODEGEN_ENTRYACCESS_H

#include "codegen/VectorBuilder.h"

namespace tokamak::codegen {

// Eight int32 from pointer[position] on, as int64; 0 in lanes that `mask` excludes (null: none).
mlir::Value loadIndices(VectorBuilder &vectors, mlir::Value pointer, mlir::Value position,
                        mlir::Value mask);
// loadIndex: the int32 pointer[position], as int64. loadOffset: the int64 pointer[position].
mlir::Value loadIndex(VectorBuilder &vectors, mlir::Value pointer, mlir::Value position);
mlir::Value loadOffset(VectorBuilder &vectors, mlir::Value pointer, mlir::Value position);

// The cells pointer[indices[lane]]; 0 in lanes that `mask` excludes (null: none).
mlir::Value gather(VectorBuilder &vectors, mlir::Value pointer, mlir::Value indices,
                   mlir::Value mask, mlir::Type cells);

mlir::Value minimum(VectorBuilder &vectors, mlir::Value a, mlir::Value b); // integers
// The addresses of a sparse array's offsets and indices. samePattern: whether two arrays share both,
// and so have the same entries.
struct Pattern {
  mlir::Value offsets, indices;
};
mlir::Value samePattern(VectorBuilder &vectors, Pattern a, Pattern b);
mlir::Value negate(VectorBuilder &vectors, mlir::Value condition);

} // namespace tokamak::codegen
#endif
