#include "base/SignalStack.h"

#include <csignal>
#include <cstddef>
#include <sys/mman.h>
#include <unistd.h>

namespace tokamak {
namespace {

class SignalStack {
public:
  SignalStack() {
    stack_t present{};
    if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0)
      return; // the sanitizer has installed a signal stack
    // _SC_SIGSTKSZ accounts for the registers saved on a signal, which take more room on newer
    // processors; the handler itself gets 64 KiB.
    size_ = static_cast<size_t>(sysconf(_SC_SIGSTKSZ)) + (size_t{64} << 10);
    void *memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return;
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = size_;
    if (sigaltstack(&stack, nullptr) == 0)
      memory_ = memory;
    else
      munmap(memory, size_);
  }
  ~SignalStack() {
    if (!memory_)
      return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(memory_, size_);
  }
  SignalStack(const SignalStack &) = delete;
  SignalStack &operator=(const SignalStack &) = delete;

private:
  void *memory_ = nullptr;
  size_t size_ = 0;
};

} // namespace

void provideSignalStack() { static thread_local SignalStack stack; }

} // namespace tokamak
