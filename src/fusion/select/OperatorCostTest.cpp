// What each figure of the machine is charged for.
#include "fusion/select/OperatorCost.h"

#include "fusion/select/BuildOperators.h"
#include "fusion/select/FusedBlock.h"

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

// The predicted time of all operators, by default of one operation each, with this figure of the machine.
double predicted(const char *arguments, const std::string &body, double cost::MachineModel::*figure,
                 double value, Selector selector = Selector::None) {
  FusedBlock block(arguments, "!m", body + "\nreturn %0 : !m");
  block.machine.*figure = value;
  block.fuse(selector);
  double sum = 0;
  for (mlir::Operation &op : block.function().front())
    if (auto time = op.getAttrOfType<mlir::FloatAttr>("predicted_ns"))
      sum += time.getValueAsDouble();
  return sum;
}

// How much longer it takes if the figure is larger by `more`.
double longer(const char *arguments, const std::string &body, double cost::MachineModel::*figure,
              double more, Selector selector = Selector::None) {
  double before = cost::MachineModel().*figure;
  return predicted(arguments, body, figure, before + more, selector) -
         predicted(arguments, body, figure, before, selector);
}

constexpr const char *repeated = "%0 = tok.binary mul %X, %Y : (!m, !m) -> !m";
constexpr const char *product = "%0 = tok.matmul %X, %Y : (!m, !m) -> !m";

} // namespace

TEST(OperatorCost, endsOfRowsAreWrittenUnderAMask) {
  auto figure = &cost::MachineModel::maskedVectorNanoseconds;
  // Three vectors behind the last four whole ones, the third of them not full; no row has ends where
  // whole vectors fill it or where the loop is over all cells.
  double computing = longer("X:100x52 Y:100x1", repeated, figure, 1e4);
  EXPECT_NEAR(computing, 100 * 3 * 1e4, 0.01 * computing);
  EXPECT_EQ(longer("X:100x64 Y:100x1", repeated, figure, 1e4), 0);
  EXPECT_EQ(longer("X:100x52 Y:100x52", repeated, figure, 1e4), 0);
}

TEST(OperatorCost, narrowRowsAreWrittenAcross) {
  auto figure = &cost::MachineModel::narrowWriteAdditions;
  const char *text = R"(
    %1 = tok.aggregate sum row %X : !m -> !m
    %0 = tok.binary div %X, %1 : (!m, !m) -> !m)";
  FusedBlock block("X:mx10", "!m", std::string(text) + "\nreturn %0 : !m");
  FusedBlock slow("X:mx10", "!m", std::string(text) + "\nreturn %0 : !m");
  slow.machine.*figure = 1e6;
  auto timeOf = [](FusedBlock &block) {
    double sum = 0;
    for (plan::OperatorOp op : block.fuse(Selector::All).function().getOps<plan::OperatorOp>())
      sum += op->getAttrOfType<mlir::FloatAttr>("predicted_ns").getValueAsDouble();
    return sum;
  };
  EXPECT_GT(timeOf(slow), 100 * timeOf(block));
}

TEST(OperatorCost, nativeProductsPackTheirFactors) {
  auto figure = &cost::MachineModel::packedCellNanoseconds;
  double cells = 3 * 300 * 300;
  EXPECT_NEAR(longer("X:300x300 Y:300x300", product, figure, 10), 10 * cells, 1e-3 * cells);
}

TEST(OperatorCost, nativesTakeAsLongAsThoseThatStandForThem) {
  const char *transpose = "%0 = tok.transpose %X : (!m) -> !m";
  auto figure = &cost::MachineModel::nativeCellSlowness;
  EXPECT_GT(longer("X:1000x30", transpose, figure, 1e3), 1e3);
  EXPECT_EQ(longer("X:1000x30", transpose, &cost::MachineModel::nativeSortSlowness, 1e3), 0);
}

// 200,000 entries.
TEST(OperatorCost, transposingMovesEntriesInNoOrder) {
  const char *transpose = "%0 = tok.transpose %X : (!m) -> !m";
  auto figure = &cost::MachineModel::gatherNanoseconds;
  EXPECT_GT(longer("X:20000x1000/0.01", transpose, figure, 10), 1e6);
  EXPECT_EQ(longer("X:20000x1000", transpose, figure, 10), 0);
}

