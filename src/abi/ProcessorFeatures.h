// What code that was compiled ahead of time may need of a processor beyond what every one of its kind has: bit i of a set
// stands for entry i of the processor's kind. The names are those of LLVM, which the compiler asks, and for x86-64 of
// __builtin_cpu_supports, which the runtime asks before it calls the code. For AArch64 it asks the system: behind each name stand the
// word, AT_HWCAP or AT_HWCAP2, and the bit in it that Linux has for the feature.
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

// What kernels have no use for, such as signed pointers and tagged memory, is missing.
#define TOK_AARCH64_FEATURES(FEATURE)                                                              \
  FEATURE("aes", AT_HWCAP, 3)                                                                      \
  FEATURE("sha2", AT_HWCAP, 6)                                                                     \
  FEATURE("crc", AT_HWCAP, 7)                                                                      \
  FEATURE("lse", AT_HWCAP, 8)                                                                      \
  FEATURE("fullfp16", AT_HWCAP, 10)                                                                \
  FEATURE("rdm", AT_HWCAP, 12)                                                                     \
  FEATURE("jsconv", AT_HWCAP, 13)                                                                  \
  FEATURE("complxnum", AT_HWCAP, 14)                                                               \
  FEATURE("rcpc", AT_HWCAP, 15)                                                                    \
  FEATURE("sha3", AT_HWCAP, 17)                                                                    \
  FEATURE("sm4", AT_HWCAP, 19)                                                                     \
  FEATURE("dotprod", AT_HWCAP, 20)                                                                 \
  FEATURE("sve", AT_HWCAP, 22)                                                                     \
  FEATURE("fp16fml", AT_HWCAP, 23)                                                                 \
  FEATURE("rcpc-immo", AT_HWCAP, 26)                                                               \
  FEATURE("flagm", AT_HWCAP, 27)                                                                   \
  FEATURE("sve2", AT_HWCAP2, 1)                                                                    \
  FEATURE("altnzcv", AT_HWCAP2, 7)                                                                 \
  FEATURE("fptoint", AT_HWCAP2, 8)                                                                 \
  FEATURE("i8mm", AT_HWCAP2, 13)                                                                   \
  FEATURE("bf16", AT_HWCAP2, 14)

#endif
