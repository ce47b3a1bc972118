// What code that was compiled ahead of time may need of a processor beyond what every one of its kind has: bit i of a set
// stands for entry i. The names are those of LLVM, which the compiler asks, and of __builtin_cpu_supports, which the runtime
// asks before it calls the code.
//
//   #define NAME(name) name,
//   static const char *const names[] = {TOK_X86_FEATURES(NAME)};      // "avx", "avx2", ...
//   #undef NAME
#ifndef TOKAMAK_ABI_PROCESSORFEATURES_H
#define TOKAMAK_ABI_PROCESSORFEATURES_H

// At most 64. New ones stand at the end.
#define TOK_X86_FEATURES(FEATURE)                                                                  \
  FEATURE("sse4.2")                                                                                \
  FEATURE("popcnt")                                                                                \
  FEATURE("avx")                                                                                   \
  FEATURE("avx2")                                                                                  \
  FEATURE("bmi")                                                                                   \
  FEATURE("bmi2")                                                                                  \
  FEATURE("fma")                                                                                   \
  FEATURE("f16c")                                                                                  \
  FEATURE("lzcnt")                                                                                 \
  FEATURE("movbe")                                                                                 \
  FEATURE("avx512f")                                                                               \
  FEATURE("avx512bw")                                                                              \
  FEATURE("avx512cd")                                                                              \
  FEATURE("avx512dq")                                                                              \
  FEATURE("avx512vl")                                                                              \
  FEATURE("avx512ifma")                                                                            \
  FEATURE("avx512vbmi")                                                                            \
  FEATURE("avx512vbmi2")                                                                           \
  FEATURE("avx512vnni")                                                                            \
  FEATURE("avx512bitalg")                                                                          \
  FEATURE("avx512vpopcntdq")                                                                       \
  FEATURE("gfni")                                                                                  \
  FEATURE("vaes")                                                                                  \
  FEATURE("vpclmulqdq")                                                                            \
  FEATURE("avx512bf16")                                                                            \
  FEATURE("avx512fp16")                                                                            \
  FEATURE("avxvnni")

#endif
