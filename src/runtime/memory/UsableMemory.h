// The memory that this process may use: that of the machine, or less if a control group limits it.
// Groups are nested, and the limits of all ancestors apply.
//
//   usableMemory()                                   // in bytes
//   groupMemoryLimit("/proc/self/cgroup", "/sys/fs/cgroup")   // nullopt: no group has a limit
#ifndef TOKAMAK_RUNTIME_MEMORY_USABLEMEMORY_H
#define TOKAMAK_RUNTIME_MEMORY_USABLEMEMORY_H

#include <cstdint>
#include <optional>
#include <string>

namespace tokamak::runtime {

int64_t usableMemory();

// The smallest limit of the process's groups, in bytes. `membership` is the file in which the
// kernel lists the groups, `root` the mount point of their file systems: version 2 at the root
// itself or, on systems with both versions, in the folder unified; the memory controller of version
// 1 in the folder memory.
std::optional<int64_t> groupMemoryLimit(const std::string &membership, const std::string &root);

} // namespace tokamak::runtime
#endif
