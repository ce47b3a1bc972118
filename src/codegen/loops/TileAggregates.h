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
  enum class Storage : uint8_t { Registers, Partials, Lanes, Lines, Entries };
  struct Aggregate {
    plan::ReduceOp reduce;
    Reduction reduction;
    mlir::Type cells; // accumulators in registers
    Storage storage;
    std::optional<unsigned> vector, other; // axes of the result
    mlir::Value partial, partialCells;
    mlir::Value memory;                       // Lanes and Lines
    llvm::SmallVector<mlir::Value> registers; // addresses of variables
  };
  Aggregate layOut(plan::ReduceOp reduce);
  int64_t registersOf(plan::ReduceOp reduce, std::optional<unsigned> vector) const;
  void addToRegisters(Aggregate &aggregate);
  void addToPartials(Aggregate &aggregate);
  void addToLanes(Aggregate &aggregate);
  void addToLines(Aggregate &aggregate);
  int64_t unrollingOf(unsigned axis) const;
  void addToEntries(const Aggregate &aggregate);
  void addToRowsOfEntries(const Aggregate &aggregate);
  void addPlaces(Aggregate &aggregate, mlir::Value pointer, unsigned chunk, mlir::Value mask);
  mlir::Value paddedLine(const Aggregate &aggregate);
  mlir::Value load(const Aggregate &aggregate, mlir::Value pointer);
  mlir::Value behind(const Aggregate &aggregate, mlir::Value pointer, mlir::Value count);
  void fill(const Reduction &reduction, mlir::Value pointer, mlir::Value count);
  void fillPartial(const Aggregate &aggregate);
  mlir::Value toPartial(const Aggregate &aggregate, mlir::Value accumulators);
  void widenPartial(const Aggregate &aggregate);
  void closeLanes(const Aggregate &aggregate);
  void closeLines(const Aggregate &aggregate);
  mlir::Value countedLanes(unsigned chunk) const;

  const LoopBody &body_;
  VectorBuilder &vectors_;
  const TileArguments &tile_;
  LoopValues &values_;
  std::vector<Aggregate> aggregates_;
};

// Emits the function `name`_merge, of type TokMerge, which finds sizes among those of the plan.
void emitMergeFunction(const LoopBody &body, VectorBuilder &vectors, llvm::StringRef name,
                       abi::KernelPlan &plan);

} // namespace tokamak::codegen
#endif
