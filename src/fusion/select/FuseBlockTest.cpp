#include "fusion/select/FusedBlock.h"

#include "cost/CellCost.h"

using namespace tokamak;
using namespace tokamak::fusion;

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

static constexpr const char *sumOfProduct = R"(
  %0 = tok.binary mul %X, %Y : (!m, !m) -> !m
  %1 = tok.binary mul %0, %Z : (!m, !m) -> !m
  %2 = tok.aggregate sum full %1 : !m -> f64
  return %2 : f64)";

TEST(FuseBlock, sumOfProductIsOneOperator) {
  for (Selector selector : {Selector::All, Selector::NoRedundancy, Selector::Cost})
    EXPECT_EQ(FusedBlock("X:mxn Y:mxn Z:mxn", "f64", sumOfProduct).fuse(selector).operators(),
              "cell(3) -> 1");
}

// A long chain is cut into kernels that are small enough to compile fast.
TEST(FuseBlock, longChainsAreCut) {
  std::string text = "%0 = tok.unary abs %X : !m -> !m\n";
  constexpr int length = 600;
  for (int i = 1; i < length; ++i)
    text +=
        "%" + std::to_string(i) + " = tok.unary neg %" + std::to_string(i - 1) + " : !m -> !m\n";
  text += "return %" + std::to_string(length - 1) + " : !m";
  for (Selector selector : {Selector::All, Selector::NoRedundancy, Selector::Cost}) {
    FusedBlock block("X:mxn", "!m", text);
    EXPECT_EQ(block.fuse(selector).operators(), "cell(1) -> 1; cell(1) -> 1; cell(1) -> 1");
    EXPECT_EQ(block.countInBodies<plan::UnaryOp>(), length);
    for (plan::OperatorOp op : block.function().getOps<plan::OperatorOp>())
      EXPECT_LE(llvm::range_size(op.getBody().getOps<plan::UnaryOp>()), 256u);
  }
}

// A polynomial of 40 steps, as in probit models, and its sum are one kernel with two results.
TEST(FuseBlock, longBodiesHaveSeveralResults) {
  std::string text = "%0 = tok.unary abs %X : !m -> !m\n";
  for (int i = 1; i < 80; i += 2) {
    std::string product = "%" + std::to_string(i), sum = "%" + std::to_string(i + 1);
    text += product + " = tok.binary mul %" + std::to_string(i - 1) + ", %X : (!m, !m) -> !m\n" +
            sum + " = tok.binary add " + product + ", %s : (!m, f64) -> !m\n";
  }
  text += "%total = tok.aggregate sum full %80 : !m -> f64\nreturn %80, %total : !m, f64";
  EXPECT_EQ(FusedBlock("X:mxn s", "!m, f64", text).fuse().operators(), "cell(2) -> 2");
}

// The time to stream arrays that exceed the cache is proportional to their bytes.
TEST(FuseBlock, cellsOfSinglePrecisionCostHalf) {
  auto predicted = [](const char *cells, const char *arguments) {
    FusedBlock block(arguments, "!m", R"(
      %0 = tok.binary mul %X, %Y : (!m, !m) -> !m
      return %0 : !m)",
                     cells);
    plan::OperatorOp op = *block.fuse().function().getOps<plan::OperatorOp>().begin();
    return op->getAttrOfType<mlir::FloatAttr>("predicted_ns").getValueAsDouble();
  };
  double launch = cost::MachineModel().launchNanoseconds;
  EXPECT_NEAR((predicted("f64", "X:mxn Y:mxn") - launch) /
                  (predicted("f32", "X:mxn Y:mxn") - launch),
              2, 0.01);
  // An entry also has a column index of 4 bytes.
  double dense = predicted("f64", "X:pxq/0.01 Y:pxq"),
         single = predicted("f32", "X:pxq/0.01 Y:pxq");
  EXPECT_LT(single, dense);
  EXPECT_GT(single, dense / 2);
}

