#include "codegen/testing/KernelCompilerFixture.h"

#include "codegen/target/Target.h"

#include <thread>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

using KernelCompilerTest = KernelCompilerFixture;

const int64_t sizes[] = {0, 1, 7, 8, 9, 31, 33, 1000};

TEST_F(KernelCompilerTest, FlatSumOfProducts) {
  std::string text =
      R"(block sizes [s0, s1, s0, s1, s0, s1] (%x: $M, %y: $M, %z: $M) -> f64 {
    %0 = tok.binary mul %x, %y : ($M, $M) -> $M
    %1 = tok.binary mul %0, %z : ($M, $M) -> $M
    %2 = tok.aggregate sum full %1 : $M -> f64
    return %2 : f64
  })";
  for (int64_t size : sizes)
    check(text, {random(size, 1), random(size, 1), random(size, 1)}, {}, 1e-12);
  check(text, {random(37, 11), random(37, 11), random(37, 11)}, {}, 1e-12);
  EXPECT_EQ(compiler.statistics().compiled, 1);
  EXPECT_EQ(compiler.statistics().cacheHits, static_cast<int64_t>(std::size(sizes)));
}

TEST_F(KernelCompilerTest, Names) {
  auto plan = compiler.compile(parse(R"(block sizes [s0, s1, s0, s1] (%x: $M, %y: $M) -> f64 {
    %0 = tok.binary mul %x, %y : ($M, $M) -> $M
    %2 = tok.aggregate sum full %0 : $M -> f64
    return %2 : f64
  })"));
  ASSERT_TRUE(succeeded(plan));
  EXPECT_EQ(plan->name, "cell_mul_sum_1");
  EXPECT_EQ(plan->extents[0], tokamak::abi::cellsOfInput(0));
}

// Operators of the same body that differ in this have kernels of their own.
TEST_F(KernelCompilerTest, CompactLoopsAreOtherCode) {
  plan::OperatorOp op = parsePlan(
      R"(%r = plan.operator (%x = %a [s0, s1]) axes [s0, s1] -> [s0, s1] : ($M) -> $M {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : $M -> !plan.cell<(d0, d1) -> f64>
    %1 = plan.unary neg %0 : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d0, d1) -> f64>
    plan.write %1 to 0 (d0, d1) -> (d0, d1) : !plan.cell<(d0, d1) -> f64>
  })");
  for (bool compact : {false, true, false}) {
    op.setCompact(compact);
    ASSERT_TRUE(succeeded(compiler.compile(op)));
  }
  EXPECT_EQ(compiler.statistics().compiled, 2);
}

// Nothing runs along d1: it adds no cells to those that are computed.
TEST_F(KernelCompilerTest, AnAxisOfNoValueIsNoColumn) {
  auto plan = compiler.compile(parsePlan(
      R"(%r = plan.operator (%x = %a [s0, s1], %y = %b [s0, 1]) axes [s0, s1] -> [s0, 1] : ($M, $M) -> $M {
    %0 = plan.read %y (d0, d1) -> (d0, 0) : $M -> !plan.cell<(d0) -> f64>
    %1 = plan.unary neg %0 : !plan.cell<(d0) -> f64> -> !plan.cell<(d0) -> f64>
    plan.write %1 to 0 (d0, d1) -> (d0, 0) : !plan.cell<(d0) -> f64>
  })"));
  ASSERT_TRUE(succeeded(plan));
  EXPECT_EQ(plan->extents[0], tokamak::abi::rowsOfInput(0));
  EXPECT_TRUE(plan->extents[1].isConstant(1));
}

