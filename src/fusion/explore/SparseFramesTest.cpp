// Which operations may be computed at the entries of a sparse array only: each rule with positive and
// negative cases; and a comparison of the proofs of zeros with evaluation.
#include "base/CellOperators.h"
#include "fusion/explore/MemoTable.h"
#include "fusion/explore/Notation.h"
#include "fusion/explore/TestBlock.h"

#include <cmath>
#include <random>

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

struct SparseBlock {
  SparseBlock(llvm::StringRef arguments, llvm::StringRef results, llvm::StringRef body)
      : block(arguments, results, body),
        graph(block.function(),
              [&](mlir::Value value) -> const tok::Facts & { return block.factsOf(value); }),
        memo(explore(graph)) {}

  mlir::Value argument(int number) { return block.function().getArgument(number); }
  mlir::Value resultOf(int operation) { return graph[operation].operation->getResult(0); }

  // The axes that the operation runs over in frames driven by the argument, those that it reduces
  // behind a slash (i: rows, j: columns, k: another), followed by "+0" if operand 0 is fusable and
  // "!" if the result can be stored: "ijk/j +0!". "" if it is not legal.
  std::string axes(int operation, int driver = 0) {
    auto letters = [](Axes axes) {
      return std::string(has(axes, Axes::Rows) ? "i" : "") + (has(axes, Axes::Columns) ? "j" : "") +
             (has(axes, Axes::Other) ? "k" : "");
    };
    for (const MemoGroup &group : memo.groups[operation]) {
      if (memo.frames[group.frame].driver != argument(driver))
        continue;
      std::string text = letters(group.over);
      if (group.reduced != Axes())
        text += "/" + letters(group.reduced);
      for (int operand : {0, 1})
        if (group.fusable >> operand & 1)
          text += " +" + std::to_string(operand);
      return text + (group.storable ? "!" : "");
    }
    return "";
  }

  std::string refusals() {
    std::string text;
    for (const Refusal &refusal : memo.refusals)
      text += std::to_string(refusal.operation) + ": " + refusal.reason + "\n";
    return text;
  }

  TestBlock block;
  BlockGraph graph;
  MemoTable memo;
};

} // namespace

TEST(SparseFrames, elementwiseValuesAreStoredWhereTheyAreProvedZero) {
  SparseBlock block("S:mxn/0.01 Y:mxn y:mx1 s", "!m, !m, !m", R"(
    %one = tok.constant 1.0 : f64
    %1 = tok.unary exp %S : !m -> !m
    %2 = tok.binary sub %1, %one : (!m, f64) -> !m
    %3 = tok.binary mul %2, %Y : (!m, !m) -> !m
    %4 = tok.binary add %S, %y : (!m, !m) -> !m
    return %3, %4, %1 : !m, !m, !m)");
  EXPECT_EQ(block.axes(1), "ij");
  EXPECT_EQ(block.axes(2), "ij +0!") << "exp(0) - 1 is zero";
  EXPECT_EQ(block.axes(3), "ij +0!");
  EXPECT_EQ(block.axes(4), "") << "it can't be stored, and nothing uses it";
  EXPECT_TRUE(block.graph.facts().isSparse(block.resultOf(3)));
  EXPECT_FALSE(block.graph.facts().isSparse(block.resultOf(4)));
  EXPECT_EQ(block.refusals(), "1: not zero where S is zero\n4: not zero where S is zero\n");
}

TEST(SparseFrames, aProductWithAnIndicatorMakesAnUnsafeDifferenceSafe) {
  SparseBlock block("S:pxq/0.01 U:pxr V:qxr", "f64, !m", R"(
    %zero = tok.constant 0.0 : f64
    %1 = tok.transpose %V : (!m) -> !m
    %2 = tok.matmul %U, %1 : (!m, !m) -> !m
    %3 = tok.binary sub %S, %2 : (!m, !m) -> !m
    %4 = tok.binary ne %S, %zero : (!m, f64) -> !m
    %5 = tok.binary mul %4, %3 : (!m, !m) -> !m
    %6 = tok.binary mul %5, %5 : (!m, !m) -> !m
    %7 = tok.aggregate sum full %6 : !m -> f64
    %8 = tok.matmul %5, %V : (!m, !m) -> !m
    return %7, %8 : f64, !m)");
  EXPECT_EQ(block.axes(2), "ijk/k");
  EXPECT_EQ(block.axes(3), "ij +1") << "not stored: it is not zero where S is";
  EXPECT_EQ(block.axes(5), "ij +0 +1!");
  EXPECT_EQ(block.axes(7), "ij/ij +0!");
  EXPECT_EQ(block.axes(8), "ijk/j +0!");
}

