// A graph of typed nodes that grows: what random models are made of.
//
//   ModelGraph graph(random);
//   Array x = graph.input({2, 3}, onnx::DataType::Float, {-2, 3});
//   Array y = graph.add("Relu", {x.name}, {}, x.sizes, x.type);
//   std::string bytes = graph.model();      // all values are results
//
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELGRAPH_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELGRAPH_H

#include "tokamak-fuzz/ModelValues.h"

#include <optional>

namespace tokamak::fuzz {

using Sizes = std::vector<int64_t>;
using Names = std::vector<std::string>;
using Attributes = std::vector<std::string>; // messages

struct Array {
  std::string name;
  Sizes sizes;
  onnx::DataType type = onnx::DataType::Float;
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  int64_t cells() const;
};

bool isFloatType(onnx::DataType type);
bool isIntegerType(onnx::DataType type);

inline bool isAny(onnx::DataType) { return true; }
inline bool isNumber(onnx::DataType type) { return type != onnx::DataType::Bool; }
inline bool isTruth(onnx::DataType type) { return type == onnx::DataType::Bool; }

std::string realAttribute(const std::string &name, float number);
std::string textAttribute(const std::string &name, const std::string &text);
std::string listAttribute(const std::string &name, const Sizes &numbers);

class ModelGraph {
public:
  explicit ModelGraph(Random &random) : random(random) {}

  Random &random;

  // No to five sizes from 0 to 150, of few cells together.
  Sizes anySizes();
  Sizes sizesOfRank(int64_t rank);
  // A value that comes from outside; the model says its sizes, names for them, or only how many there are.
  Array input(const Sizes &sizes, onnx::DataType type, CellRange range);
  // A weight.
  Array weight(const Sizes &sizes, onnx::DataType type, CellRange range);
  // The same of a list of integers, from outside or a weight.
  std::string list(const Sizes &numbers);
  std::string number(double cell, onnx::DataType type);
  // Of an array that there is, or a new one, one for which this holds.
  template <typename Suits>
  Array choose(const Suits &suits, const Sizes &otherwise, onnx::DataType type) {
    std::vector<Array> fitting;
    for (const Array &array : arrays_)
      if (suits(array))
        fitting.push_back(array);
    return fitting.empty() || random.chance(0.15) ? fresh(otherwise, type) : random.choose(fitting);
  }
  Array any(bool (*isWanted)(onnx::DataType), int64_t leastRank = 0, int64_t mostRank = 5);
  // A new input or weight.
  Array fresh(const Sizes &sizes, onnx::DataType type, CellRange range = {-2, 3});
  // A node with one result, which others may take.
  Array add(const std::string &opType, const Names &inputs, const Attributes &attributes,
            const Sizes &sizes, onnx::DataType type);
  // One whose results have sizes that nobody follows: they are results of the model only.
  void addLast(const std::string &opType, const Names &inputs, const Attributes &attributes,
               const std::vector<onnx::DataType> &types);
  std::string model() const;

private:
  std::string newName(const char *prefix);

  std::vector<Array> arrays_;
  std::vector<std::string> inputs_, weights_, nodes_, outputs_; // messages
  int names_ = 0;
};

} // namespace tokamak::fuzz
#endif
