#include "exec/KernelCalibration.h"

#include "codegen/KernelCompiler.h"
#include "cost/Calibration.h"
#include "runtime/image/KernelLaunch.h"
#include "runtime/natives/Blas.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Array;
using runtime::Value;

namespace {

// Arrays that fit the nearest cache together with each other.
constexpr int64_t rows = 16, columns = 64;
constexpr int64_t productRows = 256, productWidth = 64, productColumns = 16;
constexpr int launchesPerRound = 24;

// sum(cell), where the cell is computed of x and y at its place. The same text for all operators, but
// for one line.
std::string sumOf(std::string_view cell, ElementType type) {
  return fmt::format(R"(
func.func @kernel(%a: tensor<?x?x{0}>, %b: tensor<?x?x{0}>) -> f64 {{
  %r = plan.operator (%x = %a [s0, s1], %y = %b [s0, s1]) axes [s0 reduced, s1 reduced] -> scalar
      : (tensor<?x?x{0}>, tensor<?x?x{0}>) -> f64 {{
    %0 = plan.read %x (d0, d1) -> (d0, d1) : tensor<?x?x{0}> -> !plan.cell<(d0, d1) -> {0}>
    %1 = plan.read %y (d0, d1) -> (d0, d1) : tensor<?x?x{0}> -> !plan.cell<(d0, d1) -> {0}>
    %2 = plan.binary max %0, %1 : (!plan.cell<(d0, d1) -> {0}>, !plan.cell<(d0, d1) -> {0}>)
      -> !plan.cell<(d0, d1) -> {0}>
    {1}
    %4 = plan.reduce sum %3 over [d0, d1] in f64
      : !plan.cell<(d0, d1) -> {0}> -> !plan.cell<() -> f64>
    plan.write %4 to 0 (d0, d1) -> () : !plan.cell<() -> f64>
  }}
  return %r : f64
}}
)",
                     tokamak::nameOf(type), cell);
}

std::string sumOfUnary(UnaryOperator op, ElementType type) {
  return sumOf(fmt::format("%3 = plan.unary {1} %2 : !plan.cell<(d0, d1) -> {0}> -> "
                           "!plan.cell<(d0, d1) -> {0}>",
                           tokamak::nameOf(type), mnemonic(op)),
               type);
}

std::string sumOfBinary(BinaryOperator op, ElementType type) {
  return sumOf(fmt::format("%3 = plan.binary {1} %2, %1 : (!plan.cell<(d0, d1) -> {0}>, "
                           "!plan.cell<(d0, d1) -> {0}>) -> !plan.cell<(d0, d1) -> {0}>",
                           tokamak::nameOf(type), mnemonic(op)),
               type);
}

// x %*% y, y with few columns.
std::string product(ElementType type) {
  return fmt::format(R"(
func.func @kernel(%a: tensor<?x?x{0}>, %b: tensor<?x?x{0}>) -> tensor<?x?x{0}> {{
  %r = plan.operator (%x = %a [s0, s1], %y = %b [s1, {1}]) axes [s0, s1 reduced, {1}] -> [s0, {1}]
      : (tensor<?x?x{0}>, tensor<?x?x{0}>) -> tensor<?x?x{0}> {{
    %0 = plan.read %x (d0, d1, d2) -> (d0, d1) : tensor<?x?x{0}> -> !plan.cell<(d0, d1) -> {0}>
    %1 = plan.read %y (d0, d1, d2) -> (d1, d2) : tensor<?x?x{0}> -> !plan.cell<(d1, d2) -> {0}>
    %2 = plan.binary mul %0, %1 : (!plan.cell<(d0, d1) -> {0}>, !plan.cell<(d1, d2) -> {0}>)
      -> !plan.cell<(d0, d1, d2) -> {0}>
    %3 = plan.reduce sum %2 over [d1] in {0}
      : !plan.cell<(d0, d1, d2) -> {0}> -> !plan.cell<(d0, d2) -> {0}>
    plan.write %3 to 0 (d0, d1, d2) -> (d0, d2) : !plan.cell<(d0, d2) -> {0}>
  }}
  return %r : tensor<?x?x{0}>
}}
)",
                     tokamak::nameOf(type), productColumns);
}

