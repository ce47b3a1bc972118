// The facts that are wanted of the inputs of blocks that divide sparse matrices.
#include "fusion/explore/WantedCells.h"
#include "fusion/explore/TestBlock.h"
#include "ir/tok/CellFacts.h"

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

// The wanted facts as text: "1 not zero" for argument 1, "%2" for operation 2, to be planned later.
std::string wantedIn(llvm::StringRef arguments, llvm::StringRef results, llvm::StringRef body,
                     llvm::function_ref<void(mlir::func::FuncOp)> prepare = {}) {
  TestBlock block(arguments, results, body);
  if (prepare)
    prepare(block.function());
  WantedCells wanted =
      findWantedCells(block.function(), [&](mlir::Value value) -> const tok::Facts & {
        return block.factsOf(value);
      });
  std::string text;
  for (const auto &[argument, cells] : wanted.inputs)
    text += (text.empty() ? "" : "; ") + std::to_string(argument) +
            (cells == CellFact::nonZeroNumber() ? " not zero"
             : cells.low > 0                    ? " positive"
             : cells.low == 0                   ? " not negative"
                                                : " finite");
  for (mlir::Operation *reader : wanted.readers) {
    int number = 0;
    for (mlir::Operation &operation : block.function().getBody().front()) {
      if (&operation == reader)
        text += (text.empty() ? "%" : "; %") + std::to_string(number);
      ++number;
    }
  }
  return text;
}

} // namespace

TEST(WantedCells, ofADivisorThatItIsNeitherZeroNorNan) {
  EXPECT_EQ(wantedIn("S:mxn/0.01 d:mx1", "!m",
                     "%0 = tok.binary div %S, %d : (!m, !m) -> !m return %0 : !m"),
            "1 not zero");
  EXPECT_EQ(
      wantedIn("D:mxn d:mx1", "!m", "%0 = tok.binary div %D, %d : (!m, !m) -> !m return %0 : !m"),
      "")
      << "of dense cells nothing is to be known";
  EXPECT_EQ(
      wantedIn("S:mxn/0.01 s", "!m", "%0 = tok.binary div %S, %s : (!m, f64) -> !m return %0 : !m"),
      "1 not zero");
}

TEST(WantedCells, nothingWhereTheDivisorIsKnown) {
  EXPECT_EQ(wantedIn("S:mxn/0.01 d:mx1", "!m", R"(
    %two = tok.constant 2.0 : f64
    %0 = tok.binary div %S, %two : (!m, f64) -> !m
    return %0 : !m)"),
            "");
  EXPECT_EQ(wantedIn("S:mxn/0.01 d:mx1", "!m", R"(
    %zero = tok.constant 0.0 : f64
    %0 = tok.binary ne %S, %zero : (!m, f64) -> !m
    %1 = tok.binary div %S, %d : (!m, !m) -> !m
    %2 = tok.binary mul %0, %1 : (!m, !m) -> !m
    return %2 : !m)"),
            "")
      << "what is NaN there is multiplied with zero";
}

TEST(WantedCells, theLeastOfAsFewInputsAsNeeded) {
  EXPECT_EQ(wantedIn("S:mxn/0.01 d:mx1", "!m", R"(
    %small = tok.constant 1.0e-15 : f64
    %0 = tok.binary max %d, %small : (!m, f64) -> !m
    %1 = tok.binary div %S, %0 : (!m, !m) -> !m
    return %1 : !m)"),
            "1 finite");
  EXPECT_EQ(wantedIn("S:pxq/0.01 U:pxr V:qxr", "!m", R"(
    %small = tok.constant 1.0e-15 : f64
    %0 = tok.transpose %V : (!m) -> !m
    %1 = tok.matmul %U, %0 : (!m, !m) -> !m
    %2 = tok.binary add %1, %small : (!m, f64) -> !m
    %3 = tok.binary div %S, %2 : (!m, !m) -> !m
    return %3 : !m)"),
            "1 not negative; 2 not negative");
  EXPECT_EQ(wantedIn("S:pxq/0.01 U:pxr V:qxr", "!m", R"(
    %0 = tok.transpose %V : (!m) -> !m
    %1 = tok.matmul %U, %0 : (!m, !m) -> !m
    %2 = tok.binary div %S, %1 : (!m, !m) -> !m
    return %2 : !m)"),
            "1 positive; 2 positive");
}

TEST(WantedCells, aVectorOfTheBlockIsLookedAtWhenItIsThere) {
  llvm::StringRef body = R"(
    %0 = tok.aggregate sum row %S : !m -> !m
    %1 = tok.binary div %S, %0 : (!m, !m) -> !m
    return %1 : !m)";
  EXPECT_EQ(wantedIn("S:mxn/0.01", "!m", body), "%1");
  auto isOther = [](mlir::func::FuncOp function) {
    function.setArgAttr(1, otherCellsAttributeName, mlir::UnitAttr::get(function.getContext()));
  };
  EXPECT_EQ(wantedIn("S:mxn/0.01 d:mx1", "!m",
                     "%0 = tok.binary div %S, %d : (!m, !m) -> !m return %0 : !m", isOther),
            "")
      << "it was looked at";
}

TEST(WantedCells, ofOtherFactorsUnderTheStrictRule) {
  auto strict = [](mlir::func::FuncOp function) {
    function->setAttr(tok::strictZerosAttributeName, mlir::UnitAttr::get(function.getContext()));
  };
  llvm::StringRef body = "%0 = tok.binary mul %S, %d : (!m, !m) -> !m return %0 : !m";
  EXPECT_EQ(wantedIn("S:mxn/0.01 d:mx1", "!m", body), "");
  EXPECT_EQ(wantedIn("S:mxn/0.01 d:mx1", "!m", body, strict), "1 finite");
}
