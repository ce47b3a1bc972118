// Plans over sparse arrays and narrow products: kinds of bodies, drivers, operands and results.
#include "fusion/select/FusedBlock.h"

using namespace tokamak;
using namespace tokamak::fusion;

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

namespace {

class SparseFusedBlock : public FusedBlock {
public:
  using FusedBlock::FusedBlock;

  SparseFusedBlock &fuse(Selector selector = Selector::Cost) {
    FusedBlock::fuse(selector);
    return *this;
  }

  // The plan as text: "outer(3 @0) -> 2 sparse 0" is an operator with 3 operands, of which 0 is the
  // driver, and 2 results, of which 0 is sparse; "matmul" and "transpose" are remaining natives.
  std::string plan() {
    std::string text;
    for (mlir::Operation &operation : function().getBody().front().without_terminator()) {
      auto op = mlir::dyn_cast<plan::OperatorOp>(operation);
      if (mlir::isa<tok::ConstantOp>(operation))
        continue;
      text += text.empty() ? "" : "; ";
      if (!op) {
        text += operation.getName().stripDialect();
        continue;
      }
      text += plan::nameOfBody(op).str() + "(" + std::to_string(op.getInputs().size());
      if (op.hasDrivers())
        text += " @" + std::to_string(op.getDrivers().front());
      text += ") -> " + std::to_string(op.getNumResults());
      for (int64_t number : op.getSparseResults())
        text += " sparse " + std::to_string(number);
    }
    return text;
  }
};

constexpr Selector fusing[] = {Selector::All, Selector::NoRedundancy, Selector::Cost};

} // namespace

TEST(SparseFusion, sumOverASampledProductNeverMakesTheProduct) {
  for (Selector selector : fusing) {
    SparseFusedBlock block("S:pxq/0.001 U:pxr V:qxr", "f64", R"(
      %e = tok.constant 1.0e-15 : f64
      %0 = tok.transpose %V : (!m) -> !m
      %1 = tok.matmul %U, %0 : (!m, !m) -> !m
      %2 = tok.binary add %1, %e : (!m, f64) -> !m
      %3 = tok.unary log %2 : !m -> !m
      %4 = tok.binary mul %S, %3 : (!m, !m) -> !m
      %5 = tok.aggregate sum full %4 : !m -> f64
      return %5 : f64)");
    block.fuse(selector);
    EXPECT_EQ(block.plan(), "outer(3 @0) -> 1") << block.explanation;
    EXPECT_EQ(block.countInBodies<plan::ReduceOp>(), 2);
  }
}

TEST(SparseFusion, selectorNoneMakesEveryOperationAlone) {
  SparseFusedBlock block("S:pxq/0.001 v:qx1", "f64", R"(
    %0 = tok.unary abs %S : !m -> !m
    %1 = tok.matmul %0, %v : (!m, !m) -> !m
    %2 = tok.aggregate sum full %1 : !m -> f64
    return %2 : f64)");
  block.fuse(Selector::None);
  EXPECT_EQ(block.plan(), "cell(1 @0) -> 1 sparse 0; row(2 @0) -> 1; cell(1) -> 1")
      << block.explanation;
}

TEST(SparseFusion, weightedLossAndItsGradientShareOnePass) {
  // ALS: W = S != 0; R = W * (S - U V'); loss = sum(R^2); G = R V
  SparseFusedBlock block("S:pxq/0.001 U:pxr V:qxr", "f64, !m", R"(
    %zero = tok.constant 0.0 : f64
    %0 = tok.transpose %V : (!m) -> !m
    %1 = tok.matmul %U, %0 : (!m, !m) -> !m
    %2 = tok.binary sub %S, %1 : (!m, !m) -> !m
    %3 = tok.binary ne %S, %zero : (!m, f64) -> !m
    %4 = tok.binary mul %3, %2 : (!m, !m) -> !m
    %5 = tok.binary mul %4, %4 : (!m, !m) -> !m
    %6 = tok.aggregate sum full %5 : !m -> f64
    %7 = tok.matmul %4, %V : (!m, !m) -> !m
    return %6, %7 : f64, !m)");
  block.fuse();
  EXPECT_EQ(block.plan(), "outer(3 @0) -> 2") << block.explanation;
}

