#include "frontend/onnx/file/TensorCells.h"

#include "frontend/onnx/file/SparseCells.h"
#include "frontend/onnx/file/TensorReader.h"
#include "frontend/onnx/testing/Messages.h"
#include "frontend/onnx/testing/ModelWriter.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

// The cells as doubles, by way of the type that they are widened to.
std::vector<double> cellsOf(const Message &message) {
  Source source = {"x.pb", message};
  Tensor tensor = readTensor(source);
  TensorCells cells(tensor, nullptr);
  ElementType type = cells.elementType().value();
  auto count = static_cast<size_t>(cells.count());
  // Behind a byte, so that nothing is aligned.
  std::vector<std::byte> bytes(1 + count * static_cast<size_t>(byteSize(type)));
  cells.copyTo(bytes.data() + 1);
  std::vector<double> result;
  withCellType(type, [&]<typename Cell>() {
    for (size_t i = 0; i < count; ++i) {
      Cell cell;
      std::memcpy(&cell, bytes.data() + 1 + i * sizeof(Cell), sizeof(Cell));
      result.push_back(convertCell<double>(cell));
    }
  });
  return result;
}

std::string mistakeOf(const Message &message) {
  Source source = {"x.pb", message};
  Tensor tensor = readTensor(source);
  return messageOf([&] { TensorCells(tensor, nullptr); });
}

using Doubles = std::vector<double>;
using Integers = std::vector<int64_t>;
using Bytes = std::vector<uint8_t>;

template <typename Cell> Message raw(DataType type, const std::vector<Cell> &cells, int64_t size) {
  return rawTensor("t", type, {size}, cells);
}
Message numbers(DataType type, uint32_t field, const Integers &values, int64_t size) {
  return tensor("t", type, {size}) + packedField(field, values);
}

} // namespace

TEST(OnnxTensorCells, multipliesSizes) {
  EXPECT_EQ(productOf({}), 1);
  EXPECT_EQ(productOf({2, 3}), 6);
  EXPECT_EQ(productOf({INT64_MAX}), INT64_MAX);
  EXPECT_EQ(productOf({int64_t{1} << 32, int64_t{1} << 31}), std::nullopt);
  EXPECT_EQ(productOf({int64_t{1} << 62, 4, 0}), 0);
  EXPECT_EQ(productOf({-1, 0}), std::nullopt);
}

TEST(OnnxTensorCells, readsRawData) {
  EXPECT_EQ(cellsOf(raw<float>(DataType::Float, {1.5F, -2}, 2)), (Doubles{1.5, -2}));
  EXPECT_EQ(cellsOf(raw<double>(DataType::Double, {1e300}, 1)), Doubles{1e300});
  EXPECT_EQ(cellsOf(raw<uint16_t>(DataType::Float16, {0x3e00}, 1)), Doubles{1.5});
  EXPECT_EQ(cellsOf(raw<uint16_t>(DataType::BFloat16, {0x3fc0}, 1)), Doubles{1.5});
  EXPECT_EQ(cellsOf(raw<int8_t>(DataType::Int8, {-5}, 1)), Doubles{-5});
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::UInt8, {250}, 1)), Doubles{250});
  EXPECT_EQ(cellsOf(raw<int16_t>(DataType::Int16, {-500}, 1)), Doubles{-500});
  EXPECT_EQ(cellsOf(raw<uint16_t>(DataType::UInt16, {65000}, 1)), Doubles{65000});
  EXPECT_EQ(cellsOf(raw<int32_t>(DataType::Int32, {-70000}, 1)), Doubles{-70000});
  EXPECT_EQ(cellsOf(raw<uint32_t>(DataType::UInt32, {4000000000U}, 1)), Doubles{4e9});
  EXPECT_EQ(cellsOf(raw<int64_t>(DataType::Int64, {-(int64_t{1} << 40)}, 1)), Doubles{-0x1p40});
  EXPECT_EQ(cellsOf(raw<uint64_t>(DataType::UInt64, {uint64_t{1} << 63}, 1)), Doubles{0x1p63});
  // Any byte but 0 is true, and becomes 1.
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::Bool, {0, 1, 7}, 3)), (Doubles{0, 1, 1}));
  EXPECT_EQ(cellsOf(raw<float>(DataType::Complex64, {1, 2, 3, 4}, 2)), (Doubles{1, 2, 3, 4}));
  EXPECT_EQ(cellsOf(raw<double>(DataType::Complex128, {1, 2}, 1)), (Doubles{1, 2}));
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::Float8E4M3FN, {0x38, 0xc8}, 2)), (Doubles{1, -4}));
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::Float8E8M0, {0}, 1)), Doubles{0x1p-127});
}

