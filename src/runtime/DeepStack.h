// A stack for what recurses as deep as the user's program does.
//
//   runOnDeepStack([&] { walk(program); });
#ifndef TOKAMAK_RUNTIME_DEEPSTACK_H
#define TOKAMAK_RUNTIME_DEEPSTACK_H

#include <functional>
#include <string_view>

namespace tokamak::runtime {

// Enough for 4000 calls, even where each is nested in many loops and branches. Only the pages that
// are used take memory.
constexpr size_t deepStackBytes = size_t{1} << 29;

// Runs the action on a stack of that size, or on a smaller one where the system has no room for it
// (ulimit -v), and passes on what the action throws. Throws Error where not even 4 MiB are left.
void runOnDeepStack(const std::function<void()> &action);

// How deep the program's calls may nest on this thread before recursion counts as endless: 4000
// where the stack is as large as deepStackBytes, else fewer in proportion. Both engines obey it.
int deepestCall();

// The error of a call that is nested deeper.
[[noreturn]] void failTooDeep(std::string_view function);

} // namespace tokamak::runtime
#endif
