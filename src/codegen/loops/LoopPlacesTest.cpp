// Where loops over any number of axes read and write: windows, slices, gathers, other axes.
#include "codegen/testing/LoopKernelFixture.h"

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class LoopPlacesTest : public LoopKernelFixture {};

struct Convolution {
  bool channelsLast = true;
  int64_t stride = 1;
  bool padded = true;
};

// max(convolution of 3x3 + bias, 0) of images of 5 channels, to 9 channels.
BodyText convolution(const Convolution &kind) {
  using Sizes = BodyText::Sizes;
  // image, row, column, channel of the result; row, column, channel of the kernel
  BodyText body({"s0", "s1", "s2", "9", "3", "3", "5"});
  auto place = [&](const std::string &axis, const std::string &window) {
    return (kind.stride == 1 ? "" : std::to_string(kind.stride) + " * ") + axis + " + " + window +
           (kind.padded ? " - 1" : "");
  };
  auto reach = [&](const std::string &size) {
    return kind.padded ? (kind.stride == 1 ? size : "2*" + size)
                       : (kind.stride == 1 ? size + " + 2" : "2*" + size + " + 1");
  };
  std::string rows = reach("s1"), columns = reach("s2");
  std::string at = place("d1", "d4") + ", " + place("d2", "d5"), outside = kind.padded ? "0.0" : "";
  unsigned image = body.array("f64", kind.channelsLast ? Sizes{"s0", rows, columns, "5"}
                                                       : Sizes{"s0", "5", rows, columns});
  unsigned weights =
      body.array("f64", kind.channelsLast ? Sizes{"3", "3", "5", "9"} : Sizes{"9", "5", "3", "3"});
  // An operand that names the sizes of the result.
  unsigned like = body.array("f64", {"s1", "s2"});
  BodyCell x =
      body.read(image, kind.channelsLast ? "d0, " + at + ", d6" : "d0, d6, " + at, outside);
  BodyCell w = body.read(weights, kind.channelsLast ? "d4, d5, d6, d3" : "d3, d6, d4, d5");
  BodyCell sum = body.reduce("sum", body.binary("mul", x, w), {4, 5, 6}, "f64");
  BodyCell biased = body.binary("add", sum, body.read(body.array("f64", {"1", "9"}), "0, d3"));
  biased = body.binary("add", biased, body.read(like, "d1, d2"));
  BodyCell result = body.binary("max", biased, body.constant("0.0", "f64"));
  if (kind.channelsLast)
    body.write(result, body.result("f64", {"s0", "s1", "s2", "9"}), "d0, d1, d2, d3");
  else
    body.write(result, body.result("f64", {"s0", "9", "s1", "s2"}), "d0, d3, d1, d2");
  return body;
}

// An axis that would be walked as one with the last one, but for an axis of size 1 between them whose place an operand
// leaves out: the last of the axes that tiles are cut along.
TEST_F(LoopPlacesTest, AxesOfSizeOneAmongThoseOfTiles) {
  BodyText body({"s0", "s1", "1", "s2"});
  BodyCell all = body.read(body.array("f64", {"s0", "s1", "1", "s2"}), "d0, d1, d2, d3");
  BodyCell part = body.read(body.array("f64", {"1", "s1", "1", "s2"}), "0, d1, 0, d3");
  body.write(body.binary("add", all, part), body.result("f64", {"s0", "s1", "1", "s2"}),
             "d0, d1, d2, d3");
  check(body.text(), {random("f64", {3, 4, 1, 5}), random("f64", {1, 4, 1, 5})}, 0,
        {"parallel d0, d1, d2\nvector d3", "parallel d0, d1\nvector d3",
         "parallel d0, d1, d2\nvector d3\nblock 2"});
}

