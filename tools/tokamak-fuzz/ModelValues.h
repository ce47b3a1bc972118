// Random tensors as messages of models.
//
//   std::string message = randomTensor(random, "x", onnx::DataType::Float, {2, 3}, {-2, 3});
//
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELVALUES_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELVALUES_H

#include "frontend/onnx/file/DataType.h"
#include "tokamak-fuzz/Expressions.h"

#include <string>
#include <vector>

namespace tokamak::fuzz {

// Types of which Tokamak keeps arrays, most of them floats.
onnx::DataType anyDataType(Random &random);

struct CellRange {
  double least, most;
};

// Cells of integers are whole. Without a known number of cells, or with very many, it has none, which is wrong.
std::string randomTensor(Random &random, const std::string &name, onnx::DataType type,
                         const std::vector<int64_t> &sizes, CellRange range);
std::string tensorOf(const std::string &name, onnx::DataType type,
                     const std::vector<int64_t> &sizes, const std::vector<double> &cells);
std::string tensorOf(const std::string &name, const std::vector<int64_t> &cells);

} // namespace tokamak::fuzz
#endif
