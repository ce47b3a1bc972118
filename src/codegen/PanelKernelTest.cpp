// Kernels with values of several widths, and products with narrow matrices.
#include "codegen/testing/KernelCompilerFixture.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

using PanelKernelTest = KernelCompilerFixture;

const int64_t rowCounts[] = {0, 1, 7, 8, 9, 37};

std::string width(bool constant, int64_t columns) {
  return constant ? std::to_string(columns) : "s1";
}

// P * (X V) and t(X) (P * (X V)), as in logistic regression.
TEST_F(PanelKernelTest, ProductsOfAllWidths) {
  for (int64_t columns : {0, 7, 8, 9, 100})
    for (bool constant : {false, true})
      for (int64_t k : {1, 2, 7, 8, 10, 17, 64}) {
        std::string n = width(constant, columns), q = std::to_string(k);
        std::string text = "block sizes [s0, " + n + ", " + n + ", " + q + ", s0, " + q +
                           R"(] (%x: $M, %v: $M, %p: $M) -> ($M, $M, $M, $M) {
          %0 = tok.matmul %x, %v : ($M, $M) -> $M
          %1 = tok.binary mul %p, %0 : ($M, $M) -> $M
          %2 = tok.aggregate sum row %1 : $M -> $M
          %3 = tok.binary mul %p, %2 : ($M, $M) -> $M
          %4 = tok.binary sub %1, %3 : ($M, $M) -> $M
          %5 = tok.transpose %x : ($M) -> $M
          %6 = tok.matmul %5, %4 : ($M, $M) -> $M
          %7 = tok.transpose %4 : ($M) -> $M
          %8 = tok.matmul %7, %x : ($M, $M) -> $M
          return %6, %4, %0, %8 : $M, $M, $M, $M
        })";
        for (int64_t rows : rowCounts)
          check(text, {random(rows, columns), random(columns, k), random(rows, k)}, {}, 1e-9);
        if (HasFatalFailure())
          return;
      }
}

// Rows that are too wide for panels are loops of their own (loops/LoopEmitter.h).
TEST_F(PanelKernelTest, WiderThanPanels) {
  std::string product = R"(block sizes [s0, s1, s1, 65] (%x: $M, %v: $M) -> $M {
    %0 = tok.matmul %x, %v : ($M, $M) -> $M
    return %0 : $M
  })";
  for (int64_t rows : {0, 1, 8, 13})
    check(product, {random(rows, 30), random(30, 65)}, {}, 1e-11);
  std::string square = R"(block sizes [s0, s1, s1, s1] (%x: $M, %v: $M) -> $M {
    %0 = tok.matmul %x, %v : ($M, $M) -> $M
    return %0 : $M
  })";
  for (int64_t columns : {1, 5, 16, 37})
    check(square, {random(11, columns), random(columns, columns)}, {}, 1e-11);
  std::string gram = R"(block sizes [s0, s1] (%x: $M) -> $M {
    %0 = tok.transpose %x : ($M) -> $M
    %1 = tok.matmul %0, %x : ($M, $M) -> $M
    return %1 : $M
  })";
  for (int64_t columns : {1, 16, 37})
    check(gram, {random(11, columns)}, {}, 1e-11);
}

// Distances to the rows of C, which is read transposed, and the index of the nearest row.
TEST_F(PanelKernelTest, NearestCentroids) {
  for (int64_t columns : {3, 8, 50})
    for (bool constant : {false, true})
      for (int64_t k : {2, 10, 33}) {
        std::string n = width(constant, columns), q = std::to_string(k);
        std::string text = "block sizes [s0, " + n + ", " + q + ", " + n + ", 1, " + q +
                           R"(] (%x: $M, %c0: $M, %w: $M) -> ($M, $M, $M, $M, f64) {
          %k = tok.constant -2.0 : f64
          %0 = tok.transpose %c0 : ($M) -> $M
          %1 = tok.matmul %x, %0 : ($M, $M) -> $M
          %2 = tok.binary mul %1, %k : ($M, f64) -> $M
          %3 = tok.binary add %2, %w : ($M, $M) -> $M
          %4 = tok.aggregate min row %3 : $M -> $M
          %5 = tok.aggregate index_min row %3 : $M -> $M
          %6 = tok.binary le %3, %4 : ($M, $M) -> $M
          %7 = tok.aggregate sum column %6 : $M -> $M
          %8 = tok.transpose %6 : ($M) -> $M
          %9 = tok.matmul %8, %x : ($M, $M) -> $M
          %10 = tok.aggregate sum full %4 : $M -> f64
          return %6, %5, %7, %9, %10 : $M, $M, $M, $M, f64
        })";
        for (int64_t rows : rowCounts)
          check(text, {random(rows, columns), random(k, columns), random(1, k)}, {}, 1e-9);
        if (HasFatalFailure())
          return;
      }
}

