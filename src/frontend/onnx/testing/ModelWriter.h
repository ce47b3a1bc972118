// Writes the protobuf of small models, for tests: right ones and, field by field, wrong ones.
//
//   std::string bytes = model({.graph = graph({.nodes = {node({"Relu", {"x"}, {"y"}})},
//                                              .inputs = {valueInfo("x", DataType::Float, {2})},
//                                              .outputs = {valueInfo("y", DataType::Float, {2})}})});
//
// Messages are strings of bytes: two one after the other are one message with the fields of both.
#ifndef TOKAMAK_FRONTEND_ONNX_TESTING_MODELWRITER_H
#define TOKAMAK_FRONTEND_ONNX_TESTING_MODELWRITER_H

#include "frontend/onnx/file/Model.h"

#include <protozero/pbf_writer.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tokamak::onnx::testing {

using Message = std::string;
using Names = std::vector<std::string>;

// Fields by their numbers, which are those of onnx.proto.
inline Message integerField(uint32_t field, int64_t value) {
  Message message;
  protozero::pbf_writer(message).add_int64(field, value);
  return message;
}
inline Message singleField(uint32_t field, float value) {
  Message message;
  protozero::pbf_writer(message).add_float(field, value);
  return message;
}
inline Message bytesField(uint32_t field, const std::string &bytes) {
  Message message;
  protozero::pbf_writer(message).add_bytes(field, bytes);
  return message;
}
inline Message bytesFields(uint32_t field, const std::vector<std::string> &all) {
  Message message;
  for (const std::string &bytes : all)
    message += bytesField(field, bytes);
  return message;
}
inline Message integerFields(uint32_t field, const std::vector<int64_t> &values) {
  Message message;
  for (int64_t value : values)
    message += integerField(field, value);
  return message;
}
inline Message packedField(uint32_t field, const std::vector<int64_t> &values) {
  Message message;
  protozero::pbf_writer(message).add_packed_int64(field, values.begin(), values.end());
  return message;
}
inline Message packedField(uint32_t field, const std::vector<float> &values) {
  Message message;
  protozero::pbf_writer(message).add_packed_float(field, values.begin(), values.end());
  return message;
}
inline Message packedField(uint32_t field, const std::vector<double> &values) {
  Message message;
  protozero::pbf_writer(message).add_packed_double(field, values.begin(), values.end());
  return message;
}

// A tensor without cells: a field is added for them.
inline Message tensor(const std::string &name, DataType type, const std::vector<int64_t> &dims) {
  return integerFields(1, dims) + integerField(2, static_cast<int>(type)) + bytesField(8, name);
}
template <typename Cell>
Message rawTensor(const std::string &name, DataType type, const std::vector<int64_t> &dims,
                  const std::vector<Cell> &cells) {
  std::string raw(cells.size() * sizeof(Cell), '\0');
  if (!raw.empty())
    std::memcpy(raw.data(), cells.data(), raw.size());
  return tensor(name, type, dims) + bytesField(9, raw);
}
// A tensor in another file, by its entries: {"location", "weights.bin"}.
inline Message externalTensor(const std::string &name, DataType type,
                              const std::vector<int64_t> &dims,
                              const std::vector<std::pair<std::string, std::string>> &entries) {
  Message message = tensor(name, type, dims) + integerField(14, 1);
  for (const auto &[key, value] : entries)
    message += bytesField(13, bytesField(1, key) + bytesField(2, value));
  return message;
}
// With sizes (numbers) and without.
inline Message tensorType(DataType type, const std::vector<int64_t> &dims) {
  Message shape;
  for (int64_t size : dims)
    shape += bytesField(1, integerField(1, size));
  return bytesField(1, integerField(1, static_cast<int>(type)) + bytesField(2, shape));
}
inline Message tensorType(DataType type) {
  return bytesField(1, integerField(1, static_cast<int>(type)));
}

// Inputs, outputs and other values of graphs.
inline Message valueInfo(const std::string &name, const Message &type) {
  return bytesField(1, name) + bytesField(2, type);
}
inline Message valueInfo(const std::string &name, DataType type, const std::vector<int64_t> &dims) {
  return valueInfo(name, tensorType(type, dims));
}
inline Message valueInfo(const std::string &name) {
  return valueInfo(name, tensorType(DataType::Float));
}

inline Message attribute(const std::string &name, Attribute::Kind kind, const Message &fields) {
  return bytesField(1, name) + fields + integerField(20, static_cast<int>(kind));
}
inline Message intAttribute(const std::string &name, int64_t number) {
  return attribute(name, Attribute::Kind::Int, integerField(3, number));
}
inline Message graphAttribute(const std::string &name, const Message &graph) {
  return attribute(name, Attribute::Kind::Graph, bytesField(6, graph));
}
inline Message tensorAttribute(const std::string &name, const Message &tensor) {
  return attribute(name, Attribute::Kind::Tensor, bytesField(5, tensor));
}
// In a function: the value is that of the function's attribute.
inline Message referenceAttribute(const std::string &name, Attribute::Kind kind,
                                  const std::string &reference) {
  return attribute(name, kind, bytesField(21, reference));
}

struct NodeParts {
  std::string opType;
  Names inputs = {}, outputs = {};
  std::vector<Message> attributes = {};
  std::string name = {}, domain = {}, overload = {};
};
inline Message node(const NodeParts &parts) {
  return bytesFields(1, parts.inputs) + bytesFields(2, parts.outputs) + bytesField(3, parts.name) +
         bytesField(4, parts.opType) + bytesFields(5, parts.attributes) +
         bytesField(7, parts.domain) + bytesField(8, parts.overload);
}

struct GraphParts {
  std::vector<Message> nodes = {}, initializers = {}, sparseInitializers = {};
  std::vector<Message> inputs = {}, outputs = {}, valueInfos = {};
};
inline Message graph(const GraphParts &parts) {
  return bytesFields(1, parts.nodes) + bytesField(2, "g") + bytesFields(5, parts.initializers) +
         bytesFields(15, parts.sparseInitializers) + bytesFields(11, parts.inputs) +
         bytesFields(12, parts.outputs) + bytesFields(13, parts.valueInfos);
}

using OperatorSets = std::vector<std::pair<std::string, int64_t>>;
inline Message operatorSets(uint32_t field, const OperatorSets &sets) {
  Message message;
  for (const auto &[domain, version] : sets)
    message += bytesField(field, bytesField(1, domain) + integerField(2, version));
  return message;
}

struct FunctionParts {
  std::string name;
  Names inputs, outputs;
  std::vector<Message> nodes;
  Names attributes = {};
  std::vector<Message> defaults = {};
  std::string domain = "local", overload = {};
  OperatorSets operatorSets = {{"", 17}, {"local", 1}};
};
inline Message function(const FunctionParts &parts) {
  return bytesField(1, parts.name) + bytesFields(4, parts.inputs) + bytesFields(5, parts.outputs) +
         bytesFields(6, parts.attributes) + bytesFields(11, parts.defaults) +
         bytesFields(7, parts.nodes) + operatorSets(9, parts.operatorSets) +
         bytesField(10, parts.domain) + bytesField(13, parts.overload);
}

struct ModelParts {
  Message graph;
  std::vector<Message> functions = {};
  OperatorSets operatorSets = {{"", 17}};
  int64_t irVersion = 8;
};
inline Message model(const ModelParts &parts) {
  return integerField(1, parts.irVersion) + operatorSets(8, parts.operatorSets) +
         bytesField(7, parts.graph) + bytesFields(25, parts.functions);
}

} // namespace tokamak::onnx::testing
#endif
