// From fused operators to machine code that the runtime can launch. There is one compiler in a
// process; sessions on any thread share it and its cache.
//
//   KernelCompiler compiler({});
//   llvm::FailureOr<abi::KernelPlan> plan = compiler.compile(operatorOp);
//   plan->kernel(&arguments, &tile, &workspace);        // code lives as long as plan->code
//
// An operator that equals an earlier one (same body, same pattern of sizes) gets the earlier one's
// code. Kernels don't depend on sizes except on constants among them.
#ifndef TOKAMAK_CODEGEN_KERNELCOMPILER_H
#define TOKAMAK_CODEGEN_KERNELCOMPILER_H

#include "abi/KernelPlan.h"
#include "ir/plan/PlanDialect.h"

#include <functional>
#include <memory>
#include <string>

namespace tokamak::codegen {

struct KernelCompilerOptions {
  bool useCache = true;
  size_t cacheCapacity = 1000; // kernels; beyond it those that no plan refers to are dropped
  // --explain=loops|llvm|asm: called with a kernel's name and its MLIR before lowering, its LLVM IR
  // after optimisation, its assembly. Null: not wanted. Not called for kernels from the cache.
  // Calls may come from several threads.
  using Sink = std::function<void(const std::string &kernel, const std::string &text)>;
  Sink explainLoops = {}, explainLlvm = {}, explainAssembly = {};
  // Called likewise with a kernel's relocatable object, which defines its name and, where partial
  // results merge, NAME_merge.
  Sink keepObject = {};
};

struct KernelCompilerStatistics {
  int64_t compiled = 0;
  int64_t cacheHits = 0;
  int64_t compileNanoseconds = 0; // wall time of the compilations, summed
};

class KernelCompiler {
public:
  explicit KernelCompiler(KernelCompilerOptions options);
  ~KernelCompiler();
  KernelCompiler(const KernelCompiler &) = delete;
  KernelCompiler &operator=(const KernelCompiler &) = delete;

  // The returned plan has a kernel, outputs in result order, sizes in terms of the operator's array
  // operands (counted among themselves) and no prediction of time. Fails with an error at the
  // operation if its body doesn't fit the templates. Thread-safe; equal operators are compiled
  // once, later callers wait.
  llvm::FailureOr<abi::KernelPlan> compile(plan::OperatorOp op);
  KernelCompilerStatistics statistics() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

// The operator's structure as text: bodies that differ only in names, locations or the numbering of
// symbols give the same text, all others different ones.
std::string structureOf(plan::OperatorOp op);

} // namespace tokamak::codegen
#endif
