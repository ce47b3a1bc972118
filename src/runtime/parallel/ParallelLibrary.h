// The interface of libtokamak-parallel.so: oneTBB behind three functions. It is a separate
// library, loaded when a program first runs several tiles, because loading oneTBB takes
// longer than a small program.
//
//   void *arena = tokamakArenaCreate(2, 64 << 20, 100000);
//   auto run = [](void *cells, int64_t tile) { static_cast<double *>(cells)[tile] = 1; };
//   double cells[10];
//   tokamakArenaForEach(arena, 10, run, cells);
//   tokamakArenaDestroy(arena);
#ifndef TOKAMAK_RUNTIME_PARALLEL_PARALLELLIBRARY_H
#define TOKAMAK_RUNTIME_PARALLEL_PARALLELLIBRARY_H

#include <cstddef>
#include <cstdint>

extern "C" {
// `stackBytes`: size of each thread's stack. `patience`: how long workers wait for the next loop before they sleep, in
// nanoseconds; they keep processors busy meanwhile.
void *tokamakArenaCreate(int threads, size_t stackBytes, int64_t patience);
void tokamakArenaDestroy(void *arena);
// Calls body(context, i) for each i in [0, count), in any order, on the arena's threads. The body
// must not throw.
void tokamakArenaForEach(void *arena, int64_t count, void (*body)(void *, int64_t), void *context);
}

#endif
