// Compares kernels over the entries of a sparse operand with the interpreter, which runs their bodies
// on dense matrices.
#include "codegen/KernelCompiler.h"
#include "codegen/testing/BlockOperator.h"
#include "codegen/testing/SparseLauncher.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <deque>
#include <random>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class SparseKernelTest : public ::testing::Test {
protected:
  SparseKernelTest() {
    context.loadDialect<tok::TokDialect, plan::PlanDialect, func::FuncDialect>();
  }

  const BlockOperator &parse(const std::string &text) {
    blocks.push_back(parseBlockOperator(context, text, cells));
    return blocks.back();
  }

  Matrix dense(int64_t rows, int64_t columns, double low = -2, double high = 2) {
    Matrix matrix{rows, columns, {}};
    std::uniform_real_distribution<double> distribution(low, high);
    for (int64_t i = 0; i < rows * columns; ++i) {
      double cell = distribution(generator);
      matrix.cells.push_back(cells == "f32" ? static_cast<float>(cell) : cell);
    }
    return matrix;
  }

  // Some rows are empty, some full.
  Matrix sparse(int64_t rows, int64_t columns, double density, double low = -2, double high = 2) {
    Matrix matrix = dense(rows, columns, low, high);
    std::uniform_real_distribution<double> chance(0, 1);
    for (int64_t i = 0; i < rows; ++i) {
      double kind = chance(generator);
      double limit = kind < 0.15 ? 0 : kind > 0.95 ? 1 : density;
      for (int64_t j = 0; j < columns; ++j)
        if (chance(generator) >= limit)
          matrix.cells[i * columns + j] = 0;
    }
    return matrix;
  }

  // Runs the operator in one tile and in several, on one thread and on several, and compares with
  // plain loops: |difference| <= tolerance * (1 + |expected|).
  void check(const std::string &text, std::vector<Matrix> inputs, std::vector<double> scalars,
             double tolerance, std::optional<std::string> schedule = {}) {
    const BlockOperator &block = parse(text);
    ASSERT_TRUE(block.op) << text;
    auto plan = compiler.compile(block.op, schedule);
    ASSERT_TRUE(succeeded(plan)) << text;
    ASSERT_GE(plan->driver, 0);
    std::vector<Matrix> expected = interpret(block.block, inputs, scalars);
    for (auto [body, matrix] : llvm::zip(interpretBody(block.op, inputs, scalars), expected))
      compare(body, matrix, tolerance, "the body of " + text, 0);
    for (int64_t tile : {int64_t(1) << 20, int64_t(1), int64_t(5), int64_t(24)}) {
      SparseLaunch launch{inputs, scalars, tile};
      std::vector<Matrix> results = launch.run(*plan);
      EXPECT_TRUE(launch.guardsIntact) << text;
      ASSERT_EQ(results.size(), expected.size());
      for (size_t i = 0; i < results.size(); ++i)
        compare(results[i], expected[i], tolerance, text, tile);
      SparseLaunch parallel{inputs, scalars, tile, 3};
      std::vector<Matrix> again = parallel.run(*plan);
      for (size_t i = 0; i < results.size(); ++i)
        compare(again[i], results[i], 0, text, tile);
    }
  }

  static void compare(const Matrix &result, const Matrix &expected, double tolerance,
                      const std::string &text, int64_t tile) {
    ASSERT_EQ(result.rows, expected.rows) << text;
    ASSERT_EQ(result.columns, expected.columns) << text;
    for (size_t i = 0; i < expected.cells.size(); ++i) {
      double is = result.cells[i], should = expected.cells[i];
      bool equal = std::bit_cast<uint64_t>(is) == std::bit_cast<uint64_t>(should) || is == should ||
                   (std::isnan(is) && std::isnan(should)) ||
                   (tolerance > 0 && std::fabs(is - should) <= tolerance * (1 + std::fabs(should)));
      ASSERT_TRUE(equal) << text << "\ncell " << i << " of " << expected.rows << "x"
                         << expected.columns << ", tiles of " << tile << ": " << is
                         << " instead of " << should;
    }
  }

  void expectRefused(const std::string &text, const std::string &reason) {
    plan::OperatorOp op = parse(text).op;
    ASSERT_TRUE(op) << text;
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(compiler.compile(op))) << text;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }

  std::string cells = "f64";
  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::deque<BlockOperator> blocks;
  CorpusCompiler compiler;
  std::mt19937_64 generator{42};
};

