// Sums of products in loops over any number of axes: batched products and attention.
#include "codegen/testing/LoopKernelFixture.h"
#include "schedule/Schedule.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class LoopProductsTest : public LoopKernelFixture {
protected:
  // For bodies whose blocks are not vectors.
  const std::vector<std::string> schedules = {
      "block 3\nunroll 2", "block 1\nunroll 1\nkeep none\npack none\nvectors inside"};
};

struct Attention {
  std::string element = "f64", sums = "f64", width = "16";
  bool hasMask = false;
};

// softmax(Q %*% t(K) / scale + mask) %*% V: batch, head, query, key, width of keys, width of values.
BodyText attention(const Attention &kind) {
  const std::string &cells = kind.element, &width = kind.width;
  BodyText body({"s0", "s1", "s2", "s3", width, width});
  unsigned q = body.array(cells, {"s0", "s1", "s2", width}),
           k = body.array(cells, {"s0", "s1", "s3", width}),
           v = body.array(cells, {"s0", "s1", "s3", width});
  BodyCell scale = body.read(body.scalar("f64"), "");
  if (cells != "f64")
    scale = body.cast(scale, cells);
  auto product = [&](const BodyCell &a, const BodyCell &b, unsigned over) {
    if (cells == kind.sums)
      return body.reduce("sum", body.binary("mul", a, b), {over}, kind.sums);
    BodyCell wide = body.binary("mul", body.cast(a, kind.sums), body.cast(b, kind.sums));
    return body.reduce("sum", wide, {over}, kind.sums, cells);
  };
  BodyCell scores = product(body.read(q, "d0, d1, d2, d4"), body.read(k, "d0, d1, d3, d4"), 4);
  scores = body.binary("div", scores, scale);
  if (kind.hasMask)
    scores = body.binary("add", scores, body.read(body.array(cells, {"s2", "s3"}), "d2, d3"));
  BodyCell most = body.reduce("max", scores, {3}, "f64");
  BodyCell weights = body.unary("exp", body.binary("sub", scores, most));
  BodyCell total = body.reduce("sum", weights, {3}, "f64");
  BodyCell share = body.binary("div", weights, total);
  body.write(product(share, body.read(v, "d0, d1, d3, d5"), 3),
             body.result(cells, {"s0", "s1", "s2", width}), "d0, d1, d2, d5");
  return body;
}

TEST_F(LoopProductsTest, AttentionOfAllSizes) {
  std::string text = attention({}).text();
  for (int64_t queries : {1, 7, 9, 17})
    for (int64_t keys : {1, 8, 33})
      check(text,
            {random("f64", {2, 1, queries, 16}), random("f64", {2, 1, keys, 16}),
             random("f64", {2, 1, keys, 16}), scalar(4)},
            1e-12, schedules);
}

// Without keys there is nothing to add up, and 0 / 0 is never computed.
TEST_F(LoopProductsTest, AttentionWithoutKeys) {
  for (auto [batches, queries, keys] : {std::tuple(1, 3, 0), {0, 3, 5}, {2, 0, 5}})
    check(attention({}),
          {random("f64", {batches, 2, queries, 16}), random("f64", {batches, 2, keys, 16}),
           random("f64", {batches, 2, keys, 16}), scalar(4)},
          0);
}

TEST_F(LoopProductsTest, AttentionOfAllTypes) {
  struct Case {
    Attention kind;
    double tolerance;
  };
  for (const Case &each : {Case{{"f32", "f32", "32"}, 1e-5},
                           {{"f32", "f64", "16", true}, 1e-5},
                           {{"f32", "f32", "256"}, 1e-5},
                           {{"f64", "f64", "65", true}, 1e-12},
                           {{"f16", "f32", "24"}, 4e-3}}) {
    int64_t width = std::stoll(each.kind.width);
    Operands operands = {random(each.kind.element, {1, 2, 9, width}, -1, 1),
                         random(each.kind.element, {1, 2, 19, width}, -1, 1),
                         random(each.kind.element, {1, 2, 19, width}, -1, 1), scalar(8)};
    if (each.kind.hasMask)
      operands.push_back(random(each.kind.element, {9, 19}));
    check(attention(each.kind), operands, each.tolerance, schedules);
  }
}

