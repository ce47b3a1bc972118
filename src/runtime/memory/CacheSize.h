// How much of what a core reads and writes stays in its caches.
//
//   int64_t most = lastCacheBytes() / 2;   // what certainly stays there
#ifndef TOKAMAK_RUNTIME_MEMORY_CACHESIZE_H
#define TOKAMAK_RUNTIME_MEMORY_CACHESIZE_H

#include <cstdint>
#include <string>

namespace tokamak::runtime {

// The bytes of the last cache before memory, which several cores may share. A virtual machine says
// how large the host's is: no more counts than the CPUs that it sees would have of it.
int64_t lastCacheBytes();

// The same of the core whose caches the Linux kernel describes in this folder, in folders index0,
// index1, ..., with the files size and shared_cpu_list; 32 MiB if they say nothing.
int64_t lastCacheBytes(const std::string &folder);

} // namespace tokamak::runtime
#endif
