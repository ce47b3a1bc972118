// For the tests of kernels over entries: launches a kernel on dense matrices. It converts inputs to
// sparse where the plan requires it, and sparse results back to dense matrices.
//
//   SparseLaunch launch{matrices, scalars, /*tile=*/5, /*threads=*/3};
//   std::vector<Matrix> results = launch.run(plan);
#ifndef TOKAMAK_CODEGEN_TESTING_SPARSELAUNCHER_H
#define TOKAMAK_CODEGEN_TESTING_SPARSELAUNCHER_H

#include "codegen/testing/KernelLauncher.h"

#include <atomic>
#include <thread>

namespace tokamak::codegen {

// A dense matrix as sparse. Some entries are explicit zeros: those where a matrix of `others` is not
// zero, or arbitrary ones if there are no others. `start` is the offset of the first row, which is
// not 0 in views of rows.
struct CsrMatrix {
  std::vector<int64_t> offsets;
  std::vector<int32_t> indices;
  std::vector<double> values;

  explicit CsrMatrix(const Matrix &matrix, const std::vector<const Matrix *> &others = {},
                     int64_t start = 3) {
    indices.assign(start, 1 << 30);
    values.assign(start, -7777);
    offsets.push_back(start);
    for (int64_t i = 0; i < matrix.rows; ++i) {
      for (int64_t j = 0; j < matrix.columns; ++j) {
        double cell = matrix.cells[i * matrix.columns + j];
        bool explicitZero = others.empty() ? (i * 7 + j * 3) % 29 == 0
                                           : llvm::any_of(others, [&](const Matrix *other) {
                                               return other->cells[i * matrix.columns + j] != 0;
                                             });
        if (cell != 0 || explicitZero) {
          indices.push_back(static_cast<int32_t>(j));
          values.push_back(cell);
        }
      }
      offsets.push_back(static_cast<int64_t>(indices.size()));
    }
  }
  int64_t end() const { return offsets.back(); }
};

// Launches kernels with a driver as the runtime does, in tiles of `tile` rows.
struct SparseLaunch {
  std::vector<Matrix> inputs;
  std::vector<double> scalars;
  int64_t tile = 1 << 20;
  unsigned threads = 1;
  bool guardsIntact = true;

  int64_t size(const Size &expression) const {
    Launch dense{inputs, scalars};
    return dense.size(expression);
  }