TEST(SparseFrames, aggregatesNeedZerosElsewhere) {
  SparseBlock block("S:mxn/0.01 Y:mxn", "f64, f64, !m, !m, !m, f64", R"(
    %0 = tok.aggregate sum full %S : !m -> f64
    %1 = tok.binary add %S, %Y : (!m, !m) -> !m
    %2 = tok.aggregate sum full %1 : !m -> f64
    %3 = tok.aggregate max row %S : !m -> !m
    %4 = tok.aggregate sum column %S : !m -> !m
    %5 = tok.aggregate max column %S : !m -> !m
    %6 = tok.aggregate min full %S : !m -> f64
    %7 = tok.aggregate index_max row %S : !m -> !m
    return %0, %2, %3, %4, %5, %6 : f64, f64, !m, !m, !m, f64)");
  EXPECT_EQ(block.axes(0), "ij/ij!");
  EXPECT_EQ(block.axes(2), "");
  EXPECT_EQ(block.axes(3), "ij/j!");
  EXPECT_EQ(block.axes(4), "ij/i!");
  EXPECT_EQ(block.axes(5), "") << "only sums are taken by columns";
  EXPECT_EQ(block.axes(6), "ij/ij!") << "full minima know the zeros between entries";
  EXPECT_EQ(block.axes(7), "");
  EXPECT_NE(block.refusals().find("2: its operand is not zero where S is zero"), std::string::npos)
      << block.refusals();
}

// The patterns of several arrays, as "S T; S T R".
static std::string unions(SparseBlock &block) {
  std::string text;
  for (const EntryPattern &pattern : block.graph.facts().patterns()) {
    if (pattern.arrays.size() < 2)
      continue;
    text += text.empty() ? "" : "; ";
    for (mlir::Value array : pattern.arrays)
      text += (array == pattern.arrays.front() ? "" : " ") + notation(array);
  }
  return text;
}

TEST(SparseFrames, entriesOfSeveralArraysWhereNoneAloneWillDo) {
  SparseBlock block("S:mxn/0.01 T:mxn/0.02 R:mxn/0.1", "!m, !m, !m, f64", R"(
    %one = tok.constant 1.0 : f64
    %1 = tok.binary add %S, %T : (!m, !m) -> !m
    %2 = tok.binary max %1, %R : (!m, !m) -> !m
    %3 = tok.binary sub %T, %S : (!m, !m) -> !m
    %4 = tok.binary mul %S, %T : (!m, !m) -> !m
    %5 = tok.binary sub %S, %one : (!m, f64) -> !m
    %6 = tok.binary add %T, %one : (!m, f64) -> !m
    %7 = tok.binary add %5, %6 : (!m, !m) -> !m
    %8 = tok.aggregate sum full %3 : !m -> f64
    return %2, %4, %7, %8 : !m, !m, !m, f64)");
  // The unions for the maximum, for the sum computed from S, T and R, and for
  // the sum if S + T is stored.
  EXPECT_EQ(unions(block), "S T; S T R; R S + T");
  const BlockFacts &facts = block.graph.facts();
  for (int sparse : {1, 2, 3, 4, 7})
    EXPECT_TRUE(facts.isSparse(block.resultOf(sparse))) << sparse;
  EXPECT_FALSE(facts.isSparse(block.resultOf(5)));
  EXPECT_DOUBLE_EQ(facts.densityOf(block.resultOf(1)), 1 - 0.99 * 0.98);
  EntryPattern both = block.argument(0);
  both.arrays.push_back(block.argument(1));
  EXPECT_EQ(facts.whereZero(both, block.resultOf(5)).constant(), -1.0);
  EXPECT_EQ(facts.whereZero(both, block.resultOf(7)).constant(), 0.0);
  EXPECT_FALSE(facts.whereZero(both, block.resultOf(2)).constant());
  EXPECT_FALSE(facts.whereZero(block.argument(0), block.resultOf(1)).constant());
  int aggregates = 0;
  for (const MemoGroup &group : block.memo.groups[8])
    aggregates += block.memo.frames[group.frame].driver == both;
  EXPECT_EQ(aggregates, 1);
  EXPECT_EQ(block.refusals(), "");
}

