// For the tests of code generation: launches a kernel as the runtime does.
//
//   Launch launch{matrices, scalars, /*tile=*/16};
//   std::vector<Matrix> results = launch.run(plan);
//
//   ArrayLaunch ofArrays{operands, /*tile=*/16};          // arrays of any rank, and scalars
//   std::vector<reference::CellArray> arrays = ofArrays.run(plan);
#ifndef TOKAMAK_CODEGEN_TESTING_KERNELLAUNCHER_H
#define TOKAMAK_CODEGEN_TESTING_KERNELLAUNCHER_H

#include "abi/KernelPlan.h"
#include "codegen/testing/KernelCorpus.h"
#include "reference/BodyMeaning.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

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
  AlignedDoubles(AlignedDoubles &&) = default;
  explicit AlignedDoubles(int64_t size, double unwritten = -7777)
      : size_(size), unwritten_(unwritten), storage_(size + 9, unwritten) {
    auto address = reinterpret_cast<uintptr_t>(storage_.data());
    data_ = storage_.data() + (64 - address % 64) % 64 / sizeof(double);
  }
  double *data() { return data_; }
  int64_t size() const { return size_; }
  void clear() { std::fill(storage_.begin(), storage_.end(), unwritten_); }
  // Moves the cells that were written into `all`; false if one of them was there already.
  bool moveTo(AlignedDoubles &all, int64_t cellBytes) {
    auto *from = reinterpret_cast<std::byte *>(data_),
         *to = reinterpret_cast<std::byte *>(all.data_);
    AlignedDoubles none(8);
    auto *pattern = reinterpret_cast<const std::byte *>(none.data_);
    bool areNew = true;
    for (int64_t at = 0; at + cellBytes <= size_ * int64_t(sizeof(double)); at += cellBytes) {
      const std::byte *blank = pattern + at % sizeof(double);
      if (std::memcmp(from + at, blank, cellBytes) == 0)
        continue;
      areNew &= std::memcmp(to + at, blank, cellBytes) == 0;
      std::memcpy(to + at, from + at, cellBytes);
      std::memcpy(from + at, blank, cellBytes);
    }
    return areNew;
  }
  bool isGuardIntact() const { return isIntactBehind(size_ * sizeof(double)); }
  // Whether nothing but the first `bytes` was written.
  bool isIntactBehind(int64_t bytes) const {
    int64_t whole = bytes / sizeof(double) * sizeof(double);
    auto *cells = reinterpret_cast<const std::byte *>(data_);
    auto *guard = reinterpret_cast<const std::byte *>(&unwritten_);
    return std::equal(cells + bytes, cells + whole + sizeof(double), guard + (bytes - whole)) &&
           data_[size_] == unwritten_;
  }

private:
  int64_t size_;
  double unwritten_;
  std::vector<double> storage_;
  double *data_;
};

// Denormal numbers as a double and as two floats: whether a kernel computes with what scratch memory held before it can
// be seen afterwards, even if its results are the same. (It takes long for them on most processors.)
inline constexpr double denormals = std::bit_cast<double>(uint64_t{1} << 32 | 1);

// Whether the processor had a denormal operand since the last question; never on processors that don't say.
inline bool hadDenormalOperand() {
#ifdef __SSE__
  constexpr unsigned denormalOperand = 1 << 1; // of MXCSR, Intel's manual, volume 1, 10.2.3
  unsigned state = _mm_getcsr();
  _mm_setcsr(state & ~denormalOperand);
  return state & denormalOperand;
#else
  return false;
#endif
}

// Launches with all operands of an operator, arrays and scalars.
struct ArrayLaunch {
  std::vector<reference::CellArray> operands;
  int64_t tile = 1 << 20; // places of the first extent, a multiple of 8
  bool guardsIntact = true;
  bool bypassesCaches = false; // as TokArray says, for all results
  // Whether it is asked for, and true, that no two tiles write the same cell.
  bool watchesTiles = false, tilesAreDisjoint = true;
  // Of the operands, among intermediate results, or in what scratch memory held before.
  bool hadDenormalOperands = false;

  int64_t size(const Size &size) const {
    return size.evaluate([this](int64_t symbol) {
      int64_t input = symbol / abi::mostDimensions;
      for (const reference::CellArray &operand : operands)
        if (!operand.sizes.empty() && input-- == 0)
          return operand.sizes[symbol % abi::mostDimensions];
      std::abort();
    });
  }