struct Size {
  int64_t rows, columns;
  double density;
};
const Size sizes[] = {{0, 9, 0.5},  {1, 5, 0.5},    {7, 3, 0.4},    {33, 12, 0.3},
                      {40, 2, 0.5}, {50, 300, 0.1}, {30, 40, 0.02}, {64, 100, 0}};

TEST_F(SparseKernelTest, CellsOfTheDriver) {
  for (auto [rows, columns, density] : sizes)
    check(
        R"(block sizes [s0, s1, 1, s1, 0, 0] driver [0] csr [0] (%x: $M, %v: $M, %s0: f64) -> ($M, f64, $M, $M) {
      %0 = tok.unary abs %x : $M -> $M
      %1 = tok.binary mul %0, %s0 : ($M, f64) -> $M
      %2 = tok.aggregate sum full %1 : $M -> f64
      %3 = tok.unary exp %v : $M -> $M
      %4 = tok.binary mul %1, %3 : ($M, $M) -> $M
      %5 = tok.aggregate sum column %4 : $M -> $M
      return %1, %2, %4, %5 : $M, f64, $M, $M
    })",
        {sparse(rows, columns, density), dense(1, columns)}, {1.25}, 1e-12);
}

TEST_F(SparseKernelTest, SpecialValues) {
  Matrix x = sparse(20, 30, 0.5);
  double special[] = {INFINITY, -INFINITY, std::nan(""), 4.9e-324, -0.0, 1e300};
  for (size_t i = 0; i < 60; ++i)
    x.cells[i * 7] = special[i % 6];
  for (std::string op : {"abs", "sqrt", "sign", "round", "is_nan", "floor"})
    check("block sizes [s0, s1] driver [0] csr [0] (%x: $M) -> ($M, f64, f64) {\n%0 = tok.unary " +
              op +
              " %x : $M -> $M\n%1 = tok.aggregate sum full %0 : $M -> f64\n"
              "%2 = tok.aggregate max full %0 : $M -> f64\nreturn %0, %1, %2 : $M, f64, f64\n}",
          {x}, {}, 1e-12);
}

TEST_F(SparseKernelTest, CellsWithSideInputs) {
  std::string text =
      R"(block sizes [s0, s1, s0, s1, s0, s1, s0, 1, 1, s1] driver [0] csr [0, 2] (%x: $M, %y: $M, %z: $M, %u: $M, %v: $M) -> ($M, f64) {
      %0 = tok.binary add %y, %z : ($M, $M) -> $M
      %1 = tok.binary sub %0, %u : ($M, $M) -> $M
      %2 = tok.binary mul %1, %v : ($M, $M) -> $M
      %3 = tok.binary mul %x, %2 : ($M, $M) -> $M
      %4 = tok.aggregate sum full %3 : $M -> f64
      return %3, %4 : $M, f64
    })";
  for (auto [rows, columns, density] : sizes) {
    Matrix x = sparse(rows, columns, density), u = dense(rows, 1), v = dense(1, columns);
    Matrix y = dense(rows, columns);
    check(text, {x, y, sparse(rows, columns, 0.3), u, v}, {}, 1e-12);
    check(text, {x, y, x, u, v}, {}, 1e-12); // the same entries
  }
}

