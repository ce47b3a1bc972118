#include "codegen/target/LeftOutPasses.h"

#include "llvm/Pass.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"

using namespace tokamak;
using namespace tokamak::codegen;

static constexpr LeftOutPass everywhere[] = {
    // These lower or insert constructs that no kernel has.
    {"expand-large-div-rem", "no integer has more than 64 bits"},
    {"expand-large-fp-convert", "no integer has more than 64 bits"},
    {"atomic-expand", "tiles share no variables, so there are no atomic operations"},
    {"mergeicmps", "kernels compare no ranges of memory"},
    {"expand-memcmp", "kernels compare no ranges of memory"},
    {"gc-lowering", "no garbage collector"},
    {"shadow-stack-gc-lowering", "no garbage collector"},
    {"gc-analysis", "no garbage collector"},
    {"stackmap-liveness", "no garbage collector and no deoptimisation"},
    {"fixup-statepoint-caller-saved", "no garbage collector"},
    {"lower-constant-intrinsics", "the emitters use neither is.constant nor objectsize"},
    {"replace-with-veclib", "functions of vectors are linked as bitcode (VectorMath.cpp)"},
    {"partially-inline-libcalls", "square roots are instructions and never set errno"},
    {"expandvp", "masks are selects and masked accesses, not vector predication"},
    {"post-inline-ee-instrument", "functions are not instrumented"},
    {"fentry-insert", "functions are not instrumented"},
    {"xray-instrumentation", "functions are not instrumented"},
    {"patchable-function", "functions are not patched"},
    {"tlshoist", "no thread-local variables"},
    {"dwarf-eh-prepare", "kernels throw no exceptions"},
    {"funclet-layout", "kernels throw no exceptions"},
    {"callbrprepare", "no inline assembly that branches"},
    {"safe-stack", "stacks are not split"},
    {"kcfi", "no indirect calls to check"},
    {"removeredundantdebugvalues", "kernels carry no descriptions of variables"},
    {"livedebugvalues", "kernels carry no descriptions of variables"},
    {"machine-sanmd", "no metadata of sanitizers"},
    {"regallocscoringpass", "it scores the allocation for LLVM's developers"},
    {"stack-frame-layout", "it prints remarks for LLVM's developers"},
    // These bring code, by expensive analyses, into a form that the emitters generate already.
    // Instruction selection chooses among the remaining addressing modes.
    {"loop-reduce", "addresses are a base and a counter already"},
    {"canon-freeze", "it prepares what loop-reduce does"},
    {"early-tailduplication", "loops are unrolled and tails masked: there is little to duplicate"},
    {"tailduplication", "loops are unrolled and tails masked: there is little to duplicate"},
    {"early-ifcvt", "conditions on cells are selects already"},
    {"machine-combiner", "sums have several accumulators; floats may not be reassociated anyway"},
    {"stack-coloring", "kernels have few variables on the stack"},
    {"shrink-wrap", "a kernel saves registers once for a tile of many cells"},
    {"postra-machine-sink", "it serves shrink-wrap"},
};

llvm::StringRef codegen::nameOf(const llvm::Pass &pass) {
  const llvm::PassInfo *info = llvm::PassRegistry::getPassRegistry()->getPassInfo(pass.getPassID());
  return info ? info->getPassArgument() : pass.getPassName();
}

std::vector<LeftOutPass> codegen::leftOutEverywhereAnd(llvm::ArrayRef<LeftOutPass> ofTarget) {
  std::vector<LeftOutPass> passes(std::begin(everywhere), std::end(everywhere));
  passes.insert(passes.end(), ofTarget.begin(), ofTarget.end());
  return passes;
}