TEST(SparseFrames, nothingIsUnitedInVain) {
  // Cases: not zero outside both; different sizes; a dense operand; a union that is too dense.
  SparseBlock block("S:mxn/0.01 T:mxn/0.02 U:mxq/0.01 D:mxn F:mxn/0.245 v:mx1 r:1xn/0.02",
                    "!m, !m, !m, !m, !m, !m, !m, !m", R"(
    %1 = tok.binary eq %S, %T : (!m, !m) -> !m
    %2 = tok.binary pow %S, %T : (!m, !m) -> !m
    %3 = tok.binary add %S, %D : (!m, !m) -> !m
    %4 = tok.binary add %S, %F : (!m, !m) -> !m
    %5 = tok.binary mul %S, %T : (!m, !m) -> !m
    %6 = tok.binary add %S, %v : (!m, !m) -> !m
    %7 = tok.binary add %S, %S : (!m, !m) -> !m
    %8 = tok.binary add %S, %r : (!m, !m) -> !m
    return %1, %2, %3, %4, %5, %6, %7, %8 : !m, !m, !m, !m, !m, !m, !m, !m)");
  EXPECT_EQ(unions(block), "");
}

TEST(SparseFrames, productsFromBothSides) {
  SparseBlock block("S:mxq/0.01 v:qx1 V:qxr u:mx1 Q:mxr B:qxq", "!m, !m, !m, !m, !m, !m, !m", R"(
    %0 = tok.matmul %S, %v : (!m, !m) -> !m
    %1 = tok.matmul %S, %V : (!m, !m) -> !m
    %2 = tok.transpose %S : (!m) -> !m
    %3 = tok.matmul %2, %u : (!m, !m) -> !m
    %4 = tok.matmul %2, %1 : (!m, !m) -> !m
    %5 = tok.transpose %u : (!m) -> !m
    %6 = tok.matmul %5, %S : (!m, !m) -> !m
    %7 = tok.transpose %Q : (!m) -> !m
    %8 = tok.matmul %7, %S : (!m, !m) -> !m
    %9 = tok.matmul %S, %B : (!m, !m) -> !m
    return %0, %1, %3, %4, %6, %8, %9 : !m, !m, !m, !m, !m, !m, !m)");
  EXPECT_EQ(block.axes(0), "ij/j!");
  EXPECT_EQ(block.axes(1), "ijk/j!");
  EXPECT_EQ(block.axes(3), "ij/i!");
  EXPECT_EQ(block.axes(4), "ijk/i +1!");
  EXPECT_EQ(block.axes(6), "ij/i!");
  EXPECT_EQ(block.axes(8), "ijk/i!");
  EXPECT_EQ(block.axes(9), "") << "as wide as S: not beside its rows";
}

// Dense rows are limited to narrow factors, since loops over these are unrolled; loops at entries aren't.
TEST(SparseFrames, factorsAsWideAsTheyLike) {
  SparseBlock block("S:mxq/0.01 V:qx300 Q:mx100", "!m, !m", R"(
    %0 = tok.matmul %S, %V : (!m, !m) -> !m
    %1 = tok.transpose %Q : (!m) -> !m
    %2 = tok.matmul %1, %S : (!m, !m) -> !m
    return %0, %2 : !m, !m)");
  EXPECT_EQ(block.axes(0), "ijk/j!");
  EXPECT_EQ(block.axes(2), "ijk/i!");
}

TEST(SparseFrames, aSampledProductOfAMatrixThatIsNoTranspose) {
  SparseBlock block("S:pxq/0.01 U:pxr H:rxq", "f64", R"(
    %0 = tok.matmul %U, %H : (!m, !m) -> !m
    %1 = tok.binary mul %S, %0 : (!m, !m) -> !m
    %2 = tok.aggregate sum full %1 : !m -> f64
    return %2 : f64)");
  EXPECT_EQ(block.axes(0), "ijk/k");
  EXPECT_EQ(block.axes(1), "ij +1!");
}

