#include "tokamak-fuzz/ModelGraph.h"

#include "frontend/onnx/testing/ModelWriter.h"

#include <fmt/format.h>

namespace tokamak::fuzz {

using onnx::DataType;
namespace writer = onnx::testing;

int64_t Array::cells() const {
  int64_t cells = 1;
  for (int64_t size : sizes)
    cells *= size;
  return cells;
}

bool isFloatType(DataType type) {
  std::optional<ElementType> element = onnx::elementTypeOf(type);
  return element && isFloat(*element);
}
bool isIntegerType(DataType type) { return !isFloatType(type) && type != DataType::Bool; }

std::string realAttribute(const std::string &name, float number) {
  return writer::attribute(name, onnx::Attribute::Kind::Float, writer::singleField(2, number));
}
std::string textAttribute(const std::string &name, const std::string &text) {
  return writer::attribute(name, onnx::Attribute::Kind::String, writer::bytesField(4, text));
}
std::string listAttribute(const std::string &name, const Sizes &numbers) {
  return writer::attribute(name, onnx::Attribute::Kind::Ints, writer::packedField(8, numbers));
}

Sizes ModelGraph::sizesOfRank(int64_t rank) {
  constexpr int64_t mostCells = 4096;
  for (;;) {
    Array array{"", {}};
    for (int64_t i = 0; i < rank; ++i)
      array.sizes.push_back(
          random.chance(0.04) ? 0 : random.choose({1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 16, 33, 64, 150}));
    if (array.cells() <= mostCells)
      return array.sizes;
  }
}

Sizes ModelGraph::anySizes() {
  return sizesOfRank(random.choose({0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5}));
}

std::string ModelGraph::newName(const char *prefix) {
  return fmt::format("{}{}", prefix, ++names_);
}

Array ModelGraph::input(const Sizes &sizes, DataType type, CellRange range) {
  Array array{newName("x"), sizes, type};
  std::string shape;
  double known = random.choose({0.0, 0.5, 1.0});
  for (int64_t size : sizes) {
    std::string dimension = random.chance(known) ? writer::integerField(1, size)
                            : random.chance(0.5) ? writer::bytesField(2, fmt::format("n{}", size))
                                                 : std::string();
    shape += writer::bytesField(1, dimension);
  }
  std::string tensor =
      writer::integerField(1, static_cast<int64_t>(type)) + writer::bytesField(2, shape);
  inputs_.push_back(writer::valueInfo(array.name, writer::bytesField(1, tensor)));
  weights_.push_back(randomTensor(random, array.name, type, sizes, range));
  arrays_.push_back(array);
  return array;
}

Array ModelGraph::weight(const Sizes &sizes, DataType type, CellRange range) {
  Array array{newName("w"), sizes, type};
  weights_.push_back(randomTensor(random, array.name, type, sizes, range));
  return array;
}

Array ModelGraph::fresh(const Sizes &sizes, DataType type, CellRange range) {
  return random.chance(0.5) ? input(sizes, type, range) : weight(sizes, type, range);
}

std::string ModelGraph::list(const Sizes &numbers) {
  std::string name = newName("l");
  weights_.push_back(tensorOf(name, numbers));
  if (random.chance(0.2))
    inputs_.push_back(
        writer::valueInfo(name, DataType::Int64, {static_cast<int64_t>(numbers.size())}));
  return name;
}

std::string ModelGraph::number(double cell, DataType type) {
  std::string name = newName("c");
  weights_.push_back(tensorOf(name, type, {}, {cell}));
  return name;
}

Array ModelGraph::any(bool (*isWanted)(DataType), int64_t leastRank, int64_t mostRank) {
  DataType type = anyDataType(random);
  while (!isWanted(type))
    type = anyDataType(random);
  return choose(
      [&](const Array &array) {
        return isWanted(array.type) && array.rank() >= leastRank && array.rank() <= mostRank;
      },
      sizesOfRank(random.between(leastRank, std::min<int64_t>(mostRank, 4))), type);
}

Array ModelGraph::add(const std::string &opType, const Names &inputs, const Attributes &attributes,
                      const Sizes &sizes, DataType type) {
  Array array{newName("y"), sizes, type};
  nodes_.push_back(writer::node({opType, inputs, {array.name}, attributes}));
  outputs_.push_back(writer::valueInfo(array.name, writer::tensorType(type)));
  arrays_.push_back(array);
  return array;
}

void ModelGraph::addLast(const std::string &opType, const Names &inputs,
                         const Attributes &attributes, const std::vector<DataType> &types) {
  Names results;
  for (DataType type : types) {
    results.push_back(newName("z"));
    outputs_.push_back(writer::valueInfo(results.back(), writer::tensorType(type)));
  }
  nodes_.push_back(writer::node({opType, inputs, results, attributes}));
}

std::string ModelGraph::model() const {
  std::string graph = writer::graph({nodes_, weights_, {}, inputs_, outputs_, {}});
  return writer::model({graph, {}, {{"", 23}}, 10});
}

} // namespace tokamak::fuzz