// From the lowest bit of the first byte on.
TEST(OnnxTensorCells, readsPackedRawData) {
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::UInt4, Bytes{0x21, 0xf3}, 3)), (Doubles{1, 2, 3}));
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::Int4, Bytes{0x8f, 0x07}, 4)), (Doubles{-1, -8, 7, 0}));
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::UInt2, Bytes{0b11100100, 0b01}, 5)),
            (Doubles{0, 1, 2, 3, 1}));
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::Int2, Bytes{0b11100100}, 4)), (Doubles{0, 1, -2, -1}));
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::Float4E2M1, Bytes{0xf1}, 2)), (Doubles{0.5, -6}));
  // 1, 2, 3, 62 and 5 in six bits each: the last takes a byte of its own.
  Bytes sixes = {0x81, 0x30, 0xf8, 0x05};
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::Float6E2M3, sixes, 5)),
            (Doubles{0.125, 0.25, 0.375, -7, 0.625}));
  EXPECT_EQ(cellsOf(raw<uint8_t>(DataType::Float6E3M2, sixes, 5)),
            (Doubles{0.0625, 0.125, 0.1875, -24, 0.3125}));
}

TEST(OnnxTensorCells, readsFieldsWithNumbers) {
  EXPECT_EQ(cellsOf(tensor("t", DataType::Float, {3}) + singleField(4, 1) +
                    packedField(4, std::vector<float>{2, 3})),
            (Doubles{1, 2, 3}));
  EXPECT_EQ(
      cellsOf(tensor("t", DataType::Complex64, {1}) + packedField(4, std::vector<float>{2, 3})),
      (Doubles{2, 3}));
  EXPECT_EQ(cellsOf(tensor("t", DataType::Double, {1}) + packedField(10, std::vector<double>{0.1})),
            Doubles{0.1});
  EXPECT_EQ(cellsOf(tensor("t", DataType::Int64, {2}) + integerFields(7, {-1, 5})),
            (Doubles{-1, 5}));
  EXPECT_EQ(cellsOf(numbers(DataType::Int32, 5, {-7}, 1)), Doubles{-7});
  EXPECT_EQ(cellsOf(numbers(DataType::Int8, 5, {-128, 127}, 2)), (Doubles{-128, 127}));
  EXPECT_EQ(cellsOf(numbers(DataType::UInt8, 5, {255}, 1)), Doubles{255});
  EXPECT_EQ(cellsOf(numbers(DataType::Int16, 5, {-32768}, 1)), Doubles{-32768});
  EXPECT_EQ(cellsOf(numbers(DataType::UInt16, 5, {65535}, 1)), Doubles{65535});
  EXPECT_EQ(cellsOf(numbers(DataType::Bool, 5, {0, 1, 256}, 3)), (Doubles{0, 1, 1}));
  EXPECT_EQ(cellsOf(numbers(DataType::Float16, 5, {0x3e00, 0xbe00}, 2)), (Doubles{1.5, -1.5}));
  EXPECT_EQ(cellsOf(numbers(DataType::BFloat16, 5, {0x3fc0}, 1)), Doubles{1.5});
  EXPECT_EQ(cellsOf(numbers(DataType::UInt32, 11, {4000000000}, 1)), Doubles{4e9});
  EXPECT_EQ(cellsOf(numbers(DataType::UInt64, 11, {-1}, 1)), Doubles{0x1p64});
  EXPECT_EQ(cellsOf(numbers(DataType::Float8E5M2, 5, {0x3c, 0xbc}, 2)), (Doubles{1, -1}));
  EXPECT_EQ(cellsOf(numbers(DataType::UInt4, 5, {0x21, 0x03}, 3)), (Doubles{1, 2, 3}));
  EXPECT_EQ(cellsOf(numbers(DataType::Int4, 5, {0x8f, -1}, 4)), (Doubles{-1, -8, -1, -1}));
  EXPECT_EQ(cellsOf(numbers(DataType::UInt2, 5, {0b11100100}, 4)), (Doubles{0, 1, 2, 3}));
  EXPECT_EQ(cellsOf(numbers(DataType::Float4E2M1, 5, {0xf1}, 2)), (Doubles{0.5, -6}));
  EXPECT_EQ(cellsOf(numbers(DataType::Float6E2M3, 5, {1, 62}, 2)), (Doubles{0.125, -7}));
}

