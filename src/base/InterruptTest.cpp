#include "base/Interrupt.h"

#include <gtest/gtest.h>

#include <thread>

using namespace tokamak;

TEST(Interrupt, isSeenUntilItIsCleared) {
  EXPECT_NO_THROW(checkInterrupt());
  requestInterrupt();
  EXPECT_TRUE(isInterruptRequested());
  try {
    checkInterrupt();
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Interrupted);
  }
  clearInterrupt();
  EXPECT_NO_THROW(checkInterrupt());
}

TEST(Interrupt, stopsOneCallOnAllItsThreads) {
  InterruptibleCall outer;
  {
    InterruptibleCall inner;
    int cause, later;
    EXPECT_TRUE(inner.stop(&cause));
    EXPECT_FALSE(inner.stop(&later));
    EXPECT_EQ(inner.cause(), &cause);
    EXPECT_THROW(checkInterrupt(), Error);
    std::thread([&] {
      EXPECT_FALSE(isInterruptRequested());
      WorkFor work(&inner);
      EXPECT_TRUE(isInterruptRequested());
    }).join();
  }
  EXPECT_EQ(InterruptibleCall::current(), &outer);
  EXPECT_NO_THROW(checkInterrupt());
}
