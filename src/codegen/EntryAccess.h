// Memory as kernels over entries see it: indices of columns, cells gathered and scattered by them.
//
//   Value columns = loadIndices(vectors, indices, position, mask);     // eight of them, as i64
//   Value x = gather(vectors, pointer, columns, mask, cells);          // pointer[columns[lane]]
#ifndef TOKAMAK_CODEGEN_ENTRYACCESS_H
#define TOKAMAK_CODEGEN_ENTRYACCESS_H

#include "codegen/VectorBuilder.h"

namespace tokamak::codegen {

// Eight int32 at pointer[position] as int64, 0 in lanes that are not loaded.
mlir::Value loadIndices(VectorBuilder &vectors, mlir::Value pointer, mlir::Value position,
                        mlir::Value mask);
// One int32, as int64; one int64.
mlir::Value loadIndex(VectorBuilder &vectors, mlir::Value pointer, mlir::Value position);
mlir::Value loadOffset(VectorBuilder &vectors, mlir::Value pointer, mlir::Value position);

// The cells pointer[indices[lane]]; 0 in lanes that are not loaded. A null mask means all lanes.
mlir::Value gather(VectorBuilder &vectors, mlir::Value pointer, mlir::Value indices,
                   mlir::Value mask, mlir::Type cells);

mlir::Value minimum(VectorBuilder &vectors, mlir::Value a, mlir::Value b); // integers
// Whether two CSR arrays share their offsets and indices, and so have the same entries.
struct Pattern {
  mlir::Value offsets, indices;
};
mlir::Value samePattern(VectorBuilder &vectors, Pattern a, Pattern b);
mlir::Value negate(VectorBuilder &vectors, mlir::Value condition);

} // namespace tokamak::codegen
#endif
