#include "frontend/onnx/file/ModelReader.h"

#include "frontend/onnx/testing/Messages.h"
#include "frontend/onnx/testing/ModelWriter.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

using Kind = Attribute::Kind;
using Views = std::vector<std::string_view>;

std::string readingOf(const std::string &bytes) {
  return messageOf([&] { readModel({"model.onnx", bytes}); });
}

// The value of the only attribute of the only node.
template <typename T> T valueOf(const Message &attribute) {
  std::string bytes = model({.graph = graph({.nodes = {node({"Op", {}, {}, {attribute}})}})});
  Model read = readModel({"model.onnx", bytes});
  return std::get<T>(std::move(read.graph.nodes.at(0).attributes.at(0).value));
}

Message modelWith(const Message &attribute) {
  return model({.graph = graph({.nodes = {node({"Op", {}, {}, {attribute}})}})});
}

} // namespace

TEST(OnnxModelReader, readsModels) {
  std::string bytes =
      model(
          {.graph = graph({.nodes = {node({.opType = "Conv",
                                           .inputs = {"x", "", "w"},
                                           .outputs = {"y", ""},
                                           .attributes = {intAttribute("group", 2)},
                                           .name = "conv1",
                                           .domain = "com.acme",
                                           .overload = "fast"}),
                                     node({.opType = "Relu", .domain = "ai.onnx"})},
                           .initializers = {rawTensor<float>("w", DataType::Float, {2}, {1, 2})},
                           .sparseInitializers = {bytesField(1, tensor("s", DataType::Float, {0})) +
                                                  bytesField(2, tensor("", DataType::Int64, {0})) +
                                                  integerFields(3, {4, 5})},
                           .inputs = {valueInfo("x", DataType::Float16, {1, 3})},
                           .outputs = {valueInfo("y")},
                           .valueInfos = {valueInfo("z")}}),
           .operatorSets = {{"ai.onnx", 17}, {"com.acme", 1}, {"", 18}}}) +
      bytesField(2, "maker") + bytesField(3, "1.2") + bytesField(4, "org.example") +
      integerField(5, 7) + bytesField(14, bytesField(1, "author") + bytesField(2, "me")) +
      bytesField(6, "documentation is not read");
  Model model = readModel({"model.onnx", bytes});
  EXPECT_EQ(model.irVersion, 8);
  EXPECT_EQ(model.producerName, "maker");
  EXPECT_EQ(model.producerVersion, "1.2");
  EXPECT_EQ(model.domain, "org.example");
  EXPECT_EQ(model.modelVersion, 7);
  EXPECT_EQ(model.metadata.at(0).key, "author");
  EXPECT_EQ(model.metadata.at(0).value, "me");
  EXPECT_EQ(versionOf(model.operatorSets, ""), 18);
  EXPECT_EQ(versionOf(model.operatorSets, "com.acme"), 1);
  EXPECT_EQ(versionOf(model.operatorSets, "com.other"), std::nullopt);
  EXPECT_EQ(model.graph.name, "g");
  ASSERT_EQ(model.graph.nodes.size(), 2);
  const Node &conv = model.graph.nodes[0];
  EXPECT_EQ(conv.number, 0);
  EXPECT_EQ(conv.opType, "Conv");
  EXPECT_EQ(conv.name, "conv1");
  EXPECT_EQ(conv.domain, "com.acme");
  EXPECT_EQ(conv.overload, "fast");
  EXPECT_EQ(conv.inputs, (Views{"x", "", "w"}));
  EXPECT_EQ(conv.outputs, (Views{"y", ""}));
  EXPECT_EQ(std::get<int64_t>(conv.attributes.at(0).value), 2);
  EXPECT_EQ(model.graph.nodes[1].number, 1);
  EXPECT_EQ(model.graph.nodes[1].domain, "");
  EXPECT_EQ(model.graph.initializers.at(0).name, "w");
  EXPECT_EQ(model.graph.initializers[0].raw.size(), 8);
  EXPECT_EQ(model.graph.sparseInitializers.at(0).values.name, "s");
  EXPECT_EQ(model.graph.sparseInitializers[0].dims, (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(model.graph.inputs.at(0).name, "x");
  EXPECT_EQ(model.graph.outputs.at(0).name, "y");
  EXPECT_EQ(model.graph.valueInfos.at(0).name, "z");
}

TEST(OnnxModelReader, readsFunctions) {
  std::string bytes =
      model({.graph = graph({}),
             .functions = {function(
                 {.name = "Swish",
                  .inputs = {"x"},
                  .outputs = {"y"},
                  .nodes = {node(
                      {"Mul", {"x", "x"}, {"y"}, {referenceAttribute("a", Kind::Int, "beta")}})},
                  .attributes = {"beta"},
                  .defaults = {intAttribute("gamma", 3)},
                  .domain = "local",
                  .overload = "v2"})}});
  Model model = readModel({"model.onnx", bytes});
  const Function &function = model.functions.at(0);
  EXPECT_EQ(function.name, "Swish");
  EXPECT_EQ(function.domain, "local");
  EXPECT_EQ(function.overload, "v2");
  EXPECT_EQ(function.inputs, Views{"x"});
  EXPECT_EQ(function.outputs, Views{"y"});
  EXPECT_EQ(function.attributes, Views{"beta"});
  EXPECT_EQ(std::get<int64_t>(function.defaults.at(0).value), 3);
  EXPECT_EQ(versionOf(function.operatorSets, ""), 17);
  const Attribute &reference = function.nodes.at(0).attributes.at(0);
  EXPECT_EQ(reference.reference, "beta");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(reference.value));
}

TEST(OnnxModelReader, readsAttributesOfEveryKind) {
  Message t = tensor("t", DataType::Float, {0}), g = graph({});
  Message s = bytesField(1, t) + bytesField(2, t);
  Message type = tensorType(DataType::Int8, {2});
  EXPECT_EQ(valueOf<float>(attribute("a", Kind::Float, singleField(2, 1.5F))), 1.5F);
  EXPECT_EQ(valueOf<int64_t>(attribute("a", Kind::Int, integerField(3, -4))), -4);
  EXPECT_EQ(valueOf<std::string_view>(attribute("a", Kind::String, bytesField(4, "text"))).size(),
            4);
  EXPECT_EQ(valueOf<std::vector<Tensor>>(attribute("a", Kind::Tensor, bytesField(5, t))).size(), 1);
  EXPECT_EQ(valueOf<std::vector<Graph>>(attribute("a", Kind::Graph, bytesField(6, g))).size(), 1);
  EXPECT_EQ(valueOf<std::vector<float>>(attribute(
                "a", Kind::Floats, singleField(7, 1) + packedField(7, std::vector<float>{2, 3}))),
            (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(
      valueOf<std::vector<int64_t>>(attribute(
          "a", Kind::Ints, integerFields(8, {1, -2}) + packedField(8, std::vector<int64_t>{3}))),
      (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(valueOf<Views>(attribute("a", Kind::Strings, bytesFields(9, {"p", "qr"}))).at(1).size(),
            2);
  EXPECT_EQ(
      valueOf<std::vector<Tensor>>(attribute("a", Kind::Tensors, bytesFields(10, {t, t}))).size(),
      2);
  EXPECT_EQ(
      valueOf<std::vector<Graph>>(attribute("a", Kind::Graphs, bytesFields(11, {g, g}))).size(), 2);
  EXPECT_EQ(
      valueOf<std::vector<SparseTensor>>(attribute("a", Kind::SparseTensor, bytesField(22, s)))
          .size(),
      1);
  EXPECT_EQ(valueOf<std::vector<SparseTensor>>(
                attribute("a", Kind::SparseTensors, bytesFields(23, {s, s})))
                .size(),
            2);
  EXPECT_EQ(
      valueOf<std::vector<Type>>(attribute("a", Kind::Type, bytesField(14, type))).at(0).dataType,
      DataType::Int8);
  EXPECT_EQ(
      valueOf<std::vector<Type>>(attribute("a", Kind::Types, bytesFields(15, {type, type}))).size(),
      2);
  // Fields that are not there have their defaults, and lists may be empty.
  EXPECT_EQ(valueOf<float>(attribute("a", Kind::Float, "")), 0);
  EXPECT_EQ(valueOf<int64_t>(attribute("a", Kind::Int, "")), 0);
  EXPECT_EQ(valueOf<std::vector<int64_t>>(attribute("a", Kind::Ints, "")).size(), 0);
  // Old writers didn't say of which kind a value is.
  EXPECT_EQ(valueOf<int64_t>(bytesField(1, "a") + integerField(3, 5)), 5);
}

TEST(OnnxModelReader, readsTypesOfEveryKind) {
  auto typeOf = [](const Message &type) {
    std::string bytes = model({.graph = graph({.inputs = {valueInfo("x", type)}})});
    return std::move(readModel({"model.onnx", bytes}).graph.inputs.at(0).type);
  };
  Message dimensions = bytesField(1, integerField(1, 3)) + bytesField(1, "") +
                       bytesField(1, integerField(1, -1)) +
                       bytesField(1, "\x12\x05"
                                     "batch");
  Type type = typeOf(bytesField(1, integerField(1, 10) + bytesField(2, dimensions)));
  EXPECT_EQ(type.kind, Type::Kind::Tensor);
  EXPECT_EQ(type.dataType, DataType::Float16);
  static const std::string name = "batch";
  ASSERT_TRUE(type.shape);
  EXPECT_EQ(type.shape->size(), 4);
  EXPECT_EQ(type.shape->at(0), Dimension(3));
  EXPECT_EQ(type.shape->at(1), Dimension());
  EXPECT_EQ(type.shape->at(2), Dimension(-1));
  EXPECT_EQ(type.shape->at(3).index(), 2);
  // Without a rank, and a scalar.
  EXPECT_FALSE(typeOf(tensorType(DataType::Float)).shape);
  EXPECT_EQ(typeOf(tensorType(DataType::Float, {})).shape->size(), 0);

  Message element = bytesField(1, tensorType(DataType::Int32, {2}));
  Type sequence = typeOf(bytesField(4, element));
  EXPECT_EQ(sequence.kind, Type::Kind::Sequence);
  EXPECT_EQ(sequence.element->dataType, DataType::Int32);
  EXPECT_EQ(typeOf(bytesField(9, element)).kind, Type::Kind::Optional);
  EXPECT_EQ(typeOf(bytesField(9, element)).element->kind, Type::Kind::Tensor);
  Type map = typeOf(bytesField(5, integerField(1, 7) + bytesField(2, tensorType(DataType::Float))));
  EXPECT_EQ(map.kind, Type::Kind::Map);
  EXPECT_EQ(map.dataType, DataType::Int64);
  EXPECT_EQ(map.element->dataType, DataType::Float);
  EXPECT_EQ(typeOf(bytesField(8, integerField(1, 1))).kind, Type::Kind::SparseTensor);
  EXPECT_EQ(typeOf(bytesField(7, bytesField(2, "handle"))).kind, Type::Kind::Opaque);
  EXPECT_EQ(typeOf("").kind, Type::Kind::None);
}

TEST(OnnxModelReader, saysWhereProtobufIsBroken) {
  std::string right = model({.graph = graph({.nodes = {node({"Relu", {"x"}, {"y"}})}})});
  EXPECT_EQ(readingOf(right), "");
  EXPECT_EQ(readingOf("\x3a\x05\x0a\x7f"),
            "model.onnx: byte 0: broken protobuf: field 7 of ModelProto ends after its message");
  EXPECT_EQ(readingOf("\x3a\x03\x0a\x7f\x01"),
            "model.onnx: byte 2: broken protobuf: field 1 of GraphProto ends after its message");
  EXPECT_EQ(readingOf("\x3a\x06\x0a\x04\x2a\x02\x18\x80"),
            "model.onnx: byte 6: broken protobuf: field 3 of AttributeProto ends after its "
            "message");
  EXPECT_EQ(readingOf("\x08" + std::string(10, '\xff') + "\x01"),
            "model.onnx: byte 0: broken protobuf: field 1 of ModelProto has a number of more than "
            "10 bytes");
  EXPECT_EQ(readingOf("\x0b"),
            "model.onnx: byte 0: broken protobuf: field 1 of ModelProto has a wire type that "
            "there isn't");
  EXPECT_EQ(readingOf(std::string("\x08\x08\x00", 3)),
            "model.onnx: byte 2: broken protobuf: field 0 of ModelProto has a number that no field "
            "may have");
  EXPECT_EQ(readingOf("\x08\x08\x80"),
            "model.onnx: byte 2: broken protobuf: ModelProto ends within the number of a field");
  EXPECT_EQ(readingOf("\x0d"
                      "abcd"),
            "model.onnx: byte 0: broken protobuf: field 1 of ModelProto has wire type 5, not 0");
  EXPECT_EQ(readingOf("\x38\x01"),
            "model.onnx: byte 0: broken protobuf: field 7 of ModelProto has wire type 0, not 2");
  EXPECT_EQ(readingOf(modelWith(attribute("a", Kind::Floats, bytesField(7, "abcde")))),
            "model.onnx: byte 23: broken protobuf: field 7 of AttributeProto has a length that is "
            "no multiple of its numbers' size");
  // Protobuf would merge both.
  EXPECT_EQ(readingOf(right + bytesField(7, graph({}))),
            "model.onnx: byte 33: broken protobuf: field 7 of ModelProto stands a second time");
}

// 2^32 + 2 bytes: protozero alone would take it for 2.
TEST(OnnxModelReader, doesNotCutLengths) {
  EXPECT_EQ(readingOf("\x3a\x82\x80\x80\x80\x10"
                      "ab"),
            "model.onnx: byte 0: broken protobuf: field 7 of ModelProto ends after its message");
  EXPECT_EQ(readingOf("\x32\x82\x80\x80\x80\x10"
                      "ab"), // a field that is not read
            "model.onnx: byte 0: broken protobuf: field 6 of ModelProto ends after its message");
  // 2^63 - 1 bytes.
  EXPECT_EQ(readingOf("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                      "ab"),
            "model.onnx: byte 0: broken protobuf: field 7 of ModelProto ends after its message");
}

// Whatever is cut off or changed: an error or a model, never a read past the end.
TEST(OnnxModelReader, survivesEveryPrefixAndEveryChangedByte) {
  std::string bytes = model(
      {.graph = graph({.nodes = {node({"If",
                                       {"x"},
                                       {"y"},
                                       {graphAttribute("then_branch",
                                                       graph({.outputs = {valueInfo("y")}}))}})},
                       .initializers = {rawTensor<float>("w", DataType::Float, {2}, {1, 2})},
                       .inputs = {valueInfo("x", DataType::Float, {1})}})});
  for (size_t length = 0; length < bytes.size(); ++length)
    readingOf(bytes.substr(0, length));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(byte);
      EXPECT_FALSE(readingOf(changed).starts_with("internal"));
      messageOf([&] { mistakesIn(changed); });
    }
  }
}