TEST_F(LoopPlacesTest, Convolutions) {
  for (const Convolution &kind : {Convolution{},
                                  {.channelsLast = false},
                                  {.stride = 2},
                                  {.channelsLast = false, .stride = 2},
                                  {.padded = false},
                                  {.channelsLast = false, .stride = 2, .padded = false}}) {
    std::string text = convolution(kind).text();
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>(1, 1), {4, 9}, {3, 17}}) {
      int64_t more = kind.padded ? 0 : kind.stride == 1 ? 2 : 1;
      int64_t height = kind.stride * rows + more, width = kind.stride * columns + more;
      check(text,
            {random("f64", kind.channelsLast ? std::vector{2L, height, width, 5L}
                                             : std::vector{2L, 5L, height, width}),
             random("f64",
                    kind.channelsLast ? std::vector{3L, 3L, 5L, 9L} : std::vector{9L, 5L, 3L, 3L}),
             random("f64", {rows, columns}), random("f64", {1, 9})},
            1e-12,
            {"block 1\nunroll 1\npack none\nvectors inside", "block 3\nunroll 2",
             "block 2\nunroll 1\nkeep none"});
    }
  }
}

TEST_F(LoopPlacesTest, MaxPooling) {
  for (const char *cells : {"f64", "f32", "i32"}) {
    BodyText body({"s0", "s1", "s2", "3", "3"});
    BodyCell window = body.read(body.array(cells, {"s0", "s1", "s2"}),
                                "d0, d1 + d3 - 1, d2 + d4 - 1", "0xFFF0000000000000");
    std::string sums = cells[0] == 'i' ? "i64" : "f64";
    body.write(body.reduce("max", window, {3, 4}, sums), body.result(cells, {"s0", "s1", "s2"}),
               "d0, d1, d2");
    std::string text = body.text();
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>(1, 1), {5, 9}, {2, 33}})
      check(text, {random(cells, {2, rows, columns}, -50, 50)}, 0);
  }
}

// Values outside that compare as equal, or as nothing, are different ones.
TEST_F(LoopPlacesTest, ValuesOutside) {
  BodyText body({"s0", "s1", "3"});
  unsigned x = body.array("f64", {"s0", "s1"});
  auto most = [&](const std::string &map, const std::string &outside) {
    return body.reduce("max", body.read(x, map, outside), {2}, "f64");
  };
  unsigned result = body.result("f64", {"s0", "s1"});
  BodyCell zero = body.constant("0.0", "f64");
  BodyCell sum = body.binary("mul", most("d0 + 40 * d2 + 40, d1", "-0.0"),
                             body.constant("0x7FF0000000000000", "f64"));
  body.write(body.binary("add", most("d0 + d2 - 1, d1", "0x7FF8000000000000"), zero), result,
             "d0, d1");
  body.write(most("d0 - d2 - 1, d1", "0.0"), body.result("f64", {"s0", "s1"}), "d0, d1");
  body.write(body.binary("div", body.constant("1.0", "f64"), body.read(x, "d0 + 100, d1", "-0.0")),
             body.result("f64", {"s0", "s1"}), "d0, d1");
  body.write(body.binary("div", body.constant("1.0", "f64"), body.read(x, "d0 - 100, 0", "0.0")),
             body.result("f64", {"s0", "1"}), "d0, 0");
  body.write(body.binary("div", body.constant("1.0", "f64"), body.read(x, "d0 + 100, 0", "-0.0")),
             body.result("f64", {"s0", "1"}), "d0, 0");
  body.write(sum, body.result("f64", {"s0", "s1"}), "d0, d1");
  check(body, {random("f64", {5, 9})}, 0, {"vector none\nblock 2"});
}

TEST_F(LoopPlacesTest, ColumnsSideBySide) {
  BodyText body({"s0", "s1", "s2"});
  BodyCell x = body.read(body.array("f64", {"s0", "s1"}), "d0, d1");
  BodyCell y = body.unary("exp", body.read(body.array("f64", {"s0", "s2"}), "d0, d2"));
  unsigned result = body.result("f64", {"s0", "s1 + s2"});
  body.write(x, result, "d0, d1");
  body.write(y, result, "d0, d2 + s0", {body.size("s1")});
  std::string text = body.text();
  for (auto [left, right] : {std::pair<int64_t, int64_t>(1, 17), {9, 0}, {0, 8}, {33, 5}})
    check(text, {random("f64", {9, left}), random("f64", {9, right})}, 1e-14,
          {"block 3\nunroll 1"});
}