  std::vector<reference::CellArray> run(const abi::KernelPlan &plan) {
    using Kind = abi::KernelOutput::Kind;
    std::vector<TokArray> inputArrays, outputArrays;
    std::vector<std::vector<std::byte>> inputBytes;
    std::vector<double> scalars;
    for (const reference::CellArray &operand : operands)
      if (operand.sizes.empty()) {
        bool isInteger = plan.integerScalars[scalars.size()];
        scalars.push_back(isInteger ? std::bit_cast<double>(operand.integers.front())
                                    : operand.cells.front());
      } else {
        ElementType type = plan.inputs[inputBytes.size()].elementType;
        inputBytes.push_back(bytesOf(operand, type));
        inputArrays.push_back(describe(inputBytes.back().data(), operand.sizes, type));
      }
    std::vector<reference::CellArray> results;
    std::vector<std::unique_ptr<AlignedDoubles>> outputData;
    int64_t partials = 0;
    std::vector<int64_t> partialCells;
    for (const abi::KernelOutput &output : plan.outputs) {
      reference::CellArray &result = results.emplace_back();
      if (output.kind != Kind::PartialScalar)
        for (const Size &wanted : output.sizes)
          result.sizes.push_back(size(wanted));
      int64_t cells = cellsOf(result);
      if (output.kind == Kind::Array) {
        int64_t doubles = (cells * byteSize(output.elementType) + 7) / 8;
        outputData.push_back(std::make_unique<AlignedDoubles>(doubles));
        outputArrays.push_back(
            describe(outputData.back()->data(), result.sizes, output.elementType));
        outputArrays.back().bypassesCaches = bypassesCaches;
      } else {
        partials += abi::partialDoubles(cells);
        partialCells.push_back(cells);
      }
    }
    int64_t outer = size(plan.extents[0]);
    std::vector<int64_t> sizes;
    for (const Size &wanted : plan.sizes)
      sizes.push_back(size(wanted));
    TokArguments arguments{TOK_ABI_VERSION, inputArrays.data(), scalars.data(), outputArrays.data(),
                           sizes.data()};
    int64_t scratchDoubles = 0;
    for (const Size &wanted : plan.scratchSizes)
      scratchDoubles += abi::partialDoubles(size(wanted));
    AlignedDoubles scratch(scratchDoubles, denormals);
    std::vector<StepRecord> steps;
    std::vector<AlignedDoubles> written;
    if (watchesTiles)
      for (const std::unique_ptr<AlignedDoubles> &data : outputData)
        written.emplace_back(data->size());
    auto watch = [&] {
      for (auto [data, all, array] : llvm::zip(outputData, written, outputArrays))
        tilesAreDisjoint &=
            data->moveTo(all, byteSize(static_cast<ElementType>(array.elementType)));
    };
    AlignedDoubles total(partials), one(partials);
    for (int64_t begin = 0, index = 0; begin < outer || index == 0; begin += tile, ++index) {
      TokTile range{begin, std::min(outer, begin + tile), index};
      AlignedDoubles &target = index == 0 ? total : one;
      TokWorkspace workspace{scratch.data(), target.data(), -1};
      scratch.clear(); // what a tile leaves there is nothing that another one may read
      hadDenormalOperand();
      if (plan.kernel(&arguments, &range, &workspace) != 0)
        std::abort();
      hadDenormalOperands |= hadDenormalOperand();
      guardsIntact &= scratch.isGuardIntact() && target.isGuardIntact();
      watch();
      steps.push_back({range, index == 0 ? 0 : 1, -1});
      if (index > 0 && plan.merge) {
        plan.merge(&arguments, total.data(), one.data());
        steps.push_back({{}, 0, 1});
      }
    }
    for (auto [data, all, array] : llvm::zip(outputData, written, outputArrays))
      all.moveTo(*data, byteSize(static_cast<ElementType>(array.elementType)));
    recordLaunch(plan, arguments, scalars.size(), scratchDoubles, partialCells, steps,
                 total.data());
    auto array = outputData.begin();
    double *partial = total.data();
    for (auto [result, output] : llvm::zip(results, plan.outputs)) {
      int64_t cells = cellsOf(result);
      if (output.kind == Kind::Array) {
        fill(result, (*array)->data(), cells, output.elementType, output.elementType);
        guardsIntact &= (*array++)->isIntactBehind(cells * byteSize(output.elementType));
        continue;
      }
      fill(result, partial, cells, output.isInteger ? ElementType::I64 : ElementType::F64,
           output.elementType);
      partial += abi::partialDoubles(cells);
    }
    return results;
  }

private:
  static int64_t cellsOf(const reference::CellArray &array) {
    int64_t cells = 1;
    for (int64_t size : array.sizes)
      cells *= size;
    return cells;
  }

