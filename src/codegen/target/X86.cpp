#include "codegen/target/Target.h"

#include "llvm/Support/TargetSelect.h"

using namespace tokamak;
using namespace tokamak::codegen;

static constexpr LeftOutPass onX86[] = {
    {"lower-amx-intrinsics", "kernels use no tile registers"},
    {"lower-amx-type", "kernels use no tile registers"},
    {"tilepreconfig", "kernels use no tile registers"},
    {"tileconfig", "kernels use no tile registers"},
    {"lowertilecopy", "kernels use no tile registers"},
    {"indirectbr-expand", "no indirect branches"},
    {"X86 Indirect Thunks", "no indirect branches"},
    {"X86 Indirect Branch Tracking", "no indirect branches"},
    {"x86-return-thunks", "kernels read the user's own data: nothing to harden"},
    {"x86-slh", "kernels read the user's own data: nothing to harden"},
    {"x86-lvi-load", "kernels read the user's own data: nothing to harden"},
    {"x86-lvi-ret", "kernels read the user's own data: nothing to harden"},
    {"x86-seses", "kernels read the user's own data: nothing to harden"},
    {"X86 Windows Fixup Buffer Security Check", "code for Linux"},
    {"Local Dynamic TLS Access Clean-up", "no thread-local variables"},
    {"X86 PIC Global Base Reg Initialization", "64-bit code addresses relative to itself"},
    {"X86 DynAlloca Expander", "stack frames have constant sizes"},
    {"X86 insert wait instruction", "no x87 instructions"},
    {"X86 Atom pad short functions", "for CPUs without AVX2"},
    {"X86 Discriminate Memory Operands",
     "for profiles of cache misses, which kernels have none of"},
    {"X86 Insert Cache Prefetches", "for profiles of cache misses, which kernels have none of"},
    {"pseudo-probe-inserter", "no probes for profiles"},
    // Costly ones that the emitters' code gives nothing to do.
    {"x86-partial-reduction", "sums are made of explicit steps; it looks for reductions of bytes"},
    {"x86-cmov-conversion", "scalar selects do not decide the time of a kernel"},
    {"x86-domain-reassignment", "masks are made in mask registers already"},
    {"x86-optimize-LEAs", "addresses are a base and a counter already"},
    {"x86-avoid-SFB", "stored vectors are not read again in halves"},
    {"x86-fixup-setcc", "comparisons become masks, not bytes"},
    {"lrshrink", "registers of vectors are under pressure, those of scalars are not"},
    {"machine-scheduler",
     "CPUs with AVX2 execute out of order, and loops have independent instructions "
     "in turns as they are emitted: no kernel was slower"},
    {"post-RA-sched", "for the same reason"},
};

const Target &codegen::x86Target() {
  static const Target target = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    return Target{.name = "x86-64",
                  .triple = "x86_64-unknown-linux-gnu",
                  .cpu = "x86-64-v3",
                  .features = "",
                  .vectorRegisters = 16,
                  .vectorBits = 256,
                  .leftOut = leftOutEverywhereAnd(onX86)};
  }();
  return target;
}
