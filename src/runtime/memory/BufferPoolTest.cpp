#include "runtime/memory/BufferPool.h"

#include "runtime/natives/NativeTesting.h"

#include <semaphore>
#include <thread>

using namespace tokamak::runtime;
using tokamak::runtime::testing::errorOf;

namespace {
constexpr int64_t kibibyte = 1024, mebibyte = 1024 * kibibyte;
}

TEST(BufferPool, givesAThreadItsSmallBuffersBack) {
  BufferPool &pool = BufferPool::instance();
  pool.releaseCached();
  PoolStatistics before = pool.statistics();
  std::shared_ptr<Buffer> buffer = pool.allocate(800);
  std::byte *bytes = buffer->bytes();
  EXPECT_EQ(pool.statistics().inUse - before.inUse, 832);
  buffer.reset();
  EXPECT_EQ(pool.statistics().inUse, before.inUse);
  EXPECT_EQ(pool.statistics().cached - before.cached, 832);
  buffer = pool.allocate(800);
  EXPECT_EQ(buffer->bytes(), bytes);
  EXPECT_EQ(pool.statistics().reuses - before.reuses, 1);
  EXPECT_EQ(pool.statistics().cached, before.cached);
}

TEST(BufferPool, countsWhatOtherThreadsKeep) {
  BufferPool &pool = BufferPool::instance();
  pool.releaseCached();
  PoolStatistics before = pool.statistics();
  std::shared_ptr<Buffer> own = pool.allocate(kibibyte);
  std::binary_semaphore hasFreed(0), mayEnd(0);
  std::thread other([&] {
    own.reset();
    pool.allocate(2 * kibibyte).reset();
    hasFreed.release();
    mayEnd.acquire();
  });
  hasFreed.acquire();
  EXPECT_EQ(pool.statistics().inUse, before.inUse);
  EXPECT_EQ(pool.statistics().cached - before.cached, 3 * kibibyte);
  pool.releaseCached(); // not those of the other thread
  EXPECT_EQ(pool.statistics().cached, 3 * kibibyte);
  mayEnd.release();
  other.join();
  EXPECT_EQ(pool.statistics().cached, 3 * kibibyte);
  pool.releaseCached();
  EXPECT_EQ(pool.statistics().cached, 0);
}

// However many buffers a thread frees, it keeps few; these are released where they are in the way.
TEST(BufferPool, keepsToTheBudgetInSpiteOfWhatThreadsKeep) {
  BufferPool &pool = BufferPool::instance();
  pool.releaseCached();
  pool.setMemoryBudget(pool.statistics().inUse + mebibyte);
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 900; ++i)
    buffers.push_back(pool.allocate(kibibyte));
  EXPECT_NE(errorOf([&] { pool.allocate(200 * kibibyte); }).find("out of memory"),
            std::string::npos);
  buffers.clear();
  EXPECT_EQ(errorOf([&] { pool.allocate(960 * kibibyte); }), "no error");
  EXPECT_NE(errorOf([&] { pool.allocate(1100 * kibibyte); }).find("out of memory"),
            std::string::npos);
  pool.setMemoryBudget(0);
}

// As a model that is called with ever other sizes does: each call frees buffers that no later one
// asks for.
TEST(BufferPool, keepsLittleMoreThanWasInUseAtATime) {
  BufferPool &pool = BufferPool::instance();
  pool.releaseCached();
  int64_t before = pool.statistics().inUse, most = 0;
  for (int64_t call = 0; call < 200; ++call) {
    int64_t size = (4 + call * 37 % 60) * 256 * kibibyte; // 1 to 16 MiB
    for (int64_t parts : {8, 4, 3, 2, 1}) {
      std::vector<std::shared_ptr<Buffer>> live;
      for (int64_t part = 0; part < parts; ++part)
        live.push_back(pool.allocate(size / parts));
    }
    PoolStatistics now = pool.statistics();
    most = std::max(most, now.inUse - before + now.cached);
  }
  // 1.25 times 16 MiB, of buffers up to a quarter too large.
  EXPECT_LE(most, 36 * mebibyte);
  // What was in use at a time is kept for the next time.
  int64_t again = 0;
  for (int call = 0; call < 3; ++call) {
    std::vector<std::shared_ptr<Buffer>> live;
    for (int64_t part : {1, 2, 3, 4})
      live.push_back(pool.allocate(part * mebibyte));
    if (call == 0)
      again = pool.statistics().allocations;
  }
  EXPECT_EQ(pool.statistics().allocations, again);
  pool.releaseCached();
}