TEST_F(LoopPlacesTest, RowsBelowEachOther) {
  BodyText body({"s0", "s1", "s2"});
  BodyCell x = body.read(body.array("f32", {"s0", "s2"}), "d0, d2");
  BodyCell y = body.read(body.array("f32", {"s1", "s2"}), "d1, d2");
  unsigned result = body.result("f32", {"s0 + s1", "s2"});
  body.write(x, result, "d0, d2");
  body.write(y, result, "d1 + s0, d2", {body.size("s0")});
  std::string text = body.text();
  for (auto [above, below] : {std::pair<int64_t, int64_t>(1, 9), {7, 0}, {0, 3}, {2, 5}})
    for (int64_t columns : {1, 17})
      check(text, {random("f32", {above, columns}), random("f32", {below, columns})}, 0,
            {"unroll 1", "unroll 3"});
}

// X[3:, ] of three dimensions, beside what is left of it, backwards.
TEST_F(LoopPlacesTest, SlicesAndReversedRows) {
  BodyText body({"s0", "s1", "s2"});
  unsigned x = body.array("f64", {"s0 + 2", "s1", "s2"});
  unsigned like = body.array("f64", {"s0"});
  BodyCell slice = body.read(x, "d0 + s0, d1, d2", "", {body.size("2")});
  slice = body.binary("add", slice, body.read(like, "d0"));
  body.write(slice, body.result("f64", {"s0", "s1", "s2"}), "d0, d1, d2");
  BodyCell reversed =
      body.read(x, "s0 - d0, d1, s1 - d2", "", {body.size("s0 + 1"), body.size("s2 - 1")});
  body.write(reversed, body.result("f64", {"s0", "s2", "s1"}), "d0, d2, d1");
  std::string text = body.text();
  for (int64_t columns : {1, 8, 17})
    check(text, {random("f64", {5, 3, columns}), random("f64", {3})}, 0);
}

// Rows numbered by an array, some of which the operand does not have; also cells numbered by two.
TEST_F(LoopPlacesTest, Gathers) {
  for (const char *cells : {"f64", "f32", "ui8", "i64"}) {
    BodyText body({"s0", "s1"});
    unsigned x = body.array(cells, {"s2", "s1"});
    BodyCell rows = body.read(body.array("i64", {"s0"}), "d0");
    BodyCell columns = body.read(body.array("i64", {"s0", "s1"}), "d0, d1");
    body.write(body.read(x, "s0, d1", "7.0", {rows}), body.result(cells, {"s0", "s1"}), "d0, d1");
    body.write(body.read(x, "s0, s1", "3.0", {rows, columns}), body.result(cells, {"s0", "s1"}),
               "d0, d1");
    body.write(body.read(x, "s0, 3 * s1 - 5", "5.0", {rows, columns}),
               body.result(cells, {"s0", "s1"}), "d0, d1");
    body.write(body.read(x, "2 * s0 - 3, d1 + 1", "5.0", {rows}), body.result(cells, {"s0", "s1"}),
               "d0, d1");
    check(
        body,
        {random(cells, {6, 17}, 0, 100), random("i64", {9}, -2, 9), random("i64", {9, 17}, -3, 20)},
        0);
  }
}