// Where arithmetic bounds the time, it depends on the type that is computed in.
TEST(FuseBlock, functionsOfSinglePrecisionCostHalf) {
  auto computing = [](const char *cells) {
    FusedBlock block("X:mxn", "f64", R"(
      %0 = tok.unary tan %X : !m -> !m
      %1 = tok.aggregate sum full %0 : !m -> f64
      return %1 : f64)",
                     cells);
    plan::OperatorOp op = *block.fuse().function().getOps<plan::OperatorOp>().begin();
    return op->getAttrOfType<mlir::FloatAttr>("predicted_ns").getValueAsDouble() -
           cost::MachineModel().launchNanoseconds;
  };
  using enum ElementType;
  auto additions = [](ElementType cells) {
    return cost::additionsOf(UnaryOperator::Tan, cells, {}) +
           cost::additionsOfAggregating(AggregateKind::Sum, cells);
  };
  EXPECT_NEAR(computing("f64") / computing("f32"), additions(F64) / additions(F32), 0.01);
  EXPECT_NEAR(computing("bf16") / computing("f32"), additions(BF16) / additions(F32), 0.01);
}

TEST(FuseBlock, productsOfSinglePrecisionCostHalf) {
  auto computing = [](const char *cells) {
    FusedBlock block("X:10000x500 V:500x20", "!m", R"(
      %0 = tok.matmul %X, %V : (!m, !m) -> !m
      %1 = tok.binary mul %0, %0 : (!m, !m) -> !m
      return %1 : !m)",
                     cells);
    block.machine.firstTouchOfSmallPagesNanosecondsPerByte = 0; // smaller results take none
    plan::OperatorOp op = *block.fuse().function().getOps<plan::OperatorOp>().begin();
    return op->getAttrOfType<mlir::FloatAttr>("predicted_ns").getValueAsDouble() -
           cost::MachineModel().launchNanoseconds;
  };
  EXPECT_NEAR(computing("f64") / computing("f32"), 2, 0.05);
}

TEST(FuseBlock, noneMakesEveryOperationAnOperator) {
  FusedBlock block("X:mxn Y:mxn Z:mxn", "f64", sumOfProduct);
  EXPECT_EQ(block.fuse(Selector::None).operators(), "cell(2) -> 1; cell(2) -> 1; cell(1) -> 1");
}

TEST(FuseBlock, twoSumsShareOnePass) {
  FusedBlock block("X:mxn Y:mxn Z:mxn", "f64, f64", R"(
    %0 = tok.binary mul %X, %Y : (!m, !m) -> !m
    %1 = tok.aggregate sum full %0 : !m -> f64
    %2 = tok.binary mul %X, %Z : (!m, !m) -> !m
    %3 = tok.aggregate sum full %2 : !m -> f64
    return %1, %3 : f64, f64)");
  EXPECT_EQ(block.fuse().operators(), "multiagg(3) -> 2");
}

TEST(FuseBlock, rowTemplateComputesTheChainOfProducts) {
  const char *text = R"(
    %0 = tok.matmul %X, %v : (!m, !m) -> !m
    %1 = tok.binary mul %w, %0 : (!m, !m) -> !m
    %2 = tok.transpose %X : (!m) -> !m
    %3 = tok.matmul %2, %1 : (!m, !m) -> !m
    return %3 : !m)";
  for (Selector selector : {Selector::All, Selector::NoRedundancy, Selector::Cost}) {
    FusedBlock block("X:mxn v:nx1 w:mx1", "!m", text);
    EXPECT_EQ(block.fuse(selector).operators(), "row(3) -> 1");
    EXPECT_EQ(block.countInBodies<plan::ReduceOp>(), 2);
    EXPECT_EQ(block.countInBodies<plan::ReadOp>(), 3) << "X is read once";
  }
  FusedBlock alone("X:mxn v:nx1 w:mx1", "!m", text);
  EXPECT_EQ(alone.fuse(Selector::None).operators(), "row(2) -> 1; cell(2) -> 1; row(2) -> 1");
}