TEST_F(SparseKernelTest, AggregatesCountAbsentCells) {
  std::string text =
      R"(block sizes [s0, s1, s0, 1] driver [0] csr [0] (%x: $M, %u: $M) -> (f64, f64, f64, $M, $M, $M, $M, f64) {
      %0 = tok.aggregate min full %x : $M -> f64
      %1 = tok.aggregate max full %x : $M -> f64
      %2 = tok.aggregate prod full %x : $M -> f64
      %3 = tok.aggregate min row %x : $M -> $M
      %4 = tok.aggregate max row %x : $M -> $M
      %5 = tok.aggregate prod row %x : $M -> $M
      %6 = tok.aggregate sum row %x : $M -> $M
      %7 = tok.binary sub %u, %6 : ($M, $M) -> $M
      %8 = tok.aggregate min full %7 : $M -> f64
      return %0, %1, %2, %3, %4, %5, %7, %8 : f64, f64, f64, $M, $M, $M, $M, f64
    })";
  for (auto [rows, columns, density] : sizes)
    check(text, {sparse(rows, columns, density), dense(rows, 1)}, {}, 1e-12);
  check(text, {sparse(20, 5, 1, 1, 2), dense(20, 1)}, {}, 1e-12);
  check(text, {dense(20, 5, 1, 2), dense(20, 1)}, {}, 1e-12);
  check(text, {dense(20, 5, -2, -1), dense(20, 1)}, {}, 1e-12);
}

// Masks of gathers are branches on CPUs that gather cell by cell.
TEST_F(SparseKernelTest, ColumnsAreGatheredWithoutMasks) {
  std::string code;
  KernelCompilerOptions options;
  options.explainLlvm = [&](const std::string &, const std::string &text) { code = text; };
  KernelCompiler explaining(options);
  ASSERT_TRUE(succeeded(explaining.compile(
      parse(R"(block sizes [s0, s1, s1, 1] driver [0] csr [0] (%x: $M, %v: $M) -> $M {
    %0 = tok.matmul %x, %v : ($M, $M) -> $M
    return %0 : $M
  })")
          .op)));
  size_t gathers = 0;
  for (size_t at = 0; (at = code.find("call <8 x double> @llvm.masked.gather", at)) != code.npos;
       ++at, ++gathers)
    EXPECT_EQ(code.substr(at, code.find('\n', at) - at).find("<8 x i1> %"), std::string::npos);
  EXPECT_GE(gathers, 2u);
}

// A row of indicators reads one cell instead of gathering eight; rows with more entries, and without any, do as others.
TEST_F(SparseKernelTest, IndicatorsReadOneCell) {
  const char *text = R"(block sizes [s0, s1, s1, 1] driver [0] csr [0] (%x: $M, %v: $M) -> $M {
    %0 = tok.matmul %x, %v : ($M, $M) -> $M
    return %0 : $M
  })";
  std::string code;
  KernelCompilerOptions options;
  options.explainLlvm = [&](const std::string &, const std::string &text) { code = text; };
  ASSERT_TRUE(succeeded(KernelCompiler(options).compile(parse(text).op)));
  EXPECT_LT(code.find("<8 x i32> zeroinitializer"),
            code.find("@llvm.masked.gather")); // a cell, repeated
  for (int64_t rows : {1, 7, 60})
    for (int kind : {0, 1, 2}) { // all have one entry; the last has two; the last has none
      Matrix indicators = dense(rows, 9);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < 9; ++j)
          if (j != i * 5 % 9 && (kind != 1 || i + 1 < rows || j != 8))
            indicators.cells[i * 9 + j] = 0;
      if (kind == 2)
        std::fill(indicators.cells.end() - 9, indicators.cells.end(), 0);
      check(text, {indicators, dense(9, 1)}, {}, 1e-15);
    }
}

// t(X) (w * (X v)), t(u) X.
TEST_F(SparseKernelTest, RowProducts) {
  for (auto [rows, columns, density] : sizes)
    check(
        R"(block sizes [s0, s1, s1, 1, s0, 1] driver [0] csr [0] (%x: $M, %v: $M, %w: $M) -> ($M, $M, $M, $M) {
      %0 = tok.matmul %x, %v : ($M, $M) -> $M
      %1 = tok.binary mul %w, %0 : ($M, $M) -> $M
      %2 = tok.transpose %x : ($M) -> $M
      %3 = tok.matmul %2, %1 : ($M, $M) -> $M
      %4 = tok.transpose %w : ($M) -> $M
      %5 = tok.matmul %4, %x : ($M, $M) -> $M
      %6 = tok.matmul %4, %1 : ($M, $M) -> $M
      return %3, %0, %5, %6 : $M, $M, $M, $M
    })",
        {sparse(rows, columns, density), dense(columns, 1), dense(rows, 1)}, {}, 1e-11);
}

