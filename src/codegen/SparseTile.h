// Emits the tile function of a kernel with a driver, which SparseEmitter.h describes.
// SparseTile.cpp has the loops and results, SparseValues.cpp the values, SparseMemory.cpp sizes and
// addresses.
//
//   SparseTile(body, vectors, std::move(arguments)).emit(plan);
#ifndef TOKAMAK_CODEGEN_SPARSETILE_H
#define TOKAMAK_CODEGEN_SPARSETILE_H

#include "codegen/Aggregation.h"
#include "codegen/EntryAccess.h"
#include "codegen/SparseSchedule.h"
#include "codegen/VectorBuilder.h"

namespace tokamak::codegen {

// An array input: pointers, the number of columns, the type of its cells.
struct SparseInput {
  mlir::Value data, offsets, indices; // the latter two of sparse arrays
  mlir::Value columns;
  mlir::Type cells;
  Pattern pattern() const { return {offsets, indices}; }
};

// The arguments of the tile function.
struct SparseArguments {
  llvm::SmallVector<SparseInput> inputs;
  llvm::SmallVector<mlir::Value> outputs; // pointers, by index of the array result
  mlir::Value scalars, partials, scratch; // pointers
  mlir::Value begin, end;                 // rows
};

// Emits a constant or a size of an input. `load` emits the rows (0) or columns (1) of an input.
mlir::Value sizeValue(VectorBuilder &vectors, const Size &sizeAtLaunch,
                      llvm::function_ref<mlir::Value(int64_t input, int dimension)> load);
// The size of a root's partial aggregate in doubles, a multiple of 8.
mlir::Value sparsePartialSize(VectorBuilder &vectors, const SparseBody &body,
                              const SparseRoot &root,
                              llvm::function_ref<mlir::Value(const Size &)> valueOf);

class SparseTile {
public:
  SparseTile(const SparseBody &body, VectorBuilder &vectors, SparseArguments arguments)
      : body_(body), vectors_(vectors), arguments_(std::move(arguments)),
        schedule_(scheduleEntries(body)) {}
  // Emits at the insertion point; sets the plan's sizes of scratch memory.
  void emit(abi::KernelPlan &plan);

private:
  // Eight entries of a row.
  struct Chunk {
    mlir::Value position; // of the first, in the driver's arrays
    mlir::Value mask;     // of existing entries; null: all
    int copy = 0;         // index of the unrolled copy, which has its own full accumulators
  };
  // Eight columns of narrow values.
  struct Columns {
    mlir::Value first;
    mlir::Value mask; // of existing columns; null: all
    int number = -1;  // index of the vector if the columns are unrolled; -1 in a loop
  };
  using PerColumns = llvm::function_ref<void(const Columns &, State &)>;

  // Rows, passes, chunks.
  void emitRow(mlir::Value row, State &state);
  void emitPass(const EntryPass &pass, State &state);
  void overEntries(const EntryPass &pass, State &state,
                   llvm::function_ref<void(const Chunk &, State &)> body);
  void emitChunk(const EntryPass &pass, const Chunk &chunk, State &state, size_t passState);
  void openRowOperation(plan::ReduceOp op, State &state);
  void addToRowOperation(plan::ReduceOp op, State &state, size_t &slot);
  void closeRowOperation(plan::ReduceOp op, State &state, size_t &slot);
  // Visits the lanes of a Wide value one by one, with the column of each.
  void overLanes(mlir::Value value, State &state,
                 llvm::function_ref<void(mlir::Value lane, mlir::Value column, State &)> body);
  void addToColumns(const SparseRoot &root);
  void addOuterProduct(const SparseRoot &root);
  void finishRow(const SparseRoot &root, State &state);
  void finishNarrow(const SparseRoot &root, State &state);