// Of 20,000 rows of the factor, those at 4000 entries: a fifth.
TEST(OperatorCost, factorsAreReadWhereADriverHasEntries) {
  auto longerIfReadingIsSlow = [](const std::string &density) {
    std::string arguments = "X:2000x20000/" + density + " U:2000x100 V:20000x100";
    return longer(arguments.c_str(), R"(
      %1 = tok.transpose %V : (!m) -> !m
      %2 = tok.matmul %U, %1 : (!m, !m) -> !m
      %0 = tok.binary mul %X, %2 : (!m, !m) -> !m)",
                  &cost::MachineModel::memoryReadBytesPerNanosecond, -11.9, Selector::Cost);
  };
  EXPECT_LT(longerIfReadingIsSlow("0.0001"), longerIfReadingIsSlow("0.01") / 2);
}

TEST(OperatorCost, tablesTakeAsLongAsTheirKeysAre) {
  auto table = [](const char *keys, int rows) {
    return longer(keys,
                  "%one = tok.constant 1 : i64\n%rows = tok.constant " + std::to_string(rows) +
                      " : i64\n%0 = tok.native \"table\"(%X, %X, %one, %rows, %rows) : (!m, !m, "
                      "i64, i64, i64) -> !m",
                  &cost::MachineModel::nativeCellSlowness, 1e3);
  };
  EXPECT_GT(table("X:2000x1", 10), 1e3);
  EXPECT_NEAR(table("X:2000x1", 10), table("X:2000x1", 100), 1);
  EXPECT_NEAR(table("X:4000x1", 10), 2 * table("X:2000x1", 10), 1);
}

// Sparse ones are sorted, but for those whose rows come in order.
TEST(OperatorCost, sparseTablesAreSortedIfTheirRowsAreInAnyOrder) {
  auto table = [](const std::string &rowKeys, const std::string &columnKeys) {
    return longer("X:2000x1",
                  R"(
      %one = tok.constant 1 : i64
      %first = tok.constant 1.0 : f64
      %last = tok.constant 2000.0 : f64
      %rows = tok.constant 2000 : i64
      %none = tok.constant unit : none
      %line = tok.seq %first, %last, %none : (f64, f64, none) -> !m
      %0 = tok.table )" +
                      rowKeys + ", " + columnKeys +
                      ", %one, %rows, %rows : (!m, !m, i64, i64, i64) -> !m",
                  &cost::MachineModel::nativeCellSlowness, 1e3);
  };
  EXPECT_GT(table("%line", "%X"), 1e3);
  EXPECT_GT(table("%X", "%line"), 2 * table("%line", "%X"));
}

TEST(OperatorCost, operatorsOfUnknownSizesArePredictedForOthers) {
  auto predict = [](const char *arguments) {
    FusedBlock block(arguments, "!m", "%0 = tok.unary exp %X : !m -> !m\nreturn %0 : !m");
    block.fuse(Selector::All);
    return predictionOf(*block.function().getOps<plan::OperatorOp>().begin());
  };
  Prediction unknown = predict("X:mx10");
  EXPECT_GT(unknown.bytes, 0);
  for (int rows : {50, 700, 5000, 100000}) {
    Prediction known = predict(("X:" + std::to_string(rows) + "x10").c_str());
    EXPECT_EQ(known.bytes, 0) << "it is not asked for other sizes";
    double predicted = unknown.forBytes(2 * 8 * 10 * rows).nanoseconds;
    EXPECT_NEAR(predicted, known.nanoseconds, 0.3 * known.nanoseconds) << rows;
  }
}

TEST(OperatorCost, transposedProductsAreComputedInTiles) {
  auto time = [](const char *arguments) {
    return predicted(arguments,
                     R"(%0 = tok.native "matmul_transposed_left"(%X, %X) : (!m, !m) -> !m)",
                     &cost::MachineModel::nativeProductsPerNanosecond, 1e-6);
  };
  double one = time("X:1000x8"), three = time("X:1000x10");
  EXPECT_NEAR(three, 3 * one, 0.01 * three) << "of four tiles, one is the transpose of another";
  EXPECT_NEAR(three, time("X:1000x16"), 0.01 * three);
}

