// Implements ParallelLibrary.h with plain threads, for ThreadSanitizer: it understands starting and
// joining threads, but not how oneTBB hands over tasks. Every call starts its own threads, so
// nested calls need no isolation; slow but correct.
#include "runtime/parallel/ParallelLibrary.h"

#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <vector>

namespace {

struct Arena {
  int threads;
  size_t stackBytes;
};

struct Loop {
  std::atomic<int64_t> next{0};
  int64_t count;
  void (*body)(void *, int64_t);
  void *context;

  void run() {
    for (int64_t i = next++; i < count; i = next++)
      body(context, i);
  }
};

} // namespace

void *tokamakArenaCreate(int threads, size_t stackBytes, int64_t) {
  return new Arena{threads, stackBytes};
}

void tokamakArenaDestroy(void *arena) { delete static_cast<Arena *>(arena); }

void tokamakArenaForEach(void *arena, int64_t count, void (*body)(void *, int64_t), void *context) {
  const Arena &own = *static_cast<Arena *>(arena);
  Loop loop{.count = count, .body = body, .context = context};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, own.stackBytes);
  std::vector<pthread_t> helpers;
  for (int64_t i = 1; i < std::min<int64_t>(own.threads, count); ++i) {
    pthread_t helper;
    auto start = [](void *argument) -> void * {
      static_cast<Loop *>(argument)->run();
      return nullptr;
    };
    if (pthread_create(&helper, &attributes, start, &loop) == 0)
      helpers.push_back(helper);
  }
  loop.run();
  for (pthread_t helper : helpers)
    pthread_join(helper, nullptr);
  pthread_attr_destroy(&attributes);
}
