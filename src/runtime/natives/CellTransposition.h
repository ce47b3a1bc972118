// Transposes matrices of cells; those of four and eight bytes in tiles that are turned in registers.
//
//   transposeCells(from, fromStride, rows, columns, to, toStride);
//   transposeTileRows(lines, columns, to, toStride);
//   transposeMatrix(context, from, rows, columns, to);   // on all threads
//
// to[j * toStride + i] becomes from[i * fromStride + j] for i < rows and j < columns, or from lines[i][j].
#ifndef TOKAMAK_RUNTIME_NATIVES_CELLTRANSPOSITION_H
#define TOKAMAK_RUNTIME_NATIVES_CELLTRANSPOSITION_H

#include <array>
#include <cstdint>

namespace tokamak::runtime {

struct ExecutionContext;

// For the cells of withCellSize(): uint8_t to uint64_t.
template <typename Cell>
void transposeCells(const Cell *from, int64_t fromStride, int64_t rows, int64_t columns, Cell *to,
                    int64_t toStride);

// The same of a whole matrix of such cells, whose rows lie behind each other, as those of the result do.
template <typename Cell>
void transposeMatrix(ExecutionContext &context, const Cell *from, int64_t rows, int64_t columns,
                     Cell *to);

// Of rows that lie anywhere, as many as a tile has.
inline constexpr int64_t rowsOfTile = 8;
void transposeTileRows(const std::array<const uint32_t *, rowsOfTile> &lines, int64_t columns,
                       uint32_t *to, int64_t toStride);

} // namespace tokamak::runtime
#endif