// The inner loop of L2SVM: out = 1 - Y*(Xw + step*Xd), sv = out > 0, out = out*sv.
static constexpr const char *innerLoop = R"(
  %one = tok.constant 1.0 : f64
  %zero = tok.constant 0.0 : f64
  %0 = tok.binary mul %step, %Xd : (f64, !m) -> !m
  %1 = tok.binary add %Xw, %0 : (!m, !m) -> !m
  %2 = tok.binary mul %Y, %1 : (!m, !m) -> !m
  %out = tok.binary sub %one, %2 : (f64, !m) -> !m loc("out")
  %sv = tok.binary gt %out, %zero : (!m, f64) -> !m loc("sv")
  %active = tok.binary mul %out, %sv : (!m, !m) -> !m loc("active")
  %3 = tok.binary mul %active, %Y : (!m, !m) -> !m
  %4 = tok.binary mul %3, %Xd : (!m, !m) -> !m
  %5 = tok.aggregate sum full %4 : !m -> f64
  %6 = tok.binary mul %step, %dd : (f64, f64) -> f64
  %7 = tok.binary add %wd, %6 : (f64, f64) -> f64
  %g = tok.binary sub %7, %5 : (f64, f64) -> f64 loc("g")
  %8 = tok.binary mul %Xd, %sv : (!m, !m) -> !m
  %9 = tok.binary mul %8, %Xd : (!m, !m) -> !m
  %10 = tok.aggregate sum full %9 : !m -> f64
  %h = tok.binary add %dd, %10 : (f64, f64) -> f64 loc("h")
  return %g, %h : f64, f64)";

TEST(FuseBlock, innerLoopOfL2svmStoresNothing) {
  FusedBlock block("Xw:mx1 Xd:mx1 Y:mx1 step wd dd", "f64, f64", innerLoop);
  EXPECT_EQ(block.fuse().operators(), "multiagg(4) -> 2");
  EXPECT_EQ(block.countInBodies<plan::BinaryOp>(), 10) << "shared results are computed once";
  EXPECT_CONTAINS(block.explanation,
                  "out: result has 2 consumers, ~1000000x1: computed once, not stored");
}

TEST(FuseBlock, selectorsDifferOnTheInnerLoop) {
  std::string arguments = "Xw:mx1 Xd:mx1 Y:mx1 step wd dd";
  FusedBlock all(arguments, "f64, f64", innerLoop), frugal(arguments, "f64, f64", innerLoop);
  EXPECT_EQ(all.fuse(Selector::All).operators(), "cell(4) -> 1; cell(4) -> 1");
  EXPECT_CONTAINS(all.explanation,
                  "out: result has 2 consumers, ~1000000x1: computed in each consumer");
  EXPECT_EQ(frugal.fuse(Selector::NoRedundancy).operators(),
            "cell(4) -> 1; cell(1) -> 1; cell(4) -> 1; cell(2) -> 1");
  EXPECT_CONTAINS(frugal.explanation, "out: result has 2 consumers, ~1000000x1: stored, then read");
}

TEST(FuseBlock, updateOfConjugateGradientIsOneOperator) {
  FusedBlock block("w:mx1 p:mx1 r:mx1 q:mx1 a", "!m, !m, f64", R"(
    %two = tok.constant 2.0 : f64
    %0 = tok.binary mul %a, %p : (f64, !m) -> !m
    %1 = tok.binary add %w, %0 : (!m, !m) -> !m loc("w")
    %2 = tok.binary mul %a, %q : (f64, !m) -> !m
    %3 = tok.binary add %r, %2 : (!m, !m) -> !m loc("r")
    %4 = tok.binary pow %3, %two : (!m, f64) -> !m
    %5 = tok.aggregate sum full %4 : !m -> f64
    return %1, %3, %5 : !m, !m, f64)");
  EXPECT_EQ(block.fuse().operators(), "cell(5) -> 3");
  EXPECT_CONTAINS(block.explanation, "stored while it is used");
}

static constexpr const char *expensiveDiamond = R"(
  %e = tok.unary tan %X : !m -> !m loc("e")
  %0 = tok.binary mul %e, %Y : (!m, !m) -> !m
  %1 = tok.native "rev"(%0) : (!m) -> !m
  %2 = tok.binary mul %e, %1 : (!m, !m) -> !m
  return %2 : !m)";

