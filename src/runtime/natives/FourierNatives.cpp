// The natives of discrete Fourier transforms, over kissfft.
#include "runtime/natives/NativeOperands.h"

#include <bit>
#include <complex>
#include <kissfft/kissfft.hh>
#include <numbers>

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

int64_t largestPrimeFactor(int64_t number) {
  int64_t largest = 1;
  for (int64_t factor = 2; factor * factor <= number; ++factor)
    for (; number % factor == 0; number /= factor)
      largest = factor;
  return std::max(largest, number);
}

// Transforms rows of one length, at least 2; a transform back divides by the length. kissfft takes time in proportion to the
// largest prime factor. Where that is large, the transform is a convolution with a chirp, which takes three transforms of a
// power of 2 (L. Bluestein 1970, "A linear filtering approach to the computation of discrete Fourier transform", IEEE Trans.
// Audio and Electroacoustics 18(4)).
class RowTransform {
public:
  RowTransform(int64_t length, bool isInverse)
      : length_(length), scale_(isInverse ? 1 / static_cast<double>(length) : 1),
        isConvolution_(largestPrimeFactor(length) > largestFactor),
        size_(isConvolution_ ? std::bit_ceil(static_cast<size_t>(2 * length - 1))
                             : static_cast<size_t>(length)),
        transform_(size_, !isConvolution_ && isInverse), back_(isConvolution_ ? size_ : 1, true),
        in_(size_), out_(size_) {
    if (!isConvolution_)
      return;
    for (int64_t k = 0; k < length; ++k) {
      auto turn = static_cast<double>(k * k % (2 * length)) / static_cast<double>(length); // of pi
      chirp_.push_back(std::polar(1.0, (isInverse ? 1 : -1) * std::numbers::pi * turn));
      in_[k] = std::conj(chirp_[k]);
      if (k > 0)
        in_[size_ - k] = in_[k];
    }
    response_.resize(size_);
    transform_.transform(in_.data(), response_.data());
  }

  void transform(Complex *row) {
    if (isConvolution_) {
      convolve(row);
      return;
    }
    transform_.transform(row, out_.data());
    for (int64_t k = 0; k < length_; ++k)
      row[k] = out_[k] * scale_;
  }

private:
  static constexpr int64_t largestFactor = 50;

  void convolve(Complex *row) {
    std::fill(in_.begin(), in_.end(), 0);
    for (int64_t k = 0; k < length_; ++k)
      in_[k] = row[k] * chirp_[k];
    transform_.transform(in_.data(), out_.data());
    for (size_t k = 0; k < size_; ++k)
      out_[k] *= response_[k];
    back_.transform(out_.data(), in_.data());
    for (int64_t k = 0; k < length_; ++k)
      row[k] = in_[k] * chirp_[k] * (scale_ / static_cast<double>(size_));
  }

  int64_t length_;
  double scale_;
  bool isConvolution_;
  size_t size_; // of the transforms by kissfft
  kissfft<double> transform_, back_;
  Cells in_, out_, chirp_, response_; // the latter: the transform of the chirp
};

void transformRows(ExecutionContext &context, ComplexMatrix &matrix, bool isInverse) {
  int64_t length = matrix.columns;
  if (length < 2)
    return; // its own transform
  const RowTransform plan(length, isInverse);
  forEachRowRange(context, matrix.rows, length, [&](int64_t begin, int64_t end) {
    RowTransform transform = plan; // it has scratch memory of its own
    for (int64_t i = begin; i < end; ++i)
      transform.transform(matrix.cells.data() + i * length);
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
