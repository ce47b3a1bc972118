// What is reduced over the axes that tiles are cut from: accumulated block by block as long as a
// tile lasts, left among the tile's partial results, and merged (abi/KernelPlan.h).
//
//   TileAggregates aggregates(body, vectors, tile, values);   // at the beginning of the tile
//   aggregates.add(reduce);               // in a pass, for all places and chunks
//   aggregates.close();                   // at its end
//
// Where the accumulators are, as a table:
//
//   sum(X)                one cell                     registers
//   colSums(X)            a cell for each place along an axis with vectors: the partial result
//                         itself, or registers if the axis is a constant and all its vectors are
//                         unrolled
//   colSums(P), narrow    the same, but the places of a block are the lanes: scratch memory
//   t(X) %*% P            along two axes: scratch memory, vectors along one of them
//   colSums(S), t(S) %*% P   at the columns of a driver's entries: the partial result itself
//
// Partial results are doubles (or 64-bit integers), whatever tiles accumulate in. In which order is
// added up depends on sizes and schedule alone.
#ifndef TOKAMAK_CODEGEN_LOOPS_TILEAGGREGATES_H
#define TOKAMAK_CODEGEN_LOOPS_TILEAGGREGATES_H

#include "codegen/loops/LoopValues.h"

namespace tokamak::codegen {

class TileAggregate;

class TileAggregates {
public:
  TileAggregates(const LoopBody &body, VectorBuilder &vectors, const TileArguments &tile,
                 LoopValues &values);
  ~TileAggregates();
  void add(plan::ReduceOp reduce);
  void close();

private:
  // What is written to several results has accumulators for each of them.
  std::vector<TileAggregate> aggregates_;
};

// Emits the function `name`_merge, of type TokMerge, which finds sizes among those of the plan.
void emitMergeFunction(const LoopBody &body, VectorBuilder &vectors, llvm::StringRef name,
                       abi::KernelPlan &plan);

} // namespace tokamak::codegen
#endif