// Loops over entries alone go through many rows, several vectors at a time and then one by one.
TEST_F(SparseKernelTest, SumsOfColumnsOfOneEntryInEachRow) {
  for (int64_t rows : {7, 20, 500}) {
    Matrix x = dense(rows, 8, 1, 2);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < 8; ++column)
        if (column != row % 8)
          x.cells[row * 8 + column] = 0;
    check(
        R"(block sizes [s0, s1] driver [0] csr [0] (%x: $M) -> $M {
      %0 = tok.aggregate sum column %x : $M -> $M
      return %0 : $M
    })",
        {x}, {}, 1e-11);
  }
}

// Rows of equally many entries end with a loop over those that fill no vector, if they are only
// multiplied by values of rows; in the last matrix only the first row and the mean are equal.
TEST_F(SparseKernelTest, RowsOfEquallyManyEntries) {
  constexpr int64_t rows = 64, columns = 40;
  for (int64_t entries : {1, 7, 8, 10, 40, -10}) {
    Matrix x = dense(rows, columns, 1, 2);
    for (int64_t row = 0; row < rows; ++row) {
      bool isMean = entries > 0 || row == 0 || row == rows - 1;
      int64_t own = isMean ? std::abs(entries) : row % 2 == 0 ? 7 : 13;
      for (int64_t number = own; number < columns; ++number)
        x.cells[row * columns + (row + 11 * number) % columns] = 0;
    }
    check(
        R"(block sizes [s0, s1, s1, 1, s0, 1, s0, s1] driver [0] csr [0] (%x: $M, %v: $M, %w: $M, %y: $M) -> ($M, $M, $M) {
      %0 = tok.matmul %x, %v : ($M, $M) -> $M
      %1 = tok.transpose %x : ($M) -> $M
      %2 = tok.matmul %1, %0 : ($M, $M) -> $M
      %3 = tok.aggregate sum column %x : $M -> $M
      %4 = tok.binary mul %x, %y : ($M, $M) -> $M
      %5 = tok.aggregate sum column %4 : $M -> $M
      return %2, %3, %5 : $M, $M, $M
    })",
        {x, dense(columns, 1), dense(rows, 1), dense(rows, columns)}, {}, 1e-11);
  }
}

// Vectors that are long enough for prefetching of their cells, row by row and as one range of
// entries; tiles with more and with fewer entries than the prefetch distance.
TEST_F(SparseKernelTest, LongVectors) {
  constexpr int64_t rows = 9, columns = 132000;
  for (const char *type : {"f64", "f32"}) {
    cells = type;
    for (double density : {1e-5, 1e-3}) {
      Matrix x = sparse(rows, columns, density);
      double tolerance = cells == "f32" ? 1e-4 : 1e-11;
      check(
          R"(block sizes [s0, s1, s1, 1, 1, s1] driver [0] csr [0] (%x: $M, %v: $M, %w: $M) -> ($M, $M) {
      %0 = tok.binary mul %x, %w : ($M, $M) -> $M
      %1 = tok.matmul %0, %v : ($M, $M) -> $M
      %2 = tok.aggregate sum row %0 : $M -> $M
      return %1, %2 : $M, $M
    })",
          {x, dense(columns, 1), dense(1, columns)}, {}, tolerance);
      check(
          R"(block sizes [s0, s1, 1, s1] driver [0] csr [0] (%x: $M, %w: $M) -> f64 {
      %0 = tok.binary mul %x, %w : ($M, $M) -> $M
      %1 = tok.aggregate sum full %0 : $M -> f64
      return %1 : f64
    })",
          {x, dense(1, columns)}, {}, tolerance);
    }
  }
}

