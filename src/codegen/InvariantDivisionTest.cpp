// Divisions of rows by one divisor each, and of all cells by a number: the bits of a division.
#include "codegen/testing/KernelCompilerFixture.h"

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class InvariantDivisionTest : public KernelCompilerFixture {
protected:
  // Any mantissa, exponents up to `most`, and now and then one of `others`.
  Matrix numbers(int64_t rows, int64_t columns, int most, const std::vector<double> &others) {
    Matrix matrix = random(rows, columns, 0.5, 1);
    for (double &cell : matrix.cells) {
      cell = std::ldexp(cell, static_cast<int>(generator() % (2 * most)) - most);
      if (generator() % 2 == 0)
        cell = -cell;
      if (!others.empty() && generator() % 16 == 0)
        cell = others[generator() % others.size()];
    }
    return matrix;
  }

  void checkRows(const Matrix &dividends, const Matrix &divisors, const std::string &type = "$M") {
    for (const std::string &columns : {std::string("s1"), std::to_string(dividends.columns)})
      check("block sizes [s0, " + columns + ", s0, 1] (%x: " + type + ", %d: " + type + ") -> " +
                type + " {\n%0 = tok.binary div %x, %d : (" + type + ", " + type + ") -> " + type +
                "\nreturn %0 : " + type + "\n}",
            {dividends, divisors}, {}, 0);
  }

  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::vector<double> extremes = {0.0,    -0.0,     infinity, -infinity, nan,       5e-324,
                                        1e-310, -1e-308,  1e308,    -1e308,    1e-250,    -1e250,
                                        1e-182, 0x1p-600, 0x1p600,  0x1p1023,  0x1p-1022, 3};
};

TEST_F(InvariantDivisionTest, OfRows) {
  for (int64_t columns : {3, 10, 16, 17, 40, 100, 300})
    for (int most : {4, 290})
      checkRows(numbers(37, columns, most, {}), numbers(37, 1, most, {}));
}

// Among many others, so that vectors have both.
TEST_F(InvariantDivisionTest, OfExtremeCells) {
  for (int64_t columns : {10, 40, 300})
    checkRows(numbers(61, columns, 600, extremes), numbers(61, 1, 4, {}));
}

TEST_F(InvariantDivisionTest, ByExtremeCells) {
  for (int64_t columns : {10, 40, 300})
    checkRows(numbers(61, columns, 600, extremes), numbers(61, 1, 300, extremes));
}

// A row of zeros keeps their signs.
TEST_F(InvariantDivisionTest, OfZeros) {
  for (double sign : {1.0, -1.0}) {
    Matrix zeros = numbers(9, 40, 1, {});
    for (double &cell : zeros.cells)
      cell = std::copysign(0.0, cell);
    Matrix divisors = numbers(9, 1, 4, {});
    for (double &cell : divisors.cells)
      cell = std::copysign(cell, sign);
    checkRows(zeros, divisors);
  }
}

TEST_F(InvariantDivisionTest, ByNumbers) {
  const std::string text = R"(block sizes [s0, s1] (%x: $M, %s: f64) -> $M {
    %0 = tok.binary div %x, %s : ($M, f64) -> $M
    return %0 : $M
  })";
  std::vector<double> divisors = extremes;
  divisors.insert(divisors.end(), {1009, -7, 1.0 / 3, 0x1p300, 0x1p-300, 0x1p301, 0x1p-301});
  for (double divisor : divisors)
    for (const std::vector<double> &others : {std::vector<double>(), extremes})
      check(text, {numbers(13, 21, 600, others)}, {divisor}, 0);
}

// Quotients of f32 are those of doubles, rounded.
class SingleDivisionTest : public InvariantDivisionTest {
protected:
  static Matrix rounded(Matrix matrix) {
    for (double &cell : matrix.cells)
      cell = static_cast<float>(cell);
    return matrix;
  }
  void checkRounded(const Matrix &dividends, const Matrix &divisors) {
    checkRows(rounded(dividends), rounded(divisors), "$F");
  }

  const std::vector<double> singleExtremes = {
      0.0,      -0.0,     infinity, -infinity, nan,     1e-45,    1e-40,
      -1e-38,   1e38,     -3e38,    1e-30,     -1e-31,  0x1p-100, -0x1p-101,
      0x1p-126, 0x1p-149, 0x1p20,   0x1p21,    0x1p-20, 0x1p-21,  3};
};

TEST_F(SingleDivisionTest, OfRows) {
  for (int64_t columns : {3, 16, 17, 100, 300})
    for (int most : {2, 19})
      checkRounded(numbers(137, columns, 5 * most, {}), numbers(137, 1, most, {}));
}

TEST_F(SingleDivisionTest, OfExtremeCells) {
  for (int64_t columns : {10, 40, 300}) {
    checkRounded(numbers(61, columns, 120, singleExtremes), numbers(61, 1, 4, {}));
    checkRounded(numbers(61, columns, 140, singleExtremes), numbers(61, 1, 40, singleExtremes));
  }
}

// Dividends at the least that is not divided, by divisors at both ends of what is not divided by.
TEST_F(SingleDivisionTest, AtTheEndsOfRanges) {
  for (double divisor : {0x1p20, 0x1p-20}) {
    Matrix dividends = numbers(64, 100, 1, {}), divisors = numbers(64, 1, 1, {});
    for (double &cell : dividends.cells)
      cell *= 0x1p-99;
    for (double &cell : divisors.cells)
      cell *= divisor;
    checkRounded(dividends, divisors);
  }
}

} // namespace