// Every operator on special values: zeros, infinities, NaN, rounding boundaries.
TEST_F(KernelCompilerTest, EveryOperatorOnSpecialValues) {
  double infinity = INFINITY, nan = std::nan("");
  std::vector<double> special = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 2,
                                 -2,
                                 0.5,
                                 -0.5,
                                 1.5,
                                 -1.5,
                                 2.5,
                                 3,
                                 -3,
                                 7,
                                 -7,
                                 1e10,
                                 -1e10,
                                 1e300,
                                 0.1,
                                 -0.3,
                                 1e-300,
                                 4.9e-324,
                                 0x1p52,
                                 0x1p53,
                                 0x1p63,
                                 -0x1p63,
                                 1e19,
                                 infinity,
                                 -infinity,
                                 nan,
                                 0.49999999999999994,
                                 4503599627370497.5};
  Matrix left{static_cast<int64_t>(special.size() * special.size()), 1, {}}, right = left;
  for (double a : special)
    for (double b : special) {
      left.cells.push_back(a);
      right.cells.push_back(b);
    }
#define TOKAMAK_UNARY(Name, mnemonic, function, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY,     \
                      ERRORS, TYPES, MEANING)                                                      \
  check("block sizes [s0, 1] (%x: $M) -> $M {\n"                                                   \
        "%0 = tok.unary " #mnemonic " %x : $M -> $M\nreturn %0 : $M\n}",                           \
        {left}, {}, Accuracy::ACCURACY == Accuracy::Exact ? 0 : 1e-15);
#define TOKAMAK_BINARY(Name, mnemonic, spelling, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY,    \
                       ERRORS, TYPES, MEANING)                                                     \
  check("block sizes [s0, 1, s0, 1] (%x: $M, "                                                     \
        "%y: $M) -> $M {\n"                                                                        \
        "%0 = tok.binary " #mnemonic " %x, %y : ($M, $M) -> $M\nreturn %0 : $M\n}",                \
        {left, right}, {}, Accuracy::ACCURACY == Accuracy::Exact ? 0 : 1e-15);
#include "base/CellOperators.def"
}

TEST_F(KernelCompilerTest, SeveralAggregatesAndScalars) {
  std::string text =
      R"(block sizes [s0, s1, s0, s1, 0, 0] (%x: $M, %y: $M, %s0: f64) -> (f64, f64, f64, f64) {
    %k = tok.constant 2.5 : f64
    %0 = tok.binary mul %x, %s0 : ($M, f64) -> $M
    %1 = tok.binary sub %0, %k : ($M, f64) -> $M
    %2 = tok.binary mul %1, %y : ($M, $M) -> $M
    %3 = tok.aggregate sum full %2 : $M -> f64
    %4 = tok.aggregate min full %1 : $M -> f64
    %5 = tok.aggregate max full %y : $M -> f64
    %6 = tok.aggregate prod full %y : $M -> f64
    return %3, %4, %5, %6 : f64, f64, f64, f64
  })";
  for (int64_t size : sizes)
    check(text, {random(size, 3), random(size, 3)}, {1.25}, 1e-12);
  Matrix withNan = random(33, 1);
  withNan.cells[20] = std::nan("");
  check(text, {withNan, random(33, 1)}, {1.25}, 1e-12);
}

TEST_F(KernelCompilerTest, DotProductIsAnArray) {
  std::string text =
      R"(block sizes [s0, 1, s0, 1] (%x: $M, %y: $M) -> ($M, $M) {
    %0 = tok.binary add %x, %y : ($M, $M) -> $M
    %1 = tok.transpose %0 : ($M) -> $M
    %2 = tok.matmul %1, %y : ($M, $M) -> $M
    return %0, %2 : $M, $M
  })";
  for (int64_t size : sizes)
    check(text, {random(size, 1), random(size, 1)}, {}, 1e-12);
}

