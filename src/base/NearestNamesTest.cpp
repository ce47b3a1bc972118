#include "base/NearestNames.h"

#include <gtest/gtest.h>

using namespace tokamak;
using Names = std::vector<std::string>;

TEST(NearestNames, countsEdits) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("abc", "abc"), 0u);
  EXPECT_EQ(editDistance("abc", ""), 6u);
  EXPECT_EQ(editDistance("nrow", "nrwo"), 2u);
  EXPECT_EQ(editDistance("colsums", "colSums"), 1u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 6u);
}

TEST(NearestNames, findsTheNearestFirst) {
  Names names = {"rowSums", "colMeans", "colSums", "colSds", "sum"};
  EXPECT_EQ(nearestCandidates("colsums", names).front(), "colSums");
  EXPECT_EQ(nearestCandidates("nothingLikeIt", names), Names());
}

TEST(NearestNames, keepsOrderLimitAndDistinctness) {
  Names names = {"beta1", "beta2", "beta1", "beta3", "beta4", "beta"};
  EXPECT_EQ(nearestCandidates("beta", names, 2), (Names{"beta1", "beta2"}));
}

TEST(NearestNames, offersOnlyAnotherCaseForShortNames) {
  Names names = {"X", "y", "z"};
  EXPECT_EQ(nearestCandidates("x", names), Names{"X"});
}