TEST(FuseBlock, costDecidesWhetherToComputeAnExpensiveResultTwice) {
  // The native lies between the two consumers of e, so they can't become one operator.
  FusedBlock all("X:mxk Y:mxk", "!m", expensiveDiamond),
      best("X:mxk Y:mxk", "!m", expensiveDiamond);
  EXPECT_EQ(all.fuse(Selector::All).countInBodies<plan::UnaryOp>(), 2);
  EXPECT_EQ(best.fuse().countInBodies<plan::UnaryOp>(), 1);
  EXPECT_CONTAINS(best.explanation, "e: result has 2 consumers, ~1000000x~40: stored");

  // If writing is very slow, computing e twice is cheaper.
  FusedBlock slow("X:mxk Y:mxk", "!m", expensiveDiamond);
  slow.machine.memoryWriteBytesPerNanosecond = 0.2;
  EXPECT_EQ(slow.fuse().countInBodies<plan::UnaryOp>(), 2);
}

TEST(FuseBlock, sharedResultOfTwoAggregatesIsComputedOnce) {
  FusedBlock block("X:mxn Y:mxn Z:mxn", "f64, f64", R"(
    %e = tok.unary exp %X : !m -> !m loc("e")
    %0 = tok.binary mul %e, %Y : (!m, !m) -> !m
    %1 = tok.aggregate sum full %0 : !m -> f64
    %2 = tok.binary mul %e, %Z : (!m, !m) -> !m
    %3 = tok.aggregate sum full %2 : !m -> f64
    return %1, %3 : f64, f64)");
  EXPECT_EQ(block.fuse().operators(), "multiagg(3) -> 2");
  EXPECT_EQ(block.countInBodies<plan::UnaryOp>(), 1);
}

TEST(FuseBlock, nothingIsFusedAroundANative) {
  FusedBlock block("X:mxn Y:mxn", "f64, f64", R"(
    %0 = tok.unary exp %X : !m -> !m
    %1 = tok.aggregate sum full %0 : !m -> f64
    %2 = tok.native "scalar_native"(%1) : (f64) -> f64
    %3 = tok.binary mul %X, %2 : (!m, f64) -> !m
    %4 = tok.aggregate sum full %3 : !m -> f64
    return %1, %4 : f64, f64)");
  EXPECT_EQ(block.fuse().operators(), "cell(1) -> 1; cell(2) -> 1");
  EXPECT_CONTAINS(block.explanation, "has to be executed between them");
}

TEST(FuseBlock, crossedDependencesDoNotMakeACycle) {
  // D depends on A and B on C, so {A, B} and {C, D} can't both be operators.
  FusedBlock block("X:mxn Y:mxn", "f64, f64", R"(
    %a = tok.aggregate sum full %X : !m -> f64
    %c = tok.aggregate sum full %Y : !m -> f64
    %0 = tok.binary mul %X, %c : (!m, f64) -> !m
    %b = tok.aggregate max full %0 : !m -> f64
    %1 = tok.binary mul %Y, %a : (!m, f64) -> !m
    %d = tok.aggregate max full %1 : !m -> f64
    return %b, %d : f64, f64)");
  // {A, B}, which reads X once, saves most; then {C, D} is refused.
  EXPECT_EQ(block.fuse().operators(), "cell(1) -> 1; multiagg(2) -> 2; cell(2) -> 1");
  EXPECT_CONTAINS(block.explanation, "has to be executed between them");
}

TEST(FuseBlock, effectsKeepTheirOrder) {
  FusedBlock block("X:mxn Y:mxn", "!m, f64", R"(
    %0 = tok.unary exp %X : !m -> !m
    %1 = tok.aggregate sum full %0 : !m -> f64
    "tok.print"(%1) : (f64) -> ()
    %2 = tok.matmul %X, %Y : (!m, !m) -> !m
    "tok.print"(%2) : (!m) -> ()
    %3 = tok.binary mul %0, %X : (!m, !m) -> !m
    %4 = tok.aggregate sum full %3 : !m -> f64
    return %0, %4 : !m, f64)");
  block.fuse();
  std::string order;
  for (mlir::Operation &operation : block.function().getBody().front())
    order += operation.getName().stripDialect().str() + " ";
  EXPECT_CONTAINS(order, "print matmul print");
  EXPECT_EQ(block.operators(), "cell(1) -> 3") << "prints do not keep pure operators apart";
}