TEST_F(KernelCompilerTest, FusedAndUnfusedCellsHaveEqualBits) {
  auto unary = [](std::string name) {
    return "block sizes [s0, s1] (%x: $M) -> $M {\n%0 = "
           "tok.unary " +
           name + " %x : $M -> $M\nreturn %0 : $M\n}";
  };
  auto run = [&](const std::string &text, std::vector<Matrix> inputs) {
    auto plan = compiler.compile(parse(text));
    EXPECT_TRUE(succeeded(plan));
    return Launch{std::move(inputs), {}, 40}.run(*plan)[0];
  };
  std::string times = "block sizes [s0, s1, s0, 1] (%x: $M, %y: $M) -> $M {\n%0 = tok.binary mul "
                      "%x, %y : ($M, $M) -> $M\nreturn %0 : $M\n}";
  std::string fused = R"(block sizes [s0, s1, s0, 1] (%x: $M, %y: $M) -> $M {
    %0 = tok.unary exp %x : $M -> $M
    %1 = tok.unary sigmoid %0 : $M -> $M
    %2 = tok.unary log %1 : $M -> $M
    %3 = tok.binary mul %2, %y : ($M, $M) -> $M
    %4 = tok.unary tanh %3 : $M -> $M
    return %4 : $M
  })";
  Matrix x = random(45, 13), y = random(45, 1);
  Matrix steps = x;
  for (std::string name : {"exp", "sigmoid", "log"})
    steps = run(unary(name), {steps});
  steps = run(unary("tanh"), {run(times, {steps, y})});
  compare(run(fused, {x, y}), steps, 0, fused, 40);
}

TEST_F(KernelCompilerTest, CellsWithRowAndColumnVectors) {
  std::string text =
      R"(block sizes [s0, s1, s0, 1, 1, s1, 0, 0] (%x: $M, %u: $M, %v: $M, %s0: f64) -> ($M, f64, $M, $M) {
    %0 = tok.binary sub %x, %v : ($M, $M) -> $M
    %1 = tok.binary mul %u, %s0 : ($M, f64) -> $M
    %2 = tok.binary div %0, %1 : ($M, $M) -> $M
    %3 = tok.aggregate sum full %2 : $M -> f64
    %4 = tok.aggregate sum row %0 : $M -> $M
    %5 = tok.aggregate max column %0 : $M -> $M
    return %2, %3, %4, %5 : $M, f64, $M, $M
  })";
  for (int64_t rows : {0, 1, 7, 8, 9, 33})
    for (int64_t columns : {0, 2, 7, 8, 9, 31, 100})
      check(text, {random(rows, columns), random(rows, 1, 1, 2), random(1, columns)}, {1.25},
            1e-11);
}

// t(X) (w * (X v)) for constant and symbolic numbers of columns.
TEST_F(KernelCompilerTest, RowProducts) {
  for (int64_t columns : {0, 1, 3, 8, 10, 16, 17, 32, 100, 128, 129}) {
    for (bool constant : {false, true}) {
      if (!constant && columns == 1)
        continue; // one column is always a constant
      std::string n = constant ? std::to_string(columns) : "s1";
      std::string text = "block sizes [s0, " + n + ", " + n +
                         R"(, 1, s0, 1] (%x: $M, %v: $M, %w: $M) -> ($M, $M) {
        %0 = tok.matmul %x, %v : ($M, $M) -> $M
        %1 = tok.binary mul %w, %0 : ($M, $M) -> $M
        %2 = tok.transpose %x : ($M) -> $M
        %3 = tok.matmul %2, %1 : ($M, $M) -> $M
        return %3, %0 : $M, $M
      })";
      for (int64_t rows : {0, 1, 8, 9, 35, 1000})
        check(text, {random(rows, columns), random(columns, 1), random(rows, 1)}, {}, 1e-10);
    }
  }
}