TEST(SparseFusion, productsOfAFactorThatIsNoTransposeReadItTransposedOnce) {
  // PNMF: (S / (W %*% H + e)) %*% t(H)
  SparseFusedBlock block("S:pxq/0.001 W:pxr+ H:rxq+", "!m", R"(
    %e = tok.constant 1.0e-8 : f64
    %0 = tok.matmul %W, %H : (!m, !m) -> !m
    %1 = tok.binary add %0, %e : (!m, f64) -> !m
    %2 = tok.binary div %S, %1 : (!m, !m) -> !m
    %3 = tok.transpose %H : (!m) -> !m
    %4 = tok.matmul %2, %3 : (!m, !m) -> !m
    return %4 : !m)");
  block.fuse();
  EXPECT_EQ(block.plan(), "transpose; outer(3 @0) -> 1") << block.explanation;
}

TEST(SparseFusion, aTransposedFactorFromTheLeftIsFlipped) {
  // t(W) %*% (S / (W %*% H + e)) is computed as the transpose of t(.) %*% W.
  SparseFusedBlock block("S:pxq/0.001 W:pxr+ H:rxq+", "!m", R"(
    %e = tok.constant 1.0e-8 : f64
    %0 = tok.matmul %W, %H : (!m, !m) -> !m
    %1 = tok.binary add %0, %e : (!m, f64) -> !m
    %2 = tok.binary div %S, %1 : (!m, !m) -> !m
    %3 = tok.transpose %W : (!m) -> !m
    %4 = tok.matmul %3, %2 : (!m, !m) -> !m
    return %4 : !m)");
  block.fuse();
  EXPECT_EQ(block.plan(), "transpose; outer(3 @0) -> 1; transpose") << block.explanation;
}

TEST(SparseFusion, entriesOfTwoMatricesDriveWhatIsZeroBesideBoth) {
  std::string text = R"(
    %0 = tok.binary sub %S, %T : (!m, !m) -> !m
    %1 = tok.binary mul %0, %0 : (!m, !m) -> !m
    %2 = tok.aggregate sum full %1 : !m -> f64
)";
  for (Selector selector : fusing) {
    SparseFusedBlock block("S:mxq/0.01 T:mxq/0.02", "f64", text + "return %2 : f64");
    EXPECT_EQ(block.fuse(selector).plan(), "cell(2 @0) -> 1") << block.explanation;
    auto op = *block.function().getOps<plan::OperatorOp>().begin();
    EXPECT_TRUE(op.isDriver(0) && op.isDriver(1));
    EXPECT_CONTAINS(block.explanation,
                    "cell ~1000000x~20000 at the entries of S and T (density 0.0298)");
  }
  SparseFusedBlock stored("S:mxq/0.01 T:mxq/0.02", "!m, f64", text + "return %0, %2 : !m, f64");
  EXPECT_EQ(stored.fuse().plan(), "cell(2 @0) -> 2 sparse 0") << stored.explanation;
  SparseFusedBlock alone("S:mxq/0.01 T:mxq/0.02", "f64", text + "return %2 : f64");
  EXPECT_EQ(alone.fuse(Selector::None).plan(),
            "cell(2 @0) -> 1 sparse 0; cell(1 @0) -> 1 sparse 0; cell(1 @0) -> 1");
}

TEST(SparseFusion, aSumOfSparseMatricesIsNeverStoredWhereItsAggregateIsNeeded) {
  SparseFusedBlock block("S:mxq/0.01 T:mxq/0.02 R:mxq/0.01 v:qx1", "!m", R"(
    %0 = tok.binary add %S, %T : (!m, !m) -> !m
    %1 = tok.binary max %0, %R : (!m, !m) -> !m
    %2 = tok.matmul %1, %v : (!m, !m) -> !m
    return %2 : !m)");
  EXPECT_EQ(block.fuse().plan(), "row(4 @0) -> 1") << block.explanation;
  EXPECT_CONTAINS(block.explanation, "at the entries of S, T and R");
}

