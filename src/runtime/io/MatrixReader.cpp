#include "runtime/io/MatrixReader.h"

#include "base/FileFormats.h"
#include "base/NearestNames.h"
#include "runtime/io/CellReader.h"
#include "runtime/io/CsvReader.h"
#include "runtime/io/MatrixMarketReader.h"
#include "runtime/io/TextSource.h"

namespace tokamak::runtime {

[[noreturn]] static void failFormat(const std::string &format) {
  std::vector<std::string> known(knownFormats().begin(), knownFormats().end());
  if (std::find(known.begin(), known.end(), format) != known.end())
    throw Error(unsupportedFormat("read", format, FormatUse::Matrix));
  std::vector<std::string> candidates = nearestCandidates(format, known, 1);
  throw Error(fmt::format("read: unknown format \"{}\"{}", format,
                          candidates.empty()
                              ? ": expected csv, text or mm"
                              : fmt::format("; did you mean \"{}\"?", candidates[0])));
}

static ArrayReference readCells(const MatrixFile &file, TextSource &source,
                                ExecutionContext &context) {
  if (file.format == "csv")
    return Array::inBestLayout(readCsv(file, source, context));
  if (file.format == "text")
    return readText(file, source, context);
  if (file.format == "mm")
    return readMatrixMarket(file, source, context);
  failFormat(file.format);
}

ArrayReference readMatrix(const MatrixFile &file, TextSource &source, ExecutionContext &context) {
  ArrayReference matrix = source.parse([&] { return readCells(file, source, context); });
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

bool isMatrixMarket(const std::string &path) { return beginsWith(path, "%%MatrixMarket"); }

} // namespace tokamak::runtime
