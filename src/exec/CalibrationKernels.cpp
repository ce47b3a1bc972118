#include "exec/CalibrationKernels.h"

#include "runtime/image/KernelLaunch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Array;
using runtime::Value;

static constexpr int launchesPerRound = 24;

Value exec::calibrationNumbers(int64_t rows, int64_t columns, ElementType type, double from) {
  std::shared_ptr<Array> array = Array::create({rows, columns}, type);
  auto fill = [&]<typename Cell>(Cell *cells) {
    for (int64_t i = 0; i < array->cells(); ++i)
      cells[i] = static_cast<Cell>(from + 0.25 + static_cast<double>(i * 29 % 64) / 64);
  };
  if (type == ElementType::F64)
    fill(array->mutableCellsAs<double>());
  else
    fill(array->mutableCellsAs<float>());
  return runtime::ArrayReference(std::move(array));
}

Value exec::calibrationEntries(int64_t rows, int64_t columns, int64_t ofRow) {
  std::shared_ptr<Array> array = Array::create({rows, columns});
  double *cells = array->mutableData();
  std::fill_n(cells, array->cells(), 0.0);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t entry = 0; entry < ofRow; ++entry)
      cells[row * columns + entry * (columns / ofRow) + row % 7] = 1.5;
  return runtime::ArrayReference(Array::asSparse(array));
}

std::string exec::textOf(const KernelText &kernel, ElementType type) {
  const char *result = kernel.sizes == "scalar" ? "f64" : "!m";
  return fmt::format(R"(
!m = tensor<?x?x{0}>
!ij = !plan.cell<(d0, d1) -> {0}>
!i = !plan.cell<(d0) -> {0}>
!c = !plan.cell<() -> f64>
func.func @kernel(%a: !m, %b: !m) -> {1} {{
  %r = plan.operator (%x = %a {2}, %y = %b {3}) axes [{4}] -> {5}{6} : (!m, !m) -> {1} {{
    {7}
  }}
  return %r : {1}
}}
)",
                     nameOf(type), result, kernel.x, kernel.y, kernel.axes, kernel.sizes,
                     kernel.isCompact ? " {compact}" : "", kernel.body);
}

CalibrationKernels::CalibrationKernels(std::optional<schedule::StreamDistances> streams)
    : context_(mlir::MLIRContext::Threading::DISABLED), streams_(streams) {
  context_.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
}

size_t CalibrationKernels::add(const std::string &text, Value x, Value y) {
  modules_.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context_));
  kernels_.push_back({std::move(x), std::move(y), {}, {}});
  return kernels_.size() - 1;
}

bool CalibrationKernels::compile(int threads) {
  llvm::SmallVector<plan::OperatorOp> operators;
  for (auto &module : modules_)
    if (module)
      module->walk([&](plan::OperatorOp op) { operators.push_back(op); });
  if (operators.size() != kernels_.size())
    return false;
  codegen::KernelCompilerOptions options{.threads = threads};
  if (streams_)
    options.streams = [streams = *streams_] { return streams; };
  compiler_.emplace(options);
  for (auto [kernel, plan] : llvm::zip(kernels_, compiler_->compile(operators))) {
    if (failed(plan))
      return false;
    kernel.plan = std::move(*plan);
  }
  return true;
}

void CalibrationKernels::measure(size_t kernel, int launches) {
  Measured &measured = kernels_[kernel];
  measured.samples.measure(launches, [&] {
    Value operands[] = {measured.x, measured.y}, results[1];
    runtime::launchKernel(measured.plan, nullptr, operands, results);
  });
}

void CalibrationKernels::measure() {
  for (size_t kernel = 0; kernel < kernels_.size(); ++kernel)
    measure(kernel, launchesPerRound);
}