TEST_F(KernelCompilerTest, Softmax) {
  for (std::string n : {"s1", "10"}) {
    std::string text = "block sizes [s0, " + n + R"(] (%x: $M) -> ($M, $M) {
      %0 = tok.aggregate max row %x : $M -> $M
      %1 = tok.binary sub %x, %0 : ($M, $M) -> $M
      %2 = tok.unary exp %1 : $M -> $M
      %3 = tok.aggregate sum row %2 : $M -> $M
      %4 = tok.binary div %2, %3 : ($M, $M) -> $M
      %5 = tok.aggregate sum column %4 : $M -> $M
      return %4, %5 : $M, $M
    })";
    for (int64_t columns : {10, 33})
      if (n == "s1" || columns == 10)
        for (int64_t rows : {1, 8, 30})
          check(text, {random(rows, columns, -30, 30)}, {}, 1e-12);
  }
}

// A square root is expensive enough to be kept and cheap enough for blocks of eight rows.
TEST_F(KernelCompilerTest, KeepsValuesBetweenPasses) {
  std::string text =
      R"(block sizes [s0, s1, 1, s1] (%x: $M, %v: $M) -> ($M, $M, f64) {
    %p = tok.unary abs %x : $M -> $M
    %0 = tok.unary sqrt %p : $M -> $M
    %1 = tok.aggregate sum row %0 : $M -> $M
    %2 = tok.binary div %0, %1 : ($M, $M) -> $M
    %3 = tok.binary sub %2, %v : ($M, $M) -> $M
    %4 = tok.aggregate min row %3 : $M -> $M
    %5 = tok.binary sub %0, %4 : ($M, $M) -> $M
    %6 = tok.transpose %4 : ($M) -> $M
    %7 = tok.matmul %6, %5 : ($M, $M) -> $M
    %8 = tok.aggregate prod full %4 : $M -> f64
    return %5, %7, %8 : $M, $M, f64
  })";
  for (int64_t columns : {5, 8, 27})
    for (int64_t rows : {3, 8, 41})
      check(text, {random(rows, columns), random(1, columns)}, {}, 1e-10);
}

TEST_F(KernelCompilerTest, IndexOfExtremes) {
  std::string text = R"(block sizes [s0, s1] (%x: $M) -> ($M, $M, $M, $M) {
    %0 = tok.aggregate index_max row %x : $M -> $M
    %1 = tok.aggregate index_min row %x : $M -> $M
    %2 = tok.aggregate first_index_max row %x : $M -> $M
    %3 = tok.aggregate first_index_min row %x : $M -> $M
    return %0, %1, %2, %3 : $M, $M, $M, $M
  })";
  for (int64_t columns : {2, 8, 13, 40}) {
    Matrix x = random(21, columns);
    for (double &cell : x.cells)
      cell = std::round(cell * 2); // many ties
    x.cells[3] = std::nan("");
    for (int64_t j = 0; j < columns; ++j) {
      x.cells[5 * columns + j] = std::nan("");
      x.cells[6 * columns + j] = -INFINITY;
    }
    check(text, {x}, {}, 0);
  }
}

// One row: every m×1 value is 1×1.
TEST_F(KernelCompilerTest, ASingleRow) {
  std::string text =
      R"(block sizes [1, s1, 1, 1, s1, 1] (%x: $M, %u: $M, %v: $M) -> ($M, $M, $M, f64) {
    %0 = tok.binary mul %x, %u : ($M, $M) -> $M
    %1 = tok.aggregate sum row %0 : $M -> $M
    %2 = tok.binary add %1, %u : ($M, $M) -> $M
    %3 = tok.matmul %x, %v : ($M, $M) -> $M
    %4 = tok.binary div %0, %3 : ($M, $M) -> $M
    %5 = tok.aggregate max full %4 : $M -> f64
    return %2, %3, %4, %5 : $M, $M, $M, f64
  })";
  for (int64_t columns : {2, 8, 29})
    check(text, {random(1, columns), random(1, 1), random(columns, 1)}, {}, 1e-11);
}

