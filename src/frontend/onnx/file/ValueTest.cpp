#include "frontend/onnx/file/Value.h"

#include "frontend/onnx/testing/Messages.h"
#include "frontend/onnx/testing/ModelWriter.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

TEST(OnnxValue, readsEveryKind) {
  Message t = rawTensor<float>("t", DataType::Float, {1}, {2});
  Message sparse = bytesField(1, t) +
                   bytesField(2, rawTensor<int64_t>("", DataType::Int64, {1}, {3})) +
                   integerField(3, 9);
  EXPECT_EQ(readValue({"x.pb", t}, Type::Kind::Tensor).tensor.raw.size(), 4);
  EXPECT_EQ(readValue({"x.pb", sparse}, Type::Kind::SparseTensor).sparse->dims.at(0), 9);

  std::string sequence = bytesField(1, "s") + integerField(2, 1) + bytesFields(3, {t, t});
  Value value = readValue({"x.pb", sequence}, Type::Kind::Sequence);
  EXPECT_EQ(value.kind, Type::Kind::Sequence);
  EXPECT_EQ(value.elements.size(), 2);
  EXPECT_EQ(value.elements.at(0).tensor.name, "t");

  std::string map = integerField(2, 7) + integerFields(3, {5, 6}) + bytesField(5, sequence);
  value = readValue({"x.pb", map}, Type::Kind::Map);
  EXPECT_EQ(value.keys, (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(value.elements.size(), 2);
  std::string byStrings = bytesFields(4, {"a", "b"}) + bytesField(5, sequence);
  EXPECT_EQ(readValue({"x.pb", byStrings}, Type::Kind::Map).stringKeys.at(1), "b");

  // An optional is its value; what it holds, it says itself.
  std::string optional = bytesField(5, sequence);
  EXPECT_EQ(readValue({"x.pb", optional}, Type::Kind::Optional).kind, Type::Kind::Sequence);
  EXPECT_EQ(readValue({"x.pb", ""}, Type::Kind::Optional).kind, Type::Kind::None);
}

TEST(OnnxValue, saysWhatIsWrong) {
  auto mistake = [](const std::string &bytes, Type::Kind kind) {
    return messageOf([&] { readValue({"x.pb", bytes}, kind); });
  };
  EXPECT_EQ(mistake(integerField(3, 1), Type::Kind::Map),
            "x.pb: byte 2: a map has 1 keys, but 0 values");
  EXPECT_EQ(mistake(bytesFields(3, {"", ""}), Type::Kind::Optional),
            "x.pb: byte 2: broken protobuf: field 3 of OptionalProto stands a second time");
  EXPECT_EQ(mistake("", Type::Kind::Opaque), "x.pb: no file can hold a value of this type");
}
