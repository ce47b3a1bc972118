#include "codegen/CodeEmitter.h"

#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

// The passes with which a target emits a file, but only those that kernels need.
class KernelPasses : public legacy::PassManager {
public:
  KernelPasses(ArrayRef<LeftOutPass> leftOut, TargetMachine &machine, raw_pwrite_stream &stream,
               CodeGenFileType type)
      : leftOut_(leftOut) {
    if (machine.addPassesToEmitFile(*this, stream, nullptr, type, /*DisableVerify=*/true))
      report_fatal_error("the target emits no files");
  }
  void add(Pass *pass) override {
    std::unique_ptr<Pass> owned(pass);
    if (llvm::none_of(leftOut_, [&](const auto &left) { return left.pass == nameOf(*pass); }))
      PassManager::add(owned.release());
  }

private:
  ArrayRef<LeftOutPass> leftOut_;
};

} // namespace

Expected<std::unique_ptr<CodeEmitter>> CodeEmitter::create(const Target &target) {
  auto machine = createTargetMachine(target);
  if (!machine)
    return machine.takeError();
  return std::unique_ptr<CodeEmitter>(new CodeEmitter(target, std::move(*machine)));
}

CodeEmitter::CodeEmitter(const Target &target, std::unique_ptr<TargetMachine> machine)
    : leftOut_(target.leftOut), machine_(std::move(machine)),
      passes_(std::make_unique<KernelPasses>(leftOut_, *machine_, stream_,
                                             CodeGenFileType::ObjectFile)) {}

CodeEmitter::~CodeEmitter() = default;

std::unique_ptr<MemoryBuffer> CodeEmitter::emitObject(Module &module) {
  bytes_.clear(); // the object writer takes stream positions as file offsets
  passes_->run(module);
  return MemoryBuffer::getMemBufferCopy(stream_.str(), module.getName());
}

std::string CodeEmitter::emitAssembly(Module &module) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  KernelPasses(leftOut_, *machine_, stream, CodeGenFileType::AssemblyFile).run(module);
  return stream.str().str();
}
