#include "runtime/NativeTables.h"
namespace tokamak::runtime {
std::span<const Native> fileNatives() { return {}; }
} // namespace tokamak::runtime
