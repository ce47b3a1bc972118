// An alternate stack for signal handlers, so that a handler can run after the thread's own stack
// has overflowed. Each thread that compiles or runs programs installs one before it begins.
//
//   provideSignalStack();     // once per thread; further calls cost a check
//   recurse();                // an overflow reaches the handler instead of killing the process
#ifndef TOKAMAK_BASE_SIGNALSTACK_H
#define TOKAMAK_BASE_SIGNALSTACK_H

namespace tokamak {

// Installs a stack for the calling thread; it is freed when the thread ends. Does nothing if the
// thread already has one. If there is no memory for it, handlers run on the thread's own stack.
void provideSignalStack();

} // namespace tokamak
#endif
