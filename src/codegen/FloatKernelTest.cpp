// Kernels over f32 arrays: the result of an exact cell operator is that on doubles, rounded; other
// operators compute in f32; aggregates accumulate doubles and are rounded once; products compute and
// accumulate in f32.
#include "codegen/testing/KernelCompilerFixture.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class FloatKernelTest : public KernelCompilerFixture {
protected:
  Matrix floats(int64_t rows, int64_t columns, double low = -2, double high = 2) {
    Matrix matrix = random(rows, columns, low, high);
    for (double &cell : matrix.cells)
      cell = static_cast<float>(cell);
    return matrix;
  }
};

// The functions of VectorMath.cpp are off by at most 2.5 ULPs of f32, the expected values
// by half a ULP; one ULP is at most 2^-23 of the value.
constexpr double functionTolerance = 3 * 0x1p-23;

// Every operator on special values gives the result on doubles, rounded, or nearly so.
TEST_F(FloatKernelTest, EveryOperatorOnSpecialValues) {
  std::vector<double> special = {
      0.0,      -0.0,    1,     -1,    2,        -2,        0.5,    -0.5,
      1.5,      -1.5,    2.5,   3,     -3,       7,         -7,     1e10,
      -1e10,    1e38,    0.1f,  -0.3f, 1e-38f,   1.4e-45,   0x1p23, 0x1p24,
      0x1p63,   -0x1p63, 88.8f, 1e19f, INFINITY, -INFINITY, NAN,    0x1.fffffep-2,
      8388609.5};
  Matrix left{static_cast<int64_t>(special.size() * special.size()), 1, {}}, right = left;
  for (double a : special)
    for (double b : special) {
      left.cells.push_back(static_cast<float>(a));
      right.cells.push_back(static_cast<float>(b));
    }
#define TOKAMAK_UNARY(Name, mnemonic, function, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY,     \
                      ERRORS, TYPES, MEANING)                                                      \
  check("block sizes [s0, 1] (%x: $F) -> $F {\n"                                                   \
        "%0 = tok.unary " #mnemonic " %x : $F -> $F\nreturn %0 : $F\n}",                           \
        {left}, {}, Accuracy::ACCURACY == Accuracy::Exact ? 0 : functionTolerance);
#define TOKAMAK_BINARY(Name, mnemonic, spelling, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY,    \
                       ERRORS, TYPES, MEANING)                                                     \
  check("block sizes [s0, 1, s0, 1] (%x: $F, "                                                     \
        "%y: $F) -> $F {\n"                                                                        \
        "%0 = tok.binary " #mnemonic " %x, %y : ($F, $F) -> $F\nreturn %0 : $F\n}",                \
        {left, right}, {}, Accuracy::ACCURACY == Accuracy::Exact ? 0 : functionTolerance);
#include "base/CellOperators.def"
}

// Scalars are rounded when they are combined with f32 arrays, not before.
TEST_F(FloatKernelTest, ScalarsAndAggregates) {
  std::string text =
      R"(block sizes [s0, s1, s0, s1, 0, 0, 0, 0] (%x: $F, %y: $F, %p: f64, %q: f64) -> (f64, $F, f64, f64, $F) {
    %k = tok.constant 0.1 : f64
    %z = tok.binary mul %p, %q : (f64, f64) -> f64
    %0 = tok.binary mul %x, %z : ($F, f64) -> $F
    %1 = tok.binary sub %0, %k : ($F, f64) -> $F
    %2 = tok.binary mul %1, %y : ($F, $F) -> $F
    %3 = tok.aggregate sum full %2 : $F -> f64
    %4 = tok.aggregate min full %1 : $F -> f64
    %5 = tok.aggregate sum full %x : $F -> f64
    %6 = tok.ifelse %1, %p, %y : ($F, f64, $F) -> $F
    return %3, %2, %4, %5, %6 : f64, $F, f64, f64, $F
  })";
  for (auto [rows, columns] : {std::pair(0, 3), {1, 1}, {7, 5}, {31, 33}})
    check(text, {floats(rows, columns), floats(rows, columns)}, {1.1, 0.3}, 1e-12);
}