TEST_F(SparseKernelTest, ColumnSumsOfProducts) {
  for (auto [rows, columns, density] : sizes)
    check(
        R"(block sizes [s0, s1, s0, s1, 1, s1] driver [0] csr [0] (%x: $M, %y: $M, %v: $M) -> ($M, $M) {
      %0 = tok.binary mul %x, %y : ($M, $M) -> $M
      %1 = tok.aggregate sum column %0 : $M -> $M
      %2 = tok.binary div %x, %v : ($M, $M) -> $M
      %3 = tok.aggregate sum row %2 : $M -> $M
      return %1, %3 : $M, $M
    })",
        {sparse(rows, columns, density), dense(rows, columns), dense(1, columns, 1, 2)}, {}, 1e-12);
}

// Operators at the united entries of two operands, with a third sparse operand and a dense one; as one
// range of entries and row by row.
TEST_F(SparseKernelTest, EntriesOfSeveralOperands) {
  for (const char *type : {"f64", "f32"}) {
    cells = type;
    double tolerance = cells == "f32" ? 1e-5 : 1e-12;
    for (auto [rows, columns, density] : sizes) {
      check(
          R"(block sizes [s0, s1, s0, s1] driver [0, 1] csr [0, 1] (%x: $M, %y: $M) -> ($M, f64) {
      %0 = tok.binary max %x, %y : ($M, $M) -> $M
      %1 = tok.binary sub %x, %y : ($M, $M) -> $M
      %2 = tok.aggregate sum full %1 : $M -> f64
      return %0, %2 : $M, f64
    })",
          {sparse(rows, columns, density), sparse(rows, columns, density)}, {}, tolerance);
      check(
          R"(block sizes [s0, s1, s0, s1, s0, s1, s0, s1] driver [1, 3] csr [0, 1, 3] (%z: $M, %x: $M, %w: $M, %y: $M) -> ($M, $M, $M) {
      %0 = tok.binary add %x, %y : ($M, $M) -> $M
      %1 = tok.binary mul %0, %w : ($M, $M) -> $M
      %2 = tok.binary mul %0, %z : ($M, $M) -> $M
      %3 = tok.aggregate sum row %2 : $M -> $M
      %4 = tok.aggregate sum column %0 : $M -> $M
      return %1, %3, %4 : $M, $M, $M
    })",
          {sparse(rows, columns, density), sparse(rows, columns, density), dense(rows, columns),
           sparse(rows, columns, density)},
          {}, tolerance);
    }
  }
}

// An expensive value at the entries is kept if it is used before and after a row is complete.
TEST_F(SparseKernelTest, KeepsValuesBetweenPasses) {
  for (auto [rows, columns, density] : sizes)
    check(
        R"(block sizes [s0, s1, s0, 1] driver [0] csr [0] (%x: $M, %w: $M) -> ($M, $M, f64) {
      %z = tok.constant 0.0 : f64
      %k = tok.constant 1.0 : f64
      %n = tok.binary ne %x, %z : ($M, f64) -> $M
      %ex = tok.unary exp %x : $M -> $M
      %0 = tok.binary mul %n, %ex : ($M, $M) -> $M
      %1 = tok.aggregate sum row %0 : $M -> $M
      %2 = tok.binary add %1, %k : ($M, f64) -> $M
      %3 = tok.binary div %0, %2 : ($M, $M) -> $M
      %4 = tok.aggregate sum row %3 : $M -> $M
      %5 = tok.binary mul %3, %4 : ($M, $M) -> $M
      %6 = tok.aggregate sum column %5 : $M -> $M
      %7 = tok.binary mul %w, %4 : ($M, $M) -> $M
      %8 = tok.aggregate sum full %7 : $M -> f64
      return %5, %6, %8 : $M, $M, f64
    })",
        {sparse(rows, columns, density), dense(rows, 1)}, {}, 1e-12);
}

