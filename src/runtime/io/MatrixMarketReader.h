// Reads files in the Matrix Market exchange formats
// (https://math.nist.gov/MatrixMarket/formats.html): matrices by coordinates or as arrays; real,
// integer or pattern; general, symmetric or skew-symmetric.
//
//   TextSource source(file.path);
//   ArrayReference matrix = readMatrixMarket(file, source, context);
#ifndef TOKAMAK_RUNTIME_IO_MATRIXMARKETREADER_H
#define TOKAMAK_RUNTIME_IO_MATRIXMARKETREADER_H

#include "runtime/io/MatrixReader.h"
#include "runtime/io/TextSource.h"

namespace tokamak::runtime {

// Throws Error if the file is invalid; complex and Hermitian matrices are not supported.
ArrayReference readMatrixMarket(const MatrixFile &file, TextSource &source,
                                ExecutionContext &context);

} // namespace tokamak::runtime
#endif
