#include "exec/NativeCalibration.h"

#include "base/Natives.h"
#include "cost/Calibration.h"
#include "cost/CellCost.h"
#include "exec/CalibrationKernels.h"
#include "runtime/natives/Blas.h"
#include "runtime/natives/Native.h"

#include <cmath>

using namespace tokamak;
using runtime::Value;

namespace {

template <typename Cell>
double nanosecondsOfProduct(int64_t rows, int64_t columns, int64_t inner, int repetitions) {
  std::vector<Cell> left(rows * inner, Cell(0.5)), right(inner * columns, Cell(0.5)),
      result(rows * columns);
  cost::Samples samples;
  samples.measure(repetitions, [&] {
    runtime::gemm({.rows = rows, .columns = columns, .inner = inner}, left.data(), inner,
                  right.data(), columns, result.data(), columns);
  });
  return samples.best();
}

void measureProducts(cost::MachineModel &model, int rounds) {
  constexpr int64_t size = 256;
  auto rate = [](double nanoseconds) {
    return static_cast<double>(size * size * size) / nanoseconds;
  };
  model.nativeProductsPerNanosecond =
      rate(nanosecondsOfProduct<double>(size, size, size, 2 * rounds));
  model.singleNativeProductsPerNanosecond =
      rate(nanosecondsOfProduct<float>(size, size, size, 2 * rounds));
  constexpr int64_t rows = 512, narrow = 10;
  constexpr double packed = 2 * rows * narrow + narrow * narrow;
  auto packing = [&](double nanoseconds, double productsPerNanosecond) {
    double multiplying = static_cast<double>(rows * narrow * narrow) / productsPerNanosecond;
    return std::max((nanoseconds - multiplying) / packed, 0.0);
  };
  model.packedCellNanoseconds =
      packing(nanosecondsOfProduct<double>(rows, narrow, narrow, 8 * rounds),
              model.nativeProductsPerNanosecond);
  model.singlePackedCellNanoseconds =
      packing(nanosecondsOfProduct<float>(rows, narrow, narrow, 8 * rounds),
              model.singleNativeProductsPerNanosecond);
}

// Of a call of the native.
double nanosecondsOf(const char *name, const std::vector<Value> &operands, int repetitions) {
  const runtime::Native *native = runtime::findNative(name);
  runtime::ExecutionContext context;
  cost::Samples samples;
  samples.measure(repetitions, [&] {
    std::vector<Value> arguments = operands;
    Value result;
    native->function(context, arguments, {&result, 1});
  });
  return samples.best();
}

// Of two with the same windows, the one with more filters takes longer by their multiplications alone.
void measureConvolutions(cost::MachineModel &model, int rounds) {
  constexpr int64_t channels = 16, size = 32, places = 3, few = 8, many = 64;
  constexpr double cells = channels * places * places * size * size; // of the windows
  auto array = [](std::initializer_list<int64_t> sizes, ElementType type) {
    runtime::Shape shape(sizes);
    Value numbers = exec::calibrationNumbers(1, shape.cells(), type, 0);
    return Value(runtime::ArrayReference(numbers.array()->reshaped(shape)));
  };
  auto nanoseconds = [&](int64_t filters, ElementType type) {
    std::vector<Value> operands{array({1, channels, size, size}, type),
                                array({filters, channels, places, places}, type),
                                Value(int64_t{1})};
    for (int dimension = 0; dimension < 2; ++dimension)
      for (int64_t number : {size, places, int64_t{0}, int64_t{1}, int64_t{1}, int64_t{1}})
        operands.emplace_back(number); // windows, places, beginning, step, spacing, distance
    return nanosecondsOf("convolve", operands, 2 * rounds);
  };
  auto rate = [&](double ofFew, double ofMany) {
    return cells * (many - few) / std::max(ofMany - ofFew, 1.0);
  };
  model.nativeConvolutionsPerNanosecond =
      rate(nanoseconds(few, ElementType::F64), nanoseconds(many, ElementType::F64));
  double ofFew = nanoseconds(few, ElementType::F32);
  model.singleNativeConvolutionsPerNanosecond = rate(ofFew, nanoseconds(many, ElementType::F32));
  double ofCell = ofFew / cells - few / model.singleNativeConvolutionsPerNanosecond;
  model.windowCellNanoseconds = std::max(ofCell / cost::additionsOf(ElementType::F32), 0.0);
}

// How many times as long a call takes as its row in base/Natives.def says, which is `additions`.
double slownessOf(const char *name, const std::vector<Value> &operands, double additions,
                  const cost::MachineModel &model, int rounds) {
  const runtime::Native *native = runtime::findNative(name);
  return nanosecondsOf(name, operands, 4 * rounds) * model.flopsPerNanosecond /
         (additions * native->row.flops);
}

} // namespace

void exec::measureNatives(cost::MachineModel &model, int rounds) {
  measureProducts(model, rounds);
  measureConvolutions(model, rounds);
  constexpr int64_t rows = 160, columns = 96, size = 48, length = 1000;
  auto array = [](int64_t rows, int64_t columns) {
    return calibrationNumbers(rows, columns, ElementType::F64, 0);
  };
  model.nativeCellSlowness =
      slownessOf("transpose", {array(rows, columns)}, 2 * rows * columns, model, rounds);
  constexpr int64_t entriesOfRow = 8;
  Value entries = calibrationEntries(rows, columns, entriesOfRow);
  double ofProduct = nanosecondsOf("matmul_transposed_left", {entries, array(rows, 1)}, 4 * rounds);
  model.nativeEntryNanoseconds = ofProduct / (rows * entriesOfRow);
  double cells = 2 * length;
  model.nativeSortSlowness =
      slownessOf("order", {array(length, 1), Value(1.0), Value(false), Value(false)},
                 cells * std::log2(cells), model, rounds);
  Value equations = array(size, size);
  auto *diagonal = const_cast<runtime::Array *>(equations.array().get());
  for (int64_t i = 0; i < size; ++i)
    diagonal->mutableData()[i * size + i] += 2 * size;
  model.nativeSolveSlowness =
      slownessOf("solve", {equations, array(size, 1)}, size * size * size, model, rounds);
}