TEST_F(SparseKernelTest, NarrowProducts) {
  for (std::string k : {"2", "8", "10", "17", "64", "70", "s2"}) {
    int64_t width = k == "s2" ? 21 : std::stoi(k);
    std::string text =
        "block sizes [s0, s1, s1, " + k + ", s0, " + k + ", 1, " + k +
        R"(, s0, 1] driver [0] csr [0] (%x: $M, %b0: $M, %q: $M, %h: $M, %u: $M) -> ($M, $M, $M, f64, $M, $M, $M, $M) {
      %0 = tok.matmul %x, %b0 : ($M, $M) -> $M
      %1 = tok.binary sub %0, %q : ($M, $M) -> $M
      %2 = tok.binary mul %1, %h : ($M, $M) -> $M
      %3 = tok.binary add %2, %u : ($M, $M) -> $M
      %4 = tok.aggregate sum row %3 : $M -> $M
      %5 = tok.binary mul %u, %4 : ($M, $M) -> $M
      %6 = tok.transpose %x : ($M) -> $M
      %7 = tok.matmul %6, %3 : ($M, $M) -> $M
      %8 = tok.matmul %6, %q : ($M, $M) -> $M
      %9 = tok.aggregate max full %2 : $M -> f64
      %10 = tok.aggregate sum column %3 : $M -> $M
      %11 = tok.transpose %3 : ($M) -> $M
      %12 = tok.matmul %11, %5 : ($M, $M) -> $M
      %13 = tok.binary mul %x, %5 : ($M, $M) -> $M
      %14 = tok.aggregate sum column %13 : $M -> $M
      return %3, %5, %7, %9, %10, %12, %8, %14 : $M, $M, $M, f64, $M, $M, $M, $M
    })";
    for (auto [rows, columns, density] : {Size{0, 9, 0.5}, Size{1, 80, 0.3}, Size{33, 90, 0.2}})
      check(text,
            {sparse(rows, columns, density), dense(columns, width), dense(rows, width),
             dense(1, width), dense(rows, 1)},
            {}, 1e-10);
  }
}

TEST_F(SparseKernelTest, SampledProducts) {
  for (std::string r : {"0", "1", "2", "8", "13", "100", "128", "130", "s2"}) {
    int64_t inner = r == "s2" ? 21 : std::stoi(r);
    std::string text =
        "block sizes [s0, s1, s0, " + r + ", s1, " + r +
        R"(, 0, 0] driver [0] csr [0] (%x: $M, %u: $M, %v: $M, %eps: f64) -> (f64, $M, $M) {
      %0 = tok.transpose %v : ($M) -> $M
      %1 = tok.matmul %u, %0 : ($M, $M) -> $M
      %2 = tok.binary add %1, %eps : ($M, f64) -> $M
      %3 = tok.unary log %2 : $M -> $M
      %4 = tok.binary mul %x, %3 : ($M, $M) -> $M
      %5 = tok.aggregate sum full %4 : $M -> f64
      %6 = tok.binary mul %x, %1 : ($M, $M) -> $M
      %7 = tok.aggregate sum row %4 : $M -> $M
      return %5, %6, %7 : f64, $M, $M
    })";
    for (auto [rows, columns, density] : {Size{0, 9, 0.5}, Size{1, 5, 0.5}, Size{33, 50, 0.2}})
      check(text,
            {sparse(rows, columns, density), dense(rows, inner, 0, 1), dense(columns, inner, 0, 1)},
            {0.5}, 1e-12);
  }
}

// Products are kept for each entry and each column of the factors, in vectors of entries.
TEST_F(SparseKernelTest, KeepsRowsOfEntries) {
  for (auto [rows, columns, density] : sizes)
    check(
        R"(block sizes [s0, s1, s0, 3, s1, 3] driver [0] csr [0] (%s: $M, %u: $M, %v: $M) -> f64 {
      %0 = tok.transpose %v : ($M) -> $M
      %1 = tok.matmul %u, %0 : ($M, $M) -> $M
      %2 = tok.binary mul %s, %1 : ($M, $M) -> $M
      %3 = tok.aggregate sum full %2 : $M -> f64
      return %3 : f64
    })",
        {sparse(rows, columns, density), dense(rows, 3), dense(columns, 3)}, {}, 1e-12,
        "vector d1 by 8\nkeep %2");
}

