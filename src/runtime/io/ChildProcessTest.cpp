#include "runtime/io/ChildProcess.h"

#include "base/Error.h"

#include <csignal>
#include <gtest/gtest.h>

using namespace tokamak::runtime;

TEST(ChildProcess, sendsWhatItComputes) {
  int here = 5;
  ChildProcess child(10, [&](int pipe) {
    int twice = 2 * here++;
    return ChildProcess::writeAll(pipe, &twice, sizeof twice);
  });
  int answer = 0;
  EXPECT_TRUE(child.read(&answer, sizeof answer));
  EXPECT_EQ(answer, 10);
  EXPECT_TRUE(child.succeeded());
  EXPECT_EQ(here, 5) << "the child has its own memory";
}

TEST(ChildProcess, mayFailOrCrash) {
  char byte = 0;
  ChildProcess failing(10, [](int) { return false; });
  EXPECT_FALSE(failing.read(&byte, 1));
  EXPECT_FALSE(failing.succeeded());
  ChildProcess crashing(10, [](int) { return raise(SIGSEGV) == 0; });
  EXPECT_FALSE(crashing.read(&byte, 1));
  EXPECT_FALSE(crashing.succeeded());
  ChildProcess exiting(10, [](int pipe) { return ChildProcess::writeAll(pipe, "ab", 2); });
  char three[3];
  EXPECT_FALSE(exiting.read(three, 3)) << "it sends two bytes only";
}

TEST(ChildProcess, mayNotRunForEver) {
  ChildProcess endless(1, [](int) {
    for (volatile unsigned i = 0;; i = i + 1)
      ;
    return true;
  });
  EXPECT_FALSE(endless.succeeded());
}

TEST(ChildProcess, endsWithItsOwner) {
  // More than the pipe holds: the child waits until nobody can read any more.
  ChildProcess waiting(10, [](int pipe) {
    static const char bytes[1 << 20] = {};
    return ChildProcess::writeAll(pipe, bytes, sizeof bytes);
  });
  char byte = 1;
  EXPECT_TRUE(waiting.read(&byte, 1));
}