TEST(FuseBlock, everythingOverTheSameRowsIsOneRowOperator) {
  FusedBlock block("X:mxn y:mx1", "!m, !m, f64", R"(
    %0 = tok.aggregate sum row %X : !m -> !m loc("s")
    %1 = tok.binary div %X, %0 : (!m, !m) -> !m
    %2 = tok.aggregate sum column %1 : !m -> !m
    %3 = tok.binary mul %0, %y : (!m, !m) -> !m
    %4 = tok.aggregate sum full %3 : !m -> f64
    return %0, %2, %4 : !m, !m, f64)");
  EXPECT_EQ(block.fuse().operators(), "row(2) -> 3");
}

TEST(FuseBlock, outerStepOfL2svmReadsTheMatrixOnce) {
  FusedBlock block("X:mxn Y:mx1 Xw:mx1 Xd:mx1 w:nx1 d:nx1 step reg", "!m, !m, !m, f64, f64", R"(
    %one = tok.constant 1.0 : f64
    %zero = tok.constant 0.0 : f64
    %0 = tok.binary mul %step, %d : (f64, !m) -> !m
    %1 = tok.binary add %w, %0 : (!m, !m) -> !m loc("w")
    %2 = tok.binary mul %step, %Xd : (f64, !m) -> !m
    %3 = tok.binary add %Xw, %2 : (!m, !m) -> !m loc("Xw")
    %4 = tok.binary mul %Y, %3 : (!m, !m) -> !m
    %5 = tok.binary sub %one, %4 : (f64, !m) -> !m
    %margin = tok.binary max %5, %zero : (!m, f64) -> !m loc("margin")
    %6 = tok.binary mul %margin, %margin : (!m, !m) -> !m
    %7 = tok.aggregate sum full %6 : !m -> f64
    %8 = tok.transpose %X : (!m) -> !m
    %9 = tok.binary mul %margin, %Y : (!m, !m) -> !m
    %10 = tok.matmul %8, %9 : (!m, !m) -> !m
    %11 = tok.binary mul %reg, %1 : (f64, !m) -> !m
    %12 = tok.binary sub %10, %11 : (!m, !m) -> !m loc("descent")
    %13 = tok.binary mul %12, %12 : (!m, !m) -> !m
    %14 = tok.aggregate sum full %13 : !m -> f64
    return %1, %3, %12, %7, %14 : !m, !m, !m, f64, f64)");
  block.fuse();
  EXPECT_EQ(block.operators(), "row(5) -> 3; cell(5) -> 3") << block.explanation;
}

TEST(FuseBlock, vectorsAreNotComputedAgainInEveryCell) {
  FusedBlock block("X:mxk y:mx1", "!m", R"(
    %0 = tok.unary tan %y : !m -> !m loc("s")
    %1 = tok.binary mul %X, %0 : (!m, !m) -> !m
    return %1 : !m)");
  EXPECT_EQ(block.fuse().operators(), "row(2) -> 1") << "computed once a row";
}

TEST(FuseBlock, aVectorUsedAlongRowsAndColumnsIsTwoOperands) {
  FusedBlock block("A:mxm p:mx1", "f64", R"(
    %0 = tok.matmul %A, %p : (!m, !m) -> !m
    %1 = tok.binary mul %p, %0 : (!m, !m) -> !m
    %2 = tok.aggregate sum full %1 : !m -> f64
    return %2 : f64)");
  EXPECT_EQ(block.fuse().operators(), "row(3) -> 1");
}

TEST(FuseBlock, theRightOperandOfAProductIsComputedBefore) {
  FusedBlock block("A:mxm p:mx1", "!m", R"(
    %0 = tok.unary exp %p : !m -> !m
    %1 = tok.matmul %A, %0 : (!m, !m) -> !m
    %2 = tok.binary mul %0, %1 : (!m, !m) -> !m
    return %2 : !m)");
  EXPECT_EQ(block.fuse(Selector::All).operators(), "cell(1) -> 1; row(3) -> 1");
  EXPECT_CONTAINS(block.explanation,
                  "the right operand of a product must be complete before the first row");
}

