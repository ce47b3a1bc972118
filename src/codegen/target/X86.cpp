#include "codegen/target/Target.h"

#include "llvm/Support/TargetSelect.h"

using namespace tokamak;
using namespace tokamak::codegen;

static constexpr std::initializer_list<LeftOutPasses> onX86 = {
    {"kernels use no tile registers",
     {"lower-amx-intrinsics", "lower-amx-type", "tilepreconfig", "tileconfig", "lowertilecopy"}},
    {"no indirect branches",
     {"indirectbr-expand", "X86 Indirect Thunks", "X86 Indirect Branch Tracking"}},
    {"kernels read the user's own data: nothing to harden",
     {"x86-return-thunks", "x86-slh", "x86-lvi-load", "x86-lvi-ret", "x86-seses"}},
    {"code for Linux", {"X86 Windows Fixup Buffer Security Check"}},
    {"no thread-local variables", {"Local Dynamic TLS Access Clean-up"}},
    {"64-bit code addresses relative to itself", {"X86 PIC Global Base Reg Initialization"}},
    {"stack frames have constant sizes", {"X86 DynAlloca Expander"}},
    {"no x87 instructions", {"X86 insert wait instruction"}},
    {"for CPUs without AVX2", {"X86 Atom pad short functions"}},
    {"for profiles, which kernels have none of",
     {"X86 Discriminate Memory Operands", "X86 Insert Cache Prefetches", "pseudo-probe-inserter"}},
    // Costly ones that the emitters' code gives nothing to do.
    {"sums are made of explicit steps; it looks for reductions of bytes",
     {"x86-partial-reduction"}},
    {"scalar selects do not decide the time of a kernel", {"x86-cmov-conversion"}},
    {"masks are made in mask registers already", {"x86-domain-reassignment"}},
    {"addresses are a base and a counter already", {"x86-optimize-LEAs"}},
    {"stored vectors are not read again in halves", {"x86-avoid-SFB"}},
    {"comparisons become masks, not bytes", {"x86-fixup-setcc"}},
    {"registers of vectors are under pressure, those of scalars are not", {"lrshrink"}},
    {"the allocator leaves few copies of registers, which CPUs with AVX2 rename", {"machine-cp"}},
    {"CPUs with AVX2 execute out of order, and loops have independent instructions in turns as "
     "they are emitted: no kernel was slower",
     {"machine-scheduler", "post-RA-sched"}},
};

const Target &codegen::wideX86Target() {
  static const Target target = [] {
    Target wide = x86Target();
    wide.name = "x86-64-v4";
    wide.cpu = "x86-64-v4";
    wide.vectorRegisters = 32;
    wide.vectorBits = 512;
    wide.streams = {};
    return wide;
  }();
  return target;
}

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
                  .streams = {0, 0}, // most servers without AVX-512 are AMD's
                  .leftOut = leftOutEverywhereAnd(onX86)};
  }();
  return target;
}