  // Values.
  mlir::Value wide(mlir::Value value);
  mlir::Value wideInput(plan::ReadOp read);
  mlir::Value lookUp(plan::ReadOp read);
  // Gathers the cells of `vector`, one per column of the driver, at the chunk's columns.
  mlir::Value atColumns(const SparseInput &vector);
  // Prefetch for later chunks: fetchEntries in an array with the driver's entries, fetchCells in a
  // vector that is gathered by column.
  void fetchEntries(mlir::Value pointer, mlir::Type cells);
  bool isFollowed() const; // whether the hardware prefetches the entries by itself
  void fetchCells(const SparseInput &vector);
  mlir::Value endOfFetching(); // chunks from this position on prefetch no cells
  mlir::Value sampledProduct(plan::ReduceOp reduce);
  mlir::Value sampledRow(const SparseInput &from, mlir::Value column);
  void sampleTogether(const EntryProduct &product, State &totals);
  void sampleOneByOne(const EntryProduct &product, State &totals);
  mlir::Value perRow(mlir::Value value);
  mlir::Value narrow(mlir::Value value, const Columns &columns);
  mlir::Value narrowAggregate(plan::ReduceOp aggregate);
  Contribution contribution(mlir::Value value, AggregateKind kind,
                            llvm::function_ref<mlir::Value(mlir::Value)> valueOf);
  void emitUniformValues();
  // Emit values before the loops that use them, so that they dominate all uses.
  void preparePerRow(mlir::Value narrow);
  void prepareNarrow(mlir::Value narrow);
  void prepareSampled(const EntryProduct &product);

  // Sizes and memory.
  mlir::Value valueOf(const Size &dimension);
  bool inRegisters(mlir::Value narrow) const;
  int64_t registersOf(mlir::Value narrow) const;
  void overColumns(mlir::Value narrow, State &state, PerColumns body);
  const SparseInput &input(plan::ReadOp read) const {
    return arguments_.inputs[body_.inputIndex(read)];
  }
  const SparseInput &driver() const { return input(body_.driver()); }
  mlir::Value rowOf(plan::ReadOp matrix); // the address of the current row of a dense input
  mlir::Value outputPointer(const SparseRoot &root, mlir::Value offset);
  mlir::Type outputCells(const SparseRoot &root) const;
  mlir::Value partialPointer(const SparseRoot &root);
  mlir::Value columnIndices();    // of the chunk
  mlir::Value columnOf(int lane); // lanes beyond the last entry: the column of the last entry
  // The column of the entry `entries` after the chunk's first, in this row or a later one; clamped
  // to the last entry of the tile.
  mlir::Value columnAhead(int64_t entries);
  mlir::Value keptPointer(mlir::Value kept);
  void layOutScratch(abi::KernelPlan &plan);
  void fillLookups();
  mlir::Value hasAbsentCells(mlir::Value entries, mlir::Value rows);

  // Accumulators that live as long as the tile.
  void openState(State &state);
  void closeState(State &state);
  int copies() const;

  const SparseBody &body_;
  VectorBuilder &vectors_;
  SparseArguments arguments_;
  SparseSchedule schedule_;
  llvm::DenseMap<mlir::Value, mlir::Value> uniform_;
  llvm::DenseMap<const SparseRoot *, unsigned> slots_; // first accumulator in the state
  llvm::DenseMap<const SparseRoot *, mlir::Value> partials_;
  llvm::DenseMap<mlir::Operation *, mlir::Value> lookupBuffers_, samePattern_; // of sparse operands
  llvm::DenseMap<mlir::Value, mlir::Value> narrowBuffers_; // narrow rows that are in memory
  mlir::Value laneBuffer_;                                 // eight doubles
  mlir::Value sampledBuffer_;                              // eight vectors
  mlir::Value keptBuffers_, paddedColumns_, lastEntry_, fetchingEnd_;

  // Of the current row.
  mlir::Value row_, begin_, end_; // its index, and the range of its entries
  const EntryPass *pass_ = nullptr;
  llvm::DenseMap<mlir::Value, mlir::Value> perRow_;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> narrowRegisters_;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> sampledLeft_; // by left factor
  llvm::DenseSet<mlir::Value> narrowReady_; // values that are complete in their buffers
  // Of the current eight columns, if they are in a loop.
  llvm::DenseMap<mlir::Value, mlir::Value> narrowColumns_;
  // Of the current chunk.
  const Chunk *chunk_ = nullptr;
  mlir::Value columnIndices_;
  llvm::SmallVector<mlir::Value> laneColumns_;
  llvm::DenseMap<mlir::Value, mlir::Value> wide_;
};

} // namespace tokamak::codegen
#endif