TEST(SparseFusion, anUnsafeResultIsDense) {
  SparseFusedBlock block("S:mxn/0.01", "!m", R"(
    %one = tok.constant 1.0 : f64
    %0 = tok.binary add %S, %one : (!m, f64) -> !m
    return %0 : !m)");
  block.fuse();
  EXPECT_EQ(block.plan(), "cell(1) -> 1");
  EXPECT_CONTAINS(block.explanation, "not zero where S is zero");
}

TEST(SparseFusion, aSafeResultHasTheEntriesOfTheDriver) {
  SparseFusedBlock block("S:mxn/0.01 Y:mxn", "!m", R"(
    %one = tok.constant 1.0 : f64
    %0 = tok.unary exp %S : !m -> !m
    %1 = tok.binary sub %0, %one : (!m, f64) -> !m
    %2 = tok.binary mul %1, %Y : (!m, !m) -> !m
    return %2 : !m)");
  block.fuse();
  EXPECT_EQ(block.plan(), "cell(2 @0) -> 1 sparse 0") << block.explanation;
}

TEST(SparseFusion, severalAggregatesOfOneDriverAreOnePass) {
  SparseFusedBlock block("S:mxn/0.01 Y:mxn", "f64, f64", R"(
    %0 = tok.aggregate sum full %S : !m -> f64
    %1 = tok.binary mul %S, %Y : (!m, !m) -> !m
    %2 = tok.aggregate sum full %1 : !m -> f64
    return %0, %2 : f64, f64)");
  block.fuse();
  EXPECT_EQ(block.plan(), "multiagg(2 @0) -> 2") << block.explanation;
}

TEST(SparseFusion, chainOfProductsReadsTheMatrixOnce) {
  SparseFusedBlock block("S:mxq/0.01 v:qx1", "!m", R"(
    %0 = tok.matmul %S, %v : (!m, !m) -> !m
    %1 = tok.transpose %S : (!m) -> !m
    %2 = tok.matmul %1, %0 : (!m, !m) -> !m
    return %2 : !m)");
  block.fuse();
  EXPECT_EQ(block.plan(), "row(2 @0) -> 1") << block.explanation;
}

TEST(SparseFusion, gathersCostWhereTheNearestCacheIsTooSmall) {
  const char *text = R"(
    %0 = tok.transpose %V : (!m) -> !m
    %1 = tok.matmul %U, %0 : (!m, !m) -> !m
    %2 = tok.binary mul %S, %1 : (!m, !m) -> !m
    return %2 : !m)";
  auto predicted = [&](double nearestCacheBytes) {
    SparseFusedBlock block("S:pxq/0.01 U:pxr V:qxr", "!m", text);
    block.machine.nearestCacheBytes = nearestCacheBytes;
    block.machine.gatherNanoseconds = 20;
    double sum = 0;
    for (plan::OperatorOp op : block.fuse().function().getOps<plan::OperatorOp>())
      sum += op->getAttrOfType<mlir::FloatAttr>("predicted_ns").getValueAsDouble();
    return sum;
  };
  EXPECT_GT(predicted(0), predicted(1 << 30));
}

