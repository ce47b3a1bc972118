// Sums that are symmetric matrices: which are, and that half of their cells are the mirror images of the others.
#include "codegen/loops/SymmetricSums.h"

#include "codegen/testing/LoopKernelFixture.h"

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class SymmetricSumsTest : public LoopKernelFixture {
protected:
  // Of the only aggregate of the operator.
  bool isFound(const BodyText &body) {
    plan::OperatorOp op = parse(body.text());
    auto reduce = *op.getBody().front().getOps<plan::ReduceOp>().begin();
    return isSymmetric(reduce, 1, 2);
  }
};

// Cells along d0 (rows) and d1 (columns), and d2, which is as long as d1.
struct Gram {
  explicit Gram(const std::string &columns)
      : body({"s0", columns, columns}), columns(columns), array(body.array("f64", {"s0", columns})),
        row(body.array("f64", {columns})), w(body.read(body.array("f64", {"s0"}), "d0")) {}
  BodyCell x(unsigned axis) { return body.read(array, "d0, d" + std::to_string(axis)); }
  BodyCell mean(unsigned axis) { return body.read(row, "d" + std::to_string(axis)); }
  BodyCell times(const BodyCell &a, const BodyCell &b) { return body.binary("mul", a, b); }
  BodyText &of(const BodyCell &product) {
    body.write(body.reduce("sum", product, {0}, "f64"), body.result("f64", {columns, columns}),
               "d1, d2");
    return body;
  }
  BodyText body;
  std::string columns;
  unsigned array, row;
  BodyCell w;
};

TEST_F(SymmetricSumsTest, FactorsAreTheSameAlongOtherAxes) {
  Gram plain("s1"), weighted("s1"), centred("s1"), computed("s1");
  EXPECT_TRUE(isFound(plain.of(plain.times(plain.x(1), plain.x(2)))));
  EXPECT_TRUE(isFound(
      weighted.of(weighted.times(weighted.x(1), weighted.times(weighted.w, weighted.x(2))))));
  BodyCell cells = centred.body.binary("sub", centred.x(1), centred.mean(1));
  EXPECT_TRUE(isFound(centred.of(centred.times(cells, centred.body.reindex(cells, "d0, d2")))));
  auto cellsAlong = [&](unsigned axis) {
    return computed.body.unary("exp",
                               computed.body.binary("sub", computed.x(axis), computed.mean(axis)));
  };
  EXPECT_TRUE(isFound(computed.of(computed.times(cellsAlong(1), cellsAlong(2)))));
}

TEST_F(SymmetricSumsTest, OtherSumsAreNot) {
  Gram powers("s1"), once("s1"), other("s1"), swapped("s1"), sum("s1");
  EXPECT_FALSE(
      isFound(powers.of(powers.times(powers.x(1), powers.body.unary("exp", powers.x(2))))));
  EXPECT_FALSE(isFound(other.of(other.times(other.x(1), other.times(other.x(2), other.mean(2))))));
  EXPECT_FALSE(isFound(once.of(once.times(once.times(once.x(1), once.mean(1)), once.x(2)))));
  EXPECT_FALSE(isFound(
      swapped.of(swapped.times(swapped.body.binary("sub", swapped.x(1), swapped.mean(1)),
                               swapped.body.binary("sub", swapped.mean(2), swapped.x(2))))));
  EXPECT_FALSE(isFound(sum.of(sum.body.binary("add", sum.x(1), sum.x(2)))));
}

// The rounding of x(i) * (w * x(j)) is not that of x(j) * (w * x(i)): equal cells have been copied.
TEST_F(SymmetricSumsTest, CellsAreMirrorImages) {
  for (auto [text, columns] :
       {std::pair<std::string, int64_t>("s1", 37), {"5", 5}, {"20", 20}, {"40", 40}}) {
    Gram gram(text);
    BodyText &body = gram.of(gram.times(gram.x(1), gram.times(gram.w, gram.x(2))));
    for (int64_t rows : {1, 8, 37}) {
      Operands operands = {random("f64", {rows, columns}), random("f64", {columns}),
                           random("f64", {rows})};
      std::vector<std::string> schedules = {
          "parallel d0\nvector d1\nblock 3\nkeep none\npack none",
          "parallel d0\nvector d2\nblock 8\nkeep none\npack none\nunroll 2",
          "parallel d0\nvector none\nblock 1\nkeep none\npack none"};
      check(body, operands, 1e-11, schedules);
      for (const std::string &schedule : {schedules[0], schedules[1]}) {
        std::vector<reference::CellArray> results = run(parse(body.text()), operands, schedule);
        for (int64_t i = 0; i < columns; ++i)
          for (int64_t j = 0; j < i; ++j)
            ASSERT_EQ(results.front().cells[i * columns + j],
                      results.front().cells[j * columns + i])
                << schedule << ", " << columns << " columns, cell " << i << ", " << j;
      }
    }
  }
}

} // namespace