// Row aggregates of a row vector need no loops over rows: one over cells computes them.
TEST_F(KernelCompilerTest, RowOfARowVector) {
  std::string text =
      R"(block sizes [1, s0, 1, s0] (%x: $M, %y: $M) -> ($M, f64) {
    %0 = tok.binary mul %x, %y : ($M, $M) -> $M
    %1 = tok.aggregate sum row %0 : $M -> $M
    %2 = tok.aggregate max full %x : $M -> f64
    return %1, %2 : $M, f64
  })";
  auto plan = compiler.compile(parse(text));
  ASSERT_TRUE(succeeded(plan));
  EXPECT_EQ(plan->extents[0], tokamak::abi::columnsOfInput(0));
  for (int64_t size : {2, 8, 100})
    check(text, {random(1, size), random(1, size)}, {}, 1e-12);
}

TEST_F(KernelCompilerTest, ScalarsCastsAndSelection) {
  std::string text =
      R"(block sizes [s0, s1, 1, 1, 0, 0, 0, 0] (%x: $M, %one: $M, %p: f64, %q: f64) -> ($M, f64) {
    %k = tok.constant 2 : i64
    %w = tok.cast %one : $M -> f64
    %e = tok.binary lt %p, %q : (f64, f64) -> i1
    %0 = tok.binary pow %x, %k : ($M, i64) -> $M
    %1 = tok.binary gt %0, %w : ($M, f64) -> $M
    %2 = tok.ifelse %1, %x, %p : ($M, $M, f64) -> $M
    %3 = tok.binary add %2, %one : ($M, $M) -> $M
    %5 = tok.aggregate sum full %3 : $M -> f64
    return %3, %5 : $M, f64
  })";
  check(text, {random(13, 5), random(1, 1)}, {1.5, 2.5}, 1e-12);
}

// Random bodies of all extents, in one tile and in several.
TEST_F(KernelCompilerTest, RandomBodies) {
  static constexpr const char *operators[] = {"add", "sub", "mul", "min", "max", "lt", "ge", "and"};
  static constexpr const char *aggregates[] = {"sum", "min", "max"};
  auto pick = [&](int64_t count) { return static_cast<int64_t>(generator() % count); };
  for (int round = 0; round < 60; ++round) {
    bool constant = round % 3 == 0;
    int64_t columns = 2 + pick(constant ? 20 : 40), rows = pick(50);
    std::string n = constant ? std::to_string(columns) : "s1";
    std::vector<std::string> wide = {"%x", "%y"}, perRow = {"%u"}, all;
    std::string body, results, types;
    int number = 0;
    auto add = [&](const std::string &text) {
      std::string name = "%" + std::to_string(number++);
      body += name + " = " + text + "\n";
      return name;
    };
    auto yield = [&](const std::string &name, const std::string &type) {
      results += (results.empty() ? "" : ", ") + name;
      types += (types.empty() ? "" : ", ") + type;
    };
    for (int step = 0; step < 8; ++step) {
      std::string op = operators[pick(std::size(operators))];
      switch (pick(4)) {
      case 0: {
        all = wide;
        all.insert(all.end(), perRow.begin(), perRow.end());
        all.push_back("%v");
        wide.push_back(add("tok.binary " + op + " " + wide[pick(wide.size())] + ", " +
                           all[pick(all.size())] + " : ($M, $M) -> $M"));
        break;
      }
      case 1:
        wide.push_back(add("tok.unary sqrt " + wide[pick(wide.size())] + " : $M -> $M"));
        break;
      case 2:
        perRow.push_back(add(std::string("tok.aggregate ") + aggregates[pick(3)] + " row " +
                             wide[pick(wide.size())] + " : $M -> $M"));
        break;
      default:
        perRow.push_back(
            add("tok.binary " + op + " " + perRow[pick(perRow.size())] + ", %p : ($M, f64) -> $M"));
      }
    }
    yield(wide.back(), "$M");
    yield(perRow.back(), "$M");
    yield(add(std::string("tok.aggregate ") + aggregates[pick(3)] + " column " +
              wide[pick(wide.size())] + " : $M -> $M"),
          "$M");
    yield(add(std::string("tok.aggregate ") + aggregates[pick(3)] + " full " +
              wide[pick(wide.size())] + " : $M -> f64"),
          "f64");
    std::string transposed = add("tok.transpose " + wide[pick(wide.size())] + " : ($M) -> $M");
    yield(
        add("tok.matmul " + transposed + ", " + perRow[pick(perRow.size())] + " : ($M, $M) -> $M"),
        "$M");
    std::string text = "block sizes [s0, " + n + ", s0, " + n + ", s0, 1, 1, " + n +
                       ", 0, 0] (%x: $M, %y: $M, %u: $M, %v: $M, %p: f64) -> (" + types + ") {\n" +
                       body + "return " + results + " : " + types + "\n}";
    check(text,
          {random(rows, columns, 0.1, 2), random(rows, columns, 0.1, 2), random(rows, 1, 0.1, 2),
           random(1, columns, 0.1, 2)},
          {0.75}, 1e-9);
    if (HasFatalFailure())
      return;
  }
}

