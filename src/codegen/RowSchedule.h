// The order in which a row kernel computes: the passes over the columns of a block of rows. A value
// per row must be complete before a later pass can use it across the row; and each width needs a
// pass of its own.
//
//   RowSchedule schedule = scheduleRows(body);
//
// The passes of two operators, in DML:
//
//   E = exp(X - rowMax(X)); E / rowSum(E)
//     pass 0: rowMax(X)
//     pass 1: E, stored in scratch memory, and rowSum(E)
//     pass 2: the quotient, with E loaded from scratch memory
//   Q = P * matmul(X, V); matmul(t(X), Q), with X m×n, P m×k
//     pass 0 over n: matmul(X, V)
//     pass 1 over k: Q
//     pass 2 over n: the result, from X and Q
//
// Cheap values are recomputed in every pass that uses them; expensive ones
// are kept in scratch memory.
#ifndef TOKAMAK_CODEGEN_ROWSCHEDULE_H
#define TOKAMAK_CODEGEN_ROWSCHEDULE_H

#include "codegen/KernelBody.h"

namespace tokamak::codegen {

// A loop over the columns of one width, followed by the operations on panels that it completes.
struct RowPass {
  bool isWide = true;
  int64_t width = 0; // if not isWide
  llvm::SmallVector<plan::ReduceOp>
      rowAggregates; // aggregates of rows, to one value each, that the pass completes
  llvm::SmallVector<plan::ReduceOp> products;  // products with panels that the pass completes
  llvm::SmallVector<const Root *> roots;       // results over the pass's columns
  llvm::SetVector<mlir::Value> perRowOperands; // m×1 values that the pass uses
  llvm::DenseSet<mlir::Value> wideInputs;      // arrays whose rows the pass reads
  llvm::DenseSet<mlir::Value> loaded;          // values loaded from scratch memory
  llvm::SetVector<mlir::Value> kept;           // values stored to scratch memory for later passes
};

// The layout of a tile's scratch memory: first the buffers of constant size, at offsets in doubles,
// then lines, each of as many doubles as there are columns, rounded up to whole vectors. All
// buffers begin at multiples of eight doubles.
struct ScratchLayout {
  int64_t constantDoubles = 0, lines = 0;
  llvm::DenseMap<mlir::Value, int64_t> panels; // of narrow values and products: 8 doubles a column
  llvm::DenseMap<mlir::Value, int64_t> wideLines; // first of eight lines of a kept wide value
  // Accumulators of results over narrow columns and of transposed products: offset or first line.
  llvm::DenseMap<const Root *, int64_t> accumulators, accumulatorLines;
  int64_t staging = -1; // eight vectors, for products in passes over wide rows; -1: none

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

// The order in which sums add up depends on these, so they are the same on every machine.
// Bodies with more instructions per vector are not limited by memory.
inline constexpr int mostInstructionsForMemory = 4;
// Column aggregates stay in registers if they have at most abi::mostColumnsInRegisters columns in all,
// and if the row takes at most this many scalar instructions for each vector of columns.
inline constexpr int mostInstructionsPerRow = 4;

struct RowSchedule {
  llvm::SmallVector<RowPass, 2> passes;
  llvm::SmallVector<const Root *> perRowRoots; // results of m×1 values, after the last pass
  llvm::SetVector<mlir::Value> panelInputs;    // narrow inputs that are read across rows
  ScratchLayout scratch;
  int wideInstructions = 0; // for one vector, summed over all passes
  bool hasPanels = false;   // there are narrow values or products
  bool hasLongRows = false; // rows have more than mostNarrowColumns cells
  // Column aggregates stay in registers. Then memory is only read, and blocks have one row.
  bool isInRegisters = false;

  // True for a pass that only aggregates wide rows and is limited by memory.
  bool onlyAggregatesRows(const RowPass &pass) const {
    return pass.isWide && pass.products.empty() && pass.roots.empty() && pass.kept.empty() &&
           wideInstructions <= mostInstructionsForMemory;
  }
  // Such a pass over long rows processes a block row by row, in the order of memory: the hardware
  // prefetcher follows one stream better than eight.
  bool isRowByRow(const RowPass &pass) const { return hasLongRows && onlyAggregatesRows(pass); }
};

// The operand whose rows an aggregate or product aggregates.
mlir::Value rowAggregated(const KernelBody &body, plan::ReduceOp op);

// True for products that are computed chunk by chunk where they are used, from a left operand m×k.
// All others are accumulated in panels.
bool isComputedInPlace(const KernelBody &body, plan::ReduceOp product);
// The product of rows that computes the value; null for all other values.
plan::ReduceOp productDefining(const KernelBody &body, mlir::Value value);
// True for a product with a panel: its cells are in memory without being kept.
bool hasProductPanel(const KernelBody &body, mlir::Value value);

// The roles of the operands of a transposed product: `vectors`, the wider one, is read in vectors
// along its columns, which are multiplied by each cell of the same row of `cells`.
struct TransposedRoles {
  mlir::Value vectors, cells;
  // The result's rows are the columns of `cells`; if false, the result is accumulated transposed.
  bool isNatural;
};
TransposedRoles transposedRoles(const KernelBody &body, const Root &root);

// The number of columns of a value, if it is constant.
std::optional<int64_t> constantWidth(const KernelBody &body, mlir::Value value);

RowSchedule scheduleRows(const KernelBody &body);

} // namespace tokamak::codegen
#endif
