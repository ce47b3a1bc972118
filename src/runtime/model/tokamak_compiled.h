// Values of programs that Tokamak compiled ahead of time. The header of a compiled program begins with this text, and so may
// those of several programs that one file includes.
//
//   double cells[] = {1, 2, 3, 4, 5, 6};
//   const tokamak_matrix X = {2, 3, cells, NULL, NULL, 0, NULL};     // 2 rows of 3 columns
#ifndef TOKAMAK_COMPILED_H
#define TOKAMAK_COMPILED_H

#include <stddef.h>
#include <stdint.h>

// What functions return. The text of an error is that of the context.
enum {
  TOKAMAK_CALL_SUCCEEDED = 0,
  TOKAMAK_CALL_FAILED = 1,   // while the program ran
  TOKAMAK_CALL_REJECTED = 2, // an argument is wrong: nothing ran
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

#endif
