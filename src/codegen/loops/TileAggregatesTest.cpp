// Aggregates that are merged over tiles, under schedules that keep their accumulators in registers, in
// the partial result, in lanes and in lines of memory.
#include "codegen/testing/LoopKernelFixture.h"
#include "runtime/image/KernelLaunch.h"

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class TileAggregatesTest : public LoopKernelFixture {};

const std::string longRows = "parallel d0\nvector d1\nblock 3\npack none",
                  eightRows = "parallel d0\nvector d1, d0 by 8\nblock 8\npack none",
                  sixteenRows = "parallel d0\nvector d1, d0 by 16\nblock 16\npack none",
                  acrossRows = "parallel d0\nvector d0 by 8\nblock 8",
                  acrossSixteen = "parallel d0\nvector d0 by 16\nblock 16",
                  byCells = "parallel d0\nvector none\nblock 2\npack none";

TEST_F(TileAggregatesTest, OfAllCells) {
  for (const char *kind : {"sum", "prod", "min", "max"}) {
    BodyText body({"s0", "s1"});
    BodyCell x = body.read(body.array("f64", {"s0", "s1"}), "d0, d1");
    body.write(body.reduce(kind, x, {0, 1}, "f64"), body.result("f64", {"1"}), "0");
    for (int64_t rows : {0, 1, 8, 61})
      for (int64_t columns : {1, 7, 16, 35})
        check(body, {random("f64", {rows, columns}, 0.9, 1.1)}, 1e-11,
              {longRows, eightRows, acrossRows, byCells,
               "parallel d0, d1\nvector d1\nblock 1\nunroll 3",
               "parallel d1, d0\nvector d0\nblock 1"});
  }
}

// Of three axes, none of which is a result's.
TEST_F(TileAggregatesTest, OfAllAxes) {
  BodyText body({"s0", "s1", "s2"});
  BodyCell x = body.read(body.array("f64", {"s0", "s1", "s2"}), "d0, d1, d2"),
           y = body.read(body.array("f64", {"s1"}), "d1");
  body.write(body.reduce("sum", body.binary("mul", x, y), {0, 1, 2}, "f64"),
             body.result("f64", {"1"}), "0");
  check(body, {random("f64", {5, 3, 17}), random("f64", {3})}, 1e-11,
        {"parallel d0, d2\nvector d2\nblock 1", "parallel d1\nvector d2\nblock 2",
         "parallel d2\nvector d2, d1\nblock 8"});
}

TEST_F(TileAggregatesTest, OfColumns) {
  for (const std::string &columns :
       {std::string("s1"), std::string("5"), std::string("24"), std::string("100")}) {
    BodyText body({"s0", columns});
    BodyCell x = body.read(body.array("f64", {"s0", columns}), "d0, d1"),
             w = body.read(body.array("f64", {"s0"}), "d0");
    body.write(body.reduce("sum", body.binary("mul", x, w), {0}, "f64"),
               body.result("f64", {columns}), "d1");
    body.write(body.reduce("min", x, {0}, "f64"), body.result("f64", {columns}), "d1");
    int64_t count = columns == "s1" ? 41 : std::stoll(columns);
    for (int64_t rows : {0, 1, 8, 29})
      check(body, {random("f64", {rows, count}), random("f64", {rows})}, 1e-11,
            {longRows, eightRows, acrossRows, byCells,
             "parallel d0\nvector d1\nblock 1\nunroll 12\npack none"});
  }
}

// What rows give is used for the columns.
TEST_F(TileAggregatesTest, OfRowsAndColumns) {
  BodyText body({"s0", "s1"});
  BodyCell x = body.read(body.array("f64", {"s0", "s1"}), "d0, d1"),
           v = body.read(body.array("f64", {"s1"}), "d1");
  BodyCell products = body.reduce("sum", body.binary("mul", x, v), {1}, "f64");
  body.write(body.reduce("sum", body.binary("mul", x, products), {0}, "f64"),
             body.result("f64", {"s1"}), "d1");
  body.write(body.reduce("max", products, {0}, "f64"), body.result("f64", {"1"}), "0");
  for (int64_t rows : {1, 8, 29})
    for (int64_t columns : {1, 9, 70})
      check(body, {random("f64", {rows, columns}), random("f64", {columns})}, 1e-11,
            {longRows, eightRows, acrossRows, byCells});
}

// Both orders of the result's dimensions, and either factor as the longer one.
TEST_F(TileAggregatesTest, TransposedProducts) {
  for (auto [element, tolerance] : {std::pair("f64", 1e-11), {"f32", 1e-4}})
    for (bool isTransposed : {false, true})
      for (auto [left, right] : {std::pair("s1", "3"), {"3", "s1"}, {"12", "5"}, {"20", "20"}}) {
        BodyText body({"s0", left, right});
        BodyCell a = body.read(body.array(element, {"s0", left}), "d0, d1"),
                 b = body.unary("exp", body.read(body.array(element, {"s0", right}), "d0, d2"));
        BodyCell sum = body.reduce("sum", body.binary("mul", a, b), {0}, element);
        if (isTransposed)
          body.write(sum, body.result(element, {right, left}), "d2, d1");
        else
          body.write(sum, body.result(element, {left, right}), "d1, d2");
        auto sizeOf = [](const std::string &size) { return size == "s1" ? 27 : std::stoll(size); };
        for (int64_t rows : {1, 8, 37})
          check(body,
                {random(element, {rows, sizeOf(left)}), random(element, {rows, sizeOf(right)})},
                tolerance,
                {"parallel d0\nvector d1\nblock 3\nkeep none\npack none",
                 "parallel d0\nvector d2, d0 by 8\nblock 8\nkeep %2\npack none",
                 "parallel d0\nvector none\nblock 1\nkeep none\npack none"});
      }
}

