// Files of the Matrix Market exchange formats (https://math.nist.gov/MatrixMarket/formats.html):
// matrices by coordinates or as arrays, real, integer or pattern, general, symmetric or
// skew-symmetric.
#ifndef TOKAMAK_RUNTIME_MATRIXMARKETREADER_H
#define TOKAMAK_RUNTIME_MATRIXMARKETREADER_H

#include "runtime/MatrixReader.h"
#include "runtime/TextSource.h"

namespace tokamak::runtime {

// Throws Error; complex and hermitian matrices are errors.
ArrayReference readMatrixMarket(const MatrixFile &file, TextSource &source,
                                ExecutionContext &context);

} // namespace tokamak::runtime
#endif
