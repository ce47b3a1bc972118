// Products of rows with a matrix whose rows are short, such as X %*% B with ten columns: computed for
// the places of a block together, in the pass over the columns of X.
//
//   RowProducts products(body, vectors, values);
//   products.open(reduce);                   // before the pass
//   products.add(reduce);                    // for each vector of columns that it has reached
//   products.close(reduce);                  // after it: the panel of the product is complete
//
// A vector of columns of each row is transposed in registers; each column is multiplied by one cell of B
// for each column of the product, whose rows are a vector. A cell is a chain of fused multiply-adds in the
// order of the columns of X, whatever the schedule is.
#ifndef TOKAMAK_CODEGEN_LOOPS_ROWPRODUCTS_H
#define TOKAMAK_CODEGEN_LOOPS_ROWPRODUCTS_H

#include "codegen/loops/LoopValues.h"

namespace tokamak::codegen {

class RowProducts {
public:
  RowProducts(const LoopBody &body, VectorBuilder &vectors, LoopValues &values);
  void open(plan::ReduceOp product);
  void add(plan::ReduceOp product);
  void close(plan::ReduceOp product);

private:
  struct Product {
    unsigned column, reduced; // axes
    ElementType accumulator;
    mlir::Value rows, factor; // X and B
    // One vector of accumulators for each column of the product. Those of few columns are variables
    // and so lie in registers.
    mlir::Value sums;
    bool areVariables;
  };
  void forEachColumn(const Product &product, llvm::function_ref<void(mlir::Value sum)> visit);
  void addColumns(const Product &product, llvm::ArrayRef<mlir::Value> columns, mlir::Value first);

  const LoopBody &body_;
  VectorBuilder &vectors_;
  LoopValues &values_;
  llvm::DenseMap<mlir::Operation *, Product> products_;
};

} // namespace tokamak::codegen
#endif
