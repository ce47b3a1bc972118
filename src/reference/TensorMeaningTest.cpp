#include "reference/TensorMeaning.h"

#include "reference/TextProgram.h"

#include <gtest/gtest.h>

using namespace tokamak::reference;
using tokamak::runtime::Shape;

namespace {

TEST(TensorMeaning, repeatsEitherOperand) {
  Shape whole{2, 3, 4};
  EXPECT_EQ(broadcastShape({2, 1, 4}, {1, 3, 1}), whole);
  EXPECT_EQ(broadcastShape({2, 3}, {3, 2}), std::nullopt);
  EXPECT_EQ(broadcastCell(whole, {2, 1, 4}, 4 * 5 + 3), 7); // (1, 2, 3) maps to (1, 0, 3)
  EXPECT_EQ(broadcastCell(whole, {1, 3, 1}, 4 * 5 + 3), 2);
}

TEST(TensorMeaning, alignsRanksAtTheLastDimension) {
  EXPECT_EQ(broadcastShape({3, 1}, {2, 1, 4}), Shape({2, 3, 4}));
  EXPECT_EQ(broadcastShape({4}, {2, 3, 1, 4}), Shape({2, 3, 1, 4}));
  EXPECT_EQ(broadcastShape({3, 1}, {5}), Shape({3, 5}));
  EXPECT_EQ(broadcastShape({2, 3}, {2, 4, 3}), std::nullopt);
  EXPECT_EQ(broadcastCell({2, 3, 4}, {4}, 4 * 5 + 3), 3);
  EXPECT_EQ(broadcastCell({2, 3, 4}, {3, 1}, 4 * 5 + 3), 2); // (1, 2, 3) maps to (2, 0)
  EXPECT_EQ(broadcastCell({2, 3, 4}, {3, 4}, 4 * 5 + 3), 11);
}

TEST(TensorMeaning, emptyDimensionsAreRepeatedTo) {
  EXPECT_EQ(broadcastShape({0, 3}, {1, 3}), Shape({0, 3}));
  EXPECT_EQ(broadcastShape({1}, {2, 0}), Shape({2, 0}));
  EXPECT_EQ(broadcastShape({0, 3}, {2, 3}), std::nullopt);
}

TEST(TensorMeaning, roundsCellsButNoScalars) {
  TextProgram program(R"(
    func.func @third(%x: tensor<?x?xf32>, %three: f64) -> tensor<?x?xf32> {
      %0 = tok.binary div %x, %three : (tensor<?x?xf32>, f64) -> tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }
    func.func @sum(%x: tensor<?x?xf32>) -> f64 {
      %0 = tok.aggregate sum full %x : tensor<?x?xf32> -> f64
      return %0 : f64
    })");
  Value third = program.call("third", {matrix(1, 1, {1}), Value(3.0)});
  EXPECT_EQ(third.array()->data()[0], static_cast<double>(1.0f / 3.0f));
  // A scalar is rounded when it is combined with the cells.
  Value scaled = program.call("third", {matrix(1, 1, {1}), Value(0.1)});
  EXPECT_EQ(scaled.array()->data()[0], static_cast<double>(1.0f / 0.1f));
  EXPECT_EQ(program.call("sum", {matrix(1, 2, {16777216, 1})}).asDouble(), 16777217);
}

TEST(TensorMeaning, arraysWithoutCellsTakeNoTime) {
  TextProgram program(R"(
    func.func @transposed(%many: i64) -> tensor<?x?x?xf64> {
      %two = tok.constant 2 : i64
      %none = tok.constant 0 : i64
      %zero = tok.constant 0.0 : f64
      %a = tok.fill %zero, %none, %two : (f64, i64, i64) -> tensor<?x?xf64>
      %x = tok.view %a [%many, %none, %two] : tensor<?x?xf64> -> tensor<?x?x?xf64>
      %0 = tok.transpose %x : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
      return %0 : tensor<?x?x?xf64>
    })");
  EXPECT_EQ(program.call("transposed", {Value(int64_t{1} << 40)}).array()->shape().text(),
            "1099511627776x2x0");
}

TEST(TensorMeaning, saysWhichSizesDoNotAgree) {
  TextProgram program(R"(
    func.func @add(%n: i64, %m: i64, %k: i64) -> tensor<?x?x?xf64> {
      %one = tok.constant 1 : i64
      %zero = tok.constant 0.0 : f64
      %a = tok.fill %zero, %n, %m : (f64, i64, i64) -> tensor<?x?xf64>
      %b = tok.fill %zero, %n, %k : (f64, i64, i64) -> tensor<?x?xf64>
      %x = tok.view %a [%n, %m, %one] : tensor<?x?xf64> -> tensor<?x?x?xf64>
      %y = tok.view %b [%one, %k, %n] : tensor<?x?xf64> -> tensor<?x?x?xf64>
      %0 = tok.binary add %x, %y : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
      return %0 : tensor<?x?x?xf64>
    })");
  EXPECT_EQ(program.call("add", {Value(int64_t{2}), Value(int64_t{3}), Value(int64_t{3})})
                .array()
                ->shape()
                .text(),
            "2x3x2");
  EXPECT_EQ(
      program.failure("add", {Value(int64_t{2}), Value(int64_t{3}), Value(int64_t{4})}).message(),
      "sizes do not agree: 2x3x1 + 1x4x2; expected equal sizes, or 1 where they differ");
}

} // namespace