TEST_F(KernelCompilerTest, ThreadsCompileEqualOperatorsOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      MLIRContext own{MLIRContext::Threading::DISABLED};
      own.loadDialect<tok::TokDialect, plan::PlanDialect, func::FuncDialect>();
      BlockOperator block =
          parseBlockOperator(own, "block sizes [s0, s1] (%x: $M) -> $M {\n"
                                  "%0 = tok.unary exp %x : $M -> $M\nreturn %0 : $M\n}");
      EXPECT_TRUE(succeeded(compiler.compile(block.op)));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(compiler.statistics().compiled, 1);
}

TEST_F(KernelCompilerTest, EqualStructuresShareCode) {
  auto sum = [](const std::string &sizes) {
    return "block sizes [" + sizes +
           "] (%x: $M, %y: $M) -> f64 {\n%0 = tok.binary mul %x, %y : ($M, $M) -> "
           "$M\n"
           "%1 = tok.aggregate sum full %0 : $M -> f64\nreturn %1 : f64\n}";
  };
  auto first = compiler.compile(parse(sum("s0, s1, s0, s1")));
  auto renamed = compiler.compile(parse(sum("s7, s2, s7, s2")));
  auto vectors = compiler.compile(parse(sum("s0, 1, s0, 1")));
  ASSERT_TRUE(succeeded(first) && succeeded(renamed) && succeeded(vectors));
  EXPECT_EQ(first->kernel, renamed->kernel);
  EXPECT_NE(first->kernel, vectors->kernel);
  EXPECT_EQ(compiler.statistics().compiled, 2);
}

TEST_F(KernelCompilerTest, ExplainsWhatItGenerates) {
  std::string loops, llvmText, assembly;
  KernelCompilerOptions options;
  options.explainLoops = [&](const std::string &, const std::string &text) { loops = text; };
  options.explainLlvm = [&](const std::string &, const std::string &text) { llvmText = text; };
  options.explainAssembly = [&](const std::string &, const std::string &text) { assembly = text; };
  KernelCompiler explaining(options);
  auto plan = explaining.compile(parse(R"(block sizes [s0, s1] (%x: $M) -> $M {
    %0 = tok.unary exp %x : $M -> $M
    return %0 : $M
  })"));
  ASSERT_TRUE(succeeded(plan));
  EXPECT_NE(loops.find("scf.for"), std::string::npos);
  EXPECT_NE(llvmText.find("define i32 @cell_exp_1"), std::string::npos);
  EXPECT_NE(assembly.find("cell_exp_1:"), std::string::npos);
}

