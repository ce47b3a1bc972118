// What kernels are compiled for: a CPU, what vectors it has, and which of LLVM's passes its code
// does without. Everything before CodeEmitter knows no target.
//
//   auto emitter = CodeEmitter::create(hostTarget());
//   KernelCompiler compiler({.target = &aarch64Target(), .keepObject = keep});
//
// A new target is a file such as AArch64.cpp and its LLVM libraries; CONTRIBUTING.md says what else.
#ifndef TOKAMAK_CODEGEN_TARGET_TARGET_H
#define TOKAMAK_CODEGEN_TARGET_TARGET_H

#include "schedule/StreamDistances.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Pass;
class TargetMachine;
} // namespace llvm

namespace tokamak::codegen {

// One of LLVM's passes of code generation that kernels do without. No such pass may change a
// kernel's results: LeftOutPassesTest.cpp compiles kernels with and without each of them and
// compares, and ./dev test --target NAME --with-passes all does so with all kernels of the tests.
struct LeftOutPass {
  llvm::StringRef pass; // as nameOf gives it
  llvm::StringRef reason;
};

struct Target {
  std::string name;                  // as ./dev test --target takes it
  std::string triple;                // of LLVM
  std::string cpu;                   // as clang's -mcpu or -march takes it
  std::string features;              // beyond those of the CPU, such as +avx512f,-amx-tile
  int vectorRegisters;               // how many of them the CPU has
  int vectorBits;                    // how wide each is
  schedule::StreamDistances streams; // of kernels that are compiled without figures of the machine
  std::vector<LeftOutPass> leftOut;
};

// 64-bit x86 with AVX2 and FMA; 64-bit ARM with its first vector instructions (NEON). Of LLVM, a
// program links only the targets whose functions it calls; a call makes LLVM know the target.
const Target &x86Target();
const Target &wideX86Target(); // with AVX-512, too
const Target &aarch64Target();
const Target &laterAArch64Target(); // with ARMv8.2 and dot products, as servers have since 2018

// The machine that this process runs on, with all features that its CPU has.
const Target &hostTarget();

// Whether the machine that this process runs on has all that the target's code needs.
bool canRun(const Target &target);

// What the target's code needs of the processor beyond what all of its kind have, a set of features (abi/ProcessorFeatures.h).
uint64_t featuresNeeded(const Target &target);

// A pass's command-line argument, or its title if it has none.
llvm::StringRef nameOf(const llvm::Pass &pass);

// For the files of targets: the passes that all targets leave out, then those of one, by reasons.
struct LeftOutPasses {
  llvm::StringRef reason;
  std::initializer_list<llvm::StringRef> passes;
};
std::vector<LeftOutPass> leftOutEverywhereAnd(std::initializer_list<LeftOutPasses> ofTarget);

// Emits position-independent code that fuses multiplications with additions only where the program
// says so.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const Target &target);

} // namespace tokamak::codegen
#endif
