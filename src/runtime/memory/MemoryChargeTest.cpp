#include "runtime/memory/MemoryCharge.h"

#include "runtime/natives/NativeTesting.h"

using namespace tokamak::runtime;
using tokamak::runtime::testing::errorOf;

namespace {

constexpr int64_t mebibyte = int64_t{1} << 20;

// Sets a budget of this many bytes beyond those in use, for one test.
class Budget {
public:
  explicit Budget(int64_t bytes) {
    pool.releaseCached();
    pool.setMemoryBudget(pool.statistics().inUse + bytes);
  }
  ~Budget() { pool.setMemoryBudget(0); }
  BufferPool &pool = BufferPool::instance();
};

} // namespace

TEST(MemoryCharge, countsAsLongAsItLives) {
  Budget budget(8 * mebibyte);
  int64_t before = budget.pool.statistics().inUse;
  {
    MemoryCharge charge(3 * mebibyte), copy = charge;
    EXPECT_EQ(budget.pool.statistics().inUse - before, 6 * mebibyte);
    MemoryCharge moved = std::move(copy);
    EXPECT_EQ(budget.pool.statistics().inUse - before, 6 * mebibyte);
    charge.resize(mebibyte);
    EXPECT_EQ(budget.pool.statistics().inUse - before, 4 * mebibyte);
    moved = MemoryCharge();
    EXPECT_EQ(budget.pool.statistics().inUse - before, mebibyte);
  }
  EXPECT_EQ(budget.pool.statistics().inUse, before);
}

TEST(MemoryCharge, keepsToTheBudgetTogetherWithArrays) {
  Budget budget(8 * mebibyte);
  auto array = budget.pool.allocate(6 * mebibyte);
  MemoryCharge charge(mebibyte);
  EXPECT_NE(errorOf([] {
              MemoryCharge(2 * mebibyte);
            }).find("out of memory: 2.0 MiB more would pass the budget"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { budget.pool.allocate(2 * mebibyte); }).find("out of memory"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { budget.pool.checkRoomFor(2 * mebibyte); }).find("out of memory"),
            std::string::npos);
  EXPECT_EQ(errorOf([&] { budget.pool.checkRoomFor(mebibyte / 2); }), "no error");
  EXPECT_EQ(charge.bytes(), mebibyte);
  array.reset();
  // The array's cached buffer is released to make room.
  charge.resize(7 * mebibyte);
  EXPECT_EQ(charge.bytes(), 7 * mebibyte);
}

TEST(MemoryCharge, growsInSteps) {
  Budget budget(8 * mebibyte);
  MemoryCharge charge;
  charge.atLeast(800);
  EXPECT_EQ(charge.bytes(), 900);
  charge.atLeast(850);
  EXPECT_EQ(charge.bytes(), 900);
}

TEST(MemoryCharge, countsThePeak) {
  BufferPool &pool = BufferPool::instance();
  pool.resetPeak();
  int64_t before = pool.statistics().peakInUse;
  {
    MemoryCharge charge(5 * mebibyte);
  }
  EXPECT_EQ(pool.statistics().peakInUse - before, 5 * mebibyte);
}

TEST(BudgetedVector, countsWhatItHolds) {
  Budget budget(8 * mebibyte);
  int64_t before = budget.pool.statistics().inUse;
  {
    BudgetedVector<int64_t> numbers(mebibyte / 8);
    EXPECT_EQ(budget.pool.statistics().inUse - before, mebibyte);
    EXPECT_NE(errorOf([&] { numbers.resize(2 * mebibyte); }).find("out of memory"),
              std::string::npos);
    EXPECT_EQ(numbers.size(), static_cast<size_t>(mebibyte / 8));
  }
  EXPECT_EQ(budget.pool.statistics().inUse, before);
}