TEST(FuseBlock, vectorsOnTheLeftArePartOfTheKernel) {
  FusedBlock block("X:mxn c:mx1 r:1xn", "f64", R"(
    %0 = tok.unary exp %r : !m -> !m
    %1 = tok.binary add %0, %X : (!m, !m) -> !m
    %2 = tok.binary mul %c, %1 : (!m, !m) -> !m
    %3 = tok.binary add %c, %r : (!m, !m) -> !m
    %4 = tok.binary sub %2, %3 : (!m, !m) -> !m
    %5 = tok.aggregate sum full %4 : !m -> f64
    return %5 : f64)");
  EXPECT_EQ(block.fuse(Selector::All).operators(), "row(3) -> 1") << block.explanation;
}

TEST(FuseBlock, sizesThatDisagreeStayUnfused) {
  FusedBlock block("X:mxn Y:kxn", "f64", R"(
    %0 = tok.binary add %X, %Y : (!m, !m) -> !m
    %1 = tok.unary exp %0 : !m -> !m
    %2 = tok.aggregate sum full %1 : !m -> f64
    return %2 : f64)");
  EXPECT_EQ(block.fuse().operators(), "cell(1) -> 1");
  EXPECT_EQ(std::distance(block.function().getOps<tok::BinaryOp>().begin(),
                          block.function().getOps<tok::BinaryOp>().end()),
            1);
  EXPECT_CONTAINS(block.explanation, "sizes not proved equal: rows of X and rows of Y");
}

TEST(FuseBlock, refusalsCarryReasons) {
  FusedBlock block("X:mxn", "!m, !m", R"(
    %0 = tok.unary exp %X : !m -> !m loc("E")
    %1 = tok.native "rev"(%0) : (!m) -> !m loc("P")
    %t = tok.transpose %X : (!m) -> !m
    %G = tok.matmul %t, %X : (!m, !m) -> !m loc("G")
    %2 = tok.aggregate sum column %1 : !m -> !m loc("c")
    %3 = tok.binary sub %1, %2 : (!m, !m) -> !m
    return %3, %G : !m, !m)");
  block.fuse();
  EXPECT_CONTAINS(block.explanation, "E: read by native, for which no kernel is generated");
  EXPECT_CONTAINS(block.explanation, "G: matmul: no operand has at most 64 columns or is sparse");
  EXPECT_CONTAINS(block.explanation,
                  "c: read by P - c: a sum over rows is complete only after the last row");
}

// relu(A %*% B + c): the product is never stored, and what is read and written in parts neither.
TEST(FuseBlock, wideProductsHaveEpilogues) {
  FusedBlock block("A:90000x100 B:100x100 c:1x100", "!m", R"(
    %zero = tok.constant 0.0 : f64
    %0 = tok.matmul %A, %B : (!m, !m) -> !m
    %1 = tok.binary add %0, %c : (!m, !m) -> !m
    %2 = tok.binary max %1, %zero : (!m, f64) -> !m
    return %2 : !m)");
  EXPECT_EQ(block.fuse().operators(), "row(3) -> 1") << block.explanation;
}

TEST(FuseBlock, attentionIsOneOperator) {
  FusedBlock block("Q:2000x100 K:1000x100 V:1000x90", "!m", R"(
    %0 = tok.transpose %K : (!m) -> !m
    %1 = tok.matmul %Q, %0 : (!m, !m) -> !m
    %2 = tok.aggregate max row %1 : !m -> !m
    %3 = tok.binary sub %1, %2 : (!m, !m) -> !m
    %4 = tok.unary exp %3 : !m -> !m
    %5 = tok.aggregate sum row %4 : !m -> !m
    %6 = tok.binary div %4, %5 : (!m, !m) -> !m
    %7 = tok.matmul %6, %V : (!m, !m) -> !m
    return %7 : !m)");
  EXPECT_EQ(block.fuse().operators(), "row(3) -> 1") << block.explanation;
  EXPECT_TRUE(block.function().getOps<tok::TransposeOp>().empty()) << "K is read in place";
}