// The product U V, m×n with U m×r, and values computed from it.
TEST_F(PanelKernelTest, WideProducts) {
  for (int64_t columns : {5, 8, 21, 100})
    for (bool constant : {false, true})
      for (int64_t r : {1, 3, 8, 20, 64}) {
        if (constant && r > columns)
          continue; // the iteration space is as wide as its widest constant
        std::string n = width(constant, columns), inner = std::to_string(r);
        std::string text = "block sizes [s0, " + n + ", s0, " + inner + ", " + inner + ", " + n +
                           R"(] (%x: $M, %u: $M, %v: $M) -> (f64, $M, $M, $M) {
          %0 = tok.matmul %u, %v : ($M, $M) -> $M
          %1 = tok.binary sub %x, %0 : ($M, $M) -> $M
          %2 = tok.binary mul %1, %1 : ($M, $M) -> $M
          %3 = tok.aggregate sum full %2 : $M -> f64
          %4 = tok.aggregate max row %0 : $M -> $M
          %5 = tok.binary div %1, %4 : ($M, $M) -> $M
          %6 = tok.aggregate sum column %1 : $M -> $M
          return %3, %5, %6, %4 : f64, $M, $M, $M
        })";
        for (int64_t rows : rowCounts)
          check(text, {random(rows, columns), random(rows, r, 1, 2), random(r, columns, 1, 2)}, {},
                1e-9);
        if (HasFatalFailure())
          return;
      }
}

// Chains of products with changing widths, some with a square matrix, and t(X) X.
TEST_F(PanelKernelTest, ChainsOfProducts) {
  for (auto [n, p, q] : {std::tuple(20, 20, 12), {5, 5, 3}, {33, 9, 9}, {64, 64, 2}, {12, 30, 5}}) {
    std::string sizes = "[s0, " + std::to_string(n) + ", " + std::to_string(n) + ", " +
                        std::to_string(p) + ", " + std::to_string(p) + ", " + std::to_string(q) +
                        "]";
    std::string text = "block sizes " + sizes +
                       R"( (%x: $M, %v: $M, %w: $M) -> ($M, $M, $M, $M, $M) {
      %0 = tok.matmul %x, %v : ($M, $M) -> $M
      %1 = tok.unary sigmoid %0 : $M -> $M
      %2 = tok.matmul %1, %w : ($M, $M) -> $M
      %3 = tok.unary abs %2 : $M -> $M
      %4 = tok.transpose %3 : ($M) -> $M
      %5 = tok.matmul %4, %1 : ($M, $M) -> $M
      %6 = tok.transpose %x : ($M) -> $M
      %7 = tok.matmul %6, %x : ($M, $M) -> $M
      %8 = tok.transpose %1 : ($M) -> $M
      %9 = tok.matmul %8, %1 : ($M, $M) -> $M
      return %3, %5, %1, %7, %9 : $M, $M, $M, $M, $M
    })";
    for (int64_t rows : rowCounts)
      check(text, {random(rows, n), random(n, p), random(p, q)}, {}, 1e-9);
    if (HasFatalFailure())
      return;
  }
}

