#include "reference/AggregateMeaning.h"

#include "reference/TextProgram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tokamak;
using namespace tokamak::reference;
using runtime::Value;

static const double infinity = std::numeric_limits<double>::infinity();
static const double notANumber = std::numeric_limits<double>::quiet_NaN();

static std::string full(AggregateKind kind, const Value &x) {
  return shown(aggregate(kind, AggregateDirection::Full, x));
}
static std::string ofRows(AggregateKind kind, const Value &x) {
  return shown(aggregate(kind, AggregateDirection::Row, x));
}
static std::string ofColumns(AggregateKind kind, const Value &x) {
  return shown(aggregate(kind, AggregateDirection::Column, x));
}

TEST(AggregateMeaning, ReducesInEveryDirection) {
  Value x = matrix(2, 3, {1, 2, 3, 4, 5, 9});
  EXPECT_EQ(full(AggregateKind::Sum, x), "24.0");
  EXPECT_EQ(ofRows(AggregateKind::Sum, x), "6; 18");
  EXPECT_EQ(ofColumns(AggregateKind::Sum, x), "5 7 12");
  EXPECT_EQ(full(AggregateKind::Prod, x), "1080.0");
  EXPECT_EQ(ofRows(AggregateKind::Min, x), "1; 4");
  EXPECT_EQ(ofColumns(AggregateKind::Max, x), "4 5 9");
  EXPECT_EQ(full(AggregateKind::Mean, x), "4.0");
  EXPECT_EQ(ofRows(AggregateKind::Var, x), "1; 7");
  EXPECT_EQ(ofColumns(AggregateKind::Sd, matrix(2, 1, {1, 3})), fmt::format("{}", std::sqrt(2.0)));
}

TEST(AggregateMeaning, EmptyMatrices) {
  Value empty = matrix(0, 2, {});
  EXPECT_EQ(full(AggregateKind::Sum, empty), "0.0");
  EXPECT_EQ(full(AggregateKind::Prod, empty), "1.0");
  EXPECT_EQ(full(AggregateKind::Mean, empty), "NaN");
  EXPECT_EQ(full(AggregateKind::Max, empty), "-Infinity");
  EXPECT_EQ(full(AggregateKind::Min, empty), "Infinity");
  EXPECT_EQ(full(AggregateKind::Var, empty), "NaN");
  EXPECT_EQ(ofColumns(AggregateKind::Sum, empty), "0 0");
  EXPECT_EQ(ofRows(AggregateKind::Sum, empty), "0x1");
  EXPECT_EQ(ofRows(AggregateKind::Sum, matrix(2, 0, {})), "0; 0");
}

TEST(AggregateMeaning, NaNSpreads) {
  Value x = matrix(1, 3, {1, notANumber, 3});
  for (AggregateKind kind :
       {AggregateKind::Sum, AggregateKind::Prod, AggregateKind::Min, AggregateKind::Max,
        AggregateKind::Mean, AggregateKind::Var, AggregateKind::Sd})
    EXPECT_EQ(full(kind, x), "NaN") << mnemonic(kind);
}

TEST(AggregateMeaning, SumsAreCompensated) {
  EXPECT_EQ(full(AggregateKind::Sum, matrix(1, 4, {1, 1e100, 1, -1e100})), "2.0");
  EXPECT_EQ(full(AggregateKind::Sum, matrix(1, 2, {infinity, 1})), "Infinity");
  EXPECT_EQ(full(AggregateKind::Sum, matrix(1, 2, {infinity, -infinity})), "NaN");
  EXPECT_EQ(full(AggregateKind::Sum, matrix(1, 2, {-1e308, -1e308})), "-Infinity");
}

TEST(AggregateMeaning, VarianceOfOneCellIsZero) {
  EXPECT_EQ(full(AggregateKind::Var, matrix(1, 1, {5})), "0.0");
  EXPECT_EQ(full(AggregateKind::Var, matrix(1, 3, {1e9 + 1, 1e9 + 2, 1e9 + 3})), "1.0");
}

TEST(AggregateMeaning, IndexOfExtremesTakesTheLastOrFirstTie) {
  Value x = matrix(
      4, 3, {5, 1, 5, 1, 1, 1, notANumber, notANumber, notANumber, notANumber, 2, -infinity});
  EXPECT_EQ(ofRows(AggregateKind::IndexMax, x), "3; 3; 1; 2");
  EXPECT_EQ(ofRows(AggregateKind::IndexMin, x), "2; 3; 1; 3");
  EXPECT_EQ(ofRows(AggregateKind::FirstIndexMax, x), "1; 1; 1; 2");
  EXPECT_EQ(ofRows(AggregateKind::FirstIndexMin, x), "2; 1; 1; 3");
}

TEST(AggregateMeaning, CumulatesDownColumns) {
  Value x = matrix(3, 2, {1, 6, 3, 4, 2, 5});
  EXPECT_EQ(shown(cumulate(AggregateKind::Sum, x)), "1 6; 4 10; 6 15");
  EXPECT_EQ(shown(cumulate(AggregateKind::Prod, x)), "1 6; 3 24; 6 120");
  EXPECT_EQ(shown(cumulate(AggregateKind::Min, x)), "1 6; 1 4; 1 4");
  EXPECT_EQ(shown(cumulate(AggregateKind::Max, x)), "1 6; 3 6; 3 6");
  EXPECT_EQ(shown(cumulateRows(AggregateKind::Sum, x)), "1 7; 3 7; 2 7");
  EXPECT_EQ(shown(cumulateSumProduct(matrix(3, 2, {1, 9, 2, 3, 4, 0.5}))), "1; 5; 6.5");
}

TEST(AggregateMeaning, TextualForm) {
  TextProgram program(R"(
    func.func @f(%x: tensor<?x?xf64>) -> (f64, tensor<?x?xf64>) {
      %s = tok.aggregate sum full %x : tensor<?x?xf64> -> f64
      %i = tok.aggregate index_max row %x : tensor<?x?xf64> -> tensor<?x?xf64>
      return %s, %i : f64, tensor<?x?xf64>
    })");
  std::vector<Value> results = program.callAll("f", {matrix(2, 2, {1, 1, 4, 3})});
  EXPECT_EQ(shown(results[0]), "9.0");
  EXPECT_EQ(shown(results[1]), "2; 1");
}
