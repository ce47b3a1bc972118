// Small files that would make a careless reader allocate, recurse or wait without end.
#include "frontend/onnx/file/TensorReader.h"
#include "frontend/onnx/file/Value.h"
#include "frontend/onnx/testing/Messages.h"
#include "frontend/onnx/testing/ModelWriter.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

using Texts = std::vector<std::string>;

std::string readingOf(const std::string &bytes) {
  return messageOf([&] { readModel({"model.onnx", bytes}); });
}

// So many graphs, each in a node of the one around it.
Message nestedGraphs(int depth) {
  Message inside = graph({});
  for (int i = 1; i < depth; ++i)
    inside = bytesField(1, bytesField(4, "If") + bytesField(2, "o" + std::to_string(i)) +
                               bytesField(5, graphAttribute("b", inside)));
  return inside;
}

Message repeat(const Message &message, int times) {
  Message all;
  all.reserve(message.size() * static_cast<size_t>(times));
  for (int i = 0; i < times; ++i)
    all += message;
  return all;
}

} // namespace

TEST(OnnxHostileModels, areNotNestedTooDeep) {
  EXPECT_EQ(mistakesIn(model({.graph = nestedGraphs(mostNested)})), Texts{});
  std::string wrong = readingOf(model({.graph = nestedGraphs(mostNested + 1)}));
  EXPECT_TRUE(wrong.starts_with("model.onnx: byte ") &&
              wrong.ends_with(": graphs are nested more than 64 deep"))
      << wrong;
  EXPECT_TRUE(readingOf(model({.graph = nestedGraphs(10000)}))
                  .ends_with(": graphs are nested more than 64 deep"));
  // Sequences of sequences.
  auto nestedTypes = [](int depth) {
    Message type = tensorType(DataType::Float);
    for (int i = 1; i < depth; ++i)
      type = bytesField(4, bytesField(1, type));
    return model({.graph = graph({.inputs = {valueInfo("x", type)}})});
  };
  EXPECT_EQ(mistakesIn(nestedTypes(mostNested)), Texts{});
  EXPECT_TRUE(
      readingOf(nestedTypes(mostNested + 1)).ends_with(": types are nested more than 64 deep"));
  EXPECT_TRUE(readingOf(nestedTypes(10000)).ends_with(": types are nested more than 64 deep"));
  Message values = tensor("", DataType::Float, {0});
  for (int i = 0; i < 10000; ++i)
    values = bytesField(5, values);
  EXPECT_TRUE(messageOf([&] {
                readValue({"x.pb", values}, Type::Kind::Sequence);
              }).ends_with(": values are nested more than 64 deep"));
}

TEST(OnnxHostileModels, haveNotTooManyParts) {
  // A node takes two bytes.
  Message nodes = repeat(std::string("\x0a\x00", 2), 1000000);
  Texts mistakes = mistakesIn(model({.graph = nodes}));
  ASSERT_EQ(mistakes.size(), ModelErrors::most);
  EXPECT_EQ(mistakes[0], "model.onnx: node 0 (, opset 17): it has no operator");
  std::string more = readingOf(model({.graph = repeat(nodes, 5)}));
  EXPECT_TRUE(more.ends_with(": the file has more than 4194304 nodes, attributes, tensors, values, "
                             "types and dimensions"))
      << more;
  std::string functions = readingOf(repeat(bytesField(25, ""), mostFunctions + 1));
  EXPECT_TRUE(functions.ends_with(": the file has more than 65536 functions")) << functions;
  // Inputs that all are the same, each of which is wrong.
  EXPECT_EQ(
      mistakesIn(model({.graph = graph({.inputs = std::vector<Message>(100000, valueInfo("x"))})}))
          .size(),
      ModelErrors::most);
  // Attributes that all are the same.
  Message attributes = repeat(bytesField(5, intAttribute("a", 1)), 100000);
  EXPECT_EQ(mistakesIn(model({.graph = bytesField(1, bytesField(4, "Op") + attributes)})),
            Texts{"model.onnx: node 0 (Op, opset 17): attribute 'a' stands twice"});
}

TEST(OnnxHostileModels, areLargeAndRight) {
  std::vector<Message> nodes;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) // the last first: all have to be sorted
    nodes.push_back(
        node({"Relu", {"v" + std::to_string(count - 1 - i)}, {"v" + std::to_string(count - i)}}));
  EXPECT_EQ(mistakesIn(model({.graph = graph({.nodes = nodes, .inputs = {valueInfo("v0")}})})),
            Texts{});
}

TEST(OnnxHostileModels, haveTheCellsThatTheirShapesSay) {
  int64_t large = int64_t{1} << 40;
  EXPECT_EQ(mistakesIn(model({.graph = graph({.initializers = {rawTensor<float>(
                                                  "w", DataType::Float, {large}, {1})}})})),
            Texts{"model.onnx: initializer 'w': its shape [1099511627776] of float needs "
                  "4398046511104 bytes, but raw_data has 4"});
  EXPECT_EQ(
      mistakesIn(model(
          {.graph = graph({.initializers = {tensor("w", DataType::Float, {large, large})}})})),
      Texts{"model.onnx: initializer 'w': its shape [1099511627776, 1099511627776] has more "
            "than 2^63 cells"});
  // A sparse tensor may be large, but has as many positions as values.
  Message sparse = bytesField(1, rawTensor<float>("s", DataType::Float, {1}, {1})) +
                   bytesField(2, tensor("", DataType::Int64, {large}) + integerField(7, 0)) +
                   integerFields(3, {large});
  EXPECT_EQ(mistakesIn(model({.graph = graph({.sparseInitializers = {sparse}})})),
            Texts{"model.onnx: sparse initializer 's': its shape [1099511627776] of int64 needs "
                  "1099511627776 numbers, but int64_data has 1"});
}

// Each function calls the next one twice: 2^60 nodes.
TEST(OnnxHostileModels, doNotMultiplyByCalls) {
  auto functions = [](int count, int calls) {
    std::vector<Message> functions;
    for (int i = 0; i < count; ++i) {
      std::vector<Message> nodes;
      for (int call = 0; call < calls; ++call)
        nodes.push_back(node({.opType = i + 1 < count ? "f" + std::to_string(i + 1) : "Leaf",
                              .outputs = {"o" + std::to_string(call)},
                              .domain = "local"}));
      functions.push_back(function(
          {.name = "f" + std::to_string(i), .inputs = {}, .outputs = {"o0"}, .nodes = nodes}));
    }
    return mistakesIn(model({.graph = graph({}), .functions = functions}));
  };
  EXPECT_EQ(functions(64, 1), Texts{});
  EXPECT_EQ(
      functions(65, 1),
      Texts{"model.onnx: function 'local.f0': calls of functions are nested more than 64 deep"});
  EXPECT_EQ(
      functions(10000, 1),
      Texts{"model.onnx: function 'local.f0': calls of functions are nested more than 64 deep"});
  EXPECT_EQ(
      functions(60, 2),
      Texts{"model.onnx: function 'local.f38': its nodes are more than 4194304, when functions "
            "are replaced by their nodes"});
}

// Long names that are nearly the same: looking for near ones is bounded.
TEST(OnnxHostileModels, areNotComparedForEver) {
  std::vector<Message> nodes;
  std::string longName(90, 'n');
  for (int i = 0; i < 20000; ++i)
    nodes.push_back(
        node({"Relu", {longName + "x" + std::to_string(i)}, {longName + std::to_string(i)}}));
  EXPECT_EQ(mistakesIn(model({.graph = graph({.nodes = nodes})})).size(), ModelErrors::most);
}
