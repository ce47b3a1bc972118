// Several passes over a block: scans, rows that are normalised, values that are kept between passes.
#include "codegen/testing/LoopKernelFixture.h"

#include "runtime/image/KernelLaunch.h"
#include "schedule/Schedule.h"

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class LoopPassesTest : public LoopKernelFixture {};

TEST_F(LoopPassesTest, CumulativeAggregatesAlongEachAxis) {
  for (const char *kind : {"sum", "max", "min", "prod"})
    for (unsigned along : {0u, 1u, 2u}) {
      BodyText body({"s0", "s1", "s2"});
      BodyCell x = body.read(body.array("f64", {"s0", "s1", "s2"}), "d0, d1, d2");
      body.write(body.scan(kind, x, along, "f64"), body.result("f64", {"s0", "s1", "s2"}),
                 "d0, d1, d2");
      check(body, {random("f64", {3, 9, 17})}, 1e-12, {"unroll 1", "unroll 3"});
    }
}

TEST_F(LoopPassesTest, CumulativeSumsOfAllSizesAndTypes) {
  for (auto [cells, sums] : {std::pair("f64", "f64"),
                             {"f32", "f32"},
                             {"f32", "f64"},
                             {"i32", "i64"},
                             {"ui8", "i64"},
                             {"f16", "f64"}}) {
    BodyText columns({"s0", "s1"}), rows({"s0", "s1"}), list({"1", "s0"});
    for (auto [body, axis] : {std::pair(&columns, 0u), {&rows, 1u}}) {
      BodyCell x = body->read(body->array(cells, {"s0", "s1"}), "d0, d1");
      body->write(body->scan("sum", x, axis, sums), body->result(cells, {"s0", "s1"}), "d0, d1");
    }
    for (auto [height, width] :
         {std::pair<int64_t, int64_t>(0, 3), {3, 0}, {1, 1}, {9, 16}, {7, 33}})
      for (BodyText *body : {&columns, &rows})
        check(*body, {random(cells, {height, width}, 0, 9)}, 1e-3);
    BodyCell x = list.read(list.array(cells, {"s0"}), "d1");
    list.write(list.scan("sum", x, 1, sums), list.result(cells, {"s0"}), "d1");
    check(list, {random(cells, {17}, 0, 9)}, 1e-3);
  }
}

// Tiles take long parts of the rows: with parts of one cache line each, 20,000 rows are ten times slower.
TEST_F(LoopPassesTest, TilesOfScansAreLongPartsOfRows) {
  BodyText body({"s0", "s1"});
  BodyCell x = body.read(body.array("f64", {"s0", "s1"}), "d0, d1");
  body.write(body.scan("sum", x, 0, "f64"), body.result("f64", {"s0", "s1"}), "d0, d1");
  auto plan = compiler.compile(parse(body.text()));
  ASSERT_TRUE(succeeded(plan));
  int64_t steps = plan->extents[1].evaluate([](int64_t) { return 20000; });
  EXPECT_GE(runtime::tileLength(*plan, /*rows=*/10000, steps, /*partialDoubles=*/0), 1024);
}

// A long body over cells is cut into parts, each with a loop over the places of a strip, what crosses being kept: numbers, truth
// values and integers; the last strip of a tile is short. Kernels for small data, which are compiled quickly, are not cut.
TEST_F(LoopPassesTest, LongBodiesInStrips) {
  for (const char *cells : {"f64", "f32"}) {
    BodyText body({"s0", "s1"});
    BodyCell x = body.read(body.array(cells, {"s0", "s1"}), "d0, d1");
    BodyCell y = body.read(body.array(cells, {"s0", "s1"}), "d0, d1");
    BodyCell isLess = body.binary("lt", x, y), number = body.cast(body.unary("round", x), "i64");
    BodyCell total = x;
    for (int i = 0; i < 8; ++i)
      total = body.binary("mul", body.unary("tanh", body.binary("add", total, y)),
                          body.unary("exp", body.unary("neg", body.unary("abs", total))));
    BodyCell chosen = body.ifElse(isLess, total, body.cast(number, cells));
    body.write(chosen, body.result(cells, {"s0", "s1"}), "d0, d1");
    body.write(body.reduce("sum", chosen, {0, 1}, "f64"), body.result(cells, {}), "");
    plan::OperatorOp op = parse(body.text());
    schedule::Schedule byDefault = schedule::defaultSchedule(op, {});
    EXPECT_EQ(byDefault.strip, 256);
    EXPECT_GE(byDefault.kept.size(), 4u) << textOf(op, byDefault);
    EXPECT_LE(byDefault.kept.size(), 30u) << textOf(op, byDefault);
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>(0, 3),
                                 {1, 1},
                                 {1, 255},
                                 {2, 128},
                                 {1, 257},
                                 {9, 117},
                                 {40, 77}})
      check(body, {random(cells, {rows, columns}), random(cells, {rows, columns})},
            cells[1] == '6' ? 1e-12 : 1e-4,
            {"strip none\nkeep none", "strip 64", "unroll 2", "strip none\nkeep none\nunroll 4"});
    op.setCompact(true);
    EXPECT_EQ(schedule::defaultSchedule(op, {}).strip, 0);
  }
}

