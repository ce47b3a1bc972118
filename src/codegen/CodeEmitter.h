// From optimised LLVM IR to machine code for a target.
//
//   auto emitter = CodeEmitter::create(hostTarget());  // once: building its passes is expensive
//   module->setDataLayout((*emitter)->machine().createDataLayout());
//   std::unique_ptr<llvm::MemoryBuffer> object = (*emitter)->emitObject(*module);
#ifndef TOKAMAK_CODEGEN_CODEEMITTER_H
#define TOKAMAK_CODEGEN_CODEEMITTER_H

#include "codegen/target/Target.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tokamak::codegen {

// Not thread-safe: one module at a time.
class CodeEmitter {
public:
  static llvm::Expected<std::unique_ptr<CodeEmitter>> create(const Target &target);
  ~CodeEmitter();

  llvm::TargetMachine &machine() { return *machine_; }
  // Both may change the module: to emit both forms, emit one from a clone.
  std::unique_ptr<llvm::MemoryBuffer> emitObject(llvm::Module &module);
  std::string emitAssembly(llvm::Module &module);

private:
  CodeEmitter(const Target &target, std::unique_ptr<llvm::TargetMachine> machine);

  std::vector<LeftOutPass> leftOut_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> bytes_; // the object that `passes_` writes
  llvm::raw_svector_ostream stream_{bytes_};
  std::unique_ptr<llvm::legacy::PassManager> passes_; // emit an object to `stream_`
};

} // namespace tokamak::codegen
#endif
