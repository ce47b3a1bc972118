// For the tests of code generation: launches a kernel as the runtime does.
//
//   Launch launch{matrices, scalars, /*tile=*/16};
//   std::vector<Matrix> results = launch.run(plan);
#ifndef TOKAMAK_CODEGEN_KERNELLAUNCHER_H
#define TOKAMAK_CODEGEN_KERNELLAUNCHER_H

#include "abi/KernelPlan.h"
#include "codegen/KernelCorpus.h"
#include "ir/plan/PlanDialect.h"

#include <algorithm>
#include <bit>
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
      const Matrix &input = inputs[symbol / abi::mostDimensions];
      return symbol % abi::mostDimensions == 0 ? input.rows : input.columns;
    });
  }

  std::vector<Matrix> run(const abi::KernelPlan &plan) {
    using Kind = abi::KernelOutput::Kind;
    std::vector<TokArray> inputArrays, outputArrays;
    auto describe = [](void *data, int64_t rows, int64_t columns, ElementType type) {
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
    std::vector<std::vector<std::byte>> inputBytes(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      Matrix &input = inputs[i];
      ElementType type = plan.inputs[i].elementType;
      inputBytes[i].resize(input.cells.size() * byteSize(type) + 1); // never a null pointer
      withCellType(type, [&]<typename Cell>() {
        std::transform(input.cells.begin(), input.cells.end(),
                       reinterpret_cast<Cell *>(inputBytes[i].data()), convertCell<Cell, double>);
      });
      inputArrays.push_back(describe(inputBytes[i].data(), input.rows, input.columns, type));
    }
    std::vector<Matrix> results;
    std::vector<std::unique_ptr<AlignedDoubles>> outputData;
    int64_t partials = 0;
    std::vector<int64_t> partialCells;
    for (const abi::KernelOutput &output : plan.outputs) {
      bool scalar = output.kind == Kind::PartialScalar;
      Matrix result{scalar ? 1 : size(output.sizes[0]), scalar ? 1 : size(output.sizes[1]), {}};
      int64_t cells = result.rows * result.columns;
      if (output.kind == Kind::Array) {
        int64_t doubles = (cells * byteSize(output.elementType) + 7) / 8;
        outputData.push_back(std::make_unique<AlignedDoubles>(doubles));
        outputArrays.push_back(
            describe(outputData.back()->data(), result.rows, result.columns, output.elementType));
      } else {
        partials += abi::partialDoubles(cells);
        partialCells.push_back(cells);
      }
      results.push_back(std::move(result));
    }
    int64_t outer = size(plan.extents[0]), columns = size(plan.extents[1]);
    std::vector<double> passed = scalars;
    for (size_t i = 0; i < passed.size(); ++i)
      if (plan.integerScalars[i])
        passed[i] = std::bit_cast<double>(static_cast<int64_t>(passed[i]));
    std::vector<int64_t> sizes;
    for (const Size &wanted : plan.sizes)
      sizes.push_back(size(wanted));
    TokArguments arguments{TOK_ABI_VERSION,     static_cast<uint32_t>(inputArrays.size()),
                           inputArrays.data(),  passed.data(),
                           outputArrays.data(), {outer, columns, 1},
                           sizes.data()};
    int64_t scratchDoubles = plan.scratchDoublesPerColumn * columns + plan.scratchDoubles;
    for (const Size &wanted : plan.scratchSizes)
      scratchDoubles += abi::partialDoubles(size(wanted));
    AlignedDoubles scratch(scratchDoubles);
    std::vector<StepRecord> steps;
    AlignedDoubles total(partials), one(partials);
    for (int64_t begin = 0, index = 0; begin < outer || index == 0; begin += tile, ++index) {
      TokTile range{{begin, 0, 0}, {std::min(outer, begin + tile), columns, 1}, index};
      AlignedDoubles &target = index == 0 ? total : one;
      TokWorkspace workspace{scratch.data(), target.data(), -1};
      if (plan.kernel(&arguments, &range, &workspace) != 0)
        std::abort();
      guardsIntact &= scratch.isGuardIntact() && target.isGuardIntact();
      steps.push_back({range, index == 0 ? 0 : 1, -1});
      if (index > 0 && plan.merge) {
        plan.merge(&arguments, total.data(), one.data());
        steps.push_back({{}, 0, 1});
      }
    }
    recordLaunch(plan, arguments, passed.size(), scratchDoubles, partialCells, steps, total.data());
    auto array = outputData.begin();
    double *partial = total.data();
    for (auto [result, output] : llvm::zip(results, plan.outputs)) {
      int64_t cells = result.rows * result.columns;
      const double *data = output.kind == Kind::Array ? (*array)->data() : partial;
      ElementType type = output.kind == Kind::Array ? output.elementType
                         : output.isInteger         ? ElementType::I64
                                                    : ElementType::F64;
      withCellType(type, [&]<typename Cell>() {
        auto *from = reinterpret_cast<const Cell *>(data);
        for (int64_t i = 0; i < cells; ++i)
          result.cells.push_back(convertCell<double>(from[i]));
      });
      for (double &cell : result.cells)
        cell = roundedTo(output.elementType, cell);
      if (output.kind == Kind::Array)
        guardsIntact &= (*array++)->isGuardIntact();
      else
        partial += abi::partialDoubles(cells);
    }
    return results;
  }
};

} // namespace tokamak::codegen
#endif