// Vectors for which there are no registers are stored where none lies in two cache lines.
TEST_F(KernelCompilerTest, StacksAreAlignedToVectors) {
  std::string assembly;
  KernelCompilerOptions options;
  options.target = &wideX86Target();
  options.keepObject = [](const std::string &, const std::string &) {};
  options.explainAssembly = [&](const std::string &, const std::string &text) { assembly = text; };
  KernelCompiler compiler(options);
  ASSERT_TRUE(
      succeeded(compiler.compile(parse(R"(block sizes [s0, 20, 20, 8] (%x: $M, %v: $M) -> $M {
    %0 = tok.matmul %x, %v : ($M, $M) -> $M
    %1 = tok.transpose %x : ($M) -> $M
    %2 = tok.matmul %1, %0 : ($M, $M) -> $M
    return %2 : $M
  })"))));
  EXPECT_NE(assembly.find("andq\t$-64, %rsp"), std::string::npos);
  EXPECT_NE(assembly.find("(%rsp), %zmm"), std::string::npos) << "all vectors are in registers";
}

// The LLVM IR of an operator's kernel, under its default schedule with these lines instead.
static std::string llvmOf(plan::OperatorOp op, const std::string &schedule = "") {
  std::string code;
  KernelCompilerOptions options;
  options.explainLlvm = [&](const std::string &, const std::string &text) { code = text; };
  KernelCompiler explaining(options);
  EXPECT_TRUE(succeeded(explaining.compile(op, schedule)));
  return code;
}

TEST_F(KernelCompilerTest, SumsByColumnsStayInRegisters) {
  auto storesInLoops = [&](const std::string &columns) {
    std::string code = llvmOf(parse("block sizes [s0, " + columns + ", " + columns +
                                    R"(, 1] (%x: $M, %v: $M) -> $M {
      %0 = tok.matmul %x, %v : ($M, $M) -> $M
      %1 = tok.transpose %x : ($M) -> $M
      %2 = tok.matmul %1, %0 : ($M, $M) -> $M
      return %2 : $M
    })"));
    // The registers of a loop begin with what `phi` chooses.
    std::string tile = code.substr(0, code.find("\n}"));
    size_t store = tile.find("store <8 x double>"), lastLoop = tile.rfind("phi ");
    EXPECT_NE(store, std::string::npos);
    return store < lastLoop;
  };
  EXPECT_FALSE(storesInLoops("100"));
  EXPECT_FALSE(storesInLoops("128"));
  EXPECT_TRUE(storesInLoops("s1"));
  EXPECT_TRUE(storesInLoops("129"));
}

TEST_F(KernelCompilerTest, StreamsArePrefetchedIfTheScheduleSaysSo) {
  plan::OperatorOp op = parse(R"(block sizes [s0, s1, s0, s1] (%x: $M, %y: $M) -> $M {
    %0 = tok.binary mul %x, %y : ($M, $M) -> $M
    return %0 : $M
  })");
  EXPECT_NE(llvmOf(op, "streams prefetched by 2048").find("@llvm.prefetch"), std::string::npos);
  EXPECT_EQ(llvmOf(op, "streams followed").find("@llvm.prefetch"), std::string::npos);
}

// The loop that prefetches, from the block that its last branch returns to, stores nothing.
TEST_F(KernelCompilerTest, AggregatesOfNarrowRowsStayInRegisters) {
  std::string code = llvmOf(parse(R"(block sizes [s0, 10, 10, 1] (%x: $M, %v: $M) -> $M {
    %0 = tok.matmul %x, %v : ($M, $M) -> $M
    %1 = tok.transpose %x : ($M) -> $M
    %2 = tok.matmul %1, %0 : ($M, $M) -> $M
    return %2 : $M
  })"),
                            "streams followed");
  size_t phi = code.rfind(" phi ", code.find("call void @llvm.prefetch"));
  size_t label = code.rfind("\n\n", phi) + 2;
  std::string name = code.substr(label, code.find(':', label) - label);
  size_t end = code.rfind("label %" + name);
  ASSERT_NE(end, std::string::npos);
  ASSERT_GT(end, phi);
  std::string loop = code.substr(phi, end - phi);
  EXPECT_NE(loop.find("@llvm.fma"), std::string::npos);
  EXPECT_EQ(loop.find("store <"), std::string::npos);
}

