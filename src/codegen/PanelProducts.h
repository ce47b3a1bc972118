// Products over a panel, the eight rows of a block:
//
//   C += A B      A m×w, B w×q an input: C lies in a panel, a vector across rows for each of its
//                 columns. Eight columns of A are vectors across rows in registers; for each
//                 column of C they are multiplied by cells of B.
//   D += t(A) Q   both over rows: the wider one is read in vectors along its columns, eight rows of
//                 them in registers; every cell of the other one multiplies them. D is accumulated
//                 in scratch memory as long as the tile lasts.
//
// Each is a chain of fused multiply-adds in the order of columns of A, or of rows.
#ifndef TOKAMAK_CODEGEN_PANELPRODUCTS_H
#define TOKAMAK_CODEGEN_PANELPRODUCTS_H

#include "codegen/RowValues.h"

namespace tokamak::codegen {

class PanelProducts {
public:
  PanelProducts(KernelContext &kernel, RowValues &values)
      : body_(kernel.body), kernel_(kernel), vectors_(kernel.vectors), values_(values) {}

  // C = 0, before the pass over A's columns.
  void open(tok::MatmulOp product);
  // Adds the columns of the chunk, of a wide A.
  void addChunk(tok::MatmulOp product);
  // Adds all columns of a narrow A, which lies in its panel.
  void addPanel(tok::MatmulOp product);

  // D = 0, at the beginning of the tile.
  void open(const Root &root);
  // Adds the block's rows: the chunk's columns, or all of narrow vectors.
  void addChunk(const Root &root);
  void addPanel(const Root &root);
  // Moves D to the partial results.
  void close(const Root &root);

private:
  void add(tok::MatmulOp product, llvm::ArrayRef<mlir::Value> columns, mlir::Value firstColumn);
  void add(const Root &root, llvm::ArrayRef<mlir::Value> rows, mlir::Value firstColumn);
  void accumulate(int64_t columnCount, llvm::ArrayRef<mlir::Value> factors,
                  llvm::function_ref<mlir::Value(mlir::Value)> target,
                  llvm::function_ref<mlir::Value(mlir::Value, int)> cell);
  // Line `cell` of D: a vector's columns for a cell's column.
  mlir::Value accumulatorLine(const Root &root, mlir::Value cell);
  mlir::Value columnCount(mlir::Value value);

  const KernelBody &body_;
  KernelContext &kernel_;
  VectorBuilder &vectors_;
  RowValues &values_;
};

} // namespace tokamak::codegen
#endif