// All aggregates of narrow values, with NaN and infinities.
TEST_F(PanelKernelTest, AggregatesOfNarrowValues) {
  for (int64_t k : {2, 3, 8, 16, 17, 40}) {
    std::string text = "block sizes [s0, " + std::to_string(k) + ", s0, 1" +
                       R"(] (%x: $M, %u: $M) -> ($M, $M, $M, $M, $M, f64, $M, f64, $M) {
      %0 = tok.binary add %x, %u : ($M, $M) -> $M
      %1 = tok.aggregate min row %0 : $M -> $M
      %2 = tok.aggregate max row %0 : $M -> $M
      %3 = tok.aggregate prod row %0 : $M -> $M
      %4 = tok.aggregate index_max row %0 : $M -> $M
      %5 = tok.aggregate index_min row %0 : $M -> $M
      %6 = tok.aggregate max full %0 : $M -> f64
      %7 = tok.aggregate min column %0 : $M -> $M
      %8 = tok.aggregate sum full %0 : $M -> f64
      %9 = tok.transpose %x : ($M) -> $M
      %10 = tok.matmul %9, %u : ($M, $M) -> $M
      return %1, %2, %3, %4, %5, %6, %7, %8, %10 : $M, $M, $M, $M, $M, f64, $M, f64, $M
    })";
    for (int64_t rows : rowCounts)
      check(text, {random(rows, k), random(rows, 1)}, {}, 1e-10);
    Matrix x = random(21, k), zero{21, 1, std::vector<double>(21, 0.0)};
    for (double &cell : x.cells)
      cell = std::round(cell * 2); // many ties
    x.cells[k + 1] = std::nan("");
    for (int64_t j = 0; j < k; ++j) {
      x.cells[5 * k + j] = std::nan("");
      x.cells[6 * k + j] = -INFINITY;
    }
    check(text, {x, zero}, {}, 1e-10);
    if (HasFatalFailure())
      return;
  }
}

// Softmax of narrow rows: the exponentials are kept between passes.
TEST_F(PanelKernelTest, NarrowSoftmax) {
  for (int64_t k : {2, 9, 10, 16, 30}) {
    std::string text = "block sizes [s0, " + std::to_string(k) + ", 1, " + std::to_string(k) +
                       R"(] (%x: $M, %v: $M) -> ($M, $M) {
      %0 = tok.binary add %x, %v : ($M, $M) -> $M
      %1 = tok.aggregate max row %0 : $M -> $M
      %2 = tok.binary sub %0, %1 : ($M, $M) -> $M
      %3 = tok.unary exp %2 : $M -> $M
      %4 = tok.aggregate sum row %3 : $M -> $M
      %5 = tok.binary div %3, %4 : ($M, $M) -> $M
      %6 = tok.unary log %5 : $M -> $M
      return %5, %6 : $M, $M
    })";
    for (int64_t rows : rowCounts)
      check(text, {random(rows, k, -30, 30), random(1, k)}, {}, 1e-12);
  }
}

// Narrow and flat kernels give elementwise results with the same bits.
TEST_F(PanelKernelTest, NarrowCellsHaveTheBitsOfFlatOnes) {
  std::string panel = R"(block sizes [s0, 11, s0, 1] (%x: $M, %u: $M) -> $M {
    %0 = tok.unary exp %x : $M -> $M
    %1 = tok.binary mul %0, %u : ($M, $M) -> $M
    %2 = tok.unary log %1 : $M -> $M
    return %2 : $M
  })";
  std::string flat = R"(block sizes [s0, s1, s0, s1] (%x: $M, %u: $M) -> $M {
    %0 = tok.unary exp %x : $M -> $M
    %1 = tok.binary mul %0, %u : ($M, $M) -> $M
    %2 = tok.unary log %1 : $M -> $M
    return %2 : $M
  })";
  Matrix x = random(29, 11), u = random(29, 1), spread{29, 11, {}};
  for (int64_t i = 0; i < 29 * 11; ++i)
    spread.cells.push_back(u.cells[i / 11]);
  auto first = compiler.compile(parse(panel)), second = compiler.compile(parse(flat));
  ASSERT_TRUE(succeeded(first) && succeeded(second));
  compare(Launch{{x, u}, {}, 8}.run(*first)[0], Launch{{x, spread}, {}, 40}.run(*second)[0], 0,
          panel, 8);
}

// A row has the same bits in a block of eight rows as alone.
TEST_F(PanelKernelTest, RowsHaveTheSameBitsInBlocksAndAlone) {
  std::string text =
      R"(block sizes [s0, s1, s1, 10] (%x: $M, %v: $M) -> ($M, $M) {
    %0 = tok.matmul %x, %v : ($M, $M) -> $M
    %1 = tok.aggregate sum row %0 : $M -> $M
    %2 = tok.binary div %0, %1 : ($M, $M) -> $M
    return %0, %2 : $M, $M
  })";
  auto plan = compiler.compile(parse(text));
  ASSERT_TRUE(succeeded(plan));
  Matrix x = random(8, 77), v = random(77, 10);
  std::vector<Matrix> all = Launch{{x, v}, {}}.run(*plan);
  for (int64_t row = 0; row < 8; ++row) {
    Matrix one{1, 77, {x.cells.begin() + row * 77, x.cells.begin() + (row + 1) * 77}};
    std::vector<Matrix> alone = Launch{{one, v}, {}}.run(*plan);
    for (int result = 0; result < 2; ++result)
      for (int64_t column = 0; column < 10; ++column)
        EXPECT_EQ(alone[result].cells[column], all[result].cells[row * 10 + column]);
  }
}

