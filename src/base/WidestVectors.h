// A function attribute: compiles the function for processors of several levels (x86-64-v3 has AVX2 and instructions that
// count and shift bits, v4 has AVX-512); at start-up the program selects the highest one that the machine has.
//
//   TOKAMAK_WIDEST_VECTORS double total(const double *cells, int64_t count) { ... }
//
// All variants compute the same bits as long as the compiler neither contracts nor reassociates
// floating-point operations.
#ifndef TOKAMAK_BASE_WIDESTVECTORS_H
#define TOKAMAK_BASE_WIDESTVECTORS_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// The resolver of the variants runs before ThreadSanitizer is initialised, but would be
// instrumented.
#define TOKAMAK_WIDEST_VECTORS
#endif
#endif

#ifndef TOKAMAK_WIDEST_VECTORS
#if defined(__x86_64__)
#define TOKAMAK_WIDEST_VECTORS                                                                     \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define TOKAMAK_WIDEST_VECTORS
#endif
#endif

namespace tokamak {

// Of the machine's widest vectors with fused multiplication and addition; 0: there are none.
int fusedVectorBytes();

} // namespace tokamak

#endif
