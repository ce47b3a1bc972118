// The interface of generated kernels to the code that launches them: versioned, plain C structs.
//
// A kernel is a pure function over a tile of its iteration space. It reads arrays and scalars from
// `Arguments`, writes the cells of its outputs that belong to the tile, and leaves partial
// aggregates in the workspace:
//
//   TokTile tile = {0, 65536, 0};
//   TokWorkspace workspace = {scratch, partials, -1};
//   int32_t status = kernel(&arguments, &tile, &workspace);   // 0 = success
//
// Kernels and the functions they call never throw. If the status is not zero,
// `workspace.failingCell` is the cell that failed.
#ifndef TOKAMAK_ABI_KERNEL_H
#define TOKAMAK_ABI_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOK_ABI_VERSION 7u

// TOK_F16 is IEEE 754 binary16, TOK_BF16 the upper half of an f32; a TOK_BOOL is a byte, 0 or 1.
enum TokElementType {
  TOK_F64,
  TOK_F32,
  TOK_F16,
  TOK_BF16,
  TOK_I8,
  TOK_I16,
  TOK_I32,
  TOK_I64,
  TOK_U8,
  TOK_U16,
  TOK_U32,
  TOK_U64,
  TOK_BOOL
};
enum TokLayout { TOK_DENSE = 0, TOK_CSR = 1 };

// An array as a kernel sees it. Dense: contiguous, row-major. CSR (compressed sparse rows): the
// entries of row r are data[p] in column columnIndices[p], counted from 0 and ascending, for
// rowOffsets[r] <= p < rowOffsets[r + 1]; rowOffsets[0] need not be 0. Of arrays of more dimensions
// all but the last are rows.
typedef struct TokArray {
  void *data;
  int64_t dims[2];        // rows, columns
  uint8_t elementType;    // TokElementType
  uint8_t layout;         // TokLayout
  uint8_t bypassesCaches; // of results: 1 if they don't fit the caches, so that whole vectors are
                          // best written to memory at once. Changes no cell
  const int64_t *rowOffsets;    // CSR: rows + 1 of them; else null
  const int32_t *columnIndices; // CSR; else null
} TokArray;

typedef struct TokArguments {
  uint32_t version;       // TOK_ABI_VERSION
  const TokArray *inputs; // matrix inputs in the order of the plan operator's tensor operands
  const double *scalars;  // scalar inputs in the order of its scalar operands, converted to f64;
                          // those that the plan says are integers hold the bits of an int64_t
  TokArray *outputs;      // matrix outputs (not aggregated over tiles) in result order
  const int64_t *sizes;   // the values of the plan's sizes
} TokArguments;

// A half-open range of what the plan cuts tiles from: rows, cells or places.
typedef struct TokTile {
  int64_t begin, end;
  int64_t index; // this tile's number in the fixed order of tiles
} TokTile;

typedef struct TokWorkspace {
  double *scratch;     // at least the plan's scratch doubles, 64-byte aligned, contents undefined
  double *partials;    // this tile's partial aggregates; the kernel initialises and fills them.
                       // Those of integers hold the bits of an int64_t
  int64_t failingCell; // set when the status is not 0
} TokWorkspace;

typedef int32_t (*TokKernel)(const TokArguments *, const TokTile *, TokWorkspace *);

// Merges the partial aggregates of a later tile into those of an earlier one: into = into (+) from.
// `arguments` are those of the launch.
typedef void (*TokMerge)(const TokArguments *arguments, double *into, const double *from);

#ifdef __cplusplus
}
#endif
#endif