// Integers are accumulated in 64 bits, f32 in doubles.
TEST_F(TileAggregatesTest, OtherElementTypes) {
  for (auto [element, sums, result] :
       {std::tuple("i8", "i64", "i32"), {"ui16", "i64", "ui64"}, {"f32", "f64", "f32"}}) {
    BodyText body({"s0", "s1"});
    BodyCell x = body.read(body.array(element, {"s0", "s1"}), "d0, d1");
    body.write(body.reduce("sum", x, {0}, sums, result), body.result(result, {"s1"}), "d1");
    body.write(body.reduce("max", x, {0, 1}, sums, element), body.result(element, {"1"}), "0");
    check(body, {random(element, {37, 19}, 0, 100)}, 1e-6,
          {longRows, eightRows, sixteenRows, acrossRows, acrossSixteen, byCells});
  }
}

// Sums of f32 products are accumulated in f32 and merged in doubles.
TEST_F(TileAggregatesTest, OfProductsInSinglePrecision) {
  for (const char *columns : {"s1", "3", "40"}) {
    BodyText body({"s0", columns});
    BodyCell x = body.read(body.array("f32", {"s0", columns}), "d0, d1"),
             w = body.read(body.array("f32", {"s0"}), "d0");
    BodyCell product = body.binary("mul", x, w);
    body.write(body.reduce("sum", product, {0}, "f32"), body.result("f32", {columns}), "d1");
    body.write(body.reduce("sum", product, {0, 1}, "f32"), body.result("f32", {"1"}), "0");
    int64_t count = columns[0] == 's' ? 21 : std::stoll(columns);
    for (int64_t rows : {0, 1, 16, 53})
      check(body, {random("f32", {rows, count}), random("f32", {rows})}, 1e-4,
            {longRows, eightRows, sixteenRows, acrossRows, acrossSixteen, byCells,
             "parallel d0\nvector d1 by 16\nblock 1\nunroll 3\npack none"});
  }
}

TEST_F(TileAggregatesTest, AreMergedAndNothingElse) {
  BodyText used({"s0", "s1"});
  BodyCell x = used.read(used.array("f64", {"s0", "s1"}), "d0, d1");
  BodyCell sum = used.reduce("sum", x, {0}, "f64");
  used.write(used.unary("exp", sum), used.result("f64", {"s1"}), "d1");
  EXPECT_NE(refusal(parse(used.text()), longRows).find("nothing can be computed with it"),
            std::string::npos);
  BodyText index({"s0", "s1"});
  BodyCell y = index.read(index.array("f64", {"s0", "s1"}), "d0, d1");
  index.write(index.reduce("index_max", y, {0}, "f64"), index.result("f64", {"s1"}), "d1");
  EXPECT_NE(refusal(parse(index.text()), longRows).find("are merged over tiles"),
            std::string::npos);
}

// The largest of each row, and the last or first of several.
TEST_F(TileAggregatesTest, IndicesOfExtremes) {
  for (const char *kind : {"index_max", "index_min", "first_index_max", "first_index_min"}) {
    BodyText body({"s0", "s1"});
    BodyCell x = body.read(body.array("f64", {"s0", "s1"}), "d0, d1");
    BodyCell rounded = body.unary("round", x);
    body.write(body.reduce(kind, rounded, {1}, "f64"), body.result("f64", {"s0"}), "d0");
    for (int64_t rows : {1, 8, 21})
      for (int64_t columns : {1, 9, 70})
        check(body, {random("f64", {rows, columns})}, 0,
              {longRows, eightRows, acrossRows, byCells});
  }
}

// t(X) %*% (X %*% V): partial results that are as long as what tiles read would double the traffic.
TEST_F(TileAggregatesTest, TilesReadMuchMoreThanTheyLeave) {
  constexpr int64_t columns = 100, width = 10, rows = 200000;
  BodyText body({"s0", "100", "10"});
  BodyCell x = body.read(body.array("f64", {"s0", "100"}), "d0, d1"),
           v = body.read(body.array("f64", {"100", "10"}), "d1, d2");
  BodyCell product = body.reduce("sum", body.binary("mul", x, v), {1}, "f64");
  body.write(body.reduce("sum", body.binary("mul", x, product), {0}, "f64"),
             body.result("f64", {"100", "10"}), "d1, d2");
  auto plan = compiler.compile(parse(body.text()));
  ASSERT_TRUE(succeeded(plan));
  int64_t tileRows = runtime::tileLength(*plan, rows, columns, columns * width);
  EXPECT_GE(tileRows * columns, 32 * columns * width);
}

} // namespace