TEST(FuseBlock, movingAverageIsOneOperator) {
  FusedBlock block("X:9000x90", "!m", R"(
    %one = tok.constant 1 : i64
    %ten = tok.constant 10 : i64
    %eleven = tok.constant 11 : i64
    %columns = tok.constant 90 : i64
    %rows = tok.constant 9000 : i64
    %before = tok.constant 8990 : i64
    %0 = tok.slice %X, %eleven, %rows, %one, %columns : (!m, i64, i64, i64, i64) -> !m
    %1 = tok.slice %X, %one, %before, %one, %columns : (!m, i64, i64, i64, i64) -> !m
    %2 = tok.binary sub %0, %1 : (!m, !m) -> !m
    %3 = tok.native "cumsum"(%2) : (!m) -> !m
    %4 = tok.binary div %3, %ten : (!m, i64) -> !m
    return %4 : !m)");
  EXPECT_EQ(block.fuse().operators(), "cell(1) -> 1") << block.explanation;
  EXPECT_TRUE(block.function().getOps<tok::SliceOp>().empty());
}

// A convolution of one group with what is done to its cells is one operator; with few filters or several groups of
// channels it stays a native, and so does one whose rows of windows are too short for vectors, or with
// few windows.
TEST(FuseBlock, convolutionsHaveEpilogues) {
  const char *epilogue = R"(
      %1 = tok.binary add %0, %b : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
      %2 = tok.binary max %1, %none : (tensor<?x?x?x?xf64>, f64) -> tensor<?x?x?x?xf64>
      return %2 : tensor<?x?x?x?xf64>)";
  auto operators = [&](const char *filters, const char *columns, const char *groups,
                       const char *rows = "40", bool isAlone = false,
                       Selector selector = Selector::Cost) {
    std::string text = std::string(R"(
      %one = tok.constant 1 : i64
      %zero = tok.constant 0 : i64
      %none = tok.constant 0.0 : f64
      %three = tok.constant 3 : i64
      %rows = tok.constant )") +
                       rows + R"( : i64
      %channels = tok.constant 16 : i64
      %groups = tok.constant )" +
                       groups + R"( : i64
      %filters = tok.constant )" +
                       filters + R"( : i64
      %columns = tok.constant )" +
                       columns + R"( : i64
      %i = tok.view %X [%one, %channels, %rows, %columns] : !m -> tensor<?x?x?x?xf64>
      %w = tok.view %W [%filters, %channels, %three, %three] : !m -> tensor<?x?x?x?xf64>
      %b = tok.view %B [%one, %filters, %one, %one] : !m -> tensor<?x?x?x?xf64>
      %0 = tok.native "convolve"(%i, %w, %groups, %rows, %three, %zero, %one, %one, %one, %columns, %three, %zero, %one,
        %one, %one) : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64,
        i64, i64) -> tensor<?x?x?x?xf64>)" +
                       (isAlone ? "\n return %0 : tensor<?x?x?x?xf64>" : epilogue);
    return FusedBlock("X:mxn W:pxq B:uxv", "tensor<?x?x?x?xf64>", text).fuse(selector).operators();
  };
  EXPECT_EQ(operators("32", "56", "1"), "row(3) -> 1");
  EXPECT_EQ(operators("32", "56", "1", "40", /*isAlone=*/true), "row(2) -> 1");
  EXPECT_EQ(operators("32", "56", "1", "40", /*isAlone=*/true, Selector::None), "");
  EXPECT_EQ(operators("32", "1", "1", "40", /*isAlone=*/true), "");
  EXPECT_EQ(operators("4", "56", "1"), "cell(2) -> 1");
  EXPECT_EQ(operators("32", "56", "2"), "cell(2) -> 1");
  EXPECT_EQ(operators("32", "1", "1"), "cell(2) -> 1");
  EXPECT_EQ(operators("32", "4", "1", "4"), "row(3) -> 1");
  EXPECT_EQ(operators("32", "3", "1", "5"), "cell(2) -> 1");
}

TEST(FuseBlock, unknownSizesGetSymbolsOfTheirOwn) {
  FusedBlock block("X:uxv", "f64", R"(
    %0 = tok.native "unknown_native"(%X) : (!m) -> !m
    %1 = tok.unary exp %0 : !m -> !m
    %2 = tok.binary add %0, %1 : (!m, !m) -> !m
    %3 = tok.binary mul %X, %2 : (!m, !m) -> !m
    %4 = tok.aggregate sum full %3 : !m -> f64
    return %4 : f64)");
  // Values derived from the same unknown value have equal sizes; these are not proved equal to X's.
  EXPECT_EQ(block.fuse().operators(), "cell(1) -> 1; cell(1) -> 1");
}