  static std::vector<std::byte> bytesOf(const reference::CellArray &array, ElementType type) {
    size_t count = isFloat(type) ? array.cells.size() : array.integers.size();
    std::vector<std::byte> bytes(count * byteSize(type) + 1); // never a null pointer
    withCellType(type, [&]<typename Cell>() {
      auto *to = reinterpret_cast<Cell *>(bytes.data());
      for (size_t i = 0; i < count; ++i)
        if constexpr (isFloatCell<Cell>)
          to[i] = convertCell<Cell>(array.cells[i]);
        else
          to[i] = convertCell<Cell>(array.integers[i]);
    });
    return bytes;
  }

  // Reads cells of type `from` as cells of the result's type.
  static void fill(reference::CellArray &result, const double *data, int64_t count,
                   ElementType from, ElementType type) {
    withCellType(from, [&]<typename Cell>() {
      auto *cells = reinterpret_cast<const Cell *>(data);
      for (int64_t i = 0; i < count; ++i)
        if (isFloat(type))
          result.cells.push_back(roundedTo(type, convertCell<double>(cells[i])));
        else
          result.integers.push_back(wrappedTo(type, convertCell<int64_t>(cells[i])));
    });
  }

  // As kernels see arrays: all dimensions but the last are rows.
  static TokArray describe(void *data, const std::vector<int64_t> &sizes, ElementType type) {
    int64_t rows = 1, columns = sizes.empty() ? 1 : sizes.back();
    for (size_t dimension = 0; dimension + 1 < sizes.size(); ++dimension)
      rows *= sizes[dimension];
    return TokArray{data,    {rows, columns}, static_cast<uint8_t>(type), TOK_DENSE, 0,
                    nullptr, nullptr};
  }
};

// Cells that are given as doubles, whatever their type.
inline reference::CellArray arrayOf(std::vector<int64_t> sizes, std::vector<double> cells,
                                    ElementType type) {
  if (isFloat(type))
    return {std::move(sizes), std::move(cells)};
  reference::CellArray array{std::move(sizes), {}};
  for (double cell : cells)
    array.integers.push_back(integerOf(type, cell));
  return array;
}

// The reverse; a scalar is a matrix of one cell.
inline Matrix matrixOf(reference::CellArray array, ElementType type) {
  for (int64_t cell : array.integers)
    array.cells.push_back(doubleOf(type, cell));
  if (array.sizes.empty())
    return {1, 1, std::move(array.cells)};
  return {array.sizes[0], array.sizes[1], std::move(array.cells)};
}

// Launches with matrices whose cells are given as doubles, whatever their type.
struct Launch {
  std::vector<Matrix> inputs;
  std::vector<double> scalars;
  int64_t tile = 1 << 20; // rows or cells, a multiple of 8
  bool guardsIntact = true;

  int64_t size(const Size &size) const {
    ArrayLaunch launch;
    for (const Matrix &input : inputs)
      launch.operands.push_back({{input.rows, input.columns}, {}});
    return launch.size(size);
  }

  std::vector<Matrix> run(const abi::KernelPlan &plan) {
    ArrayLaunch launch{{}, tile};
    for (auto [number, input] : llvm::enumerate(inputs))
      launch.operands.push_back(
          arrayOf({input.rows, input.columns}, input.cells, plan.inputs[number].elementType));
    for (auto [number, scalar] : llvm::enumerate(scalars))
      launch.operands.push_back(
          arrayOf({}, {scalar}, plan.integerScalars[number] ? ElementType::I64 : ElementType::F64));
    std::vector<Matrix> results;
    for (auto [array, output] : llvm::zip(launch.run(plan), plan.outputs))
      results.push_back(matrixOf(std::move(array), output.elementType));
    guardsIntact &= launch.guardsIntact;
    return results;
  }
};

} // namespace tokamak::codegen
#endif
