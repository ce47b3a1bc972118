#include "codegen/CodeEmitter.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

// Receives the passes that the target adds and forwards those that kernels need.
class KernelPasses : public legacy::PassManagerBase {
public:
  KernelPasses(legacy::PassManager &passes, ArrayRef<LeftOutPass> leftOut) : passes_(passes) {
    for (const LeftOutPass &pass : leftOut)
      leftOut_.insert(pass.pass);
  }
  void add(Pass *pass) override {
    std::unique_ptr<Pass> owned(pass);
    if (!leftOut_.contains(nameOf(*pass)))
      passes_.add(owned.release());
  }

private:
  legacy::PassManager &passes_;
  StringSet<> leftOut_;
};

} // namespace

static void addPasses(legacy::PassManager &passes, ArrayRef<LeftOutPass> leftOut,
                      TargetMachine &machine, raw_pwrite_stream &stream, CodeGenFileType type) {
  KernelPasses kernelPasses(passes, leftOut);
  if (machine.addPassesToEmitFile(kernelPasses, stream, nullptr, type,
                                  /*DisableVerify=*/true))
    report_fatal_error("the target emits no files");
}

Expected<std::unique_ptr<CodeEmitter>> CodeEmitter::create(const Target &target) {
  auto machine = createTargetMachine(target);
  if (!machine)
    return machine.takeError();
  return std::unique_ptr<CodeEmitter>(new CodeEmitter(target, std::move(*machine)));
}

CodeEmitter::CodeEmitter(const Target &target, std::unique_ptr<TargetMachine> machine)
    : leftOut_(target.leftOut), machine_(std::move(machine)) {
  addPasses(passes_, leftOut_, *machine_, stream_, CodeGenFileType::ObjectFile);
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
  addPasses(passes, leftOut_, *machine_, stream, CodeGenFileType::AssemblyFile);
  passes.run(module);
  return stream.str().str();
}