// Different numbers between 0.25 and 1.25, for which all operators are defined.
Value numbers(int64_t rowCount, int64_t columnCount, ElementType type, double from) {
  std::shared_ptr<Array> array = Array::create({rowCount, columnCount}, type);
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

// A kernel of two arrays, and its samples.
class MeasuredKernel {
public:
  MeasuredKernel(Value x, Value y) : operands_{std::move(x), std::move(y)} {}
  void setPlan(abi::KernelPlan plan) { plan_ = std::move(plan); }
  void measure() {
    samples_.measure(launchesPerRound, [&] {
      Value operands[] = {operands_[0], operands_[1]}, results[1];
      runtime::launchKernel(plan_, nullptr, operands, results);
    });
  }
  double nanoseconds() const { return samples_.best(); }

private:
  Value operands_[2];
  abi::KernelPlan plan_;
  cost::Samples samples_;
};

// All kernels, compiled together.
class KernelSet {
public:
  KernelSet() : context_(mlir::MLIRContext::Threading::DISABLED) {
    context_.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
  }

  size_t add(const std::string &text, Value x, Value y) {
    modules_.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context_));
    kernels_.emplace_back(std::move(x), std::move(y));
    return kernels_.size() - 1;
  }
  // Whether all could be compiled.
  bool compile(int threads) {
    llvm::SmallVector<plan::OperatorOp> operators;
    for (auto &module : modules_)
      if (module)
        module->walk([&](plan::OperatorOp op) { operators.push_back(op); });
    if (operators.size() != kernels_.size())
      return false;
    compiler_.emplace(codegen::KernelCompilerOptions{.threads = threads});
    for (auto [kernel, plan] : llvm::zip(kernels_, compiler_->compile(operators))) {
      if (failed(plan))
        return false;
      kernel.setPlan(std::move(*plan));
    }
    return true;
  }
  void measure() {
    for (MeasuredKernel &kernel : kernels_)
      kernel.measure();
  }
  double nanoseconds(size_t kernel) const { return kernels_[kernel].nanoseconds(); }

private:
  mlir::MLIRContext context_;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules_;
  std::optional<codegen::KernelCompiler> compiler_; // keeps the code
  std::vector<MeasuredKernel> kernels_;
};

// Of the library, multiplications in each nanosecond.
template <typename Cell> double nativeProductRate(int rounds) {
  constexpr int64_t size = 256;
  std::vector<Cell> cells(size * size, Cell(0.5)), result(size * size);
  cost::Samples samples;
  samples.measure(2 * rounds, [&] {
    runtime::gemm({.rows = size, .columns = size, .inner = size}, cells.data(), size, cells.data(),
                  size, result.data(), size);
  });
  return static_cast<double>(size * size * size) / samples.best();
}

} // namespace

void exec::measureKernels(cost::MachineModel &model, int threads, int rounds) {
  KernelSet kernels;
  struct Measured {
    double &additions;
    size_t kernel, base;
  };
  std::vector<Measured> cells;
  size_t products[2];
  for (ElementType type : {ElementType::F64, ElementType::F32}) {
    auto cost = [&](cost::CellCost &both) -> double & {
      return type == ElementType::F64 ? both.f64 : both.f32;
    };
    Value x = numbers(rows, columns, type, 0), y = numbers(rows, columns, type, 0.1);
    size_t base = kernels.add(sumOfBinary(BinaryOperator::Min, type), x, y);
    for (UnaryOperator op : cost::measuredUnaryOperators())
      cells.push_back({cost(model.cells.unary[static_cast<size_t>(op)]),
                       kernels.add(sumOfUnary(op, type), x, y), base});
    for (BinaryOperator op : cost::measuredBinaryOperators())
      cells.push_back({cost(model.cells.binary[static_cast<size_t>(op)]),
                       kernels.add(sumOfBinary(op, type), x, y), base});
    products[static_cast<size_t>(type == ElementType::F32)] =
        kernels.add(product(type), numbers(productRows, productWidth, type, 0),
                    numbers(productWidth, productColumns, type, 0));
  }
  if (!kernels.compile(threads))
    return; // the fixed figures stay
  for (int round = 0; round < rounds; ++round)
    kernels.measure();
  constexpr double cellCount = rows * columns;
  for (const Measured &cell : cells) {
    double longer = kernels.nanoseconds(cell.kernel) - kernels.nanoseconds(cell.base);
    cell.additions = std::max(longer / cellCount * model.flopsPerNanosecond, 0.0) + 1;
  }
  auto rateOf = [&](size_t kernel) {
    constexpr double multiplications = productRows * productWidth * productColumns;
    return multiplications / std::max(kernels.nanoseconds(kernel) - model.launchNanoseconds, 1.0);
  };
  model.productsPerNanosecond = rateOf(products[0]);
  model.singleProductsPerNanosecond = rateOf(products[1]);
  model.nativeProductsPerNanosecond = nativeProductRate<double>(rounds);
  model.singleNativeProductsPerNanosecond = nativeProductRate<float>(rounds);
}
