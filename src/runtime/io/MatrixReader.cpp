#include "runtime/io/MatrixReader.h"

#include "runtime/io/Format.h"

namespace tokamak::runtime {

ArrayReference readMatrix(const MatrixFile &file, TextSource &source, ExecutionContext &context) {
  const Format *format = findFormat(file.format);
  if (!format || !format->readMatrix)
    failFormat("read", file.format, FormatUse::Matrix);
  ArrayReference matrix = source.parse([&] { return format->readMatrix(file, source, context); });
  if (file.nonZeros)
    if (int64_t found = matrix->countNonZeros(); found != *file.nonZeros)
      throw Error(fmt::format("{}: the file has {} values that are not 0, expected {} (nnz)",
                              file.path, found, *file.nonZeros));
  return matrix;
}

ArrayReference readMatrix(const MatrixFile &file, ExecutionContext &context) {
  TextSource source(file.path);
  return readMatrix(file, source, context);
}

void checkSize(const MatrixFile &file, std::string_view what, std::optional<int64_t> expected,
               int64_t found) {
  if (expected && *expected != found)
    throw Error(fmt::format("{}: the file has {} {}{}, expected {}", file.path, found, what,
                            found == 1 ? "" : "s", *expected));
}

} // namespace tokamak::runtime
