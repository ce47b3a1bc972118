// From fused operators to machine code that the runtime can launch. One compiler serves the whole
// process: sessions on all threads share it and its cache.
//
//   KernelCompiler compiler({});
//   llvm::FailureOr<abi::KernelPlan> plan = compiler.compile(operatorOp);
//   plan->kernel(&arguments, &tile, &workspace);        // code lives as long as plan->code
//
// An operator that equals an earlier one (same body, same pattern of sizes) reuses its code. Of the
// sizes, only constants are compiled into a kernel.
#ifndef TOKAMAK_CODEGEN_KERNELCOMPILER_H
#define TOKAMAK_CODEGEN_KERNELCOMPILER_H

#include "codegen/KernelStore.h"
#include "ir/plan/PlanDialect.h"
#include "schedule/ScheduleFile.h"
#include "schedule/StreamDistances.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tokamak::codegen {

struct Target;

struct KernelCompilerOptions {
  // Null: the machine that this process runs on. Otherwise kernels are not linked: `keepObject` gets
  // them, and the plans have neither kernel nor merge.
  const Target *target = nullptr;
  int threads = 1; // that compile the operators of one call at the same time
  // Asked with each kernel for the distances of the machine's model; may be null: those of the target. Kernels of the
  // store may have others.
  std::function<schedule::StreamDistances()> streams = {};
  // Asked for kernels before they are compiled, unless these are to be explained or kept; may be null.
  KernelStore *store = nullptr;
  size_t cacheCapacity = 1000; // kernels; beyond it, those that no plan uses are dropped
  std::string namePrefix = {}; // of all kernels
  // --explain=loops|llvm|asm: called with a kernel's name and its MLIR before lowering, its LLVM IR
  // after optimisation, or its assembly. May be null. Not called for kernels from the cache. Calls
  // may come from several threads.
  using Sink = std::function<void(const std::string &kernel, const std::string &text)>;
  Sink explainLoops = {}, explainLlvm = {}, explainAssembly = {};
  // --explain=schedule: called likewise with a kernel's schedule (schedule/Schedule.h).
  Sink explainSchedule = {};
  // Schedules by the names of kernels; they replace lines of the default ones.
  schedule::GivenSchedules schedules = {};
  // Called likewise with a kernel's relocatable object. It defines the symbol `kernel` and, if the
  // kernel has partial results, `kernel`_merge.
  Sink keepObject = {};
};

struct KernelCompilerStatistics {
  int64_t compiled = 0;
  int64_t cacheHits = 0;
  int64_t loaded = 0;               // from the store
  int64_t builtIn = 0;              // from the store, which had them with code
  int64_t compileNanoseconds = 0;   // wall time of the calls that compiled or loaded, summed
  std::vector<int64_t> nanoseconds; // of each kernel that was compiled, by the thread that did
};

class KernelCompiler {
public:
  explicit KernelCompiler(KernelCompilerOptions options);
  ~KernelCompiler();

  // The returned plan has a kernel, outputs in the order of results, sizes in terms of the
  // operator's array operands (numbered without the scalars), and no predicted time. Fails with an
  // error at the operation if there is no code for its body. Thread-safe; equal operators are
  // compiled once, while other callers wait. With a `schedule`, even an empty one, the kernel is
  // made of loops of any number of axes; its lines replace those of the default one.
  llvm::FailureOr<abi::KernelPlan> compile(plan::OperatorOp op,
                                           std::optional<std::string> schedule = std::nullopt);
  // The plans of several operators of one MLIR context, in their order. The first that there is no
  // code for reports an error; those behind it may fail without one.
  using Plans = std::vector<llvm::FailureOr<abi::KernelPlan>>;
  Plans compile(llvm::ArrayRef<plan::OperatorOp> operators,
                std::optional<std::string> schedule = std::nullopt);
  // The key of the kernel of an operator, in the compiler and in the store: see KernelStore.h.
  static std::string keyOf(plan::OperatorOp op);
  // Kernels that were compiled before, by this process or one whose store it shares; empty if one of
  // them is missing. They are asked for only if all kernels may come from the store.
  std::vector<abi::KernelPlan> find(llvm::ArrayRef<std::string> keys);
  // Whether the kernel comes from the store and is part of this program.
  bool hasBuiltIn(llvm::StringRef key) const;
  KernelCompilerStatistics statistics() const;
  // Names in `schedules` that no kernel has had so far.
  std::vector<std::string> unusedSchedules() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace tokamak::codegen
#endif
