#include "codegen/target/Target.h"

#include "llvm/Support/TargetSelect.h"

using namespace tokamak;
using namespace tokamak::codegen;

static constexpr std::initializer_list<LeftOutPasses> onAArch64 = {
    {"for CPUs of 2017 and 2012",
     {"aarch64-falkor-hwpf-fix", "aarch64-falkor-hwpf-fix-late", "aarch64-a57-fp-load-balancing",
      "aarch64-fix-cortex-a53-835769-pass"}},
    {"memory is not tagged",
     {"aarch64-globals-tagging", "aarch64-stack-tagging", "aarch64-stack-tagging-pre-ra"}},
    {"kernels use no tile registers", {"aarch64-sme-abi"}},
    {"no thread-local variables", {"aarch64-local-dynamic-tls-cleanup"}},
    {"kernels read the user's own data: nothing to harden",
     {"aarch64-speculation-hardening", "aarch64-sls-hardening"}},
    {"pointers are not signed", {"aarch64-ptrauth"}},
    {"no indirect branches", {"aarch64-branch-targets"}},
    {"no switches", {"aarch64-jump-tables"}},
    {"it trades time for size", {"machine-outliner"}},
    // Costly ones that the emitters' code gives nothing to do.
    {"the emitters prefetch where memory can't foresee the accesses", {"loop-data-prefetch"}},
    {"no complex numbers", {"complex-deinterleaving"}},
    {"vectors are loaded whole, never as every second cell", {"interleaved-load-combine"}},
    {"counters have 64 bits", {"type-promotion"}},
    {"scheduled once, before registers are allocated; CPUs reorder the rest", {"postmisched"}},
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
                  .streams = {},
                  .leftOut = leftOutEverywhereAnd(onAArch64)};
  }();
  return target;
}

const Target &codegen::laterAArch64Target() {
  static const Target target = [] {
    Target later = aarch64Target();
    later.name = "aarch64-v8.2";
    later.features = "+v8.2a,+fullfp16,+dotprod";
    return later;
  }();
  return target;
}
