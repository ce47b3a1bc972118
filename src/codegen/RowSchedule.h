// In which order a row kernel computes: a block of rows is passed over several times when something
// per row must be complete before it is used across the row again, and once for each width.
//
//   E = exp(X - rowMax(X)); E / rowSum(E)
//     pass 0: rowMax(X)
//     pass 1: E, stored in scratch memory, and rowSum(E)
//     pass 2: the quotient, with E loaded from scratch memory
//   Q = P * matmul(X, V); matmul(t(X), Q), X m×n, P m×k
//     pass 0 over n: matmul(X, V)
//     pass 1 over k: Q
//     pass 2 over n: the result, from X and Q
//
// Cheap values are computed again in every pass that needs them; expensive ones are kept.
#ifndef TOKAMAK_CODEGEN_ROWSCHEDULE_H
#define TOKAMAK_CODEGEN_ROWSCHEDULE_H

#include "codegen/KernelBody.h"

namespace tokamak::codegen {

// A loop over the columns of one width, and what is done with panels that are complete after it.
struct RowPass {
  bool isWide = true;
  int64_t width = 0; // of a pass that is not wide
  llvm::SmallVector<mlir::Operation *>
      rowAggregates; // row aggregates and products with one column that are complete after it
  llvm::SmallVector<tok::MatmulOp> products;   // products with panels that are complete after it
  llvm::SmallVector<const Root *> roots;       // results over its columns
  llvm::SetVector<mlir::Value> perRowOperands; // m×1 values that its values use
  llvm::DenseSet<mlir::Value> wideInputs;      // arrays whose rows it reads
  llvm::DenseSet<mlir::Value> loaded;          // values it takes from scratch memory
  llvm::SetVector<mlir::Value> kept;           // values it leaves there
};

// Where things lie in a tile's scratch memory: first what has a constant size, in doubles from its
// begin, then lines of as many doubles as there are columns, rounded up to whole vectors. All
// begin at multiples of eight doubles.
struct ScratchLayout {
  int64_t constantDoubles = 0, lines = 0;
  llvm::DenseMap<mlir::Value, int64_t> panels; // narrow values and products: eight rows of a column
  llvm::DenseMap<mlir::Value, int64_t> wideLines; // first of eight lines of a kept wide value
  // Of results over narrow columns and of transposed products: where they are accumulated.
  llvm::DenseMap<const Root *, int64_t> accumulators, accumulatorLines;
  int64_t staging = -1; // eight vectors, where a pass over wide rows has products

  int64_t addConstant(int64_t doubles) {
    int64_t begin = constantDoubles;
    constantDoubles += (doubles + 7) / 8 * 8;
    return begin;
  }
  int64_t addLines(int64_t count) {
    int64_t first = lines;
    lines += count;
    return first;
  }
};

// Bodies with more instructions for a vector don't wait for memory.
inline constexpr int mostInstructionsForMemory = 4;
// Aggregates by columns stay in registers for up to so many columns in all, and so many
// instructions per row for each vector of them.
inline constexpr int64_t mostColumnsInRegisters = 128;
inline constexpr int mostInstructionsPerRow = 4;

struct RowSchedule {
  llvm::SmallVector<RowPass, 2> passes;
  llvm::SmallVector<const Root *> perRowRoots; // results of m×1 values, after the last pass
  llvm::SetVector<mlir::Value> panelInputs;    // narrow inputs that are read across rows
  ScratchLayout scratch;
  int wideInstructions = 0; // of all passes, for one vector
  bool hasPanels = false;   // there are narrow values or products
  bool hasLongRows = false; // more than mostNarrowColumns
  // Aggregates by columns are in registers: reading is all that memory does, so a block is one row.
  bool isInRegisters = false;

  // A pass that does nothing but aggregate wide rows, and waits for memory.
  bool onlyAggregatesRows(const RowPass &pass) const {
    return pass.isWide && pass.products.empty() && pass.roots.empty() && pass.kept.empty() &&
           wideInstructions <= mostInstructionsForMemory;
  }
  // Such a pass over long rows goes through a block row by row, in the order of memory, which the
  // hardware follows better than eight rows at a time.
  bool isRowByRow(const RowPass &pass) const { return hasLongRows && onlyAggregatesRows(pass); }
};

// What a row aggregate or row product runs over.
mlir::Value rowAggregated(mlir::Operation *op);

// A product whose result, m×n, is computed from its left operand, m×k or m×1, wherever it is
// needed; all others with more than one column are accumulated in panels.
bool isComputedInPlace(const KernelBody &body, tok::MatmulOp rowProduct);
// The latter: their cells are in memory without being kept.
bool hasProductPanel(const KernelBody &body, mlir::Value value);

// The two operands of a transposed product: one is read in vectors along its columns, every cell of
// a row of the other one multiplies them.
struct TransposedRoles {
  mlir::Value vectors, cells;
  // The result's rows are the cells' columns; else it is accumulated transposed.
  bool isNatural;
};
TransposedRoles transposedRoles(const KernelBody &body, const Root &root);

// Columns of a value over rows, if they are a constant.
std::optional<int64_t> constantWidth(const KernelBody &body, mlir::Value value);

RowSchedule scheduleRows(const KernelBody &body);

} // namespace tokamak::codegen
#endif
