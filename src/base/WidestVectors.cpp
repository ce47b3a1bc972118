#include "base/WidestVectors.h"

int tokamak::fusedVectorBytes() {
#if defined(__x86_64__)
  static const int bytes = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
      return 64;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32 : 0;
  }();
  return bytes;
#elif defined(__aarch64__)
  return 16;
#else
  return 0;
#endif
}
