#include "exec/NativeCalibration.h"

#include "base/Natives.h"
#include "cost/Calibration.h"
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
  double multiplying =
      static_cast<double>(rows * narrow * narrow) / model.nativeProductsPerNanosecond;
  double longer = nanosecondsOfProduct<double>(rows, narrow, narrow, 8 * rounds) - multiplying;
  model.packedCellNanoseconds = std::max(longer / packed, 0.0);
}

// How many times as long a call takes as its row in base/Natives.def says, which is `additions`.
double slownessOf(const char *name, std::vector<Value> operands, double additions,
                  const cost::MachineModel &model, int rounds) {
  const runtime::Native *native = runtime::findNative(name);
  runtime::ExecutionContext context;
  cost::Samples samples;
  samples.measure(4 * rounds, [&] {
    std::vector<Value> arguments = operands;
    Value result;
    native->function(context, arguments, {&result, 1});
  });
  return samples.best() * model.flopsPerNanosecond / (additions * native->row.flops);
}

} // namespace

void exec::measureNatives(cost::MachineModel &model, int rounds) {
  measureProducts(model, rounds);
  constexpr int64_t rows = 160, columns = 96, size = 48, length = 1000;
  auto array = [](int64_t rows, int64_t columns) {
    return calibrationNumbers(rows, columns, ElementType::F64, 0);
  };
  model.nativeCellSlowness =
      slownessOf("transpose", {array(rows, columns)}, 2 * rows * columns, model, rounds);
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
