// Reads csv text in parallel: the text is cut at line ends into pieces, the rows of each piece are
// counted, then all pieces are parsed into their places of the result.
//
//   TextSource source(file.path);
//   ArrayPointer matrix = readCsv(file, source, context);
//
// Fields may be quoted: "a ""b"" c". Blanks around a field are ignored. Numbers are decimal with a
// point, or NaN, Inf, Infinity in any case. Blank lines at the end of a file are ignored, except in
// a matrix of one column with a known number of rows, where they are empty fields.
#ifndef TOKAMAK_RUNTIME_IO_CSVREADER_H
#define TOKAMAK_RUNTIME_IO_CSVREADER_H

#include "runtime/io/MatrixReader.h"
#include "runtime/io/TextSource.h"

namespace tokamak::runtime {

// A dense array. Throws Error, as readMatrix does.
ArrayPointer readCsv(const MatrixFile &file, TextSource &source, ExecutionContext &context);

} // namespace tokamak::runtime
#endif
