// Before a function whose loops are compiled for several widths of vectors; the program takes the
// widest that the machine has when it starts.
//
//   TOKAMAK_WIDEST_VECTORS double total(const double *cells, int64_t count) { ... }
//
// All variants give the same bits as long as nothing is contracted or reassociated.
#ifndef TOKAMAK_BASE_WIDESTVECTORS_H
#define TOKAMAK_BASE_WIDESTVECTORS_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// What chooses the variant runs before ThreadSanitizer is ready, and would be instrumented.
#define TOKAMAK_WIDEST_VECTORS
#endif
#endif

#ifndef TOKAMAK_WIDEST_VECTORS
#if defined(__x86_64__)
#define TOKAMAK_WIDEST_VECTORS __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define TOKAMAK_WIDEST_VECTORS
#endif
#endif

#endif
