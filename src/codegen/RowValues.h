// The values of a row kernel during emission: those of the current block of rows, of the current
// chunk of eight columns (wide pass) or of the current column (narrow pass). Each is emitted at its
// first use.
//
//   values.beginBlock(row, 8); values.beginPass(pass); values.beginChunk(chunk);
//   Value x = values.wide(value, 3);        // eight columns of the block's fourth row
//   values.beginColumn(column);
//   Value q = values.narrow(value);         // eight rows of the column
//
// A PerRow value is one vector with a row in each lane. A Narrow value lies in a panel: one such
// vector for each column. In a block of one row all lanes of these vectors hold that row.
#ifndef TOKAMAK_CODEGEN_ROWVALUES_H
#define TOKAMAK_CODEGEN_ROWVALUES_H

#include "codegen/CellEmission.h"
#include "codegen/KernelEmitter.h"
#include "codegen/RowSchedule.h"

namespace tokamak::codegen {

// The chunk of eight columns that is being emitted.
struct Chunk {
  mlir::Value column;                   // the first
  mlir::Value mask;                     // of existing columns; null: all
  mlir::Value count;                    // of existing columns, if known at run time only
  std::optional<int64_t> constantCount; // if a constant below 8; neither count is set: 8
  int64_t number = 0;                   // index of the chunk, if all chunks are unrolled
};

// Addresses of single cells of a row: cell i is at `pointer` + i * distance, in units of `cells`.
struct RowCells {
  mlir::Value pointer;
  int64_t distance;
  ElementType cells;
};

class RowValues {
public:
  RowValues(KernelContext &kernel, const RowSchedule &schedule);

  // To be called at the beginning of the tile, of each block, pass, chunk and column.
  void beginTile();
  void beginBlock(mlir::Value row, int rows);
  void beginPass(const RowPass &pass);
  void beginChunk(const Chunk &chunk);
  void beginColumn(mlir::Value column);

  int rows() const { return rows_; }
  mlir::Value row() const { return row_; }
  const Chunk &chunk() const { return *chunk_; }
  KernelContext &kernel() { return kernel_; }
  const RowSchedule &schedule() const { return schedule_; }

  mlir::Value perRow(mlir::Value value);
  void setPerRow(mlir::Value value, mlir::Value vector) { perRow_[value] = vector; }
  mlir::Value ofRow(mlir::Value perRowValue, int row); // the value of one row, in all lanes
  // The value as an operand of wide or of narrow values; broadcasts smaller extents.
  mlir::Value wide(mlir::Value value, int row);
  mlir::Value narrow(mlir::Value value);

  // Memory. paddedColumns: the number of columns rounded up to whole vectors.
  mlir::Value paddedColumns() const { return paddedColumns_; }
  mlir::Value inputArray(mlir::Value read) const;
  // The address of the first cell of a row of the block, in an array as wide as `value`.
  mlir::Value cellPointer(mlir::Value array, mlir::Value value, int row, ElementType cells);
  RowCells rowCells(mlir::Value value, int row);
  mlir::Value scratchPointer(int64_t doubles);
  mlir::Value scratchLine(int64_t line);
  // The address of a column of a panel, and the vector loaded from it.
  mlir::Value panelPointer(mlir::Value value, mlir::Value column);
  mlir::Value panelVector(mlir::Value value, mlir::Value column);
  // Transposes columns `first` ... `first` + count - 1 of a panel (count <= 8): one vector per row.
  State rowsOfPanel(mlir::Value value, mlir::Value first, int64_t count);
  // Transposes the rows' vectors along eight columns to eight vectors across rows, one per column.
  State acrossRows(llvm::ArrayRef<mlir::Value> rows);

  // Loops over columns 0 ... count - 1, unrolled by `unrolling`; `copy` is the index of the
  // unrolled copy.
  using ColumnBody = llvm::function_ref<void(mlir::Value column, int64_t copy, State &state)>;
  void forEachColumn(int64_t count, int64_t unrolling, State &state, ColumnBody body);
  // The same without state, unrolled if there are few columns; for bodies of a few instructions.
  void forEachColumn(int64_t count, llvm::function_ref<void(mlir::Value column)> body);

private:
  void loadPanels();
  void prefetchPanel(mlir::Value input);
  void prefetch(mlir::Value input, int row);
  mlir::Value wideValue(mlir::Value value, int row);
  mlir::Value narrowValue(mlir::Value value);
  mlir::Value shared(mlir::Value value);
  mlir::Value sharedNarrow(mlir::Value value);
  void emitInPlace(plan::ReduceOp product);
  mlir::Value wideLine(mlir::Value value, int row);

  KernelContext &kernel_;
  const KernelBody &body_;
  VectorBuilder &vectors_;
  const RowSchedule &schedule_;
  llvm::SmallVector<mlir::Value> rowDistance_; // i * columns
  mlir::Value paddedColumns_, scratchLines_;
  mlir::Value prefetches_, prefetchDistance_; // whether to prefetch blocks; how many cells ahead

  // Of the current block.
  int rows_ = 1;
  mlir::Value row_;
  const RowPass *pass_ = nullptr;
  llvm::DenseMap<mlir::Value, mlir::Value> perRow_, rowPointers_;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> ofRow_, cellPointers_;
  // Of the current chunk or column.
  const Chunk *chunk_ = nullptr;
  mlir::Value column_;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> wide_;
  llvm::DenseMap<mlir::Value, mlir::Value> narrow_, shared_;
};

} // namespace tokamak::codegen
#endif