TEST(OnnxTensorCells, readsScalarsAndEmptyTensors) {
  EXPECT_EQ(cellsOf(rawTensor<float>("t", DataType::Float, {}, {4})), Doubles{4});
  EXPECT_EQ(cellsOf(tensor("t", DataType::Float, {0, 5})), Doubles{});
  EXPECT_EQ(cellsOf(tensor("t", DataType::Float, {0, INT64_MAX, INT64_MAX})), Doubles{});
}

TEST(OnnxTensorCells, givesStrings) {
  std::string message =
      tensor("t", DataType::String, {2}) + bytesFields(6, {"ab", std::string("c\0d", 3)});
  Tensor tensor = readTensor({"x.pb", message});
  TensorCells cells(tensor, nullptr);
  EXPECT_EQ(cells.elementType(), std::nullopt);
  EXPECT_EQ(cells.strings(), (std::vector<std::string_view>{"ab", std::string_view("c\0d", 3)}));
}

TEST(OnnxTensorCells, leavesCellsInPlaceWhereItCan) {
  auto bytesInPlace = [](const Message &message) {
    Tensor tensor = readTensor({"x.pb", message});
    return TensorCells(tensor, nullptr).inPlace().size();
  };
  EXPECT_EQ(bytesInPlace(raw<float>(DataType::Float, {1, 2}, 2)), 8);
  EXPECT_EQ(bytesInPlace(raw<float>(DataType::Complex64, {1, 2}, 1)), 8);
  EXPECT_EQ(bytesInPlace(raw<uint8_t>(DataType::Bool, {1}, 1)), 0);
  EXPECT_EQ(bytesInPlace(raw<uint8_t>(DataType::UInt4, {1}, 1)), 0);
  EXPECT_EQ(bytesInPlace(numbers(DataType::Int64, 7, {1}, 1)), 0);
}

TEST(OnnxTensorCells, saysWhatIsWrong) {
  EXPECT_EQ(mistakeOf(raw<uint8_t>(DataType::Float, {1, 2, 3}, 2)),
            "its shape [2] of float needs 8 bytes, but raw_data has 3");
  EXPECT_EQ(mistakeOf(raw<uint8_t>(DataType::UInt4, {1, 2, 3}, 3)),
            "its shape [3] of uint4 needs 2 bytes, but raw_data has 3");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Int64, {2, 2}) + integerFields(7, {1, 2, 3})),
            "its shape [2, 2] of int64 needs 4 numbers, but int64_data has 3");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Complex64, {2}) + singleField(4, 1)),
            "its shape [2] of complex64 needs 4 numbers, but float_data has 1");
  EXPECT_EQ(mistakeOf(numbers(DataType::Int2, 5, {1, 2, 3}, 5)),
            "its shape [5] of int2 needs 2 numbers, but int32_data has 3");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::String, {2}) + bytesField(6, "a")),
            "its shape [2] of string needs 2 strings, but string_data has 1");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Float, {-2}) + singleField(4, 1)),
            "its shape [-2] has a negative size");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Float, {INT64_MAX, 2})),
            "its shape [9223372036854775807, 2] has more than 2^63 cells");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Complex64, {INT64_MAX})),
            "its shape [9223372036854775807] has more than 2^63 cells");
  EXPECT_EQ(mistakeOf(raw<float>(DataType::Float, {1}, INT64_MAX)),
            "its shape [9223372036854775807] of float needs more than 2^63 bytes, but raw_data has "
            "4");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Float, std::vector<int64_t>(20, 1))),
            "its shape of 20 dimensions of float needs 1 numbers, but float_data has 0");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Undefined, {1})),
            "its cells have no type; ONNX has types 1 to 28");
  EXPECT_EQ(mistakeOf(tensor("t", static_cast<DataType>(29), {1})),
            "its cells have type 29; ONNX has types 1 to 28");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Float, {1}) + integerField(5, 1)),
            "cells of float must stand in float_data or raw_data, not in int32_data");
  EXPECT_EQ(mistakeOf(raw<float>(DataType::Float, {1}, 1) + singleField(4, 1)),
            "its cells stand both in raw_data and in float_data");
  EXPECT_EQ(mistakeOf(raw<uint8_t>(DataType::String, {1}, 1)), "strings must stand in string_data");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Float, {1}) + bytesField(3, integerField(1, 0))),
            "it is a segment of a tensor; only whole tensors can be read");
  EXPECT_EQ(mistakeOf(numbers(DataType::UInt8, 5, {256}, 1)),
            "int32_data holds 256, which is no uint8");
  EXPECT_EQ(mistakeOf(numbers(DataType::UInt8, 5, {-1}, 1)),
            "int32_data holds -1, which is no uint8");
  EXPECT_EQ(mistakeOf(numbers(DataType::Int8, 5, {128}, 1)),
            "int32_data holds 128, which is no int8");
  EXPECT_EQ(mistakeOf(numbers(DataType::Float16, 5, {65536}, 1)),
            "int32_data holds 65536, which is no float16");
  EXPECT_EQ(mistakeOf(numbers(DataType::Float6E2M3, 5, {64}, 1)),
            "int32_data holds 64, which is no float6e2m3");
  EXPECT_EQ(mistakeOf(numbers(DataType::UInt32, 11, {int64_t{1} << 32}, 1)),
            "uint64_data holds 4294967296, which is no uint32");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Int64, {1}) + bytesField(7, "\x80")),
            "its int64_data is broken protobuf");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Float, {1}) + integerField(4, 1)),
            "its float_data is broken protobuf");
  EXPECT_EQ(mistakeOf(tensor("t", DataType::Float, {1}) + bytesField(4, "abc")),
            "its float_data is broken protobuf");
  EXPECT_EQ(mistakeOf(externalTensor("t", DataType::Float, {1}, {{"location", "w"}})),
            "its cells stand in another file, which is not allowed here");
}