  std::vector<Matrix> run(const abi::KernelPlan &plan) {
    using Kind = abi::KernelOutput::Kind;
    std::vector<CsrMatrix> patterns;
    patterns.reserve(inputs.size());
    std::vector<TokArray> inputArrays, outputArrays;
    auto describe = [](double *data, int64_t rows, int64_t columns) {
      return TokArray{data, {rows, columns}, TOK_F64, TOK_DENSE, 0, nullptr, nullptr};
    };
    auto makeCsr = [](TokArray &array, const CsrMatrix &pattern) {
      array.layout = TOK_CSR;
      array.rowOffsets = pattern.offsets.data();
      array.columnIndices = pattern.indices.data();
    };
    std::vector<std::vector<float>> floats;
    floats.reserve(inputs.size());
    const CsrMatrix *driver = nullptr;
    std::vector<const Matrix *> united;
    for (auto [number, input] : llvm::enumerate(inputs))
      if (plan.inputs[number].united)
        united.push_back(&input);
    for (auto [number, input] : llvm::enumerate(inputs)) {
      inputArrays.push_back(describe(input.cells.data(), input.rows, input.columns));
      std::vector<double> *cells = &input.cells;
      if (plan.inputs[number].layout == TOK_CSR) {
        bool isUnited = plan.inputs[number].united;
        CsrMatrix &pattern =
            patterns.emplace_back(input, isUnited ? united : std::vector<const Matrix *>());
        cells = &pattern.values;
        inputArrays.back().data = cells->data();
        // Arrays with the same entries as the first one share its offsets and indices.
        makeCsr(inputArrays.back(), patterns.front().indices == pattern.indices &&
                                            patterns.front().offsets == pattern.offsets
                                        ? patterns.front()
                                        : pattern);
        if (plan.driver == static_cast<int32_t>(number))
          driver = &pattern;
      }
      if (plan.inputs[number].elementType == ElementType::F32) {
        inputArrays.back().data = floats.emplace_back(cells->begin(), cells->end()).data();
        inputArrays.back().elementType = TOK_F32;
      }
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
        bool csr = output.layout == TOK_CSR;
        outputData.push_back(std::make_unique<AlignedDoubles>(csr ? driver->end() : cells));
        outputArrays.push_back(describe(outputData.back()->data(), result.rows, result.columns));
        if (csr)
          makeCsr(outputArrays.back(), *driver);
      } else {
        partials += abi::partialDoubles(cells);
        partialCells.push_back(cells);
      }
      results.push_back(std::move(result));
    }
    int64_t rows = size(plan.extents[0]);
    std::vector<int64_t> sizes;
    for (const Size &wanted : plan.sizes)
      sizes.push_back(size(wanted));
    TokArguments arguments{TOK_ABI_VERSION, inputArrays.data(), scalars.data(), outputArrays.data(),
                           sizes.data()};
    int64_t scratchDoubles = 0;
    for (const Size &expression : plan.scratchSizes)
      scratchDoubles += abi::partialDoubles(size(expression));
    int64_t tiles = std::max<int64_t>(1, (rows + tile - 1) / tile);
    std::vector<std::unique_ptr<AlignedDoubles>> partial;
    for (int64_t i = 0; i < tiles; ++i)
      partial.push_back(std::make_unique<AlignedDoubles>(partials));
    std::vector<StepRecord> steps;
    std::atomic<bool> intact = true;
    auto work = [&](unsigned thread) {
      AlignedDoubles scratch(scratchDoubles);
      for (int64_t i = thread; i < tiles; i += threads) {
        TokTile range{i * tile, std::min(rows, (i + 1) * tile), i};
        TokWorkspace workspace{scratch.data(), partial[i]->data(), -1};
        if (threads == 1)
          steps.push_back({range, i, -1});
        if (plan.kernel(&arguments, &range, &workspace) != 0)
          std::abort();
        if (!scratch.isGuardIntact() || !partial[i]->isGuardIntact())
          intact = false;
      }
    };
    std::vector<std::thread> workers;
    for (unsigned i = 1; i < threads; ++i)
      workers.emplace_back(work, i);
    work(0);
    for (std::thread &worker : workers)
      worker.join();
    for (int64_t step = 1; step < tiles; step *= 2)
      for (int64_t i = 0; i + step < tiles && plan.merge; i += 2 * step) {
        plan.merge(&arguments, partial[i]->data(), partial[i + step]->data());
        steps.push_back({{}, i, i + step});
      }
    if (threads == 1)
      recordLaunch(plan, arguments, scalars.size(), scratchDoubles, partialCells, steps,
                   partial[0]->data());
    auto array = outputData.begin();
    const double *from = partial[0]->data();
    for (auto [result, output] : llvm::zip(results, plan.outputs)) {
      int64_t cells = result.rows * result.columns;
      if (output.kind != Kind::Array) {
        result.cells.assign(from, from + cells);
        from += abi::partialDoubles(cells);
        continue;
      }
      intact = intact && (*array)->isGuardIntact();
      result.cells.assign(cells, 0);
      auto cell = [&](int64_t p) {
        const double *data = (*array)->data();
        return output.elementType == ElementType::F32 ? reinterpret_cast<const float *>(data)[p]
                                                      : data[p];
      };
      if (output.layout != TOK_CSR)
        for (int64_t p = 0; p < cells; ++p)
          result.cells[p] = cell(p);
      else
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t p = driver->offsets[i]; p < driver->offsets[i + 1]; ++p)
            result.cells[i * result.columns + driver->indices[p]] = cell(p);
      ++array;
    }
    guardsIntact = intact;
    return results;
  }
};

} // namespace tokamak::codegen
#endif
