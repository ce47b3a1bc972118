#include "runtime/io/MatrixWriter.h"

#include "runtime/io/Format.h"

namespace tokamak::runtime {

void writeMatrix(const Array &matrix, const WriteOptions &options, ExecutionContext &context,
                 FileWriter &file) {
  const Format *format = findFormat(options.format);
  if (!format || !format->writeMatrix)
    failFormat("write", options.format, FormatUse::Matrix);
  format->writeMatrix(matrix, options, context, file);
}

} // namespace tokamak::runtime
