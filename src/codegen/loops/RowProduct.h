// Products of rows with a matrix whose rows are short, such as X %*% B with ten columns: computed
// for the places of a block together, in the pass over the columns of X.
//
//   RowProduct product(body, vectors, values, reduce);
//   product.open();                          // before the pass
//   product.add();                           // for each vector of columns that it has reached
//   product.close();                         // after it: the panel of the product is complete
//
// A vector of columns of each row is transposed in registers; each column is multiplied by one cell
// of B for each column of the product, whose rows are a vector. A cell is a chain of fused
// multiply-adds in the order of the columns of X, whatever the schedule is.
#ifndef TOKAMAK_CODEGEN_LOOPS_ROWPRODUCTS_H
#define TOKAMAK_CODEGEN_LOOPS_ROWPRODUCTS_H

#include "codegen/loops/LoopValues.h"

namespace tokamak::codegen {

class RowProduct {
public:
  RowProduct(const LoopBody &body, VectorBuilder &vectors, LoopValues &values,
             plan::ReduceOp product);
  void open();
  void add();
  void close();

private:
  void forEachColumn(llvm::function_ref<void(mlir::Value sum)> visit);
  void addColumns(llvm::ArrayRef<mlir::Value> columns, mlir::Value first);

  const LoopBody &body_;
  VectorBuilder &vectors_;
  LoopValues &values_;
  plan::ReduceOp product_;
  mlir::Value rows_, factor_; // X and B
  unsigned column_, reduced_; // axes
  mlir::Type accumulator_;
  // One vector of accumulators for each column of the product. Those of few columns are variables
  // and so lie in registers.
  mlir::Value sums_;
  bool areVariables_;
};

} // namespace tokamak::codegen
#endif
