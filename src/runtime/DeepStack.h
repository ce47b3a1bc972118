// Runs code that recurses as deeply as the user's program on a large stack.
//
//   runOnDeepStack([&] { walk(program); });
#ifndef TOKAMAK_RUNTIME_DEEPSTACK_H
#define TOKAMAK_RUNTIME_DEEPSTACK_H

#include <functional>

namespace tokamak::runtime {

// Bytes: enough for the deepest permitted calls, even if each is nested in many loops and branches.
// Only the pages used take memory.
constexpr size_t deepStackBytes = size_t{1} << 29;

// Runs the action on a new thread with such a stack and rethrows its exception. Throws Error if the
// system has no memory for the stack.
void runOnDeepStack(const std::function<void()> &action);

} // namespace tokamak::runtime
#endif
