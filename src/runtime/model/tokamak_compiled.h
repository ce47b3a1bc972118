// Values of programs that Tokamak compiled ahead of time. The header of a compiled program begins with this text, and so may
// those of several programs that one file includes.
//
//   double cells[] = {1, 2, 3, 4, 5, 6};
//   const tokamak_matrix X = {2, 3, cells, NULL, NULL, 0, NULL};     // 2 rows of 3 columns
//   float pixels[64] = {0};
//   const tokamak_tensor picture = {TOKAMAK_F32, 4, {1, 1, 8, 8}, pixels, NULL, NULL, 0, NULL};
#ifndef TOKAMAK_COMPILED_H
#define TOKAMAK_COMPILED_H

#include <stddef.h>
#include <stdint.h>

// What functions return. The text of an error is that of the context.
enum {
  TOKAMAK_CALL_SUCCEEDED = 0,
  TOKAMAK_CALL_FAILED = 1, // while the program ran
  TOKAMAK_CALL_REJECTED =
      2, // an argument is wrong, or the processor lacks what the code needs: nothing ran
  TOKAMAK_CALL_INTERNAL = 70 // a bug of Tokamak
};

// A matrix of doubles: all of its cells, row by row, or, if `offsets` is not NULL, its entries only (compressed sparse
// rows): those of row r are cells[p] in column indices[p], for offsets[r] <= p < offsets[r + 1], with ascending columns
// that count from 0; the first offset is 0. Without entries, `cells` and `indices` may be NULL.
//
// Arguments are read during the call, not changed and not kept. A result is written to the caller's memory, if `cells` is
// not NULL: `capacity` says for how many cells there is room; if that is too little, the call fails and `rows` and
// `columns` say what it takes. If `cells` is NULL, they get memory that belongs to the caller, who gives it back with the
// program's function ..._matrix_free. So begin with {0}. The caller's memory for a result may be that of an argument, and
// is then changed; that of another result may not. All results are written or, if the call fails, none.
typedef struct tokamak_matrix {
  int64_t rows, columns;
  double *cells;
  const int64_t *offsets; // NULL: dense, as results are
  const int32_t *indices;
  int64_t capacity; // of the caller's memory for a result, in cells
  void *memory;     // of a result that isn't the caller's
} tokamak_matrix;

// Also in tokamak.h.
#ifndef TOKAMAK_TYPES
#define TOKAMAK_TYPES
typedef enum tokamak_type {
  TOKAMAK_F64,
  TOKAMAK_F32,
  TOKAMAK_F16,  // IEEE 754 binary16
  TOKAMAK_BF16, // the upper half of an F32
  TOKAMAK_I8,
  TOKAMAK_I16,
  TOKAMAK_I32,
  TOKAMAK_I64,
  TOKAMAK_U8,
  TOKAMAK_U16,
  TOKAMAK_U32,
  TOKAMAK_U64,
  TOKAMAK_BOOL // a byte, 0 or 1
} tokamak_type;

#define TOKAMAK_MOST_DIMENSIONS 8
#endif

// An array of any type and of 0 to 8 dimensions, for what is no matrix of doubles. `cells` are in row-major order: the last index
// changes most quickly. What is said above of matrices holds for it, too; but `capacity` counts bytes. An argument has the
// type and the rank that the function's comment names; of a result both are written. Sparse are only those of two
// dimensions with cells of F64 or F32.
typedef struct tokamak_tensor {
  tokamak_type type;
  int32_t rank;
  int64_t sizes[TOKAMAK_MOST_DIMENSIONS]; // the first `rank` of them
  void *cells;
  const int64_t *offsets; // NULL: dense, as results are
  const int32_t *indices;
  int64_t capacity; // of the caller's memory for a result, in bytes
  void *memory;     // of a result that isn't the caller's
} tokamak_tensor;

#endif
