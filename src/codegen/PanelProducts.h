// Matrix products over the eight rows of a block.
//
//   PanelProducts products(kernel, values);
//   products.open(product);                  // at the start of a pass that computes `product`
//   products.addChunk(product);              // once for each chunk of eight columns
//
// There are two, as a table:
//
//   C += A B      A m×w, B w×q an input. C lies in a panel: a vector across rows for each of its
//                 columns. Eight columns of A are held in registers, as vectors across rows; for
//                 each column of C they are multiplied by cells of B.
//   D += t(A) Q   A and Q m×w and m×v. Eight rows of the wider operand are held in registers, as
//                 vectors along its columns, and multiplied by every cell of the other one. D is
//                 accumulated in scratch memory until the end of the tile.
//
// Each cell is a chain of fused multiply-adds, in the order of A's columns (C) or of rows (D).
#ifndef TOKAMAK_CODEGEN_PANELPRODUCTS_H
#define TOKAMAK_CODEGEN_PANELPRODUCTS_H

#include "codegen/RowValues.h"

namespace tokamak::codegen {

class PanelProducts {
public:
  PanelProducts(KernelContext &kernel, RowValues &values)
      : body_(kernel.body), kernel_(kernel), vectors_(kernel.vectors), values_(values) {}

  // C = 0, before the pass over A's columns.
  void open(plan::ReduceOp product);
  // Adds the chunk's columns of a wide A.
  void addChunk(plan::ReduceOp product);
  // Adds all columns of a narrow A from its panel.
  void addPanel(plan::ReduceOp product);

  // D = 0, at the beginning of the tile.
  void open(const Root &root);
  // Adds the rows of the block: the chunk's columns of a wide operand, or
  // all columns of a narrow one.
  void addChunk(const Root &root);
  void addPanel(const Root &root);
  // Copies D to the partial results.
  void close(const Root &root);

private:
  void add(plan::ReduceOp product, llvm::ArrayRef<mlir::Value> columns, mlir::Value firstColumn);
  void add(const Root &root, llvm::ArrayRef<mlir::Value> rows, mlir::Value firstColumn);
  void accumulate(int64_t columnCount, llvm::ArrayRef<mlir::Value> factors,
                  llvm::function_ref<mlir::Value(mlir::Value)> target,
                  llvm::function_ref<mlir::Value(mlir::Value, int)> cell);
  // The address of line `cell` of D: the accumulators for column `cell` of the operand that is read
  // cell by cell.
  mlir::Value accumulatorLine(const Root &root, mlir::Value cell);
  mlir::Value columnCount(mlir::Value value);

  const KernelBody &body_;
  KernelContext &kernel_;
  VectorBuilder &vectors_;
  RowValues &values_;
};

} // namespace tokamak::codegen
#endif
