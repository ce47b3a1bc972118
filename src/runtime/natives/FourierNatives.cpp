// The natives of discrete Fourier transforms, over kissfft.
#include "runtime/natives/NativeOperands.h"

#include <complex>
#include <kissfft/kissfft.hh>

namespace tokamak::runtime {
namespace {

using Complex = std::complex<double>;
using Cells = BudgetedVector<Complex>;

// A matrix of complex numbers from one for each part; the second one may be absent: 0.
struct ComplexMatrix {
  int64_t rows, columns;
  Cells cells;

  static ComplexMatrix of(const Value &real, const Value &imaginary, std::string_view native) {
    const Array &x = matrixOperand(real, native);
    const Array *y = imaginary.isNothing() ? nullptr : &matrixOperand(imaginary, native);
    if (y && y->shape() != x.shape())
      throw Error(fmt::format("{}: the real part is {}x{}, the imaginary one {}x{}", native,
                              x.rows(), x.columns(), y->rows(), y->columns()));
    ComplexMatrix result{x.rows(), x.columns(), Cells(static_cast<size_t>(x.cells()))};
    for (int64_t i = 0; i < x.cells(); ++i)
      result.cells[i] = {x.data()[i], y ? y->data()[i] : 0};
    return result;
  }

  void split(std::span<Value> results) const {
    ArrayPointer real = Array::create({rows, columns}), imaginary = Array::create({rows, columns});
    for (size_t i = 0; i < cells.size(); ++i) {
      real->mutableData()[i] = cells[i].real();
      imaginary->mutableData()[i] = cells[i].imag();
    }
    results[0] = ArrayReference(std::move(real));
    results[1] = ArrayReference(std::move(imaginary));
  }
};

// A transform back divides by the length.
void transformRows(ExecutionContext &context, ComplexMatrix &matrix, bool isInverse) {
  int64_t length = matrix.columns;
  if (length < 2)
    return; // its own transform
  const kissfft<double> plan(static_cast<size_t>(length), isInverse);
  double scale = isInverse ? 1 / static_cast<double>(length) : 1;
  forEachRowRange(context, matrix.rows, length, [&](int64_t begin, int64_t end) {
    kissfft<double> transform = plan; // it has scratch memory of its own
    Cells result(static_cast<size_t>(length));
    for (int64_t i = begin; i < end; ++i) {
      Complex *row = matrix.cells.data() + i * length;
      transform.transform(row, result.data());
      for (int64_t j = 0; j < length; ++j)
        row[j] = result[j] * scale;
    }
  });
}

ComplexMatrix transposed(const ComplexMatrix &matrix) {
  ComplexMatrix result{matrix.columns, matrix.rows, Cells(matrix.cells.size())};
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j)
      result.cells[j * matrix.rows + i] = matrix.cells[i * matrix.columns + j];
  return result;
}

} // namespace

// fourier(real, imaginary?, whether back, whether along columns, too).
void runFourier(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  bool isInverse = operands[2].asBoolean();
  ComplexMatrix matrix = ComplexMatrix::of(operands[0], operands[1], isInverse ? "ifft" : "fft");
  transformRows(context, matrix, isInverse);
  if (operands[3].asBoolean()) {
    ComplexMatrix other = transposed(matrix);
    transformRows(context, other, isInverse);
    matrix = transposed(other);
  }
  matrix.split(results);
}

// short_time_fourier(real, imaginary?, window, overlap): each row is a signal; the transforms of its windows, which begin
// `window - overlap` cells after each other, stand side by side.
void runShortTimeFourier(ExecutionContext &context, std::span<Value> operands,
                         std::span<Value> results) {
  ComplexMatrix signals = ComplexMatrix::of(operands[0], operands[1], "stft");
  int64_t window = operands[2].asInteger(), overlap = operands[3].asInteger();
  if (window < 1 || overlap < 0 || overlap >= window)
    throw Error(
        fmt::format("stft: expected 0 <= overlap < windowSize, got {} and {}", overlap, window));
  if (signals.columns < window)
    throw Error(fmt::format("stft: a window of {} is longer than the signal of {}", window,
                            signals.columns));
  int64_t step = window - overlap, count = (signals.columns - window) / step + 1;
  ComplexMatrix windows{checkedProduct(signals.rows, count, "stft", "windows"), window, {}};
  windows.cells.reserve(static_cast<size_t>(checkedProduct(windows.rows, window, "stft", "cells")));
  for (int64_t i = 0; i < signals.rows; ++i)
    for (int64_t k = 0; k < count; ++k) {
      auto begin = signals.cells.begin() + i * signals.columns + k * step;
      windows.cells.insert(windows.cells.end(), begin, begin + window);
    }
  transformRows(context, windows, /*isInverse=*/false);
  windows.rows = signals.rows;
  windows.columns = count * window;
  windows.split(results);
}

} // namespace tokamak::runtime
