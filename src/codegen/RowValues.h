// Values of a row kernel in emission: of the block of rows, of the eight columns of a wide pass, of
// the column of a narrow pass. Each is emitted where it is first asked for.
//
//   values.beginBlock(row, 8); values.beginPass(pass); values.beginChunk(chunk);
//   Value x = values.wide(value, 3);        // eight columns of the block's fourth row
//   values.beginColumn(column);
//   Value q = values.narrow(value);         // eight rows of the column
//
// A value per row is one vector, a row in each lane. A narrow value lies in a panel: for each
// column one such vector. In a block of one row all lanes of these vectors are the same.
#ifndef TOKAMAK_CODEGEN_ROWVALUES_H
#define TOKAMAK_CODEGEN_ROWVALUES_H

#include "codegen/CellEmission.h"
#include "codegen/KernelEmitter.h"
#include "codegen/RowSchedule.h"

namespace tokamak::codegen {

// Eight columns in emission.
struct Chunk {
  mlir::Value column;
  mlir::Value mask;                     // null: all
  mlir::Value count;                    // of columns that are there, where it is not a constant
  std::optional<int64_t> constantCount; // a constant below eight; neither: eight
  int64_t number = 0;                   // where all are unrolled
};

// A row's cells one by one: cell i is at `pointer` + i * distance, in cells of `type`.
struct RowCells {
  mlir::Value pointer;
  int64_t distance;
  mlir::Type type;
};

class RowValues {
public:
  RowValues(KernelContext &kernel, const RowSchedule &schedule);

  // To be called at the beginning of the tile.
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
  mlir::Value ofRow(mlir::Value perRowValue, int row); // one row's value in all lanes
  // The operand of a wide or narrow value, of any extent.
  mlir::Value wide(mlir::Value value, int row);
  mlir::Value narrow(mlir::Value value);
  // The chunk's part of an input that is a vector along the columns, 1×n or n×1.
  mlir::Value alongColumns(mlir::Value input);
  // Cell `column` of such an input in all lanes.
  mlir::Value alongColumns(mlir::Value input, mlir::Value column);

  // Memory. Columns padded to whole vectors.
  mlir::Value paddedColumns() const { return paddedColumns_; }
  mlir::Value inputArray(mlir::Value value) const;
  // Of an array as wide as `value`: the first cell of a row of the block.
  mlir::Value cellPointer(mlir::Value array, mlir::Value value, int row, mlir::Type cells);
  RowCells rowCells(mlir::Value value, int row);
  mlir::Value scratchPointer(int64_t doubles);
  mlir::Value scratchLine(int64_t line);
  // Column of a panel, and the vector there.
  mlir::Value panelPointer(mlir::Value value, mlir::Value column);
  mlir::Value panelVector(mlir::Value value, mlir::Value column);
  // Rows of columns `first` ... `first` + count of a panel (count <= 8), one vector each.
  State rowsOfPanel(mlir::Value value, mlir::Value first, int64_t count);
  // Eight vectors along columns, a row each, to vectors across rows, a column each.
  State acrossRows(llvm::ArrayRef<mlir::Value> rows);

  // Columns 0 ... count - 1, `unrolling` of them in a loop's body; `copy` is the number in it.
  using ColumnBody = llvm::function_ref<void(mlir::Value column, int64_t copy, State &state)>;
  void forEachColumn(int64_t count, int64_t unrolling, State &state, ColumnBody body);
  // The same without state, unrolled where the columns are few; for bodies of some instructions.
  void forEachColumn(int64_t count, llvm::function_ref<void(mlir::Value column)> body);

  mlir::Type cellsOf(mlir::Value value) { return cellType(vectors_, value.getType()); }

private:
  void loadPanels();
  void prefetchPanel(mlir::Value input);
  void prefetch(mlir::Value input, int row);
  mlir::Value wideValue(mlir::Value value, int row);
  mlir::Value narrowValue(mlir::Value value);
  mlir::Value shared(mlir::Value value);
  mlir::Value sharedNarrow(mlir::Value value);
  void emitInPlace(tok::MatmulOp product);
  mlir::Value wideLine(mlir::Value value, int row);

  KernelContext &kernel_;
  const KernelBody &body_;
  VectorBuilder &vectors_;
  const RowSchedule &schedule_;
  llvm::SmallVector<mlir::Value> rowDistance_; // i * columns
  mlir::Value paddedColumns_, scratchLines_;
  mlir::Value prefetches_, prefetchDistance_; // in loops over columns

  // Of the block in emission.
  int rows_ = 1;
  mlir::Value row_;
  const RowPass *pass_ = nullptr;
  llvm::DenseMap<mlir::Value, mlir::Value> perRow_, rowPointers_;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> ofRow_, cellPointers_;
  // Of the chunk or column in emission.
  const Chunk *chunk_ = nullptr;
  mlir::Value column_;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> wide_;
  llvm::DenseMap<mlir::Value, mlir::Value> narrow_, shared_;
};

} // namespace tokamak::codegen
#endif
