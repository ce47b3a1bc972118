#include "base/SignalStack.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace tokamak;

namespace {

void endInHandler(int) { _exit(42); }

int recurse(volatile int *before) {
  volatile int here[1024];
  here[0] = before ? *before + 1 : 0;
  return here[0] < 0 ? 0 : recurse(here) + here[0];
}

void overflow() {
  struct sigaction action = {};
  action.sa_handler = endInHandler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  std::thread([] {
    provideSignalStack();
    provideSignalStack();
    recurse(nullptr);
  }).join();
}

} // namespace

TEST(SignalStack, servesAThreadWhoseStackHasOverflowed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(overflow(), testing::ExitedWithCode(42), "");
}

TEST(SignalStack, goesAwayWithItsThread) {
  stack_t stack{};
  std::thread([&] {
    provideSignalStack();
    ASSERT_EQ(sigaltstack(nullptr, &stack), 0);
  }).join();
  EXPECT_EQ(stack.ss_flags & SS_DISABLE, 0);
  EXPECT_GE(stack.ss_size, static_cast<size_t>(MINSIGSTKSZ)); // a sanitizer's is smaller than ours
  EXPECT_EQ(msync(stack.ss_sp, 1, MS_ASYNC), -1) << "the stack is still mapped";
  EXPECT_EQ(errno, ENOMEM);
}