TEST(OnnxSparseCells, givesPositions) {
  auto read = [](const Message &values, const Message &indices, const Integers &dims) {
    std::string message = bytesField(1, values) + bytesField(2, indices) + integerFields(3, dims);
    Source source = {"x.pb", message};
    SparseTensor tensor = TensorReader(source).sparseTensor(message);
    SparseCells cells(tensor, nullptr);
    return cells.positions();
  };
  Message two = rawTensor<float>("s", DataType::Float, {2}, {5, 6});
  auto indices = [](const Integers &dims, const Integers &numbers) {
    return tensor("", DataType::Int64, dims) + packedField(7, numbers);
  };
  EXPECT_EQ(read(two, indices({2}, {1, 5}), {2, 3}), (Integers{1, 5}));
  EXPECT_EQ(read(two, indices({2, 2}, {0, 1, 1, 2}), {2, 3}), (Integers{1, 5}));
  auto mistake = [&](const Message &values, const Message &indices, const Integers &dims) {
    return messageOf([&] { read(values, indices, dims); });
  };
  EXPECT_EQ(mistake(two, indices({2}, {1, 6}), {2, 3}),
            "one of its indices is 6, but must be from 0 to 5");
  EXPECT_EQ(mistake(two, indices({2, 2}, {0, 1, 1, 3}), {2, 3}),
            "one of its indices is 3, but must be from 0 to 2");
  EXPECT_EQ(mistake(two, indices({2}, {-1, 5}), {2, 3}),
            "one of its indices is -1, but must be from 0 to 5");
  EXPECT_EQ(mistake(two, indices({2}, {1, 1}), {2, 3}), "its indices don't ascend");
  EXPECT_EQ(mistake(two, indices({2, 1}, {1, 5}), {2, 3}),
            "its indices have shape [2, 1], but must have [2] or [2, 2]");
  EXPECT_EQ(mistake(two, tensor("", DataType::Int32, {2}) + packedField(5, Integers{1, 2}), {2, 3}),
            "its indices are of int32, but must be of int64");
  EXPECT_EQ(
      mistake(rawTensor<float>("s", DataType::Float, {1, 2}, {5, 6}), indices({2}, {1, 5}), {2, 3}),
      "its values have 2 dimensions, but must have 1");
  EXPECT_EQ(mistake(two, indices({2}, {1, 5}), {INT64_MAX, 3}),
            "its shape [9223372036854775807, 3] has a negative size or more than 2^63 cells");
}
