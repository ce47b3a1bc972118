// Late binding: when execution reaches a block, supplies its plan from the plan cache, or makes one
// by specialising the block.
//
//   LateBinding binding(blocks, sessionOptions, kernels, listener);
//   Executor(image, &binding, context).run();
//
// In a parallel section several threads may request plans at the same time. The first thread
// that needs a plan makes it, without holding a lock; threads that need the same plan wait
// for it, others do not. The choice of the plan depends only on the inputs and on the plans
// made before the section.
#ifndef TOKAMAK_EXEC_LATEBINDING_H
#define TOKAMAK_EXEC_LATEBINDING_H

#include "exec/Classification.h"
#include "runtime/PlannedProgram.h"

#include <future>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace tokamak::exec {

// Describes one specialisation, for --explain and --stats.
struct SpecializationEvent {
  std::string block;
  SourcePlace place;
  std::string inputs;      // sizes and bound scalars
  std::string reason;      // "first execution", "input 2 has size 10x1", ...
  std::string explanation; // explanation of the fusion choices, if requested
  double milliseconds = 0;
  std::vector<rewrite::RuleRun> rules;   // what each block rule did
  std::vector<SourcePlace> zeroRuleUses; // pipeline::Specialization
  std::shared_ptr<const runtime::Image> image;
};

class LateBinding : public runtime::BlockProvider {
public:
  // Called by one thread at a time.
  using Listener = std::function<void(const SpecializationEvent &)>;
  // References must outlive the object. `listener` may be empty.
  LateBinding(pipeline::FrozenBlocks &blocks, const pipeline::SessionOptions &options,
              codegen::KernelCompiler &kernels, Listener listener);

  std::shared_ptr<const runtime::Image> planFor(int32_t block,
                                                std::span<const runtime::Value> inputs) override;
  void beginParallel() override;
  void endParallel() override;
  int64_t specializations() const { return specializations_; }
  // All plans made so far, for a program that is to run without a compiler. Blocks that were not
  // reached have no plans.
  std::vector<runtime::PlannedBlock> plannedBlocks();

private:
  using Plan = runtime::BlockPlan;
  // The result of a request for a plan in a parallel section. monostate: the block can only be
  // planned with exact sizes; WantedCells: cells that must be inspected before planning.
  using Outcome = std::variant<std::monostate, Plan, Error, WantedCells>;
  struct BlockPlans {
    std::vector<Plan> plans;
    std::vector<bool> varying;               // scalars seen to change
    std::vector<runtime::Value> lastScalars; // their values when the block was last specialised
    int exactPlans = 0;
    WantedCells wanted;
    // Of the current parallel section: requests by Classification::key(), and the finished plans.
    std::map<std::string, std::shared_future<Outcome>> requested;
    std::vector<Plan> ready;
  };

  BlockPlans &plansOf(int32_t block);
  std::shared_ptr<const runtime::Image> specialize(int32_t block,
                                                   std::span<const runtime::Value> inputs);
  std::shared_ptr<const runtime::Image> specializeOnce(int32_t block,
                                                       std::span<const runtime::Value> inputs);
  const Outcome &request(int32_t block, std::span<const runtime::Value> inputs,
                         const std::vector<bool> &varying, const ClassificationPolicy &policy,
                         const WantedCells &wanted);
  Outcome makePlan(int32_t block, const Classification &classification,
                   const ClassificationPolicy &policy);
  pipeline::Specialization compile(int32_t block, const Classification &classification,
                                   const ClassificationPolicy &policy,
                                   pipeline::UnknownSizes unknownSizes);
  void tell(int32_t block, const Classification &classification, std::string reason,
            pipeline::Specialization result, std::chrono::steady_clock::time_point start);

  // A session's MLIR context only grows; after this many specialisations a new session replaces it.
  static constexpr int64_t specializationsPerSession = 200;
  // With this many plans, the block's narrow sizes evidently keep changing: they become symbols.
  static constexpr size_t narrowPlans = 4;
  // After this many plans with all sizes exact, the block is split where a size depends on data.
  static constexpr int exactPlanLimit = 2;
  // Capacity of the plan cache of one block; the oldest plan is evicted first.
  static constexpr size_t plansPerBlock = 32;

  pipeline::FrozenBlocks &blocks_;
  const pipeline::SessionOptions &options_;
  codegen::KernelCompiler &kernels_;
  Listener listener_;

  std::shared_mutex mutex_; // guards plans_; never held while a plan is made or waited for
  std::deque<BlockPlans> plans_;
  bool isParallel_ = false;

  std::mutex sessionMutex_; // guards idleSessions_
  std::vector<std::unique_ptr<pipeline::CompileSession>> idleSessions_;
  std::mutex listenerMutex_;
  std::atomic<int64_t> specializations_ = 0;
};

} // namespace tokamak::exec
#endif