// The sum over another axis of what is scanned, used beside it: the scan is kept, since the sum reads places that the loop of the
// scan has not reached.
TEST_F(LoopPassesTest, SumsOfScansBesideThem) {
  BodyText body({"s0", "s1", "3"});
  BodyCell x = body.read(body.array("f64", {"3", "s0", "s1"}), "d2, d0, d1");
  BodyCell scan = body.scan("max", x, 1, "f64");
  BodyCell share = body.binary("mul", scan, body.reduce("sum", scan, {2}, "f64"));
  body.write(share, body.result("f64", {"s0", "s1", "3"}), "d0, d1, d2");
  check(body, {random("f64", {3, 4, 9})}, 1e-12);
  EXPECT_NE(refusal(parse(body.text()), "keep none").find("has to be kept"), std::string::npos);
}

// Two scans, of which one goes on with the other; the means of all above.
TEST_F(LoopPassesTest, ScansOfScans) {
  BodyText body({"s0", "s1"});
  BodyCell x = body.read(body.array("f64", {"s0", "s1"}), "d0, d1");
  BodyCell sum = body.scan("sum", x, 0, "f64");
  BodyCell mean = body.binary("div", sum, body.read(body.array("f64", {"s0"}), "d0"));
  body.write(body.scan("max", mean, 0, "f64"), body.result("f64", {"s0", "s1"}), "d0, d1");
  body.write(mean, body.result("f64", {"s0", "s1"}), "d0, d1");
  check(body, {random("f64", {9, 33}), random("f64", {9}, 1, 9)}, 1e-12, {"unroll 2"});
}

// cumsum(X) / colSums(cumsum(X)): what was scanned is used once more when the column is complete.
TEST_F(LoopPassesTest, ScannedValuesInLaterPasses) {
  for (unsigned along : {0u, 1u}) {
    BodyText body({"s0", "s1"});
    BodyCell x = body.read(body.array("f64", {"s0", "s1"}), "d0, d1");
    BodyCell sum = body.scan("sum", x, along, "f64");
    BodyCell total = body.reduce("max", sum, {along}, "f64");
    body.write(body.binary("sub", sum, total), body.result("f64", {"s0", "s1"}), "d0, d1");
    check(body, {random("f64", {9, 33})}, 1e-12);
  }
}

// A scan that is kept, though its only pass could carry it in memory.
TEST_F(LoopPassesTest, KeptScans) {
  BodyText body({"s0", "s1"});
  BodyCell x = body.read(body.array("f64", {"s0", "s1"}), "d0, d1");
  BodyCell sum = body.scan("sum", x, 0, "f64");
  body.write(sum, body.result("f64", {"s0", "s1"}), "d0, d1");
  check(body, {random("f64", {9, 33})}, 1e-12, {"keep %1", "unroll 1\nkeep %1"});
}

// What is scanned along one axis is repeated along another one.
TEST_F(LoopPassesTest, ScannedValuesRepeated) {
  BodyText body({"s0", "s1", "s2"});
  BodyCell x = body.read(body.array("f64", {"s0", "s1"}), "d0, d1");
  BodyCell y = body.read(body.array("f64", {"s0", "s2"}), "d0, d2");
  BodyCell sum = body.scan("sum", x, 1, "f64");
  body.write(body.binary("mul", sum, y), body.result("f64", {"s0", "s1", "s2"}), "d0, d1, d2");
  Operands operands = {random("f64", {9, 5}), random("f64", {9, 17})};
  check(body, operands, 1e-12, {"parallel d0\nvector none\nkeep %2"});
}

