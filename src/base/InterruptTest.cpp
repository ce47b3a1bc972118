#include "base/Interrupt.h"

#include <gtest/gtest.h>

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