TEST(SparseFrames, withoutASparseArrayALargeProductIsANative) {
  SparseBlock block("S:pxq U:pxr V:qxr", "f64", R"(
    %0 = tok.transpose %V : (!m) -> !m
    %1 = tok.matmul %U, %0 : (!m, !m) -> !m
    %2 = tok.binary mul %S, %1 : (!m, !m) -> !m
    %3 = tok.aggregate sum full %2 : !m -> f64
    return %3 : f64)");
  EXPECT_TRUE(block.graph[1].spaces.empty()) << "only loops over any axes compute it";
}

TEST(SparseFrames, aResultWithSeveralConsumersCanDrive) {
  SparseBlock block("S:pxq/0.01 U:pxr+ V:qxr+", "!m, f64", R"(
    %0 = tok.transpose %V : (!m) -> !m
    %1 = tok.matmul %U, %0 : (!m, !m) -> !m
    %2 = tok.binary div %S, %1 : (!m, !m) -> !m
    %3 = tok.matmul %2, %V : (!m, !m) -> !m
    %4 = tok.aggregate sum full %2 : !m -> f64
    return %3, %4 : !m, f64)");
  bool drives = false;
  for (const Frame &frame : block.memo.frames)
    drives |= frame.driver == block.resultOf(2);
  EXPECT_TRUE(drives);
}

// What is computed at the entries has the driver's element type; over all cells types are mixed.
TEST(SparseFrames, operatorsAtTheEntriesHaveOneElementType) {
  SparseBlock block("X:mxn", "f64", R"(
    %0 = tok.unary abs %X : !m -> !m
    %1 = tok.cast %0 : !m -> tensor<?x?xf32>
    %2 = tok.unary exp %1 : tensor<?x?xf32> -> tensor<?x?xf32>
    %3 = tok.aggregate sum full %2 : tensor<?x?xf32> -> f64
    return %3 : f64)");
  EXPECT_FALSE(block.graph[1].elementType);
  EXPECT_TRUE(block.graph[2].elementType.isF32());
  for (auto [number, frame] : llvm::enumerate(block.memo.frames))
    for (int node : {1, 2, 3})
      if (frame.driver)
        EXPECT_FALSE(block.memo.find(node, static_cast<int>(number)));
      else
        EXPECT_TRUE(block.memo.find(node, static_cast<int>(number)));
}

//===- the property --------------------------------------------------------------------------===//

namespace {

// Evaluates one cell of each value of a block of elementwise operations,
// given those of the arguments.
class CellEvaluation {
public:
  explicit CellEvaluation(std::vector<double> arguments) : arguments_(std::move(arguments)) {}
  bool finite = true; // no intermediate value was Inf or NaN

  double operator()(mlir::Value value) {
    double result = compute(value);
    finite &= std::isfinite(result);
    return result;
  }

private:
  double compute(mlir::Value value) {
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value))
      return arguments_[argument.getArgNumber()];
    mlir::Operation *op = value.getDefiningOp();
    if (auto constant = mlir::dyn_cast<tok::ConstantOp>(op))
      return mlir::cast<mlir::FloatAttr>(constant.getValue()).getValueAsDouble();
    if (auto unary = mlir::dyn_cast<tok::UnaryOp>(op))
      return evaluate(unary.getKind(), (*this)(unary.getOperand()));
    if (auto binary = mlir::dyn_cast<tok::BinaryOp>(op)) {
      double left = (*this)(binary.getLhs());
      return evaluate(binary.getKind(), left, (*this)(binary.getRhs()));
    }
    double condition = (*this)(op->getOperand(0)), then = (*this)(op->getOperand(1)),
           otherwise = (*this)(op->getOperand(2));
    return condition != 0 ? then : otherwise;
  }

  std::vector<double> arguments_;
};