// (X - mean) / sqrt(var + eps) * gain + bias of the last of three axes.
BodyText layerNorm(const std::string &cells, bool alongLast) {
  BodyText body({"s0", "s1", "s2"});
  unsigned axis = alongLast ? 2 : 0;
  std::string size = alongLast ? "s2" : "s0", at = alongLast ? "d2" : "d0";
  BodyCell x = body.read(body.array(cells, {"s0", "s1", "s2"}), "d0, d1, d2");
  BodyCell count = body.cast(body.size(size), cells);
  BodyCell mean = body.binary("div", body.reduce("sum", x, {axis}, "f64"), count);
  BodyCell apart = body.binary("sub", x, mean);
  BodyCell square = body.binary("mul", apart, apart);
  BodyCell variance = body.binary("div", body.reduce("sum", square, {axis}, "f64"), count);
  BodyCell scaled =
      body.binary("div", apart,
                  body.unary("sqrt", body.binary("add", variance, body.constant("1.0e-5", cells))));
  scaled = body.binary("mul", scaled, body.read(body.array(cells, {size}), at));
  scaled = body.binary("add", scaled, body.read(body.array(cells, {size}), at));
  body.write(scaled, body.result(cells, {"s0", "s1", "s2"}), "d0, d1, d2");
  return body;
}

TEST_F(LoopPassesTest, LayerNorm) {
  for (int64_t width : {1, 7, 16, 33})
    check(layerNorm("f64", true),
          {random("f64", {2, 9, width}), random("f64", {width}), random("f64", {width})}, 1e-9,
          {"block 1\nunroll 2", "block 3\nkeep %5", "keep %5, %6", "parallel d1, d0"});
  check(layerNorm("f32", true),
        {random("f32", {2, 9, 40}), random("f32", {40}), random("f32", {40})}, 1e-4,
        {"block 2\nkeep %5"});
}

// The same along the first axis, where vectors are computed along the places of a tile.
TEST_F(LoopPassesTest, LayerNormOfColumns) {
  for (const char *cells : {"f64", "f32"})
    for (int64_t width : {1, 9, 33})
      check(layerNorm(cells, false),
            {random(cells, {7, 3, width}), random(cells, {7}), random(cells, {7})}, 1e-3,
            {"parallel d1, d2\nvector d2\nblock 1\nunroll 1\nkeep %5",
             "parallel d1, d2\nvector d2\nblock 1\nunroll 3\nkeep %5, %6",
             "parallel d1, d2\nvector d2\nblock 1\nkeep none"});
}

// NaN in one cell of a row, wherever it is, makes the row's extremes NaN, and no other's; infinities don't.
TEST_F(LoopPassesTest, ExtremesOfRowsWithNan) {
  const std::vector<std::string> schedules = {
      "parallel d0\nvector d1\nblock 1\nunroll 3\npack none",
      "parallel d0\nvector d1\nblock 3\npack none",
      "parallel d0\nvector d1, d0 by 8\nblock 8\npack none",
      "parallel d0\nvector d1, d0 by 16\nblock 16\npack none",
      "parallel d0\nvector d0 by 8\nblock 8\npack none",
      "parallel d0\nvector none\nblock 2\npack none"};
  for (const char *element : {"f64", "f32"})
    for (const char *columns : {"s1", "11", "40"}) {
      BodyText body({"s0", columns});
      BodyCell x = body.read(body.array(element, {"s0", columns}), "d0, d1");
      for (const char *kind : {"max", "min"})
        body.write(body.reduce(kind, x, {1}, element), body.result(element, {"s0"}), "d0");
      int64_t count = columns[0] == 's' ? 19 : std::stoll(columns), rows = count + 3;
      reference::CellArray cells = random(element, {rows, count});
      for (int64_t i = 0; i < count; ++i)
        cells.cells[i * count + i] = NAN;
      cells.cells[count * count] = INFINITY;
      cells.cells[(count + 2) * count - 1] = -INFINITY;
      check(body, {cells}, 0, schedules);
    }
}