// A sampled product and a product of it with the same factor read its rows together, with another factor they don't.
TEST(SparseFusion, productsOfOneFactorReadARowOnce) {
  auto predicted = [](const char *factor) {
    SparseFusedBlock block("S:pxq/0.01 U:pxr V:qxr W:qxr", "!m", std::string(R"(
      %0 = tok.transpose %V : (!m) -> !m
      %1 = tok.matmul %U, %0 : (!m, !m) -> !m
      %2 = tok.binary mul %S, %1 : (!m, !m) -> !m
      %3 = tok.matmul %2, )") + factor + R"( : (!m, !m) -> !m
      return %3 : !m)");
    block.machine.gatherNanoseconds = block.machine.nextLineNanoseconds = 20;
    block.fuse();
    EXPECT_EQ(llvm::range_size(block.function().getOps<plan::OperatorOp>()), 1u)
        << block.explanation;
    plan::OperatorOp op = *block.function().getOps<plan::OperatorOp>().begin();
    return op->getAttrOfType<mlir::FloatAttr>("predicted_ns").getValueAsDouble();
  };
  EXPECT_GT(predicted("%W"), 1.5 * predicted("%V"));
}

TEST(SparseFusion, aNearlyFullDriverIsComputedDenseWhereThatIsCheaper) {
  const char *text = R"(
    %0 = tok.binary mul %S, %Y : (!m, !m) -> !m
    %1 = tok.binary mul %0, %Z : (!m, !m) -> !m
    %2 = tok.aggregate sum full %1 : !m -> f64
    return %2 : f64)";
  SparseFusedBlock sparse("S:mxn/0.01 Y:mxn Z:mxn", "f64", text);
  EXPECT_EQ(sparse.fuse().plan(), "cell(3 @0) -> 1");
  SparseFusedBlock full("S:mxn/1 Y:mxn Z:mxn", "f64", text);
  full.machine.gatherNanoseconds = 20;
  EXPECT_EQ(full.fuse().plan(), "cell(3) -> 1") << full.explanation;
}

TEST(SparseFusion, aSampledProductIsMadeBeforeWhereAllCellsAreNeeded) {
  // All cells of the product are needed anyway: the median reads them.
  SparseFusedBlock block("S:pxq/0.2 U:pxr V:qxr", "f64, f64", R"(
    %0 = tok.transpose %V : (!m) -> !m
    %1 = tok.matmul %U, %0 : (!m, !m) -> !m
    %2 = tok.binary mul %S, %1 : (!m, !m) -> !m
    %3 = tok.aggregate sum full %2 : !m -> f64
    %4 = tok.native "median"(%1) : (!m) -> f64
    return %3, %4 : f64, f64)");
  block.fuse();
  EXPECT_CONTAINS(block.explanation, "native product");
}

TEST(SparseFusion, narrowProductsBesideDenseRows) {
  // MLogreg: t(X) %*% (P * (X %*% V))
  const char *text = R"(
    %0 = tok.matmul %X, %V : (!m, !m) -> !m
    %1 = tok.binary mul %P, %0 : (!m, !m) -> !m
    %2 = tok.transpose %X : (!m) -> !m
    %3 = tok.matmul %2, %1 : (!m, !m) -> !m
    return %3 : !m)";
  for (Selector selector : fusing) {
    SparseFusedBlock block("X:mxr V:rx5 P:mx5", "!m", text);
    EXPECT_EQ(block.fuse(selector).plan(), "row(3) -> 1") << block.explanation;
  }
  SparseFusedBlock wide("X:mxr V:rxk P:mxk", "!m", text);
  EXPECT_EQ(wide.fuse().plan(), "row(3) -> 1; transpose; matmul")
      << "k is not known, so no sum over rows is computed beside it";
}

TEST(SparseFusion, distancesToCentresAreOneRowOperator) {
  // k-means: D = -2 (X %*% t(C)) + c; P = D <= rowMins(D); t(P) %*% X
  SparseFusedBlock block("X:mx30 C:5x30 c:1x5", "!m", R"(
    %minus2 = tok.constant -2.0 : f64
    %0 = tok.transpose %C : (!m) -> !m
    %1 = tok.matmul %X, %0 : (!m, !m) -> !m
    %2 = tok.binary mul %1, %minus2 : (!m, f64) -> !m
    %3 = tok.binary add %2, %c : (!m, !m) -> !m
    %4 = tok.aggregate min row %3 : !m -> !m
    %5 = tok.binary le %3, %4 : (!m, !m) -> !m
    %6 = tok.transpose %5 : (!m) -> !m
    %7 = tok.matmul %6, %X : (!m, !m) -> !m
    return %7 : !m)");
  block.fuse();
  EXPECT_EQ(block.plan(), "row(3) -> 1") << block.explanation;
}

