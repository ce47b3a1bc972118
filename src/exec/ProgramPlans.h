// The plans of a program: made when execution reaches a block, kept as long as the program, shared by
// all of its runs.
//
//   ProgramPlans plans(blocks, sessionOptions, kernels);
//   LateBinding binding(plans, {pipeline::Tier::BuiltIn}, scalars, listener); // one for each run
//
// Thread-safe.
#ifndef TOKAMAK_EXEC_PROGRAMPLANS_H
#define TOKAMAK_EXEC_PROGRAMPLANS_H

#include "exec/Classification.h"
#include "exec/PlanFiles.h"
#include "runtime/image/PlannedProgram.h"

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <shared_mutex>

namespace tokamak::exec {

// How plans are attempted where sizes keep changing, one after the other.
struct SizeGenerality {
  bool smallSizesChange, integersAreSizes; // ClassificationPolicy
  pipeline::UnknownSizes unknownSizes;
};
inline constexpr SizeGenerality sizeGeneralities[] = {
    {true, false, pipeline::UnknownSizes::Reject},  {true, true, pipeline::UnknownSizes::Reject},
    {false, false, pipeline::UnknownSizes::Reject}, {false, true, pipeline::UnknownSizes::Reject},
    {false, true, pipeline::UnknownSizes::Split},
};

// A plan of built-in kernels: it serves until it, and others of its block, have run for a while.
struct BuiltInPlan {
  runtime::BlockPlan plan;
  int64_t nanoseconds; // of one execution, predicted
};

// What is known of one block.
struct BlockPlans {
  std::mutex making; // held by the run that makes a plan, so that no other run makes it, too
  std::vector<runtime::BlockPlan> plans;
  std::vector<BuiltInPlan> builtIn;
  // How long plans of built-in kernels may still run: at first as long as compiling takes. Unlimited while
  // there is none.
  std::atomic<int64_t> builtInNanoseconds = INT64_MAX;
  // When less than this is left, kernels of the next plan are compiled in the background; 0: they are.
  std::atomic<int64_t> nanosecondsToCompileIn = 0;
  std::vector<bool> varying;               // scalars seen to change
  std::vector<runtime::Value> lastScalars; // their values when the block was last specialised
  int exactPlans = 0;                      // plans with all sizes exact
  SizeHistory sizes;                       // of what plans were made for
  size_t sizeGenerality = 0;               // what plans have needed where sizes keep changing
  WantedCells wanted;
  // When the block was reached for the first time outside of a parallel section, rounded down.
  std::optional<int64_t> surroundingBytes;

  // A plan for these inputs is about to be made. A scalar that changed once is never bound again.
  void noteSpecialization(std::span<const runtime::Value> inputs);
  // The plan that is about to be added could only be made for the sizes of these inputs.
  void forgetExpectedSizes(std::span<const runtime::Value> inputs);
  void add(runtime::BlockPlan plan);
  void addBuiltIn(runtime::BlockPlan plan, const pipeline::BuiltInRun &run);
  // Whether the block may have new plans of built-in kernels.
  pipeline::Tier tier() const {
    return builtInNanoseconds > 0 ? pipeline::Tier::BuiltIn : pipeline::Tier::Compiled;
  }
  // Whether it is time to compile in the background; once.
  bool beginsCompiling() {
    return builtInNanoseconds < nanosecondsToCompileIn && nanosecondsToCompileIn.exchange(0) > 0;
  }
  // Whether a plan of built-in kernels may be executed once more.
  bool mayRun(const BuiltInPlan &plan) {
    return builtInNanoseconds.fetch_sub(plan.nanoseconds) >= plan.nanoseconds;
  }
};

class ProgramPlans {
public:
  // References must outlive the object. `files`: plans of earlier runs; null: there are none, and none
  // are kept.
  ProgramPlans(pipeline::FrozenBlocks &blocks, const pipeline::SessionOptions &options,
               codegen::KernelCompiler &kernels, CompiledFiles *files = nullptr)
      : blocks_(blocks), options_(options), kernels_(kernels), compiledFiles_(files) {}

  // The plan that serves these inputs; null if there is none yet. Those of built-in kernels only where
  // `tier` says so.
  std::shared_ptr<const runtime::Image> find(int32_t block, std::span<const runtime::Value> inputs,
                                             pipeline::Tier tier);
  // Calls `body` with the plans of the block; no other thread reads or changes them meanwhile.
  template <typename Body> auto update(int32_t block, Body body) {
    std::unique_lock lock(mutex_);
    return body(plansOf(block));
  }
  std::mutex &making(int32_t block) {
    return update(block, [](BlockPlans &known) -> std::reference_wrapper<std::mutex> {
      return known.making;
    });
  }
  const pipeline::FrozenBlock &block(int32_t block) const { return blocks_[block]; }
  // Finds a plan that an earlier run made or compiles one, or says what is missing for one.
  pipeline::Specialization compile(int32_t block, const Classification &classification,
                                   pipeline::UnknownSizes unknownSizes, pipeline::Tier tier);
  // Has another thread compile kernels of a plan that is not needed yet, but soon. Does nothing while it is
  // busy. What would fail, fails when the plan is needed.
  void compileInBackground(int32_t block, Classification classification,
                           pipeline::UnknownSizes unknownSizes);

private:
  pipeline::Specialization specialize(int32_t block, const Classification &classification,
                                      pipeline::UnknownSizes unknownSizes, pipeline::Tier tier);
  // Call with the lock held for writing. References stay valid: plans_ is a deque.
  BlockPlans &plansOf(int32_t block);

  // A session's MLIR context only grows; after this many specialisations a new session replaces it.
  static constexpr int64_t specializationsPerSession = 200;

  pipeline::FrozenBlocks &blocks_;
  const pipeline::SessionOptions &options_;
  codegen::KernelCompiler &kernels_;
  CompiledFiles *compiledFiles_;
  std::once_flag planFilesOpened_;
  std::optional<PlanFiles> planFiles_;

  mutable std::shared_mutex mutex_; // guards plans_; never held while a plan is made or waited for
  std::deque<BlockPlans> plans_;

  std::mutex sessionMutex_; // guards idleSessions_
  std::vector<std::unique_ptr<pipeline::CompileSession>> idleSessions_;

  std::mutex backgroundMutex_;
  std::future<void> background_; // the last member: it is waited for before others are destroyed
};

} // namespace tokamak::exec
#endif