TEST_F(LoopPassesTest, SoftmaxOfColumns) {
  for (const char *cells : {"f64", "f32"}) {
    BodyText body({"s0", "s1"});
    BodyCell x = body.read(body.array(cells, {"s0", "s1"}), "d0, d1");
    BodyCell most = body.reduce("max", x, {0}, "f64");
    BodyCell weights = body.unary("exp", body.binary("sub", x, most));
    BodyCell total = body.reduce("sum", weights, {0}, "f64");
    body.write(body.binary("div", weights, total), body.result(cells, {"s0", "s1"}), "d0, d1");
    std::string text = body.text();
    for (int64_t width : {1, 8, 33})
      check(text, {random(cells, {9, width})}, 1e-5,
            {"keep none", "unroll 1", "unroll 3\nkeep %3"});
  }
}

// Sums of f32 cells that are never negative add four vectors before they are widened.
TEST_F(LoopPassesTest, SumsOfNonNegativeCells) {
  auto sums = [](const char *function) {
    BodyText body({"s0", "s1"});
    BodyCell x = body.unary(function, body.read(body.array("f32", {"s0", "s1"}), "d0, d1"));
    body.write(x, body.result("f32", {"s0", "s1"}), "d0, d1");
    body.write(body.reduce("sum", x, {1}, "f64"), body.result("f32", {"s0"}), "d0");
    return body.text();
  };
  for (int64_t width : {1, 16, 63, 64, 200, 700})
    check(sums("exp"), {random("f32", {9, width})}, 0x1p-22, {"block 1", "block 3\nunroll 2"});
  // What cancels is added in doubles.
  reference::CellArray cells{{9, 512}, {}};
  for (int64_t i = 0; i < 9 * 512; ++i)
    cells.cells.push_back(i % 64 < 32 ? 0x1p24 + i % 8 * 2 : i % 64 < 40 ? 1 : -0x1p24);
  check(sums("neg"), {cells}, 0, {"block 4\nvector d1"});

  std::string loops;
  KernelCompilerOptions options;
  options.explainLoops = [&](const std::string &, const std::string &text) { loops = text; };
  KernelCompiler explaining(options);
  auto widenedAtOnce = [&](const std::string &function) {
    EXPECT_TRUE(succeeded(explaining.compile(parse(sums(function.c_str())))));
    llvm::StringRef text = loops;
    return static_cast<double>(text.count("llvm.call @tokamak_vector_" + function)) /
           static_cast<double>(text.count("arith.extf"));
  };
  EXPECT_EQ(widenedAtOnce("exp"), 2.5); // four vectors in a loop, one of those that are left over
  EXPECT_EQ(widenedAtOnce("tanh"), 1);
}

TEST_F(LoopPassesTest, Integers) {
  for (const char *cells : {"i8", "i32", "i64", "ui16", "ui64"}) {
    BodyText body({"s0", "s1", "s2"});
    std::string sums = std::string(cells) == "ui64" ? "ui64" : "i64";
    BodyCell a = body.read(body.array(cells, {"s0", "s2"}), "d0, d2");
    BodyCell b = body.read(body.array(cells, {"s1", "s2"}), "d1, d2");
    BodyCell product = body.reduce("sum", body.binary("mul", a, b), {2}, sums);
    BodyCell most = body.reduce("max", product, {1}, sums);
    body.write(body.binary("mod", body.binary("sub", product, most), body.constant("7", cells)),
               body.result(cells, {"s0", "s1"}), "d0, d1");
    body.write(body.binary("lt", product, most, "i1"), body.result("i1", {"s0", "s1"}), "d0, d1");
    check(body, {random(cells, {9, 5}, 0, 100), random(cells, {17, 5}, 0, 100)}, 0,
          {"block 3\nkeep none\npack none", "unroll 2"});
  }
}

// Deep bodies in which everything is used twice.
TEST_F(LoopPassesTest, DeepBodies) {
  BodyText body({"s0", "s1", "s2"});
  BodyCell x = body.read(body.array("f64", {"s0", "s1"}), "d0, d1");
  x = body.binary("mul", x, body.read(body.array("f64", {"s1", "s2"}), "d1, d2"));
  for (int depth = 0; depth < 50; ++depth)
    x = body.binary("add", x, x);
  BodyCell most = body.reduce("max", x, {1}, "f64");
  body.write(body.binary("sub", most, body.reduce("sum", x, {1}, "f64")),
             body.result("f64", {"s0", "s2"}), "d0, d2");
  check(body, {random("f64", {3, 5}), random("f64", {5, 9})}, 1e-12);
}

} // namespace