// Wide, narrow and per-row values, products of them, and results of all widths are rounded.
TEST_F(FloatKernelTest, RowsOfAllWidths) {
  for (std::string n : {"s1", "7", "29"})
    for (int64_t k : {2, 10, 17}) {
      std::string q = std::to_string(k);
      std::string text =
          "block sizes [s0, " + n + ", " + n + ", " + q + ", s0, " + q + ", 1, " + n +
          R"(] (%x: $F, %v: $F, %p: $F, %c0: $F) -> ($F, $F, $F, $F, f64, $F, $F, $F) {
        %0 = tok.binary div %x, %c0 : ($F, $F) -> $F
        %1 = tok.unary exp %0 : $F -> $F
        %2 = tok.aggregate sum row %1 : $F -> $F
        %3 = tok.binary div %1, %2 : ($F, $F) -> $F
        %4 = tok.matmul %x, %v : ($F, $F) -> $F
        %5 = tok.binary mul %4, %p : ($F, $F) -> $F
        %6 = tok.unary sqrt %5 : $F -> $F
        %7 = tok.aggregate max row %5 : $F -> $F
        %8 = tok.aggregate index_min row %5 : $F -> $F
        %9 = tok.transpose %x : ($F) -> $F
        %10 = tok.matmul %9, %5 : ($F, $F) -> $F
        %11 = tok.aggregate sum full %3 : $F -> f64
        %12 = tok.aggregate min column %5 : $F -> $F
        %13 = tok.binary add %7, %2 : ($F, $F) -> $F
        return %3, %6, %8, %10, %11, %12, %13, %5 : $F, $F, $F, $F, f64, $F, $F, $F
      })";
      int64_t columns = n == "s1" ? 21 : std::stoll(n);
      for (int64_t rows : {0, 1, 8, 27})
        check(text,
              {floats(rows, columns, 0.1, 2), floats(columns, k, 0.1, 2), floats(rows, k, 0.1, 2),
               floats(1, columns, 1, 2)},
              {}, 1e-6);
      if (HasFatalFailure())
        return;
    }
}

// Sums of small integers are exact in every order.
TEST_F(FloatKernelTest, AggregatesAccumulateDoubles) {
  std::string text = R"(block sizes [s0, s1] (%x: $F) -> ($F, $F, f64) {
    %0 = tok.aggregate sum row %x : $F -> $F
    %1 = tok.aggregate sum column %x : $F -> $F
    %2 = tok.aggregate sum full %x : $F -> f64
    return %0, %1, %2 : $F, $F, f64
  })";
  Matrix x{30, 19, {}};
  for (int64_t i = 0; i < 30 * 19; ++i)
    x.cells.push_back(i % 3 == 0 ? 16777216.0 : i % 7); // 2^24: sums of f32 would lose ones
  check(text, {x}, {}, 0);
}

// Rows by a narrow matrix and by a vector, and the transposed rows by what they give.
constexpr const char *chainOfProducts =
    R"(block sizes [s0, s1, s1, 5, s1, 1] (%x: $F, %v: $F, %w: $F) -> ($F, $F, $F, $F) {
    %0 = tok.matmul %x, %v : ($F, $F) -> $F
    %1 = tok.transpose %x : ($F) -> $F
    %2 = tok.matmul %1, %0 : ($F, $F) -> $F
    %3 = tok.matmul %x, %w : ($F, $F) -> $F
    %4 = tok.matmul %1, %3 : ($F, $F) -> $F
    return %0, %2, %3, %4 : $F, $F, $F, $F
  })";

TEST_F(FloatKernelTest, ProductsOfSmallIntegersAreExact) {
  for (auto [rows, columns] : {std::pair(1, 1), {16, 16}, {30, 19}, {67, 70}}) {
    Matrix x{rows, columns, {}}, v{columns, 5, {}}, w{columns, 1, {}};
    for (int64_t i = 0; i < rows * columns; ++i)
      x.cells.push_back(static_cast<double>(i % 7));
    for (int64_t i = 0; i < columns * 5; ++i)
      v.cells.push_back(static_cast<double>(i % 11));
    for (int64_t i = 0; i < columns; ++i)
      w.cells.push_back(static_cast<double>(i % 3));
    check(chainOfProducts, {x, v, w}, {}, 0);
  }
}

// In doubles all these products are zero: as many large cells are subtracted as are added before, also
// in each lane of a vector.
TEST_F(FloatKernelTest, ProductsAccumulateFloats) {
  constexpr int64_t columns = 64;
  Matrix x{32, columns, std::vector<double>(32 * columns, 3e38F)}, v{columns, 5, {}},
      w{columns, 1, {}};
  for (int64_t column = 0; column < columns; ++column) {
    double sign = column < columns / 2 ? 1 : -1;
    w.cells.push_back(sign);
    v.cells.insert(v.cells.end(), 5, sign);
  }
  auto plan = compiler.compile(parse(chainOfProducts));
  ASSERT_TRUE(succeeded(plan));
  for (const Matrix &result : Launch{{x, v, w}, {}, 8}.run(*plan))
    for (double cell : result.cells)
      EXPECT_EQ(cell, INFINITY);
}

} // namespace
