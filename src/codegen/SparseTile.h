// The tile function of a kernel with a driver, in emission (SparseEmitter.h says what it does).
// SparseTile.cpp has the loops and results, SparseValues.cpp the values, SparseMemory.cpp sizes and
// addresses.
#ifndef TOKAMAK_CODEGEN_SPARSETILE_H
#define TOKAMAK_CODEGEN_SPARSETILE_H

#include "codegen/Aggregation.h"
#include "codegen/EntryAccess.h"
#include "codegen/SparseSchedule.h"
#include "codegen/VectorBuilder.h"

namespace tokamak::codegen {

// An array input: pointers, the number of columns, the type of its cells.
struct SparseInput {
  mlir::Value data, offsets, indices; // the latter two of CSR arrays
  mlir::Value columns;
  mlir::Type cells;
  Pattern pattern() const { return {offsets, indices}; }
};

// The arguments of the tile function.
struct SparseArguments {
  llvm::SmallVector<SparseInput> inputs;
  llvm::SmallVector<mlir::Value> outputs; // pointers, by number of the array result
  mlir::Value scalars, partials, scratch; // pointers
  mlir::Value begin, end;                 // rows
};

// A size of the operator as a value: `load` gives rows (0) or columns (1) of an input.
mlir::Value sizeValue(VectorBuilder &vectors, const abi::SizeExpression &size,
                      llvm::function_ref<mlir::Value(int64_t input, int dimension)> load);
// Doubles that a root's aggregate takes in the partials, a multiple of 8.
mlir::Value sparsePartialSize(VectorBuilder &vectors, const SparseBody &body,
                              const SparseRoot &root,
                              llvm::function_ref<mlir::Value(tok::Dimension)> valueOf);

class SparseTile {
public:
  SparseTile(const SparseBody &body, VectorBuilder &vectors, SparseArguments arguments)
      : body_(body), vectors_(vectors), arguments_(std::move(arguments)),
        schedule_(scheduleEntries(body)) {}
  // Emits at the insertion point; fills what the plan says of scratch memory.
  void emit(abi::KernelPlan &plan);

private:
  // Eight entries in emission; masked where they are not all there.
  struct Chunk {
    mlir::Value position;
    mlir::Value mask; // null: all
    int copy = 0;     // number of the accumulators of full aggregates
  };
  // Eight columns of narrow values.
  struct Columns {
    mlir::Value first;
    mlir::Value mask; // null: all
    int number = -1;  // if there is no loop
  };
  using PerColumns = llvm::function_ref<void(const Columns &, State &)>;

  // Rows, passes, chunks.
  void emitRow(mlir::Value row, State &state);
  void emitPass(const EntryPass &pass, State &state);
  void overEntries(const EntryPass &pass, State &state,
                   llvm::function_ref<void(const Chunk &, State &)> body);
  void emitChunk(const EntryPass &pass, const Chunk &chunk, State &state, size_t passState);
  void openRowOperation(mlir::Operation *op, State &state);
  void addToRowOperation(mlir::Operation *op, State &state, size_t &slot);
  void closeRowOperation(mlir::Operation *op, State &state, size_t &slot);
  // The lanes of a Wide value one by one, with the column of each.
  void overLanes(mlir::Value value, State &state,
                 llvm::function_ref<void(mlir::Value lane, mlir::Value column, State &)> body);
  void addToColumns(const SparseRoot &root);
  void addOuterProduct(const SparseRoot &root);
  void finishRow(const SparseRoot &root, State &state);
  void finishNarrow(const SparseRoot &root, State &state);

  // Values.
  mlir::Value wide(mlir::Value value);
  mlir::Value wideInput(mlir::BlockArgument input);
  mlir::Value lookUp(mlir::BlockArgument input);
  // The cells of a vector, one per column of the driver, at the chunk's columns.
  mlir::Value atColumns(const SparseInput &vector);
  // Prefetch what later chunks read: of an array with the driver's entries, of a vector at columns.
  void fetchEntries(mlir::Value pointer, mlir::Type cells);
  bool isFollowed() const; // by the hardware, which fetches entries itself
  void fetchCells(const SparseInput &vector);
  mlir::Value endOfFetching(); // entries from there on fetch no cells
  mlir::Value sampledProduct(tok::MatmulOp product);
  mlir::Value sampledRow(const SparseInput &from, mlir::Value column);
  void sampleTogether(tok::MatmulOp product, const SparseInput &from, State &totals);
  void sampleOneByOne(tok::MatmulOp product, const SparseInput &from, State &totals);
  mlir::Value perRow(mlir::Value value);
  mlir::Value narrow(mlir::Value value, const Columns &columns);
  mlir::Value narrowAggregate(tok::AggregateOp aggregate);
  Contribution contribution(mlir::Value value, mlir::Value factor, AggregateKind kind,
                            llvm::function_ref<mlir::Value(mlir::Value)> valueOf);
  void emitUniformValues();
  // What loops over columns use of the row must stand before them.
  void preparePerRow(mlir::Value narrow);
  void prepareNarrow(mlir::Value narrow);
  void prepareSampled(tok::MatmulOp product);

  // Sizes and memory.
  mlir::Value valueOf(tok::Dimension dimension);
  bool inRegisters(mlir::Value narrow) const;
  int64_t registersOf(mlir::Value narrow) const;
  void overColumns(mlir::Value narrow, State &state, PerColumns body);
  const SparseInput &input(mlir::Value value) const {
    return arguments_.inputs[body_.arrayIndex(mlir::cast<mlir::BlockArgument>(value))];
  }
  const SparseInput &driver() const { return input(body_.driver()); }
  mlir::Value rowOf(mlir::Value matrix); // where the row of a dense input begins
  mlir::Value outputPointer(const SparseRoot &root, mlir::Value offset);
  mlir::Type outputCells(const SparseRoot &root) const;
  mlir::Value partialPointer(const SparseRoot &root);
  mlir::Value columnIndices();    // of the chunk
  mlir::Value columnOf(int lane); // of the chunk; beyond the last entry that of the last one
  // Of the entry so many after the chunk's first, of this row or a later one of the tile.
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
  llvm::DenseMap<mlir::Value, mlir::Value> lookupBuffers_, samePattern_; // of CSR operands
  llvm::DenseMap<mlir::Value, mlir::Value> narrowBuffers_; // narrow rows that are in memory
  mlir::Value laneBuffer_;                                 // eight doubles
  mlir::Value sampledBuffer_;                              // eight vectors
  mlir::Value keptBuffers_, paddedColumns_, lastEntry_, fetchingEnd_;

  // Of the row in emission.
  mlir::Value row_, begin_, end_; // its entries
  const EntryPass *pass_ = nullptr;
  llvm::DenseMap<mlir::Value, mlir::Value> perRow_;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> narrowRegisters_;
  llvm::DenseMap<std::pair<mlir::Operation *, int>, mlir::Value> sampledLeft_;
  llvm::DenseSet<mlir::Value> narrowReady_; // values that are in their buffers
  // Of the eight columns in emission, where there is a loop over them.
  llvm::DenseMap<mlir::Value, mlir::Value> narrowColumns_;
  // Of the chunk in emission.
  const Chunk *chunk_ = nullptr;
  mlir::Value columnIndices_;
  llvm::SmallVector<mlir::Value> laneColumns_;
  llvm::DenseMap<mlir::Value, mlir::Value> wide_;
};

} // namespace tokamak::codegen
#endif
