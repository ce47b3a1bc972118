// For the tests of code generation: launches a kernel as the runtime does, and computes the
// expected results by plain loops.
//
//   Launch launch{matrices, scalars, /*tile=*/16};
//   std::vector<Matrix> results = launch.run(*plan);
//   std::vector<Matrix> expected = interpret(operatorOp, matrices, scalars);
#ifndef TOKAMAK_CODEGEN_KERNELLAUNCHER_H
#define TOKAMAK_CODEGEN_KERNELLAUNCHER_H

#include "abi/KernelPlan.h"
#include "ir/plan/PlanDialect.h"

#include <cstring>
#include <vector>

namespace tokamak::codegen {

struct Matrix {
  int64_t rows = 1, columns = 1;
  std::vector<double> cells;
  double at(int64_t row, int64_t column) const {
    return cells[(rows == 1 ? 0 : row) * columns + (columns == 1 ? 0 : column)];
  }
};

// 64-byte aligned doubles; a guard value behind the last one shows whether it was overwritten.
class AlignedDoubles {
public:
  explicit AlignedDoubles(int64_t size) : size_(size), storage_(size + 9, -7777) {
    auto address = reinterpret_cast<uintptr_t>(storage_.data());
    data_ = storage_.data() + (64 - address % 64) % 64 / sizeof(double);
  }
  double *data() { return data_; }
  bool isGuardIntact() const { return data_[size_] == -7777; }

private:
  int64_t size_;
  std::vector<double> storage_;
  double *data_;
};

struct Launch {
  std::vector<Matrix> inputs;
  std::vector<double> scalars;
  int64_t tile = 1 << 20; // rows or cells, a multiple of 8
  bool guardsIntact = true;

  int64_t size(const Size &size) const {
    return size.evaluate([this](int64_t symbol) {
      const Matrix &input = inputs[symbol / 2];
      return symbol % 2 == 0 ? input.rows : input.columns;
    });
  }

  std::vector<Matrix> run(const abi::KernelPlan &plan) {
    using Kind = abi::KernelOutput::Kind;
    std::vector<TokArray> inputArrays, outputArrays;
    auto describe = [](void *data, int64_t rows, int64_t columns, TokElementType type) {
      return TokArray{data,
                      {rows, columns, 1},
                      {columns, 1, 1},
                      2,
                      static_cast<uint8_t>(type),
                      TOK_DENSE,
                      0,
                      nullptr,
                      nullptr};
    };
    std::vector<std::vector<float>> floats(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      Matrix &input = inputs[i];
      floats[i].assign(input.cells.begin(), input.cells.end());
      TokElementType type = plan.inputs[i].elementType;
      void *data = type == TOK_F32 ? static_cast<void *>(floats[i].data()) : input.cells.data();
      inputArrays.push_back(describe(data, input.rows, input.columns, type));
    }
    std::vector<Matrix> results;
    std::vector<std::unique_ptr<AlignedDoubles>> outputData;
    int64_t partials = 0;
    for (const abi::KernelOutput &output : plan.outputs) {
      bool scalar = output.kind == Kind::PartialScalar;
      Matrix result{scalar ? 1 : size(output.rows), scalar ? 1 : size(output.columns), {}};
      int64_t cells = result.rows * result.columns;
      if (output.kind == Kind::Array) {
        bool half = output.elementType == TOK_F32;
        outputData.push_back(std::make_unique<AlignedDoubles>(half ? (cells + 1) / 2 : cells));
        outputArrays.push_back(
            describe(outputData.back()->data(), result.rows, result.columns, output.elementType));
      } else {
        partials += abi::partialDoubles(cells);
      }
      results.push_back(std::move(result));
    }
    int64_t outer = size(plan.extents[0]), columns = size(plan.extents[1]);
    TokArguments arguments{TOK_ABI_VERSION,     static_cast<uint32_t>(inputArrays.size()),
                           inputArrays.data(),  scalars.data(),
                           outputArrays.data(), {outer, columns, 1}};
    AlignedDoubles scratch(plan.scratchDoublesPerColumn * columns + plan.scratchDoubles);
    AlignedDoubles total(partials), one(partials);
    for (int64_t begin = 0, index = 0; begin < outer || index == 0; begin += tile, ++index) {
      TokTile range{{begin, 0, 0}, {std::min(outer, begin + tile), columns, 1}, index};
      AlignedDoubles &target = index == 0 ? total : one;
      TokWorkspace workspace{scratch.data(), target.data(), -1};
      if (plan.kernel(&arguments, &range, &workspace) != 0)
        std::abort();
      guardsIntact &= scratch.isGuardIntact() && target.isGuardIntact();
      if (index > 0 && plan.merge)
        plan.merge(&arguments, total.data(), one.data());
    }
    auto array = outputData.begin();
    double *partial = total.data();
    for (auto [result, output] : llvm::zip(results, plan.outputs)) {
      int64_t cells = result.rows * result.columns;
      const double *data = output.kind == Kind::Array ? (*array)->data() : partial;
      auto *halves = reinterpret_cast<const float *>(data);
      if (output.kind == Kind::Array && output.elementType == TOK_F32)
        result.cells.assign(halves, halves + cells);
      else
        result.cells.assign(data, data + cells);
      if (output.elementType == TOK_F32)
        for (double &cell : result.cells)
          cell = static_cast<float>(cell);
      if (output.kind == Kind::Array)
        guardsIntact &= (*array++)->isGuardIntact();
      else
        partial += abi::partialDoubles(cells);
    }
    return results;
  }
};

// The expected results of the operator, computed operation by operation.
std::vector<Matrix> interpret(plan::OperatorOp op, const std::vector<Matrix> &inputs,
                              const std::vector<double> &scalars);

} // namespace tokamak::codegen
#endif
