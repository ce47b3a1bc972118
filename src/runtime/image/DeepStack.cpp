#include "runtime/image/DeepStack.h"

#include "base/Interrupt.h"
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
thread_local const char *deepStackBegin = nullptr;  // on a thread that runs on a deep stack
thread_local int callsByName = 0;                   // that this thread's work is nested in

struct Work {
  const std::function<void()> &action;
  size_t stackBytes;
  int callsByName;
  InterruptibleCall *call;
  std::exception_ptr failure;
};

void *run(void *argument) {
  provideSignalStack();
  auto *work = static_cast<Work *>(argument);
  ownStackBytes = work->stackBytes;
  deepStackBegin = static_cast<const char *>(__builtin_frame_address(0));
  callsByName = work->callsByName;
  WorkFor call(work->call);
  try {
    work->action();
  } catch (...) {
    work->failure = std::current_exception();
  }
  return nullptr;
}

// A function that is called by its name runs on the stack of its caller, as long as that has room for as many calls as
// a program may nest: threads for thousands of such calls are more than a system has.
bool isOnRoomyStack() {
  if (!deepStackBegin)
    return false;
  auto used = deepStackBegin - static_cast<const char *>(__builtin_frame_address(0));
  return static_cast<size_t>(used) < ownStackBytes / 4;
}

} // namespace

void runOnDeepStack(const std::function<void()> &action) {
  if (isOnRoomyStack())
    return action();
  Work work{action, deepStackBytes, callsByName, InterruptibleCall::current(), nullptr};
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

NestedCallByName::NestedCallByName(std::string_view function) {
  if (callsByName >= deepestCall())
    failTooDeep(function);
  ++callsByName;
}

NestedCallByName::~NestedCallByName() { --callsByName; }

void failTooDeep(std::string_view function) {
  throw Error(fmt::format(
      "recursion too deep: function '{}' is reached through more than {} calls{}", function,
      deepestCall(),
      ownStackBytes < deepStackBytes ? "; the system refuses memory for a larger stack (ulimit -v)"
                                     : ""));
}

} // namespace tokamak::runtime