// The gradients of a factorisation: W = (X != 0) * (U t(V) - X), W V and t(W) U.
TEST_F(SparseKernelTest, LeftAndRightProducts) {
  for (std::string r : {"3", "10", "s2"}) {
    int64_t inner = r == "s2" ? 21 : std::stoi(r);
    std::string text = "block sizes [s0, s1, s0, " + r + ", s1, " + r +
                       R"(] driver [0] csr [0] (%x: $M, %u: $M, %v: $M) -> ($M, $M) {
      %z = tok.constant 0.0 : f64
      %n = tok.binary ne %x, %z : ($M, f64) -> $M
      %0 = tok.transpose %v : ($M) -> $M
      %1 = tok.matmul %u, %0 : ($M, $M) -> $M
      %2 = tok.binary sub %1, %x : ($M, $M) -> $M
      %3 = tok.binary mul %n, %2 : ($M, $M) -> $M
      %4 = tok.matmul %3, %v : ($M, $M) -> $M
      %5 = tok.transpose %3 : ($M) -> $M
      %6 = tok.matmul %5, %u : ($M, $M) -> $M
      return %4, %6 : $M, $M
    })";
    for (auto [rows, columns, density] : {Size{1, 5, 0.5}, Size{33, 50, 0.2}, Size{40, 90, 0.05}})
      check(text, {sparse(rows, columns, density), dense(rows, inner), dense(columns, inner)}, {},
            1e-11);
  }
}

TEST_F(SparseKernelTest, SinglePrecision) {
  cells = "f32";
  for (auto [rows, columns, density] : {Size{1, 5, 0.5}, Size{33, 50, 0.2}, Size{40, 90, 0.05}}) {
    check(
        R"(block sizes [s0, s1, s0, s1, s1, 5, s0, 5, s1, 1] driver [0] csr [0] (%x: $M, %y: $M, %v: $M, %u: $M, %w: $M) -> ($M, f64, $M, $M, $M, $M) {
      %0 = tok.transpose %v : ($M) -> $M
      %1 = tok.matmul %u, %0 : ($M, $M) -> $M
      %2 = tok.binary mul %x, %y : ($M, $M) -> $M
      %3 = tok.binary mul %2, %1 : ($M, $M) -> $M
      %4 = tok.aggregate sum full %3 : $M -> f64
      %5 = tok.aggregate sum row %3 : $M -> $M
      %6 = tok.matmul %3, %v : ($M, $M) -> $M
      %7 = tok.transpose %x : ($M) -> $M
      %8 = tok.matmul %7, %5 : ($M, $M) -> $M
      %9 = tok.matmul %x, %w : ($M, $M) -> $M
      return %3, %4, %5, %6, %8, %9 : $M, f64, $M, $M, $M, $M
    })",
        {sparse(rows, columns, density), dense(rows, columns), dense(columns, 5), dense(rows, 5),
         dense(columns, 1)},
        {}, 1e-4);
  }
}

TEST_F(SparseKernelTest, WhatIsRefused) {
  std::string header = "block sizes [s0, s1, s1, s1] driver [0] csr [0] (%x: $M, %y: $M) -> $M {\n";
  expectRefused(header + "%0 = tok.aggregate index_max row %x : $M -> $M\nreturn %0 : $M\n}",
                "only sums, products, minima and maxima are taken of entries");
  expectRefused(header + "%0 = tok.aggregate max column %x : $M -> $M\nreturn %0 : $M\n}",
                "of the columns of entries only sums are taken");
  expectRefused(header + "%0 = tok.matmul %x, %y : ($M, $M) -> $M\nreturn %0 : $M\n}",
                "there is no code for this operation at entries yet");
  expectRefused("block sizes [s0, s1, s0, s1] csr [0] (%x: $M, %y: $M) -> $M {\n"
                "%0 = tok.binary add %x, %y : ($M, $M) -> $M\nreturn %0 : $M\n}",
                "at the entries of a driver only");
}

} // namespace