// A block of random operations on the arguments S, Y (matrices) and y (a
// vector with a value per row).
std::string randomExpressions(unsigned seed, int operations) {
  static constexpr const char *unary[] = {"exp", "abs", "sqrt", "sign", "neg", "sin", "cos", "not"};
  static constexpr const char *binary[] = {"add", "sub", "mul", "div", "mul", "pow", "max", "min",
                                           "eq",  "ne",  "lt",  "gt",  "and", "or",  "mod"};
  std::mt19937 random(seed);
  std::vector<std::string> values = {"%S", "%S", "%Y", "%y"}, constants = {"%c0", "%c1", "%c2"};
  std::string body = "%c0 = tok.constant 0.0 : f64\n%c1 = tok.constant 1.0 : f64\n"
                     "%c2 = tok.constant -2.5 : f64\n";
  auto pick = [&](const auto &list) { return std::string(list[random() % std::size(list)]); };
  for (int i = 0; i < operations; ++i) {
    std::string name = "%" + std::to_string(i);
    // A vector may only be the right operand.
    std::string left = pick(values), right = pick(values);
    while (left == "%y")
      left = pick(values);
    body += name + " = tok.";
    switch (random() % 4) {
    case 0:
      body += "unary " + pick(unary) + " " + left + " : !m -> !m\n";
      break;
    case 1:
      body += random() % 2 ? "binary " + pick(binary) + " " + left + ", " + pick(constants) +
                                 " : (!m, f64) -> !m\n"
                           : "binary " + pick(binary) + " " + pick(constants) + ", " + left +
                                 " : (f64, !m) -> !m\n";
      break;
    default:
      body += "binary " + pick(binary) + " " + left + ", " + right + " : (!m, !m) -> !m\n";
      break;
    }
    values.push_back(name);
  }
  return body + "return " + values.back() + " : !m";
}

} // namespace

TEST(SparseFrames, whatIsClaimedZeroEvaluatesToZero) {
  int claimed = 0, refused = 0;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> around(-4, 4);
  for (unsigned seed = 0; seed < 400; ++seed) {
    SparseBlock block("S:mxn/0.01 Y:mxn y:mx1", "!m", randomExpressions(seed, 12));
    mlir::Value driver = block.argument(0);
    for (int index : block.graph.nodes()) {
      mlir::Value value = block.resultOf(index);
      CellFact fact = block.graph.facts().whereZero(driver, value);
      (fact.constant() ? claimed : refused) += 1;
      for (int trial = 0; trial < 20; ++trial) {
        CellEvaluation evaluation({0.0, std::round(around(random) * 2) / 2, around(random)});
        double actual = evaluation(value);
        if (evaluation.finite)
          ASSERT_TRUE(fact.allows(actual))
              << actual << ", seed " << seed << ", operation " << index << "\n"
              << randomExpressions(seed, 12);
      }
    }
  }
  EXPECT_GT(claimed, 400);
  EXPECT_GT(refused, 400);
}

TEST(SparseFrames, whatIsClaimedZeroBesideTwoArraysEvaluatesToZero) {
  int claimed = 0, ofBothOnly = 0;
  std::mt19937 random(8);
  std::uniform_real_distribution<double> around(-4, 4);
  for (unsigned seed = 1000; seed < 1800; ++seed) {
    SparseBlock block("S:mxn/0.01 Y:mxn/0.02 y:mx1", "!m", randomExpressions(seed, 6));
    const BlockFacts &facts = block.graph.facts();
    EntryPattern both = block.argument(0);
    both.arrays.push_back(block.argument(1));
    for (int index : block.graph.nodes()) {
      mlir::Value value = block.resultOf(index);
      CellFact fact = facts.whereZero(both, value);
      claimed += fact.constant().has_value();
      ofBothOnly += fact.constant() && !facts.whereZero(block.argument(0), value).constant() &&
                    !facts.whereZero(block.argument(1), value).constant();
      for (int trial = 0; trial < 20; ++trial) {
        CellEvaluation evaluation({0.0, 0.0, around(random)});
        double actual = evaluation(value);
        if (evaluation.finite)
          ASSERT_TRUE(fact.allows(actual))
              << actual << ", seed " << seed << ", operation " << index << "\n"
              << randomExpressions(seed, 6);
      }
    }
  }
  EXPECT_GT(claimed, 400);
  EXPECT_GT(ofBothOnly, 100);
}