TEST(FuseBlock, scalarsOfUnknownTypeAreConverted) {
  FusedBlock block("X:mxn a", "f64", R"(
    %s = tok.cast %a : f64 -> !tok.scalar
    %0 = tok.binary mul %X, %s : (!m, !tok.scalar) -> !m
    %1 = tok.aggregate sum full %0 : !m -> f64
    return %1 : f64)");
  EXPECT_EQ(block.fuse().operators(), "cell(2) -> 1");
  for (plan::OperatorOp op : block.function().getOps<plan::OperatorOp>())
    EXPECT_TRUE(op.getInputs()[1].getType().isF64());
}

TEST(FuseBlock, productsAndSumsHaveOneValue) {
  // The cells of %d that equal their minimum, counted by row: both compute %d, not the product in
  // it.
  const char *text = R"(
    %0 = tok.matmul %X, %v : (!m, !m) -> !m
    %d = tok.binary sub %0, %y : (!m, !m) -> !m
    %1 = tok.aggregate min full %d : !m -> f64
    %2 = tok.binary le %d, %1 : (!m, f64) -> !m
    %3 = tok.transpose %X : (!m) -> !m
    %4 = tok.matmul %3, %2 : (!m, !m) -> !m
    return %4 : !m)";
  for (Selector selector : {Selector::All, Selector::NoRedundancy, Selector::Cost}) {
    FusedBlock block("X:mxn v:nx1 y:mx1", "!m", text);
    block.fuse(selector);
    EXPECT_EQ(block.countInBodies<plan::ReduceOp>(), 3) << block.explanation;
  }
  FusedBlock block("X:mxn v:nx1 y:mx1", "!m", text);
  block.fuse(Selector::All);
  EXPECT_EQ(block.countInBodies<plan::BinaryOp>(), 5) << block.explanation;
  EXPECT_NE(block.explanation.find("several operators use it; stored, so that it has one value"),
            std::string::npos)
      << block.explanation;
}

TEST(FuseBlock, emptyMatricesAndDeadOperationsAreFine) {
  FusedBlock block("X:0x3 Y:mxn", "f64", R"(
    %dead = tok.unary exp %Y : !m -> !m
    %1 = tok.transpose %dead : (!m) -> !m
    %2 = tok.aggregate sum full %X : !m -> f64
    return %2 : f64)");
  EXPECT_EQ(block.fuse().operators(), "cell(1) -> 1");
}

TEST(FuseBlock, explanationIsDeterministicAndComplete) {
  std::string arguments = "Xw:mx1 Xd:mx1 Y:mx1 step wd dd";
  FusedBlock first(arguments, "f64, f64", innerLoop), second(arguments, "f64, f64", innerLoop);
  EXPECT_EQ(first.fuse().explanation, second.fuse().explanation);
  for (const char *part :
       {"selector cost", "candidates (", "partition 1", "interesting points", "plans priced",
        "multiagg ~1000000x1", "out = 1 - Y * (Xw + step * Xd)", "sv = out > 0",
        "sum(Xd * sv * Xd)", "writes a scalar, a scalar", "predicted"})
    EXPECT_CONTAINS(first.explanation, part);
}

// As kernels are named: by what the body does, not by the loops that its plan was found in.
TEST(FuseBlock, theExplanationNamesOperatorsByTheirBodies) {
  FusedBlock block("X:1000x90", "!m", R"(
    %0 = tok.unary exp %X : !m -> !m
    %1 = tok.cbind %0, %X : (!m, !m) -> !m
    return %1 : !m)");
  EXPECT_EQ(block.fuse().operators(), "cell(1) -> 1");
  EXPECT_CONTAINS(block.explanation, "1. cell 1000x1, 2 operations");
}

TEST(FuseBlock, everySelectorGivesAValidModule) {
  for (Selector selector : allSelectors) {
    FusedBlock("Xw:mx1 Xd:mx1 Y:mx1 step wd dd", "f64, f64", innerLoop).fuse(selector);
    FusedBlock("X:mxk Y:mxk B:kxk", "!m", expensiveDiamond).fuse(selector);
    EXPECT_EQ(findSelector(name(selector)), selector);
  }
}
