#include "runtime/DeepStack.h"

#include "base/Error.h"
#include "base/SignalStack.h"
#include "runtime/BufferPool.h"

#include <exception>
#include <pthread.h>

namespace tokamak::runtime {
namespace {

struct Work {
  const std::function<void()> &action;
  std::exception_ptr failure;
};

void *run(void *argument) {
  provideSignalStack();
  auto *work = static_cast<Work *>(argument);
  try {
    work->action();
  } catch (...) {
    work->failure = std::current_exception();
  }
  return nullptr;
}

} // namespace

void runOnDeepStack(const std::function<void()> &action) {
  Work work{action, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, deepStackBytes);
  pthread_t thread;
  int status = pthread_create(&thread, &attributes, run, &work);
  pthread_attr_destroy(&attributes);
  if (status != 0)
    throw Error("out of memory: the system refuses " + sizeText(deepStackBytes) +
                " for the stack that calls of functions need");
  pthread_join(thread, nullptr);
  if (work.failure)
    std::rethrow_exception(work.failure);
}

} // namespace tokamak::runtime