// Random bodies: wide, narrow and per-row values, products from any width to any other, results per
// row and aggregated over the rows.
TEST_F(PanelKernelTest, RandomBodies) {
  static constexpr const char *operators[] = {"add", "sub", "mul", "min", "max", "ge"};
  static constexpr const char *aggregates[] = {"sum", "min", "max", "index_max", "first_index_min"};
  auto pick = [&](int64_t count) { return static_cast<int64_t>(generator() % count); };
  for (int round = 0; round < 30; ++round) {
    int64_t columns = 17 + pick(40), k = 2 + pick(20), rows = pick(40);
    bool isConstant = round % 2 == 0;
    std::string n = width(isConstant, columns), q = std::to_string(k);
    std::vector<std::string> wide = {"%x"}, narrow = {"%u"}, perRow;
    std::string body, results, types;
    int number = 0, count = 0;
    auto add = [&](const std::string &text) {
      std::string name = "%" + std::to_string(number++);
      body += name + " = " + text + "\n";
      return name;
    };
    auto any = [&](const std::vector<std::string> &values) { return values[pick(values.size())]; };
    auto yield = [&](const std::string &name) {
      results += (count++ == 0 ? "" : ", ") + name;
      types += types.empty() ? "$M" : ", $M";
    };
    auto binary = [&](const std::string &left, const std::string &right) {
      return add(std::string("tok.binary ") + operators[pick(std::size(operators))] + " " + left +
                 ", " + right + " : ($M, $M) -> $M");
    };
    // Taking the sign of each product keeps the values of long chains small.
    auto product = [&](const std::string &left, const std::string &right) {
      return add("tok.unary sign " +
                 add("tok.matmul " + left + ", " + right + " : ($M, $M) -> $M") + " : $M -> $M");
    };
    for (int step = 0; step < 8; ++step) {
      std::vector<std::string> &values = pick(2) == 0 ? wide : narrow;
      switch (pick(5)) {
      case 0:
        values.push_back(binary(any(values), any(values)));
        break;
      case 1:
        perRow.push_back(add(std::string("tok.aggregate ") +
                             aggregates[pick(std::size(aggregates))] + " row " + any(values) +
                             " : $M -> $M"));
        break;
      case 2:
        if (!perRow.empty())
          values.push_back(binary(any(values), any(perRow)));
        break;
      case 3: // a square root is expensive, so it is kept between passes
        values.push_back(
            add("tok.unary sqrt " +
                add("tok.binary ge " + any(values) + ", " + any(values) + " : ($M, $M) -> $M") +
                " : $M -> $M"));
        break;
      default:
        if (&values == &wide)
          narrow.push_back(product(any(wide), "%v"));
        else
          wide.push_back(product(any(narrow), "%w"));
      }
    }
    for (auto [left, right] :
         {std::pair(any(wide), any(narrow)), {any(narrow), any(wide)}, {any(narrow), any(narrow)}})
      yield(add("tok.matmul " + add("tok.transpose " + left + " : ($M) -> $M") + ", " + right +
                " : ($M, $M) -> $M"));
    for (const std::vector<std::string> &values : {wide, narrow}) // the first is an operand
      if (values.size() > 1)
        yield(values.back());
    for (const std::string &value : {any(wide), any(narrow)})
      yield(add("tok.aggregate sum column " + value + " : $M -> $M"));
    std::string text = "block sizes [s0, " + n + ", s0, " + q + ", " + n + ", " + q + ", " + q +
                       ", " + n + "] (%x: $M, %u: $M, %v: $M, %w: $M) -> (" + types + ") {\n" +
                       body + "return " + results + " : " + types + "\n}";
    // Multiples of 1/4: sums and products of a few are exact, so signs and indices don't depend on
    // the order of additions.
    auto quarters = [&](int64_t height, int64_t length) {
      Matrix matrix = random(height, length, -1, 1);
      for (double &cell : matrix.cells)
        cell = std::round(cell * 4) / 4;
      return matrix;
    };
    check(text,
          {quarters(rows, columns), quarters(rows, k), quarters(columns, k), quarters(k, columns)},
          {}, 1e-7);
    if (HasFatalFailure())
      return;
  }
}

} // namespace
