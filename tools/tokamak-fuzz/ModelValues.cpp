#include "tokamak-fuzz/ModelValues.h"

#include "frontend/onnx/testing/ModelWriter.h"

#include <cmath>
#include <cstring>

namespace tokamak::fuzz {

using onnx::DataType;

DataType anyDataType(Random &random) {
  return random.choose({DataType::Float, DataType::Float, DataType::Float, DataType::Double,
                        DataType::Float16, DataType::BFloat16, DataType::Int8, DataType::Int16,
                        DataType::Int32, DataType::Int64, DataType::UInt8, DataType::UInt16,
                        DataType::UInt32, DataType::UInt64, DataType::Bool});
}

std::string tensorOf(const std::string &name, DataType type, const std::vector<int64_t> &sizes,
                     const std::vector<double> &cells) {
  std::string raw;
  if (std::optional<ElementType> held = onnx::elementTypeOf(type))
    withCellType(*held, [&]<typename Cell>() {
      for (double number : cells) {
        auto cell = convertCell<Cell>(number);
        char bytes[sizeof cell];
        std::memcpy(bytes, &cell, sizeof cell);
        raw.append(bytes, sizeof cell);
      }
    });
  return onnx::testing::tensor(name, type, sizes) + onnx::testing::bytesField(9, raw);
}

std::string tensorOf(const std::string &name, const std::vector<int64_t> &cells) {
  return onnx::testing::rawTensor(name, DataType::Int64, {static_cast<int64_t>(cells.size())},
                                  cells);
}

std::string randomTensor(Random &random, const std::string &name, DataType type,
                         const std::vector<int64_t> &sizes, CellRange range) {
  constexpr int64_t mostCells = 1 << 16;
  int64_t count = 1;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(count, size, &count) || count > mostCells)
      return onnx::testing::tensor(name, type, sizes);
  std::optional<ElementType> held = onnx::elementTypeOf(type);
  bool isWhole = held && !isFloat(*held);
  std::vector<double> cells(count);
  for (double &cell : cells) {
    double part = static_cast<double>(random.upTo(1 << 20)) / (1 << 20);
    double number = range.least + part * (range.most - range.least);
    cell = isWhole ? std::floor(number) : number;
  }
  return tensorOf(name, type, sizes, cells);
}

} // namespace tokamak::fuzz
