#include "runtime/Array.h"

#include "base/Error.h"
#include "runtime/BufferPool.h"
#include "runtime/NativeTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

TEST(Array, isAlignedAndRowMajor) {
  ArrayPointer x = Array::filled({3, 4}, 2.5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x->data()) % 64, 0u);
  EXPECT_EQ(x->at(2, 3), 2.5);
  EXPECT_EQ(x->bytes(), 96);
  TokArray descriptor = x->descriptor();
  EXPECT_EQ(descriptor.dims[0], 3);
  EXPECT_EQ(descriptor.strides[0], 4);
}

TEST(Array, viewsShareTheBuffer) {
  ArrayPointer x = Array::filled({4, 2}, 1);
  EXPECT_TRUE(x->ownsWholeBuffer());
  {
    ArrayPointer rows = x->rowView(1, 3);
    EXPECT_EQ(rows->data(), x->data() + 2);
    EXPECT_EQ(rows->rows(), 2);
    EXPECT_FALSE(x->ownsWholeBuffer());
  }
  EXPECT_TRUE(x->ownsWholeBuffer());
  EXPECT_EQ(x->reshaped({2, 4})->data(), x->data());
}

TEST(Array, mayBeEmpty) {
  EXPECT_EQ(Array::create({0, 5})->cells(), 0);
  EXPECT_EQ(Array::filled({3, 0}, 1)->bytes(), 0);
}

TEST(Array, refusesImpossibleSizes) {
  EXPECT_EQ(errorOf([] { Array::create({-1, 2}); }), "an array cannot have the size -1x2");
  EXPECT_EQ(errorOf([] { Array::create({int64_t{1} << 40, int64_t{1} << 40}); }),
            "an array of the size 1099511627776x1099511627776 is too large");
}

TEST(BufferPool, reusesFreedBuffers) {
  BufferPool &pool = BufferPool::instance();
  const std::byte *first = pool.allocate(10 << 20)->bytes();
  EXPECT_EQ(pool.allocate(10 << 20)->bytes(), first);
}

TEST(BufferPool, alignsLargeBuffersToHugePages) {
  auto buffer = BufferPool::instance().allocate(9 << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->bytes()) % (2 << 20), 0u);
}

TEST(BufferPool, keepsToTheBudget) {
  BufferPool &pool = BufferPool::instance();
  pool.releaseCached();
  pool.setMemoryBudget(pool.statistics().inUse + (8 << 20));
  {
    auto fits = pool.allocate(6 << 20);
  }
  // The cached buffer gives way.
  {
    auto fits = pool.allocate(8 << 20);
  }
  EXPECT_NE(errorOf([&] {
              pool.allocate(64 << 20);
            }).find("out of memory: 64.0 MiB more would pass the budget"),
            std::string::npos);
  pool.setMemoryBudget(0);
}

TEST(BufferPool, countsThePeak) {
  BufferPool &pool = BufferPool::instance();
  pool.resetPeak();
  int64_t before = pool.statistics().peakInUse;
  {
    auto buffer = pool.allocate(32 << 20);
  }
  EXPECT_EQ(pool.statistics().peakInUse - before, 32 << 20);
}

TEST(BufferPool, writesSizesForPeople) {
  EXPECT_EQ(sizeText(12), "12 B");
  EXPECT_EQ(sizeText(1536), "1.5 KiB");
  EXPECT_EQ(sizeText(int64_t{3} << 30), "3.0 GiB");
}
