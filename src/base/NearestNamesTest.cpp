#include "base/NearestNames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

TEST(NearestNames, boundsDistances) {
  EXPECT_EQ(editDistance("kitten", "sitting", 6), 6u);
  EXPECT_EQ(editDistance("kitten", "sitting", 5), 6u);
  EXPECT_EQ(editDistance("kitten", "sitting", 0), 1u);
  std::mt19937 random(1);
  auto word = [&] {
    std::string text(random() % 9, ' ');
    for (char &c : text)
      c = "abAB"[random() % 4];
    return text;
  };
  for (int i = 0; i < 20000; ++i) {
    std::string a = word(), b = word();
    unsigned bound = random() % 20;
    EXPECT_EQ(editDistance(a, b, bound), std::min(editDistance(a, b), bound + 1))
        << a << " " << b << " " << bound;
  }
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

TEST(NearestNames, offersOnlyAnotherCaseOrOrderForShortNames) {
  Names names = {"X", "y", "z", "if", "in"};
  EXPECT_EQ(nearestCandidates("x", names), Names{"X"});
  EXPECT_EQ(nearestCandidates("fi", names), Names{"if"});
}

TEST(NearestNames, takesLittleTimeForLongNames) {
  std::string name(300000, 'x'), other = name;
  other[7] = 'y';
  EXPECT_EQ(nearestCandidates(name, Names{other}), Names{other});
}
