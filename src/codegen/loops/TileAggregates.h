// What is reduced over the axes that tiles are cut from: accumulated block by block as long as a tile
// lasts, left among the tile's partial results, and merged (abi/KernelPlan.h).
//
//   TileAggregates aggregates(body, vectors, tile, values);
//   aggregates.open();                    // at the beginning of the tile
//   aggregates.add(reduce);               // in a pass, for all places and chunks
//   aggregates.close();                   // at its end
//
// Where the accumulators are, as a table:
//
//   sum(X)                one cell                     registers
//   colSums(X)            a cell for each place along an axis with vectors: the partial result itself,
//                         or registers if the axis is a constant and all its vectors are unrolled
//   colSums(P), narrow    the same, but the places of a block are the lanes: scratch memory
//   t(X) %*% P            along two axes: scratch memory, vectors along one of them
//   colSums(S), t(S) %*% P   at the columns of a driver's entries: the partial result itself
//
// Partial results are doubles (or 64-bit integers), whatever tiles accumulate in. In which order is added
// up depends on sizes and schedule alone.
#ifndef TOKAMAK_CODEGEN_LOOPS_TILEAGGREGATES_H
#define TOKAMAK_CODEGEN_LOOPS_TILEAGGREGATES_H

#include "codegen/loops/LoopValues.h"

namespace tokamak::codegen {

class TileAggregates {
public:
  TileAggregates(const LoopBody &body, VectorBuilder &vectors, const TileArguments &tile,
                 LoopValues &values);
  void open();
  void add(plan::ReduceOp reduce);
  void close();

private:
  struct Aggregate {
    mutable plan::ReduceOp reduce; // an operation's accessors are not const
    Reduction reduction;
    mlir::Type cells; // of accumulators
    // The axis of the result along which they are vectors, and that for each place of which there is
    // a line of them.
    std::optional<unsigned> vector = {}, lines = {};
    Size length = {};              // of a line
    int64_t variables = 0;         // vectors on the stack, each of which is a register
    mlir::Value accumulators = {}; // in variables, scratch memory or the partial result
    mlir::Value partial = {}, partialCells = {};
    bool isOfPartial() const { return accumulators == partial; }
  };
  Aggregate layOut(plan::ReduceOp reduce, mlir::Value partial);
  int64_t variablesOf(plan::ReduceOp reduce, std::optional<unsigned> vector) const;
  void addToLine(const Aggregate &aggregate, mlir::Value line);
  void addToCell(const Aggregate &aggregate);
  void addToLines(const Aggregate &aggregate);
  void addToEntries(const Aggregate &aggregate);
  int64_t unrollingOf(unsigned axis) const;
  mlir::Value load(const Aggregate &aggregate, mlir::Value pointer, mlir::Value mask = {});
  mlir::Value behind(const Aggregate &aggregate, mlir::Value pointer, mlir::Value count);
  mlir::Value vectorBehind(const Aggregate &aggregate, mlir::Value pointer, int64_t number);
  mlir::Value lineAt(const Aggregate &aggregate, mlir::Value number);
  void fill(const Reduction &reduction, mlir::Value pointer, mlir::Value count);
  mlir::Value toPartial(const Aggregate &aggregate, mlir::Value accumulators);
  void closeCell(const Aggregate &aggregate);
  void closeVectors(const Aggregate &aggregate);
  void widenPartial(const Aggregate &aggregate);
  void closeLines(const Aggregate &aggregate);

  const LoopBody &body_;
  VectorBuilder &vectors_;
  LoopValues &values_;
  std::vector<Aggregate> aggregates_;
};

// Emits the function `name`_merge, of type TokMerge, which finds sizes among those of the plan.
void emitMergeFunction(const LoopBody &body, VectorBuilder &vectors, llvm::StringRef name,
                       abi::KernelPlan &plan);

} // namespace tokamak::codegen
#endif