// A mask of -Infinity leaves keys out; where all are, 0 / 0 is NaN, as in the meaning.
TEST_F(LoopProductsTest, AttentionToNothing) {
  Operands operands = {random("f64", {1, 1, 5, 16}), random("f64", {1, 1, 9, 16}),
                       random("f64", {1, 1, 9, 16}), scalar(4), random("f64", {5, 9})};
  for (int key = 0; key < 9; ++key) {
    operands[4].cells[2 * 9 + key] = -INFINITY;
    operands[4].cells[3 * 9 + key] = key % 2 ? -INFINITY : 0;
  }
  check(attention({.hasMask = true}), operands, 1e-12, schedules);
}

// Sums over channels and windows of an image, whose rows, channels and places of windows are copied one behind the
// other: places outside are zeros, at both ends of rows that fill their vectors and of others.
TEST_F(LoopProductsTest, ConvolutionsWithCopiedWindows) {
  for (auto [columns, step] : {std::pair(13, 1), {16, 1}, {24, 1}, {13, 2}}) {
    std::string width = std::to_string(columns), windows = std::to_string((columns - 1) / step + 1),
                along = std::to_string(step) + " * d2 + d5 - 1";
    BodyText body({"s3", "s1", windows, "s0", "3", "3"}); // filter, row, column; channel, window
    unsigned image = body.array("f32", {"s0", "s1", width}),
             weights = body.array("f32", {"s3", "s0", "3", "3"});
    BodyCell window = body.read(image, "d3, d1 + d4 - 1, " + along, "0.0"),
             weight = body.read(weights, "d0, d3, d4, d5");
    BodyCell sum = body.reduce("sum", body.binary("mul", weight, window), {3, 4, 5}, "f32");
    body.write(sum, body.result("f32", {"s3", "s1", windows}), "d0, d1, d2");
    for (auto [channels, filters] : {std::pair(5, 19), {1, 8}, {3, 1}})
      check(body,
            {random("f32", {channels, 7, columns}, -1, 1),
             random("f32", {filters, channels, 3, 3}, -1, 1)},
            1e-5,
            {"windows none\nblock 4\nvector d2 by 8\nunroll 2\npack %0 by d2\nvectors outside",
             "windows none\nblock 8\nvector d2 by 16\nunroll 1\npack %0 by d2\nvectors inside",
             "windows none\nblock 3\npack none\nvectors inside",
             "pack none\nwindows %0\nvectors inside",
             "pack none\nwindows %0\nvectors outside\nunroll 2",
             "pack none\nwindows %0\nvectors inside\nblock 3\nvector d2 by 16"});
  }
}

// Windows differ from place to place of a block, and more rows are copied than at once.
TEST_F(LoopProductsTest, ConvolutionsOfEachChannel) {
  struct Case {
    int rows, columns, window, step, spacing, before;
    const char *type;
  };
  for (auto [rows, columns, window, step, spacing, before, type] : {Case{37, 40, 3, 1, 1, 1, "f32"},
                                                                    {18, 19, 3, 2, 1, 1, "f32"},
                                                                    {7, 7, 5, 1, 1, 2, "f32"},
                                                                    {20, 33, 3, 2, 1, 0, "f64"},
                                                                    {9, 50, 3, 3, 1, 1, "f32"},
                                                                    {24, 17, 3, 1, 2, 2, "f64"},
                                                                    {5, 3, 3, 1, 1, 4, "f32"},
                                                                    {40, 9, 7, 2, 1, 3, "f32"}}) {
    auto placesOf = [&](int size) {
      return (size + 2 * before - spacing * (window - 1) - 1) / step + 1;
    };
    auto placeOf = [&](int axis, int ofWindow) {
      return fmt::format("{} * d{} + {} * d{} - {}", step, axis, spacing, ofWindow, before);
    };
    std::string height = std::to_string(rows), width = std::to_string(columns),
                down = std::to_string(placesOf(rows)), across = std::to_string(placesOf(columns)),
                size = std::to_string(window);
    BodyText body({"s0", down, across, size, size}); // channel, row, column; window
    unsigned image = body.array(type, {"s0", height, width}),
             weights = body.array(type, {"s0", size, size});
    BodyCell windows = body.read(image, "d0, " + placeOf(1, 3) + ", " + placeOf(2, 4), "0.5"),
             weight = body.read(weights, "d0, d3, d4");
    BodyCell sum = body.reduce("sum", body.binary("mul", weight, windows), {3, 4}, type);
    body.write(sum, body.result(type, {"s0", down, across}), "d0, d1, d2");
    check(body, {random(type, {3, rows, columns}, -1, 1), random(type, {3, window, window}, -1, 1)},
          1e-5, {"", "windows none", "block 1\nvector d2 by 16", "block 8\nunroll 2"});
  }
}

