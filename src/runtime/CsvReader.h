// Reads csv text in parallel: it is cut at line ends into fixed pieces, whose rows are counted,
// then parsed into their places.
//
// Fields may be quoted: "a ""b"" c". Blanks around a field do not count. Numbers are decimal with a
// point, or NaN, Inf, Infinity in any case. Blank lines at the end of a file do not count, except
// in a matrix of one column with a known number of rows, where they are empty fields.
#ifndef TOKAMAK_RUNTIME_CSVREADER_H
#define TOKAMAK_RUNTIME_CSVREADER_H

#include "runtime/MatrixReader.h"
#include "runtime/TextSource.h"

namespace tokamak::runtime {

// A dense array. Throws Error, as readMatrix does.
ArrayPointer readCsv(const MatrixFile &file, TextSource &source, ExecutionContext &context);

} // namespace tokamak::runtime
#endif
