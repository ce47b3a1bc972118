#include "runtime/natives/NativeTesting.h"

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

static void expectNear(const Value &value, const Cells &expected) {
  Cells cells = cellsOf(value);
  ASSERT_EQ(cells.size(), expected.size());
  for (size_t i = 0; i < cells.size(); ++i)
    EXPECT_NEAR(cells[i], expected[i], 1e-12);
}

TEST(LinearAlgebraNatives, solves) {
  Value a = matrix(2, 2, {0, 2, 1, 3});
  expectNear(call("solve", {a, matrix(2, 1, {4, 9})}), {3, 2});
  expectNear(call("solve", {a, matrix(2, 2, {4, 2, 9, 4})}), {3, 1, 2, 1});
  expectNear(call("solve", {matrix(1, 1, {4}), matrix(1, 1, {2})}), {0.5});
  EXPECT_EQ(sizeOf(call("solve", {matrix(0, 0, {}), matrix(0, 1, {})})), "0x1");
}

TEST(LinearAlgebraNatives, solvesLeastSquares) {
  // The points lie exactly on y = 1 + 2x.
  expectNear(call("solve", {matrix(3, 2, {1, 0, 1, 1, 1, 2}), matrix(3, 1, {1, 3, 5})}), {1, 2});
}

TEST(LinearAlgebraNatives, refusesWhatHasNoSolution) {
  Value singular = matrix(2, 2, {1, 2, 2, 4});
  EXPECT_EQ(errorOf("solve", {singular, matrix(2, 1, {1, 1})}), "solve: the matrix is singular");
  EXPECT_EQ(errorOf("inv", {singular}), "inv: the matrix is singular");
  EXPECT_EQ(errorOf("solve", {singular, matrix(3, 1, {1, 1, 1})}),
            "solve: the matrix is 2x2, the right side 3x1: rows differ");
}

TEST(LinearAlgebraNatives, factorizes) {
  expectNear(call("inv", {matrix(2, 2, {2, 0, 0, 4})}), {0.5, 0, 0, 0.25});
  EXPECT_NEAR(call("det", {matrix(2, 2, {0, 2, 3, 4})}).asDouble(), -6, 1e-12);
  EXPECT_EQ(call("det", {matrix(2, 2, {1, 2, 2, 4})}).asDouble(), 0);
  expectNear(call("cholesky", {matrix(2, 2, {4, 2, 2, 5})}), {2, 0, 1, 2});
  EXPECT_EQ(errorOf("cholesky", {matrix(1, 1, {-1})}),
            "cholesky: the matrix is not positive definite");
}
