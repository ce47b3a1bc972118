// Reads lines with a row, a column and a value, as the formats text and mm (coordinate) have them.
//
//   CellLayout layout{.isPattern = true};
//   int64_t lines = readCells(layout, source, collector, context);
#ifndef TOKAMAK_RUNTIME_IO_CELLREADER_H
#define TOKAMAK_RUNTIME_IO_CELLREADER_H

#include "runtime/io/MatrixReader.h"
#include "runtime/io/TextSource.h"
#include "runtime/sparse/CellCollector.h"

namespace tokamak::runtime {

enum class Symmetry : uint8_t { None, Symmetric, SkewSymmetric };

struct CellLayout {
  bool isPattern = false;             // no values: all are 1
  bool isInteger = false;             // values must be integers
  bool mayMarkEmpty = false;          // "0 0 0" is no cell
  Symmetry symmetry = Symmetry::None; // each cell also gives the mirrored one
};

// Reads the rest of the source in parallel and returns the number of lines with cells. Throws Error
// with file, line, row and column.
int64_t readCells(const CellLayout &layout, TextSource &source, CellCollector &collector,
                  ExecutionContext &context);

} // namespace tokamak::runtime
#endif
