// The format mm: Matrix Market.
#include "runtime/io/Format.h"
#include "runtime/io/MatrixMarketReader.h"
#include "runtime/io/RowWriter.h"

namespace tokamak::runtime {

static void write(const Array &matrix, const WriteOptions &, ExecutionContext &context,
                  FileWriter &file) {
  file.writeText(fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n",
                             matrix.rows(), matrix.columns(), matrix.countNonZeros()));
  writeCells(matrix, context, file);
}

// The header has the sizes: an old .mtd file might contradict it.
constinit const Format MatrixMarketFormat = {.name = "mm",
                                             .beginning = "%%MatrixMarket",
                                             .describesItself = true,
                                             .readMatrix = readMatrixMarket,
                                             .writeMatrix = write};

} // namespace tokamak::runtime
