// The threads of compiled models where libtokamak-parallel.so is not beside the program: implements ParallelLibrary.h, and is
// linked into programs that call models only. Workers wait for loops, which may be nested: who begins a loop takes part in
// it, so that it ends even if all workers are busy with others.
#include "runtime/parallel/ParallelLibrary.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace {

struct Loop {
  std::atomic<int64_t> next{0};
  int64_t count;
  void (*body)(void *, int64_t);
  void *context;
  int64_t helpers = 0; // workers that are in it, guarded by the arena

  bool hasMore() const { return next.load(std::memory_order_relaxed) < count; }
  void run() {
    for (int64_t i = next++; i < count; i = next++)
      body(context, i);
  }
};

class Arena {
public:
  Arena(int threads, size_t stackBytes) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stackBytes);
    auto start = [](void *arena) -> void * {
      static_cast<Arena *>(arena)->work();
      return nullptr;
    };
    for (int i = 1; i < threads; ++i)
      if (pthread_t worker; pthread_create(&worker, &attributes, start, this) == 0)
        workers_.push_back(worker);
    pthread_attr_destroy(&attributes);
  }
  ~Arena() {
    {
      std::lock_guard lock(mutex_);
      ends_ = true;
    }
    begun_.notify_all();
    for (pthread_t worker : workers_)
      pthread_join(worker, nullptr);
  }

  void forEach(int64_t count, void (*body)(void *, int64_t), void *context) {
    Loop loop{.count = count, .body = body, .context = context};
    std::list<Loop *>::iterator place;
    {
      std::lock_guard lock(mutex_);
      place = loops_.insert(loops_.end(), &loop);
    }
    begun_.notify_all();
    loop.run();
    std::unique_lock lock(mutex_);
    loops_.erase(place);
    left_.wait(lock, [&] { return loop.helpers == 0; });
  }

private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      auto found = loops_.end();
      begun_.wait(lock, [&] {
        found = std::ranges::find_if(loops_, [](Loop *loop) { return loop->hasMore(); });
        return ends_ || found != loops_.end();
      });
      if (ends_)
        return;
      Loop &loop = **found;
      ++loop.helpers;
      lock.unlock();
      loop.run();
      lock.lock();
      if (--loop.helpers == 0)
        left_.notify_all();
    }
  }

  std::mutex mutex_; // guards what follows
  std::condition_variable begun_, left_;
  std::list<Loop *> loops_;
  bool ends_ = false;
  std::vector<pthread_t> workers_;
};

} // namespace

void *tokamakArenaCreate(int threads, size_t stackBytes, int64_t) {
  return new Arena(threads, stackBytes);
}
void tokamakArenaDestroy(void *arena) { delete static_cast<Arena *>(arena); }
void tokamakArenaForEach(void *arena, int64_t count, void (*body)(void *, int64_t), void *context) {
  static_cast<Arena *>(arena)->forEach(count, body, context);
}
