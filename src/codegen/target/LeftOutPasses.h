// LLVM's passes of code generation that kernels do without, each with the reason. Which ones these
// are is a property of a target: what all targets have in common stands in LeftOutPasses.cpp,
// what is particular to one beside that target (X86.cpp, AArch64.cpp).
//
//   LeftOutPass pass = {"mergeicmps", "kernels compare no memory"};
//
// No entry may change a kernel's results: LeftOutPassesTest.cpp compiles kernels with and without
// each of them and compares, and ./dev test --target NAME --with-passes all does so with all kernels
// of the tests and all passes.
#ifndef TOKAMAK_CODEGEN_TARGET_LEFTOUTPASSES_H
#define TOKAMAK_CODEGEN_TARGET_LEFTOUTPASSES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace llvm {
class Pass;
}

namespace tokamak::codegen {

struct LeftOutPass {
  llvm::StringRef pass; // as nameOf gives it
  llvm::StringRef reason;
};

// A pass's command-line argument, or its title if it has none.
llvm::StringRef nameOf(const llvm::Pass &pass);

// Those of all targets, then those of one.
std::vector<LeftOutPass> leftOutEverywhereAnd(llvm::ArrayRef<LeftOutPass> ofTarget);

} // namespace tokamak::codegen
#endif
