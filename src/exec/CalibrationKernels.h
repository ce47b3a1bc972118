// Kernels that calibration compiles and measures: the text of plan operators over two arrays of one element
// type, and a set that compiles them together.
//
//   exec::CalibrationKernels kernels;
//   runtime::Value x = exec::calibrationNumbers(16, 64, ElementType::F64, 0);
//   exec::KernelText text{.axes = "s0 reduced, s1 reduced", .sizes = "scalar", .body = R"(
//     %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
//     %1 = plan.reduce sum %0 over [d0, d1] in f64 : !ij -> !c
//     plan.write %1 to 0 (d0, d1) -> () : !c)"};
//   size_t sum = kernels.add(exec::textOf(text, ElementType::F64), x, x);
//   if (kernels.compile(2)) {
//     kernels.measure();
//     double ns = kernels.nanoseconds(sum);                 // of one launch, the best so far
//   }
#ifndef TOKAMAK_EXEC_CALIBRATIONKERNELS_H
#define TOKAMAK_EXEC_CALIBRATIONKERNELS_H

#include "base/ElementType.h"
#include "codegen/KernelCompiler.h"
#include "cost/Calibration.h"
#include "runtime/values/Value.h"

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::exec {

// Different numbers from `from` + 1/4 to `from` + 5/4, for which all operators are defined.
runtime::Value calibrationNumbers(int64_t rows, int64_t columns, ElementType type, double from);
// A sparse array with so many entries in each row, in columns that differ from row to row.
runtime::Value calibrationEntries(int64_t rows, int64_t columns, int64_t ofRow);

// A body over two operands %x and %y with a result. In it, `!m` stands for arrays, `!ij` and `!i` for cells
// of the element type that run over both axes and over the first, `!c` for an f64.
struct KernelText {
  std::string x = "[s0, s1]", y = "[s0, s1]"; // sizes of the operands
  std::string axes;                           // "s0 reduced, s1 reduced"
  std::string sizes;                          // of the result: "[s0, 1]", or "scalar"
  std::string body;
  bool isCompact = false; // plan::hasFewPlaces
};
std::string textOf(const KernelText &kernel, ElementType type);

class CalibrationKernels {
public:
  // Kernels prefetch at these distances, or at those of the target.
  explicit CalibrationKernels(std::optional<schedule::StreamDistances> streams = std::nullopt);
  // The number of the kernel. Different arrays may be given to the same one.
  size_t add(const std::string &text, runtime::Value x, runtime::Value y);
  // Whether all could be compiled.
  bool compile(int threads);
  // Takes samples of each.
  void measure();
  // Takes so many of one kernel.
  void measure(size_t kernel, int launches);
  double nanoseconds(size_t kernel) const { return kernels_[kernel].samples.best(); }
  // The ratio of the median time to the best.
  double spread(size_t kernel) const { return kernels_[kernel].samples.spread(); }

private:
  struct Measured {
    runtime::Value x, y;
    abi::KernelPlan plan;
    cost::Samples samples;
  };

  mlir::MLIRContext context_;
  std::optional<schedule::StreamDistances> streams_;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules_;
  std::optional<codegen::KernelCompiler> compiler_; // keeps the code
  std::vector<Measured> kernels_;
};

} // namespace tokamak::exec
#endif