TEST(OperatorCost, entriesAddToTheSumsOfTheirColumns) {
  auto time = [](const char *direction, double scatterNanoseconds) {
    FusedBlock block("S:1000x100/0.1", "!m", std::string(R"(
      %0 = tok.binary mul %S, %S : (!m, !m) -> !m
      %1 = tok.aggregate sum )") + direction + " %0 : !m -> !m\n return %1 : !m");
    block.machine.scatterNanoseconds = scatterNanoseconds;
    block.fuse(Selector::All);
    return predictionOf(*block.function().getOps<plan::OperatorOp>().begin()).nanoseconds;
  };
  constexpr double entries = 1000 * 100 * 0.1;
  double more = time("column", 0.1) - time("column", 0);
  EXPECT_GT(more, 0.8 * 0.1 * entries);
  EXPECT_LE(more, 0.1 * entries * 1.001);
  EXPECT_EQ(time("row", 0.1), time("row", 0));
}

// Rows without entries take nothing: of 100 entries drawn, some are in one row.
TEST(OperatorCost, loopsGoFromRowToRow) {
  auto figure = &cost::MachineModel::entryRowAdditions;
  const char *sines = "%0 = tok.unary sin %X : !m -> !m";
  double perRow = 1 / cost::MachineModel().flopsPerNanosecond;
  EXPECT_NEAR(longer("X:1000x100/0.1", sines, figure, 1), 1000 * perRow, perRow);
  EXPECT_NEAR(longer("X:1000x100/0.001", sines, figure, 1), 95 * perRow, perRow);
  EXPECT_NEAR(longer("X:1000x100/0.01", sines, figure, 1), 1000 * perRow, perRow)
      << "indicators have one in each row";
}

// Whole vectors are gathered, but of a single entry.
TEST(OperatorCost, rowsGatherVectors) {
  auto figure = &cost::MachineModel::nearestGatherNanoseconds;
  const char *sums = "%0 = tok.matmul %X, %Y : (!m, !m) -> !m";
  auto gathered = [&](const char *arguments) { return longer(arguments, sums, figure, 0.1) / 0.1; };
  EXPECT_NEAR(gathered("X:1000x100/0.01 Y:100x1"), 1000, 1);
  EXPECT_NEAR(gathered("X:1000x100/0.02 Y:100x1"), 8 * 1000 * (1 - std::exp(-2)), 10);
  EXPECT_NEAR(gathered("X:1000x100/0.2 Y:100x1"), 23.5 * 1000, 10);
  EXPECT_EQ(gathered("X:1000x100/0.2 Y:100x100"), 0) << "rows are read as they lie";
  const char *products = "%0 = tok.binary mul %X, %Y : (!m, !m) -> !m";
  EXPECT_GT(longer("X:1000x100/0.2 Y:1x100", products, figure, 0.1) / 0.1, 0.7 * 23.5 * 1000)
      << "moving hides a part";
}

TEST(OperatorCost, nativesMultiplyEntries) {
  auto figure = &cost::MachineModel::nativeEntryNanoseconds;
  constexpr double entries = 1000 * 100 * 0.1;
  EXPECT_NEAR(longer("X:1000x100/0.1 Y:100x80", product, figure, 0.001), 0.001 * entries, 0.01);
  EXPECT_EQ(longer("X:1000x100 Y:100x80", product, figure, 0.001), 0);
}

TEST(OperatorCost, whatIsTouchedAroundABlockIsNotFoundInCaches) {
  auto time = [](int64_t surroundingBytes) {
    FusedBlock block("X:10x10", "!m", "%0 = tok.unary exp %X : !m -> !m\nreturn %0 : !m");
    block.machine.launchNanoseconds = 100;
    block.machine.farLaunchNanoseconds = 2000;
    mlir::Builder builder(block.function()->getContext());
    block.function()->setAttr(loopOperationsAttributeName, builder.getI64IntegerAttr(2));
    block.function()->setAttr(surroundingBytesAttributeName,
                              builder.getI64IntegerAttr(surroundingBytes));
    block.fuse();
    return predictionOf(*block.function().getOps<plan::OperatorOp>().begin()).nanoseconds;
  };
  double sharedCacheBytes = cost::MachineModel().sharedCacheBytes;
  EXPECT_EQ(time(0), time(1000));
  EXPECT_GT(time(static_cast<int64_t>(4 * sharedCacheBytes)), time(0) + 1200);
}
