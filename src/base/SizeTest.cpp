#include "base/Size.h"

#include <gtest/gtest.h>

#include <random>

using namespace tokamak;

namespace {

Size number(int64_t value) { return Size::constant(value); }
const Size n = Size::symbol(0), m = Size::symbol(1), k = Size::symbol(2);

TEST(Size, isEqualHoweverItIsComputed) {
  EXPECT_EQ(2 * (n + m), m + n + m + n);
  EXPECT_EQ((n + 1) * (n - 1), n * n - 1);
  EXPECT_EQ(2 * (n * m) * k, k * (2 * m) * n);
  EXPECT_EQ(n + 1 - n, number(1));
  EXPECT_EQ(0 * n, number(0));
  EXPECT_EQ(minimum(n, maximum(m, k)), minimum(maximum(k, m), n));
  EXPECT_EQ(minimum(minimum(n, m), k), minimum(n, minimum(k, m)));
  EXPECT_TRUE((n + m).provedEqual(m + n));
  EXPECT_FALSE(n.provedEqual(m));
  EXPECT_FALSE((n * n).provedEqual(n));
  EXPECT_FALSE((2 * n * m).provedEqual(4 * n * m));
}

TEST(Size, provesDifferencesAndOrder) {
  EXPECT_TRUE((n + 1).provedDifferent(n));
  EXPECT_TRUE((2 * n - 1).provedDifferent(2 * n));
  EXPECT_FALSE(n.provedDifferent(m));
  EXPECT_FALSE((2 * n).provedDifferent(n)); // n may be 0
  Size wide = Size::symbol(3, 500, {129, 4096}), wider = Size::symbol(4, -1, {5000, 6000});
  EXPECT_TRUE(wide.provedDifferent(number(128)));
  EXPECT_FALSE(wide.provedDifferent(number(129)));
  EXPECT_TRUE(wide.provedDifferent(2 * wide));
  EXPECT_TRUE(wide.provedAtMost(wider));
  EXPECT_FALSE(wider.provedAtMost(wide));
  EXPECT_TRUE(n.provedAtMost(n + m));
  EXPECT_FALSE(n.provedAtMost(m));
  EXPECT_TRUE((2 * floorDivide(n, number(2))).provedAtMost(n));
  EXPECT_FALSE((2 * floorDivide(n, number(2)) + 1).provedAtMost(n));
  EXPECT_TRUE(n.provedAtMost(3 * floorDivide(n, number(3)) + 2));
  EXPECT_FALSE(n.provedAtMost(3 * floorDivide(n, number(3)) + 1));
}

TEST(Size, ofWhatIsUnknownIsUnknownAndProvesNothing) {
  for (const Size &size : {Size::unknown() + n, n * Size::unknown(), n - Size::unknown(),
                           floorDivide(Size::unknown(), number(2)), minimum(n, Size::unknown())}) {
    EXPECT_TRUE(size.isUnknown());
    EXPECT_FALSE(size.provedEqual(size));
    EXPECT_FALSE(size.provedDifferent(number(3)));
    EXPECT_FALSE(size.provedAtMost(size));
  }
  EXPECT_TRUE(Size::join(n + 1, 1 * n + 1) == n + 1);
  EXPECT_TRUE(Size::join(n, m).isUnknown());
}

TEST(Size, isUnknownWhereItGrowsTooLarge) {
  EXPECT_TRUE((2 * number(INT64_MAX)).isUnknown());
  EXPECT_TRUE((number(INT64_MAX) + 1).isUnknown());
  Size power = n, sum = n;
  for (int i = 0; i < 20; ++i) {
    power = power * n;
    sum = sum + Size::symbol(10 + i);
  }
  EXPECT_TRUE(power.isUnknown());
  EXPECT_TRUE(sum.isUnknown());
}

TEST(Size, dividesWithoutFractions) {
  EXPECT_EQ(floorDivide(2 * n + 1, number(2)), n);
  EXPECT_EQ(floorDivide(n * m, m + 0 * n), floorDivide(n * m, m)); // m may be 0
  EXPECT_TRUE(floorDivide(n * m, m).isUnknown());
  Size stride = Size::symbol(5, -1, {1, 100});
  EXPECT_EQ(floorDivide(n * stride, stride), n);
  EXPECT_EQ(floorDivide(floorDivide(n, number(2)), number(3)), floorDivide(n, number(6)));
  EXPECT_EQ(floorDivide(4 * n + m, number(2)), 2 * n + floorDivide(m, number(2)));
  EXPECT_EQ(floorDivide(number(-7), number(2)), number(-4));
  EXPECT_TRUE(floorDivide(n, number(0)).isUnknown());
}

TEST(Size, leavesOutWhatExtremesDoNotNeed) {
  EXPECT_EQ(minimum(n, n + 1), n);
  EXPECT_EQ(maximum(n, n + m), n + m);
  EXPECT_EQ(minimum(minimum(n + 2, m), n), minimum(m, n));
  EXPECT_EQ(maximum(n, number(0)), n);
}

TEST(Size, keepsARangeAndAnEstimate) {
  Size a = Size::symbol(1, 100, {10, 1000}), b = Size::symbol(2, 30, {1, 60});
  EXPECT_EQ((a * b).estimate(-1), 3000);
  EXPECT_EQ((2 * a * b + 1).estimate(-1), 6001);
  EXPECT_EQ((a * b).range(), (Size::Range{10, 60000}));
  EXPECT_EQ((a - b).range(), (Size::Range{-50, 999}));
  EXPECT_EQ(floorDivide(a, number(3)).range(), (Size::Range{3, 333}));
  EXPECT_EQ(floorDivide(a, number(3)).estimate(-1), 33);
  EXPECT_EQ(minimum(a, b).range(), (Size::Range{1, 60}));
  EXPECT_EQ((a * n).estimate(-1), -1);
  EXPECT_EQ((n * n).range().low, 0);
}

TEST(Size, isReadFromItsText) {
  Size wide = Size::symbol(3, 500, {129, 4096});
  for (const Size &size :
       {number(0), number(-5), number(INT64_MIN), n, wide, n - 1, -1 * n, 2 * n * m * m - 3 * k + 7,
        floorDivide(n - 1, number(2)) + 1, minimum(maximum(n, m), 2 * wide), Size::unknown()}) {
    std::optional<Size> read = Size::parse(size.text());
    ASSERT_TRUE(read) << size.text();
    EXPECT_EQ(*read, size) << size.text();
    EXPECT_EQ(read->text(), size.text());
    EXPECT_EQ(read->range(), size.range()) << size.text();
    EXPECT_EQ(read->estimate(-1), size.estimate(-1)) << size.text();
  }
  EXPECT_EQ((n * Size::symbol(1, 500) - 1).text(), "s0*s1~500 - 1");
  EXPECT_EQ(wide.text(), "s3:129..4096~500");
  for (const char *text : {"", "s", "x", "s0 +", "s0 s1", "2**s0", "min(s0)", "floordiv(s0, 0)",
                           "floordiv(s0, 2, 3)", "s0:5..3", "s0~-1", "s-1", "(s0)", "min(s0, s1",
                           "99999999999999999999", "4611686018427387904*2*s0"})
    EXPECT_FALSE(Size::parse(text)) << text;
  EXPECT_FALSE(Size::parse(std::string(1000, '-') + "s0"));
}

TEST(Size, substitutesSymbols) {
  Size size = floorDivide(n * m - 1, number(2)) + maximum(n, m);
  Size twice = size.substitute([](int64_t id) { return 2 * Size::symbol(id + 7); });
  EXPECT_EQ(twice.evaluate([](int64_t id) { return id == 7 ? 3 : 5; }),
            size.evaluate([](int64_t id) { return id == 0 ? 6 : 10; }));
  EXPECT_TRUE(twice.everySymbol([](int64_t id) { return id == 7 || id == 8; }));
  EXPECT_FALSE(twice.everySymbol([](int64_t id) { return id == 7; }));
  EXPECT_TRUE(number(3).everySymbol([](int64_t) { return false; }));
}

// Random expressions of small values mean what they mean without a normal form, and lie in their
// ranges; what is proved of two of them is true.
TEST(Size, agreesWithArithmetic) {
  std::mt19937_64 random(7);
  auto upTo = [&](int64_t most) { return static_cast<int64_t>(random() % (most + 1)); };
  for (int round = 0; round < 200; ++round) {
    int64_t values[4];
    std::vector<std::pair<Size, int64_t>> known;
    for (int64_t id = 0; id < 4; ++id) {
      values[id] = upTo(12);
      Size::Range range = {std::max<int64_t>(0, values[id] - upTo(3)), values[id] + upTo(30)};
      known.emplace_back(Size::symbol(id, values[id], range), values[id]);
    }
    auto valueOf = [&](int64_t id) { return values[id]; };
    for (int step = 0; step < 12; ++step) {
      auto [a, x] = known[random() % known.size()];
      auto [b, y] = known[random() % known.size()];
      int64_t divisor = 1 + upTo(5);
      switch (upTo(6)) {
      case 0:
        known.emplace_back(a + b, x + y);
        break;
      case 1:
        known.emplace_back(a - b, x - y);
        break;
      case 2:
        if (std::abs(x) < 1000 && std::abs(y) < 1000)
          known.emplace_back(a * b, x * y);
        break;
      case 3:
        known.emplace_back(floorDivide(a, number(divisor)),
                           x / divisor - (x % divisor != 0 && x < 0));
        break;
      case 4:
        known.emplace_back(minimum(a, b), std::min(x, y));
        break;
      case 5:
        known.emplace_back(maximum(a, b), std::max(x, y));
        break;
      default:
        known.emplace_back(a + upTo(9), 0);
        known.back().second =
            known.back().first.isUnknown() ? 0 : known.back().first.evaluate(valueOf);
      }
      if (known.back().first.isUnknown())
        known.pop_back();
    }
    for (auto &[size, value] : known) {
      ASSERT_EQ(size.evaluate(valueOf), value) << size.text();
      ASSERT_LE(size.range().low, value) << size.text();
      ASSERT_GE(size.range().high, value) << size.text();
      ASSERT_EQ(Size::parse(size.text()), size) << size.text();
      for (auto &[other, otherValue] : known) {
        ASSERT_FALSE(size.provedEqual(other) && value != otherValue) << size.text();
        ASSERT_FALSE(size.provedDifferent(other) && value == otherValue) << size.text();
        ASSERT_FALSE(size.provedAtMost(other) && value > otherValue) << size.text();
      }
    }
  }
}

} // namespace