// Indices may be computed in a pass; what is packed is read before all of them.
TEST_F(LoopPlacesTest, GathersAreNotPacked) {
  BodyText body({"s0", "s1"});
  BodyCell rows = body.read(body.array("i64", {"s1"}), "d1");
  BodyCell x = body.read(body.array("f64", {"s2", "s1"}), "s0, d1", "0.0", {rows});
  BodyCell y = body.read(body.array("f64", {"s0", "s1"}), "d0, d1");
  body.write(body.binary("mul", x, y), body.result("f64", {"s0", "s1"}), "d0, d1");
  EXPECT_NE(refusal(parse(body.text()), "parallel d0\nvector d1\nblock 2\npack %1 by d1")
                .find("gathers can't be packed"),
            std::string::npos);
}

// P + P %*% B and the like: what is computed along one axis is read along another.
TEST_F(LoopPlacesTest, OtherAxes) {
  BodyText body({"s0", "8", "8"});
  BodyCell p = body.unary("exp", body.read(body.array("f64", {"s0", "8"}), "d0, d1"));
  BodyCell b = body.read(body.array("f64", {"8", "8"}), "d1, d2");
  BodyCell sum = body.reduce("sum", body.binary("mul", p, b), {1}, "f64");
  BodyCell other = body.reindex(p, "d0, d2");
  body.write(body.binary("add", other, sum), body.result("f64", {"s0", "8"}), "d0, d2");
  check(body, {random("f64", {9, 8}), random("f64", {8, 8})}, 1e-12,
        {"block 1\nvector d1, d2\npack none", "block 3\nvector d1, d2\npack none"});
}

// A read with a value outside is the same value along another axis. A gather would take the indices
// of the places there.
TEST_F(LoopPlacesTest, OtherAxesOfReads) {
  BodyText body({"s0", "s1", "s1"});
  unsigned x = body.array("f64", {"s0", "s1"});
  BodyCell window = body.read(x, "d0, d1 - 1", "7.0");
  body.write(body.binary("sub", body.reindex(window, "d0, d2"), body.read(x, "d0, d2")),
             body.result("f64", {"s0", "s1"}), "d0, d2");
  BodyCell total = body.reduce("sum", window, {1}, "f64");
  body.write(total, body.result("f64", {"s0"}), "d0");
  check(body, {random("f64", {9, 17})}, 1e-12);
  BodyText gather({"s0", "s1", "s1"});
  unsigned y = gather.array("f64", {"s0", "s2"});
  BodyCell rows = gather.read(gather.array("i64", {"s1"}), "d1");
  BodyCell cells = gather.read(y, "d0, s0", "7.0", {rows});
  gather.write(gather.reduce("sum", cells, {1}, "f64"), gather.result("f64", {"s0"}), "d0");
  gather.write(gather.reindex(cells, "d0, d2"), gather.result("f64", {"s0", "s1"}), "d0, d2");
  EXPECT_NE(refusal(parse(gather.text())).find("gathers along other axes"), std::string::npos);
}

// Within a block only its own places are known.
TEST_F(LoopPlacesTest, OtherPlacesOfBlocks) {
  BodyText body({"s0", "s0", "s1"});
  BodyCell p = body.unary("exp", body.read(body.array("f64", {"s0", "s1"}), "d0, d2"));
  body.write(p, body.result("f64", {"s0", "s1"}), "d0, d2");
  body.write(body.reindex(p, "d1, d2"), body.result("f64", {"s0", "s1"}), "d1, d2");
  plan::OperatorOp op = parse(body.text());
  EXPECT_NE(refusal(op, "parallel d0\nkeep %1").find("every place along it"), std::string::npos);
  BodyText both({"s0", "s0", "s1"});
  BodyCell q = both.unary("exp", both.read(both.array("f64", {"s0", "s1"}), "d0, d2"));
  BodyCell other = both.reindex(q, "d1, d2");
  both.write(both.binary("sub", q, other), both.result("f64", {"s0", "s0", "s1"}), "d0, d1, d2");
  check(both, {random("f64", {9, 17})}, 1e-14);
  EXPECT_NE(refusal(parse(both.text()), "parallel d0, d1\nvector d2\nkeep %1")
                .find("places of other blocks"),
            std::string::npos);
}

} // namespace
