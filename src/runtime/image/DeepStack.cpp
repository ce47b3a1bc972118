#include "runtime/image/DeepStack.h"

#include "base/Error.h"
#include "base/SignalStack.h"
#include "runtime/memory/BufferPool.h"

#include <fmt/format.h>

#include <exception>
#include <pthread.h>

namespace tokamak::runtime {
namespace {

constexpr size_t leastStackBytes = size_t{4} << 20;
constexpr int callsOnDeepStack = 4000;

thread_local size_t ownStackBytes = deepStackBytes; // workers of the scheduler have as much

struct Work {
  const std::function<void()> &action;
  size_t stackBytes;
  std::exception_ptr failure;
};

void *run(void *argument) {
  provideSignalStack();
  auto *work = static_cast<Work *>(argument);
  ownStackBytes = work->stackBytes;
  try {
    work->action();
  } catch (...) {
    work->failure = std::current_exception();
  }
  return nullptr;
}

} // namespace

void runOnDeepStack(const std::function<void()> &action) {
  Work work{action, deepStackBytes, nullptr};
  pthread_t thread;
  auto start = [&] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, work.stackBytes);
    int status = pthread_create(&thread, &attributes, run, &work);
    pthread_attr_destroy(&attributes);
    return status == 0;
  };
  while (!start())
    if ((work.stackBytes /= 2) < leastStackBytes)
      throw Error("out of memory: the system refuses " + sizeText(leastStackBytes) +
                  " for the stack that the program runs on");
  pthread_join(thread, nullptr);
  if (work.failure)
    std::rethrow_exception(work.failure);
}

int deepestCall() {
  return static_cast<int>(callsOnDeepStack * (ownStackBytes >> 20) / (deepStackBytes >> 20));
}

void failTooDeep(std::string_view function) {
  throw Error(fmt::format(
      "recursion too deep: function '{}' is reached through more than {} calls{}", function,
      deepestCall(),
      ownStackBytes < deepStackBytes ? "; the system refuses memory for a larger stack (ulimit -v)"
                                     : ""));
}

} // namespace tokamak::runtime