// A sum adds products of the factors themselves, in loops over whose places those are walked, though the product is kept.
TEST_F(LoopProductsTest, SumsOfKeptProducts) {
  BodyText body({"2", "s0", "7", "s1", "3"});
  unsigned array = body.array("f64", {"7", "3", "2", "s1", "s0"});
  BodyCell factor = body.read(array, "d2, d4, d0, d3, d1");
  BodyCell sum = body.reduce("sum", body.binary("mul", factor, factor), {3, 4}, "f64");
  body.write(sum, body.result("f64", {"2", "7", "s0"}), "d0, d2, d1");
  check(
      body, {random("f64", {7, 3, 2, 5, 19}, -1, 1)}, 1e-12,
      {"parallel d0, d2\nblock 3\nvector d1 by 8\nunroll 2\norder d3, d4\nkeep %1\nwindows %0",
       "parallel d0, d2\nblock 3\nvector d1 by 8\nunroll 2\norder d3, d4\nkeep %1\nwindows none"});
}

// The places of a block are lanes where a sum is written, which reads rows that were kept for each place in vectors along d1.
TEST_F(LoopProductsTest, KeptRowsReadAcrossPlaces) {
  BodyText body({"9", "9", "5", "s0"});
  unsigned array = body.array("f64", {"9", "9", "s0", "5"});
  BodyCell square = body.unary("abs", body.read(array, "8 - d0, d1, d3, d2"));
  body.write(body.reduce("max", square, {1, 3}, "f64"), body.result("f64", {"5", "9"}), "d2, d0");
  const std::string blocks = "parallel d0\nblock 8\norder d2, d0, d1, d3\nwindows none\npack none\n"
                             "vectors inside\nkeep %1\n";
  for (int places : {1, 3, 20})
    check(body, {random("f64", {9, 9, places, 5})}, 0,
          {blocks + "vector d1, d0 by 8\nunroll 1", blocks + "vector d3, d0 by 8\nunroll 2",
           blocks + "vector d1, d3, d0 by 8\nunroll 2"});
}

// Functions of doubles are computed for eight at a time, whatever the vectors.
TEST_F(LoopProductsTest, AttentionInVectorsOfSixteen) {
  plan::OperatorOp op = parse(attention({}).text());
  Operands operands = {random("f64", {1, 2, 9, 16}), random("f64", {1, 2, 33, 16}),
                       random("f64", {1, 2, 33, 16}), scalar(4)};
  std::vector<reference::CellArray> expected = reference::meaningOf(op, operands);
  for (const char *schedule : {"vector d3, d5 by 16", "pack none\nvector d5 by 16\nblock 3",
                               "pack none\nvector none by 16"})
    EXPECT_EQ(difference(run(op, operands, schedule), expected, 1e-12), "") << schedule;
}

// max(op(A) %*% op(B) + bias, 0) for each matrix of a batch; op is nothing or the transpose.
BodyText batchedProduct(const std::string &cells, const std::string &sums, bool left, bool right) {
  BodyText body({"s0", "s1", "s3", "s2"});
  using Sizes = BodyText::Sizes;
  unsigned a = body.array(cells, left ? Sizes{"s0", "s2", "s1"} : Sizes{"s0", "s1", "s2"}),
           b = body.array(cells, right ? Sizes{"s0", "s3", "s2"} : Sizes{"s0", "s2", "s3"});
  BodyCell x = body.read(a, left ? "d0, d3, d1" : "d0, d1, d3");
  BodyCell y = body.read(b, right ? "d0, d2, d3" : "d0, d3, d2");
  if (sums != cells) {
    x = body.cast(x, sums);
    y = body.cast(y, sums);
  }
  BodyCell sum = body.reduce("sum", body.binary("mul", x, y), {3}, sums, cells);
  BodyCell biased = body.binary("add", sum, body.read(body.array(cells, {"1", "s3"}), "0, d2"));
  body.write(body.binary("max", biased, body.constant("0.0", cells)),
             body.result(cells, {"s0", "s1", "s3"}), "d0, d1, d2");
  return body;
}

