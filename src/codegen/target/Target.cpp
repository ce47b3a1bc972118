#include "codegen/target/Target.h"

#include "abi/ProcessorFeatures.h"

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

using namespace tokamak;
using namespace tokamak::codegen;

static constexpr std::initializer_list<LeftOutPasses> everywhere = {
    // These lower or insert constructs that no kernel has.
    {"no integer has more than 64 bits", {"expand-large-div-rem", "expand-large-fp-convert"}},
    {"tiles share no variables, so there are no atomic operations", {"atomic-expand"}},
    {"kernels compare no ranges of memory", {"mergeicmps", "expand-memcmp"}},
    {"no garbage collector and no deoptimisation",
     {"gc-lowering", "shadow-stack-gc-lowering", "gc-analysis", "stackmap-liveness",
      "fixup-statepoint-caller-saved"}},
    {"the emitters use neither is.constant nor objectsize", {"lower-constant-intrinsics"}},
    {"functions of vectors are linked as bitcode (VectorMath.cpp)", {"replace-with-veclib"}},
    {"square roots are instructions and never set errno", {"partially-inline-libcalls"}},
    {"masks are selects and masked accesses, not vector predication", {"expandvp"}},
    {"functions are neither instrumented nor patched",
     {"post-inline-ee-instrument", "fentry-insert", "xray-instrumentation", "patchable-function"}},
    {"no thread-local variables", {"tlshoist"}},
    {"kernels throw no exceptions", {"dwarf-eh-prepare", "funclet-layout"}},
    {"no inline assembly that branches", {"callbrprepare"}},
    {"stacks are not split", {"safe-stack"}},
    {"no indirect calls to check", {"kcfi"}},
    {"kernels carry no descriptions of variables",
     {"removeredundantdebugvalues", "livedebugvalues"}},
    {"no metadata of sanitizers", {"machine-sanmd"}},
    {"for LLVM's developers: a score, remarks", {"regallocscoringpass", "stack-frame-layout"}},
    // These bring code, by expensive analyses, into a form that the emitters generate already.
    // Instruction selection chooses among the remaining addressing modes.
    {"addresses are a base and a counter already", {"loop-reduce", "canon-freeze"}},
    {"loops are unrolled and tails masked: there is little to duplicate",
     {"early-tailduplication", "tailduplication"}},
    {"conditions on cells are selects already", {"early-ifcvt"}},
    {"sums have several accumulators; floats may not be reassociated anyway", {"machine-combiner"}},
    {"kernels have few variables on the stack", {"stack-coloring"}},
    {"a kernel saves registers once for a tile of many cells",
     {"shrink-wrap", "postra-machine-sink"}},
    {"numbers of cells are vectors, other constants fit into instructions", {"consthoist"}},
    {"loops' invariants were moved while there were registers for them", {"machinelicm"}},
};

llvm::StringRef codegen::nameOf(const llvm::Pass &pass) {
  const llvm::PassInfo *info = llvm::PassRegistry::getPassRegistry()->getPassInfo(pass.getPassID());
  return info ? info->getPassArgument() : pass.getPassName();
}

std::vector<LeftOutPass>
codegen::leftOutEverywhereAnd(std::initializer_list<LeftOutPasses> ofTarget) {
  std::vector<LeftOutPass> leftOut;
  for (auto ofOneReason : {everywhere, ofTarget})
    for (const LeftOutPasses &group : ofOneReason)
      for (llvm::StringRef pass : group.passes)
        leftOut.push_back({pass, group.reason});
  return leftOut;
}

// The features that the CPU of this name lacks, or that a virtual machine hides. Stating those that it
// has anyway, more than a hundred, would take a tenth of the time for compiling the first kernel.
static std::string featuresBeside(const Target &target, const llvm::StringMap<bool> &found) {
  std::string problem;
  std::unique_ptr<llvm::MCSubtargetInfo> cpu(
      llvm::TargetRegistry::lookupTarget(target.triple, problem)
          ->createMCSubtargetInfo(target.triple, target.cpu, ""));
  llvm::SubtargetFeatures features;
  for (const llvm::SubtargetFeatureKV &feature : cpu->getAllProcessorFeatures()) {
    auto entry = found.find(feature.Key);
    if (entry != found.end() && entry->second != cpu->getFeatureBits()[feature.Value])
      features.AddFeature(feature.Key, entry->second);
  }
  return features.getString();
}

const Target &codegen::hostTarget() {
  static const Target target = [] {
#if defined(__x86_64__)
    Target host = x86Target();
#elif defined(__aarch64__)
    Target host = aarch64Target();
#else
#error "kernels are generated for x86-64 and AArch64 only"
#endif
    host.name = "host";
    host.triple = llvm::sys::getProcessTriple();
    host.cpu = llvm::sys::getHostCPUName().str();
    llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
    host.features = featuresBeside(host, found);
    // Measured on Zen 3: loops that read three arrays took a quarter longer with prefetches of half a
    // page ahead. Intel's servers take a tenth longer without.
    if (llvm::StringRef(host.cpu).starts_with("znver"))
      host.streams = {0, 0};
    if (found.lookup("avx512f")) {
      host.vectorRegisters = 32;
      host.vectorBits = 512;
    }
    return host;
  }();
  return target;
}

bool codegen::canRun(const Target &target) {
#if defined(__x86_64__)
  return target.cpu == "x86-64-v4"   ? __builtin_cpu_supports("x86-64-v4")
         : target.cpu == "x86-64-v3" ? __builtin_cpu_supports("x86-64-v3")
                                     : target.name == hostTarget().name;
#else
  return target.name == aarch64Target().name || target.name == hostTarget().name;
#endif
}

uint64_t codegen::featuresNeeded(const Target &target) {
  std::string problem;
  std::unique_ptr<llvm::MCSubtargetInfo> cpu(
      llvm::TargetRegistry::lookupTarget(target.triple, problem)
          ->createMCSubtargetInfo(target.triple, target.cpu, target.features));
  uint64_t needed = 0, bit = 1;
  auto add = [&](const char *name) {
    if (cpu->checkFeatures(std::string("+") + name))
      needed |= bit;
    bit <<= 1;
  };
#define ADD(name, ...) add(name);
  if (llvm::Triple(target.triple).isX86()) {
    TOK_X86_FEATURES(ADD)
  } else {
    TOK_AARCH64_FEATURES(ADD)
  }
#undef ADD
  return needed;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
codegen::createTargetMachine(const Target &target) {
  std::string problem;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(target.triple, problem);
  if (!found)
    return llvm::createStringError(problem);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      target.triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}