// The last two columns of ten.
TEST_F(KernelCompilerTest, ConstantlyManyCellsAreStoredWithoutMask) {
  std::string code = llvmOf(parse(R"(block sizes [s0, 10] (%x: $M) -> $M {
    %0 = tok.aggregate max row %x : $M -> $M
    %1 = tok.binary sub %x, %0 : ($M, $M) -> $M
    return %1 : $M
  })"));
  EXPECT_NE(code.find("store <2 x double>"), std::string::npos);
  EXPECT_EQ(code.find("@llvm.masked.store"), std::string::npos);
}

// Results that bypass the caches have the same cells, also in a tile that does not begin at a multiple
// of a vector's bytes, where they can't.
TEST_F(KernelCompilerTest, LargeResultsBypassTheCaches) {
  plan::OperatorOp op = parse(R"(block sizes [s0, s1] (%x: $M) -> $M {
    %0 = tok.unary neg %x : $M -> $M
    return %0 : $M
  })");
  EXPECT_NE(llvmOf(op).find("!nontemporal"), std::string::npos);
  EXPECT_NE(llvmOf(op).find("fence seq_cst"), std::string::npos);
  auto plan = compiler.compile(op);
  ASSERT_TRUE(succeeded(plan));
  constexpr int64_t cells = 75;
  AlignedDoubles x(cells), y(cells + 1);
  for (int64_t i = 0; i < cells; ++i)
    x.data()[i] = static_cast<double>(i);
  for (int64_t first : {0, 1}) {
    y.clear();
    TokArray input{x.data(), {cells, 1}, TOK_F64, TOK_DENSE, 0, nullptr, nullptr}, output = input;
    output.data = y.data() + first;
    output.bypassesCaches = 1;
    std::vector<int64_t> sizes(plan->sizes.size(), 1);
    TokArguments arguments{TOK_ABI_VERSION, &input, nullptr, &output, sizes.data()};
    TokTile tile{0, cells, 0};
    TokWorkspace workspace{nullptr, nullptr, -1};
    ASSERT_EQ(plan->kernel(&arguments, &tile, &workspace), 0);
    for (int64_t i = 0; i < cells; ++i)
      EXPECT_EQ(y.data()[first + i], static_cast<double>(-i));
  }
}

// Valid operators that no kernel is generated for yet.
TEST_F(KernelCompilerTest, RefusesWhatHasNoCode) {
  auto refused = [&](const std::string &axes, const std::string &body) {
    return refusal(
        "%r = plan.operator (%x = %a [s0, s1], %s0 = %s) axes [" + axes +
        "] -> [s0, s1] : ($M, f64) -> $M {\n%0 = plan.read %x (d0, d1) -> (d0, d1) : $M -> "
        "!plan.cell<(d0, d1) -> f64>\n" +
        body + "\n}");
  };
  std::string cells = "!plan.cell<(d0, d1) -> f64>";
  std::string written = "\nplan.write %1 to 0 (d0, d1) -> (d0, d1) : " + cells;
  EXPECT_NE(refused("s0, s1", "%1 = plan.read %x (d0, d1) -> (d0 floordiv 2, d1) outside 0.0 : "
                              "$M -> " +
                                  cells + written)
                .find("no code for places that are not linear"),
            std::string::npos);
  EXPECT_NE(
      refused("s0, s1", "%1 = plan.read %x (d0, d1) -> (d0 - 1, d1) : $M -> " + cells + written)
          .find("may read places outside of the array"),
      std::string::npos);
  EXPECT_NE(refused("s0 scanned, s1 scanned",
                    "%2 = plan.scan sum %0 over [d0] in f64 : " + cells + " -> " + cells +
                        "\n%1 = plan.scan sum %2 over [d1] in f64 : " + cells + " -> " + cells +
                        written)
                .find("has no parallel axis"),
            std::string::npos);
}

} // namespace