TEST_F(LoopProductsTest, BatchedProducts) {
  for (bool left : {false, true})
    for (bool right : {false, true}) {
      std::string text = batchedProduct("f64", "f64", left, right).text();
      for (auto [rows, inner, columns] : {std::tuple<int64_t, int64_t, int64_t>(1, 1, 1),
                                          {9, 5, 17},
                                          {16, 0, 8},
                                          {33, 7, 33},
                                          {7, 16, 9},
                                          {0, 3, 4},
                                          {3, 4, 0}})
        check(text,
              {random("f64", left ? std::vector{2L, inner, rows} : std::vector{2L, rows, inner}),
               random("f64",
                      right ? std::vector{2L, columns, inner} : std::vector{2L, inner, columns}),
               random("f64", {1, columns})},
              1e-12, schedules);
    }
}

TEST_F(LoopProductsTest, BatchedProductsOfAllTypes) {
  for (auto [cells, sums, tolerance] : {std::tuple("f32", "f32", 1e-5),
                                        {"f32", "f64", 1e-6},
                                        {"bf16", "f32", 1e-2},
                                        {"f16", "f64", 1e-3}})
    check(batchedProduct(cells, sums, false, true),
          {random(cells, {3, 9, 20}), random(cells, {3, 35, 20}), random(cells, {1, 35})},
          tolerance, schedules);
}

// max(X %*% A, 0) %*% B: the factor in the middle is kept, and computed in vectors, too.
TEST_F(LoopProductsTest, ProductsOfProducts) {
  for (const std::string cells : {"f64", "f32"}) {
    BodyText body({"s0", "s3", "s2", "s1"});
    unsigned x = body.array(cells, {"s0", "s1"}), a = body.array(cells, {"s1", "s2"}),
             b = body.array(cells, {"s2", "s3"});
    auto product = [&](const BodyCell &left, const BodyCell &right, unsigned over) {
      return body.reduce("sum", body.binary("mul", left, right), {over}, cells);
    };
    BodyCell hidden = product(body.read(x, "d0, d3"), body.read(a, "d3, d2"), 3);
    hidden = body.binary("max", hidden, body.constant("0.0", cells));
    body.write(product(hidden, body.read(b, "d2, d1"), 2), body.result(cells, {"s0", "s3"}),
               "d0, d1");
    std::string text = body.text();
    plan::OperatorOp op = parse(text);
    EXPECT_TRUE(schedule::defaultSchedule(op, schedule::Hardware()).isVector(2)) << text;
    for (auto [rows, inner, width, columns] :
         {std::tuple<int64_t, int64_t, int64_t, int64_t>(9, 5, 70, 33),
          {17, 16, 3, 40},
          {1, 7, 33, 1},
          {8, 0, 5, 16},
          {3, 4, 0, 5}})
      check(text,
            {random(cells, {rows, inner}, -1, 1), random(cells, {inner, width}, -1, 1),
             random(cells, {width, columns}, -1, 1)},
            cells == "f64" ? 1e-12 : 1e-5, schedules);
  }
}

// Doubles in vectors of sixteen, and a block that is larger than the rows.
TEST_F(LoopProductsTest, SchedulesOfProducts) {
  std::string text = batchedProduct("f64", "f64", false, false).text();
  check(text, {random("f64", {2, 5, 9}), random("f64", {2, 9, 40}), random("f64", {1, 40})}, 1e-12,
        {"block 64", "unroll 5", "parallel d1, d0\npack none\nvectors inside", "vector d2 by 16",
         "pack %1 by d2\nunroll 3", "pack %1 by d2\nvectors inside\nblock 2"});
}

} // namespace
