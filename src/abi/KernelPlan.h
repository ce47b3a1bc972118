// Everything the runtime must know to launch a generated kernel: the iteration space, what comes
// out, and how partial results merge. Plain data, so that an image can be written to a file; the
// code is bound by name.
//
// Cell kernels iterate over cells (extents {cells,1,1}) or, with vectors among the inputs, over
// rows x columns; Row kernels over rows. Tiles are ranges of the first extent; their boundaries
// depend on the extents alone and are multiples of 8 (rows or cells; the last tile ends where the
// extent ends). A launch has at least one tile, which may be empty (no rows, no cells), so that
// partials are always initialised.
//
// Dense arrays are contiguous and row-major: kernels never read TokArray::strides. A kernel with a
// driver iterates over the entries of that CSR input alone: tiles are ranges of its rows with about
// equally many entries (boundaries depend on its row offsets alone, and need not be multiples
// of 8).
//
// Partials and scalars are doubles whatever the element type of the arrays.
//
// Partials of a tile: for every output that is not Kind::Array, in result order, its doubles (a
// scalar is one), each rounded up to a multiple of 8 doubles, one after the other; partialDoubles()
// adds them up. The buffer is 64-byte aligned. The kernel writes all of it, the padding too; after
// the merges the result is the first doubles of its range.
//
//   KernelPlan plan;                                       // of sum(X), X an m x n matrix of doubles
//   plan.name = "cell_sum_1";
//   plan.extents[0] = {SizeExpression::Kind::InputCells, 0};
//   plan.extents[1] = {SizeExpression::Kind::Constant, 1};
//   plan.inputs = {KernelInput{}};
//   plan.outputs = {KernelOutput{KernelOutput::Kind::PartialScalar}};
//
//   outputs Array m x 1, PartialScalar, PartialArray 10 x 1: partials of 24 doubles, of which
//   [0] holds the scalar, [8] to [17] hold the array, and the others are padding
#ifndef TOKAMAK_ABI_KERNELPLAN_H
#define TOKAMAK_ABI_KERNELPLAN_H

#include "abi/Kernel.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::abi {

// A size of an output or the iteration space in terms of the launch's inputs.
struct SizeExpression {
  enum class Kind : uint8_t { Constant, InputRows, InputColumns, InputCells };
  Kind kind = Kind::Constant;
  int64_t value = 0; // the constant, or the index of the input array
};

// Where a result comes from.
struct KernelOutput {
  enum class Kind : uint8_t {
    Array,         // written by tiles: TokArguments::outputs, rows x columns
    PartialArray,  // an aggregate merged over tiles: rows x columns doubles in the partials
    PartialScalar, // one double in the partials
  };
  Kind kind = Kind::Array;
  SizeExpression rows, columns; // arrays only
  TokElementType elementType = TOK_F64;
  // Kind::Array: TOK_CSR has the rows, columns and entries of the driver and values of its own.
  TokLayout layout = TOK_DENSE;
  // Arrays of more than two dimensions: all but the last are those of this input. -1: a matrix.
  int32_t outerDimensionsOf = -1;
};

// What a kernel expects of an array input; the launch converts what is different.
struct KernelInput {
  TokElementType elementType = TOK_F64;
  TokLayout layout = TOK_DENSE;
  // CSR: all inputs marked so are given the same entries, those that any of them has, with zeros
  // filled in. The driver is one of them if there are any.
  bool united = false;
};

// An input that must have a certain size, checked before the launch. Plans bind sizes by class, so
// this only guards against bugs: a violation is an internal error.
struct KernelPlan {
  std::string name; // unique symbol, also what debuggers and --stats show
  SizeExpression
      extents[2]; // rows, columns of the iteration space (columns constant 1 for flat Cell kernels)
  std::vector<KernelInput> inputs;   // of the array inputs, in order; missing ones: dense doubles
  int32_t driver = -1;               // the CSR input whose entries are iterated over; -1: none
  std::vector<KernelOutput> outputs; // in result order
  int64_t tileBytesPerStep =
      8; // bytes touched per unit of the first extent and column: sets the tile size
  // Scratch = scratchDoublesPerColumn * columns + scratchDoubles + scratchSizes, each rounded up to
  // a multiple of 8.
  int64_t scratchDoublesPerColumn = 0;
  int64_t scratchDoubles = 0;
  std::vector<SizeExpression> scratchSizes;
  double predictedNanoseconds = 0; // at the sizes the plan was made for
  TokKernel kernel = nullptr;
  TokMerge merge = nullptr;   // null when no output is partial
  std::shared_ptr<void> code; // keeps the machine code alive
};

// Doubles that an aggregate of this many cells takes in the partials.
inline int64_t partialDoubles(int64_t cells) { return (cells + 7) / 8 * 8; }

} // namespace tokamak::abi
#endif
