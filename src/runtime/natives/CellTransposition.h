// Transposes matrices of cells; those of four bytes in tiles that are turned in registers.
//
//   transposeCells(from, fromStride, rows, columns, to, toStride);
//
// to[j * toStride + i] becomes from[i * fromStride + j] for i < rows and j < columns.
#ifndef TOKAMAK_RUNTIME_NATIVES_CELLTRANSPOSITION_H
#define TOKAMAK_RUNTIME_NATIVES_CELLTRANSPOSITION_H

#include <cstdint>

namespace tokamak::runtime {

// For the cells of withCellSize(): uint8_t to uint64_t.
template <typename Cell>
void transposeCells(const Cell *from, int64_t fromStride, int64_t rows, int64_t columns, Cell *to,
                    int64_t toStride);

} // namespace tokamak::runtime
#endif