TEST(SparseFusion, aProductOfAColumnAndARowAloneIsANative) {
  SparseFusedBlock block("S:pxq/0.01 u:px1 v:qx1", "f64", R"(
    %0 = tok.transpose %v : (!m) -> !m
    %1 = tok.matmul %u, %0 : (!m, !m) -> !m
    %2 = tok.binary mul %S, %1 : (!m, !m) -> !m
    %3 = tok.aggregate sum full %2 : !m -> f64
    return %3 : f64)");
  EXPECT_EQ(block.fuse(Selector::None).plan(),
            "transpose; matmul; cell(2 @0) -> 1 sparse 0; cell(1 @0) -> 1");
  SparseFusedBlock fused("S:pxq/0.01 u:px1 v:qx1", "f64", R"(
    %0 = tok.transpose %v : (!m) -> !m
    %1 = tok.matmul %u, %0 : (!m, !m) -> !m
    %2 = tok.binary mul %S, %1 : (!m, !m) -> !m
    %3 = tok.aggregate sum full %2 : !m -> f64
    return %3 : f64)");
  EXPECT_EQ(fused.fuse().plan(), "cell(3 @0) -> 1") << "a product of two vectors sums nothing";
}

TEST(SparseFusion, anOuterProductBesideDenseRowsIsNeverStored) {
  for (Selector selector : fusing) {
    SparseFusedBlock block("Y:mxr U:mx8 V:rx8", "f64", R"(
      %0 = tok.transpose %V : (!m) -> !m
      %1 = tok.matmul %U, %0 : (!m, !m) -> !m
      %2 = tok.binary sub %Y, %1 : (!m, !m) -> !m
      %3 = tok.binary mul %2, %2 : (!m, !m) -> !m
      %4 = tok.aggregate sum full %3 : !m -> f64
      return %4 : f64)");
    EXPECT_EQ(block.fuse(selector).plan(), "transpose; row(3) -> 1") << block.explanation;
  }
}

TEST(SparseFusion, theExplanationNamesTheDriver) {
  SparseFusedBlock block("S:pxq/0.001 U:pxr V:qxr", "f64", R"(
    %0 = tok.transpose %V : (!m) -> !m
    %1 = tok.matmul %U, %0 : (!m, !m) -> !m
    %2 = tok.binary mul %S, %1 : (!m, !m) -> !m
    %3 = tok.aggregate sum full %2 : !m -> f64
    return %3 : f64)");
  block.fuse();
  for (const char *part :
       {"[sparse ~20000x~20000 at the entries of S", "[native",
        "outer ~20000x~20000 at the entries of S (density 0.001), 3 operations",
        "reads U ~20000x~100, t(V) ~100x~20000, S ~20000x~20000 sparse; writes a scalar"})
    EXPECT_CONTAINS(block.explanation, part);
}

TEST(SparseFusion, everySelectorGivesAValidModule) {
  for (Selector selector :
       {Selector::None, Selector::All, Selector::NoRedundancy, Selector::Cost}) {
    SparseFusedBlock block("S:pxq/0.001 W:pxr+ H:rxq+", "!m, !m, f64", R"(
      %e = tok.constant 1.0e-8 : f64
      %0 = tok.matmul %W, %H : (!m, !m) -> !m
      %1 = tok.binary add %0, %e : (!m, f64) -> !m
      %2 = tok.binary div %S, %1 : (!m, !m) -> !m
      %3 = tok.transpose %W : (!m) -> !m
      %4 = tok.matmul %3, %2 : (!m, !m) -> !m
      %5 = tok.transpose %H : (!m) -> !m
      %6 = tok.matmul %2, %5 : (!m, !m) -> !m
      %7 = tok.unary log %1 : !m -> !m
      %8 = tok.binary mul %S, %7 : (!m, !m) -> !m
      %9 = tok.aggregate sum full %8 : !m -> f64
      return %4, %6, %9 : !m, !m, f64)");
    block.fuse(selector);
    if (selector == Selector::Cost)
      EXPECT_EQ(block.plan(), "transpose; outer(3 @0) -> 3; transpose") << block.explanation;
  }
}
