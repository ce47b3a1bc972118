// The format npy: an array of NumPy. A vector is read as one column, a number as a 1x1 matrix.
#include "runtime/io/Format.h"
#include "runtime/io/NumpyFile.h"

namespace tokamak::runtime {
namespace {

ArrayReference read(const MatrixFile &file, TextSource &source, ExecutionContext &) {
  ArrayPointer array = parseNumpy(file.path, bytesOfOnlyFile(file, source));
  const Shape &shape = array->shape();
  if (shape.rank() > 2)
    throw Error(
        fmt::format("{}: it has an array of {}: expected a matrix", file.path, shape.text()));
  if (shape.rank() < 2)
    array = array->reshaped({shape.cells(), 1});
  checkSize(file, "column", file.columns, array->columns());
  checkSize(file, "row", file.rows, array->rows());
  return Array::inBestLayout(Array::withElementType(array, ElementType::F64));
}

// Sparse matrices become dense one range of rows at a time.
void write(const Array &matrix, const WriteOptions &, ExecutionContext &, FileWriter &file) {
  constexpr int64_t cellsAtOnce = 1 << 17;
  file.writeText(numpyHeader(matrix));
  int64_t rowsAtOnce = std::max<int64_t>(1, cellsAtOnce / std::max<int64_t>(1, matrix.columns()));
  for (int64_t begin = 0; begin < matrix.rows(); begin += rowsAtOnce) {
    int64_t end = std::min(begin + rowsAtOnce, matrix.rows());
    ArrayReference rows = Array::asDense(matrix.rowView(begin, end));
    file.writeText(
        {reinterpret_cast<const char *>(rows->rawBytes()), static_cast<size_t>(rows->bytes())});
  }
}

} // namespace

constinit const Format NumpyFormat = {.name = "npy",
                                      .beginning = "\x93NUMPY",
                                      .describesItself = true,
                                      .readMatrix = read,
                                      .writeMatrix = write};

} // namespace tokamak::runtime
