#include "codegen/CodeEmitter.h"

#include "codegen/MachineCode.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace tokamak;
using namespace tokamak::codegen;

// Whether kernels skip this pass of LLVM's code generation. Passes are listed by command-line
// argument, or by name if they have none.
static bool isLeftOut(const Pass &pass) {
  static const StringSet<> leftOut = {
      // These lower or insert constructs that no kernel has: exceptions, garbage collection,
      // thread-local and atomic variables, tiles, indirect branches, debug values, counters,
      // checks, hardening.
      "lower-emutls", "expand-large-div-rem", "expand-large-fp-convert", "atomic-expand",
      "lower-amx-intrinsics", "lower-amx-type", "tilepreconfig", "tileconfig", "lowertilecopy",
      "mergeicmps", "expand-memcmp", "gc-lowering", "shadow-stack-gc-lowering", "gc-analysis",
      "lower-constant-intrinsics", "replace-with-veclib", "partially-inline-libcalls", "expandvp",
      "post-inline-ee-instrument", "tlshoist", "x86-partial-reduction", "indirectbr-expand",
      "dwarf-eh-prepare", "callbrprepare", "safe-stack", "Local Dynamic TLS Access Clean-up",
      "X86 PIC Global Base Reg Initialization", "X86 Windows Fixup Buffer Security Check",
      "x86-slh", "X86 DynAlloca Expander", "regallocscoringpass", "x86-lvi-load", "x86-lvi-ret",
      "removeredundantdebugvalues", "livedebugvalues", "fixup-statepoint-caller-saved", "kcfi",
      "fentry-insert", "xray-instrumentation", "patchable-function", "X86 Indirect Branch Tracking",
      "X86 Atom pad short functions", "X86 Discriminate Memory Operands",
      "X86 Insert Cache Prefetches", "funclet-layout", "X86 insert wait instruction",
      "stackmap-liveness", "machine-sanmd", "stack-frame-layout", "x86-seses",
      "X86 Indirect Thunks", "x86-return-thunks", "pseudo-probe-inserter",
      // These use expensive analyses to bring code into a form that the emitters already generate:
      // addresses are a base and a counter, loops are unrolled, tails are masked. Instruction
      // selection chooses among the remaining addressing modes.
      "loop-reduce", "canon-freeze", "early-tailduplication", "tailduplication", "early-ifcvt",
      "x86-cmov-conversion", "machine-combiner", "x86-domain-reassignment", "x86-optimize-LEAs",
      "x86-avoid-SFB", "x86-fixup-setcc", "lrshrink", "stack-coloring", "shrink-wrap",
      "postra-machine-sink",
      // Instructions are scheduled once, before register allocation; the CPUs that profit from a
      // second scheduling lack the vector instructions of kernels.
      "post-RA-sched"};
  const llvm::PassInfo *info = PassRegistry::getPassRegistry()->getPassInfo(pass.getPassID());
  return leftOut.contains(info ? info->getPassArgument() : pass.getPassName());
}

namespace {

// Receives the passes that the target adds and forwards those that kernels need.
class KernelPasses : public legacy::PassManagerBase {
public:
  explicit KernelPasses(legacy::PassManager &passes) : passes_(passes) {}
  void add(Pass *pass) override {
    std::unique_ptr<Pass> owned(pass);
    if (!isLeftOut(*pass))
      passes_.add(owned.release());
  }

private:
  legacy::PassManager &passes_;
};

} // namespace

static void addPasses(legacy::PassManager &passes, TargetMachine &machine,
                      raw_pwrite_stream &stream, CodeGenFileType type) {
  KernelPasses kernelPasses(passes);
  if (machine.addPassesToEmitFile(kernelPasses, stream, nullptr, type,
                                  /*DisableVerify=*/true))
    report_fatal_error("the target emits no files");
}

Expected<std::unique_ptr<CodeEmitter>> CodeEmitter::create() {
  auto machine = createTargetMachine();
  if (!machine)
    return machine.takeError();
  return std::unique_ptr<CodeEmitter>(new CodeEmitter(std::move(*machine)));
}

CodeEmitter::CodeEmitter(std::unique_ptr<TargetMachine> machine) : machine_(std::move(machine)) {
  addPasses(passes_, *machine_, stream_, CodeGenFileType::ObjectFile);
}

CodeEmitter::~CodeEmitter() = default;

std::unique_ptr<MemoryBuffer> CodeEmitter::emitObject(Module &module) {
  bytes_.clear(); // the object writer takes stream positions as file offsets
  passes_.run(module);
  return MemoryBuffer::getMemBufferCopy(stream_.str(), module.getName());
}

std::string CodeEmitter::emitAssembly(Module &module) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  addPasses(passes, *machine_, stream, CodeGenFileType::AssemblyFile);
  passes.run(module);
  return stream.str().str();
}
