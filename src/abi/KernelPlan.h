// Everything the runtime needs to launch a generated kernel: its iteration space, its outputs, and
// how partial results merge. Plain data, so that an image can be written to a file; the machine
// code is bound by name.
//
// The iteration space has rows and columns; rows are the places that tiles are cut from, columns what
// is computed for each of them. Tiles are ranges of rows. Their boundaries depend on the extents
// alone and are multiples of 8; the last tile ends at the extent. A launch has at least one tile,
// possibly empty (no rows), so that partials are always initialised.
//
// A kernel with a driver (a sparse input) iterates over the entries of that input alone: its tiles
// are ranges of the driver's rows with about equally many entries; their boundaries depend on its
// row offsets alone and need not be multiples of 8.
//
// Aggregates of floats are partials of doubles; those of integers and booleans are 64-bit integers
// in the place of doubles.
//
// Partials of a tile: one range of doubles for every output that is not Kind::Array (a scalar is
// one double), in result order. Each range is rounded up to a multiple of 8 doubles
// (partialDoubles). The buffer is 64-byte aligned. The kernel writes all of it, including the
// padding; after the merges the first doubles of each range are the result.
//
//   KernelPlan plan;                                 // of sum(X), X an m x n matrix of doubles
//   plan.name = "cell_sum_1";
//   plan.extents[0] = cellsOfInput(0);
//   plan.extents[1] = Size::constant(1);
//   plan.inputs = {KernelInput{}};
//   plan.outputs = {KernelOutput{KernelOutput::Kind::PartialScalar}};
//
// The partials of outputs Array m x 1, PartialScalar and PartialArray 10 x 1 are 24 doubles: [0]
// holds the scalar, [8] to [17] hold the array, and the others are padding.
#ifndef TOKAMAK_ABI_KERNELPLAN_H
#define TOKAMAK_ABI_KERNELPLAN_H

#include "abi/Kernel.h"
#include "base/ElementType.h"
#include "base/Prediction.h"
#include "base/Size.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::abi {

static_assert(static_cast<int>(ElementType::BF16) == TOK_BF16 &&
              static_cast<int>(ElementType::I64) == TOK_I64 &&
              static_cast<int>(ElementType::U64) == TOK_U64 &&
              static_cast<int>(ElementType::Bool) == TOK_BOOL);

// Sizes of outputs and of the iteration space are functions of the sizes of the launch's array
// inputs: symbol 8*i + d is dimension d of input i.
inline constexpr int64_t mostDimensions = 8;
inline Size sizeOfInput(int64_t input, int64_t dimension) {
  return Size::symbol(mostDimensions * input + dimension);
}
// Of an input that is a matrix.
inline Size rowsOfInput(int64_t input) { return sizeOfInput(input, 0); }
inline Size columnsOfInput(int64_t input) { return sizeOfInput(input, 1); }
inline Size cellsOfInput(int64_t input) { return rowsOfInput(input) * columnsOfInput(input); }

// A result of the kernel: where the kernel writes it, and its sizes.
struct KernelOutput {
  enum class Kind : uint8_t {
    Array,         // written by tiles: TokArguments::outputs
    PartialArray,  // an aggregate merged over tiles: its cells are doubles in the partials
    PartialScalar, // one double in the partials; its type is F64 or I64
  };
  Kind kind = Kind::Array;
  std::vector<Size> sizes = {}; // of an array, one for each dimension
  ElementType elementType = ElementType::F64;
  bool isInteger = false; // its partials are 64-bit integers
  // Kind::Array only. TOK_CSR: the result shares the rows, columns and entries of the driver and
  // has its own values.
  TokLayout layout = TOK_DENSE;
};

// The type and layout in which a kernel expects an array input; the launch converts others.
struct KernelInput {
  ElementType elementType = ElementType::F64;
  TokLayout layout = TOK_DENSE;
  // sparse: all inputs with this flag are passed with the same pattern, the union of their entries,
  // with zeros filled in. The driver, if there are such inputs, is one of them.
  bool united = false;
};

struct KernelPlan {
  std::string name; // unique symbol, also what debuggers and --stats show
  // Rows and columns of the iteration space.
  Size extents[2] = {Size::constant(0), Size::constant(0)};
  std::vector<KernelInput> inputs;   // one per array input; missing ones: dense doubles
  std::vector<bool> integerScalars;  // per scalar input: passed as an int64_t; missing ones: not
  int32_t driver = -1;               // the sparse input whose entries are iterated over; -1: none
  std::vector<KernelOutput> outputs; // in result order
  int64_t tileBytesPerStep = 8;      // bytes touched per row and column: sets the tile size
  // Rows that share what a tile copies before it computes them: so many are in a tile, or fewer if
  // there would be few tiles.
  int64_t rowsPerCopy = 1;
  std::vector<Size> scratchSizes; // in doubles, each rounded up to a multiple of 8
  // What kernels find in TokArguments::sizes; also distances between cells, which may be negative.
  std::vector<Size> sizes;
  Prediction prediction;
  TokKernel kernel = nullptr;
  TokMerge merge = nullptr;   // null when no output is partial
  std::shared_ptr<void> code; // keeps the machine code alive
};

// The doubles that an aggregate of this many cells occupies in the partials.
inline int64_t partialDoubles(int64_t cells) { return (cells + 7) / 8 * 8; }

} // namespace tokamak::abi
#endif
