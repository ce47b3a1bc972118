// A stack for signal handlers, which the thread needs where its own has overflowed. Each thread
// that runs programs or compiles them asks for one before it begins.
//
//   provideSignalStack();     // once per thread; further calls cost a check
//   recurse();                // an overflow ends in the handler instead of in silence
#ifndef TOKAMAK_BASE_SIGNALSTACK_H
#define TOKAMAK_BASE_SIGNALSTACK_H

namespace tokamak {

// The stack belongs to the calling thread and goes away with it. A thread that has one keeps it;
// where there is no memory for one, handlers run on the thread's own stack.
void provideSignalStack();

} // namespace tokamak
#endif
