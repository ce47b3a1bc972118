// Matrices of those who call a compiled model, as arrays of the runtime and back.
//
//   tokamak_matrix given = {.rows = 2, .columns = 2, .cells = cells}, result = {};
//   ArrayReference array = arrayOverCaller(given);     // the same cells, not copied
//   giveArray(array, result);                          // result.cells[3] == cells[3]
//   releaseArray(result);
#ifndef TOKAMAK_RUNTIME_MODEL_CALLERARRAYS_H
#define TOKAMAK_RUNTIME_MODEL_CALLERARRAYS_H

#include "runtime/model/tokamak_compiled.h"
#include "runtime/values/Array.h"

namespace tokamak::runtime {

// Valid as long as the caller's memory. Throws Error if the sizes, or the places of entries, are none.
ArrayReference arrayOverCaller(const tokamak_matrix &matrix);
// Writes the cells of a matrix to the memory that `result` has, or makes it their owner. Throws Error if there is too little.
void giveArray(ArrayReference array, tokamak_matrix &result);
void releaseArray(tokamak_matrix &result);

} // namespace tokamak::runtime
#endif
