// Runs code that recurses as deeply as the user's program on a large stack.
//
//   runOnDeepStack([&] { walk(program); });
#ifndef TOKAMAK_RUNTIME_IMAGE_DEEPSTACK_H
#define TOKAMAK_RUNTIME_IMAGE_DEEPSTACK_H

#include <functional>
#include <string_view>

namespace tokamak::runtime {

// Bytes: enough for 4000 nested calls, even if each is nested in many loops and branches. Only the
// pages used take memory.
constexpr size_t deepStackBytes = size_t{1} << 29;

// Runs the action on a new thread with such a stack, or a smaller one if the system has no memory
// for it (ulimit -v), and rethrows its exception. Throws Error if not even 4 MiB are left. On a thread
// whose deep stack is almost unused it runs there.
void runOnDeepStack(const std::function<void()> &action);

// How deep the program's calls may nest on this thread before recursion counts as endless: 4000
// where the stack is as large as deepStackBytes, else fewer in proportion. Both engines obey it.
int deepestCall();

// While it lives, a function that was called by its name (eval) runs. Such calls nest as deep as others.
class NestedCallByName {
public:
  // Throws the error of failTooDeep.
  explicit NestedCallByName(std::string_view function);
  ~NestedCallByName();
  NestedCallByName(const NestedCallByName &) = delete;
  NestedCallByName &operator=(const NestedCallByName &) = delete;
};

// The error of a call that is nested deeper.
[[noreturn]] void failTooDeep(std::string_view function);

} // namespace tokamak::runtime
#endif
