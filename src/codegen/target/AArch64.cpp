#include "codegen/target/Target.h"

#include "llvm/Support/TargetSelect.h"

using namespace tokamak;
using namespace tokamak::codegen;

static constexpr LeftOutPass onAArch64[] = {
    {"aarch64-falkor-hwpf-fix", "for one CPU of 2017"},
    {"aarch64-falkor-hwpf-fix-late", "for one CPU of 2017"},
    {"aarch64-a57-fp-load-balancing", "for one CPU of 2012"},
    {"aarch64-fix-cortex-a53-835769-pass", "for one CPU of 2012"},
    {"aarch64-globals-tagging", "memory is not tagged"},
    {"aarch64-stack-tagging", "memory is not tagged"},
    {"aarch64-stack-tagging-pre-ra", "memory is not tagged"},
    {"aarch64-sme-abi", "kernels use no tile registers"},
    {"aarch64-local-dynamic-tls-cleanup", "no thread-local variables"},
    {"aarch64-speculation-hardening", "kernels read the user's own data: nothing to harden"},
    {"aarch64-sls-hardening", "kernels read the user's own data: nothing to harden"},
    {"aarch64-ptrauth", "pointers are not signed"},
    {"aarch64-branch-targets", "no indirect branches"},
    {"aarch64-jump-tables", "no switches"},
    {"machine-outliner", "it trades time for size"},
    // Costly ones that the emitters' code gives nothing to do.
    {"loop-data-prefetch", "the emitters prefetch where memory can't foresee the accesses"},
    {"complex-deinterleaving", "no complex numbers"},
    {"interleaved-load-combine", "vectors are loaded whole, never as every second cell"},
    {"type-promotion", "counters have 64 bits"},
    {"postmisched", "scheduled once, before registers are allocated; CPUs reorder the rest"},
};

const Target &codegen::aarch64Target() {
  static const Target target = [] {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    return Target{.name = "aarch64",
                  .triple = "aarch64-unknown-linux-gnu",
                  .cpu = "generic",
                  .features = "",
                  .vectorRegisters = 32,
                  .vectorBits = 128,
                  .leftOut = leftOutEverywhereAnd(onAArch64)};
  }();
  return target;
}
