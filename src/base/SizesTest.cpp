#include "base/Sizes.h"

#include "base/Error.h"

#include <gtest/gtest.h>
#include <limits>

using namespace tokamak;

template <typename Action> static std::string messageOf(const Action &action) {
  try {
    action();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::User);
    return error.message();
  }
  return "no error";
}

TEST(Sizes, areNeitherNegativeNorBeyondTheAddressSpace) {
  EXPECT_EQ(checkedSize(0, "rand", "rows"), 0);
  EXPECT_EQ(checkedSize(largestSize, "rand", "rows"), largestSize);
  EXPECT_EQ(messageOf([] { checkedSize(-3, "rand", "rows"); }),
            "rand: the number of rows is negative: -3");
  EXPECT_EQ(messageOf([] { checkedSize(std::numeric_limits<int64_t>::max(), "rand", "rows"); }),
            "rand: the number of rows is too large: 9223372036854775807; the most are "
            "281474976710656");
}

TEST(Sizes, multiplyWithoutOverflow) {
  EXPECT_EQ(productOfSizes({}), 1);
  EXPECT_EQ(productOfSizes({3, 4, 5}), 60);
  EXPECT_EQ(productOfSizes({largestSize, largestSize}), std::nullopt);
  // An array without cells may be long in its other dimensions.
  EXPECT_EQ(productOfSizes({largestSize, largestSize, 0}), 0);
  EXPECT_EQ(checkedProduct(6, 7, "freplicate", "rows"), 42);
  EXPECT_EQ(messageOf([] { checkedProduct(largestSize, largestSize, "freplicate", "rows"); }),
            "freplicate: the number of rows is too large: 281474976710656 times 281474976710656; "
            "the most are 281474976710656");
}

TEST(Sizes, addUp) {
  EXPECT_EQ(checkedSum(2, 3, "cbind", "columns"), 5);
  EXPECT_EQ(messageOf([] { checkedSum(largestSize, 1, "cbind", "columns"); }),
            "cbind: the number of columns is too large: 281474976710657; the most are "
            "281474976710656");
}
