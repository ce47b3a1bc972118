// A stack for what recurses as deep as the user's program does.
//
//   runOnDeepStack([&] { walk(program); });
#ifndef TOKAMAK_RUNTIME_DEEPSTACK_H
#define TOKAMAK_RUNTIME_DEEPSTACK_H

#include <functional>

namespace tokamak::runtime {

// Enough for the deepest calls that are allowed, even where each is nested in many loops and
// branches. Only what is used takes memory.
constexpr size_t deepStackBytes = size_t{1} << 29;

// Runs the action on a stack of that size and passes on what it throws. Throws Error if the system
// has no room for one.
void runOnDeepStack(const std::function<void()> &action);

} // namespace tokamak::runtime
#endif
