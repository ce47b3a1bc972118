// Late binding: when a run reaches a block, supplies its plan from those of the program, or makes one
// by specialising the block.
//
//   LateBinding binding(plans, {pipeline::Tier::BuiltIn}, scalars, listener);
//   runtime::Executor(image, &binding, context).run();
//
// In a parallel section several threads of the run may request plans at the same time. The first
// thread that needs a plan makes it, without holding a lock; threads that need the same plan wait
// for it, others do not. The choice of the plan depends only on the inputs and on the plans made
// before the section, and on what other runs of the program add meanwhile.
//
// With Tier::BuiltIn, blocks begin with plans of built-in kernels where that pays (pipeline/BuiltInTier.h), and
// get others once those have been executed for a while. Shortly before, the kernels of the others are
// compiled in the background, if programs may use several threads. In parallel sections there are none of them: which
// of the section's executions came first must not matter.
//
// Plans are made for the sizes that a block meets first; once it has met some, those that have changed
// become general in new plans (SizeHistory.h). When that is depends on the plans that this run has made, not on
// which of several calls came first, until all runs together have made `manyPlans`; where sizes are expected
// to change (tok::manySizesAttributeName), it is at the second size of all runs, and at the first one where it is
// known which change (tok::expectedSizesAttributeName). `specializeSizesName` left out, all sizes are general in all
// plans.
#ifndef TOKAMAK_EXEC_LATEBINDING_H
#define TOKAMAK_EXEC_LATEBINDING_H

#include "exec/ProgramPlans.h"
#include "exec/ScalarCompiler.h"
#include "runtime/image/Executor.h"

#include "llvm/ADT/DenseMap.h"

#include <chrono>
#include <future>
#include <map>
#include <variant>

namespace tokamak::exec {

// Describes one specialisation, for --explain and --stats.
struct SpecializationEvent {
  std::string block;
  SourcePlace place;
  std::string inputs;      // sizes and bound scalars
  std::string reason;      // "first execution", "input 2 has size 10x1", ...
  std::string explanation; // explanation of the fusion choices, if requested
  std::string facts;       // pipeline::Specialization, as are `kernels`
  std::map<int64_t, std::string> kernels;
  double milliseconds = 0;
  bool isLoaded = false;                 // made by an earlier run
  std::vector<rewrite::RuleRun> rules;   // what each block rule did
  std::vector<SourcePlace> zeroRuleUses; // pipeline::Specialization
  std::shared_ptr<const runtime::Image> image;
};

// Makes plans for the sizes that blocks meet; can be left out as passes can.
inline constexpr std::string_view specializeSizesName = "specialize-sizes";

struct LateBindingOptions {
  // With what blocks begin, and whether another thread compiles meanwhile what comes then.
  pipeline::Tier firstTier = pipeline::Tier::Compiled;
  bool compilesInBackground = false;
  // Loops are compiled after so many iterations, functions after so many calls.
  int64_t iterationsBeforeCompiling = 10'000;
  bool specializesSizes = true;
  // Of the program, at least: blocks begin with plans of built-in kernels only if these are worth it for so many.
  int64_t expectedCalls = 1;
};

class LateBinding : public runtime::BlockProvider {
public:
  // Called by one thread of the run at a time.
  using Listener = std::function<void(const SpecializationEvent &)>;
  // `plans` must outlive the object. `listener` may be empty.
  LateBinding(ProgramPlans &plans, const LateBindingOptions &options, ScalarCompiler &scalars,
              Listener listener)
      : plans_(plans), options_(options), scalars_(scalars), listener_(std::move(listener)) {}

  std::shared_ptr<const runtime::Image> planFor(int32_t block, std::span<runtime::Value> inputs,
                                                const runtime::BlockPlace &place) override;
  int64_t iterationsBeforeCompiling() const override { return options_.iterationsBeforeCompiling; }
  std::shared_ptr<const runtime::CompiledLoop> compileLoop(const runtime::Image &image,
                                                           const runtime::ImageFunction &function,
                                                           int32_t head, int32_t end,
                                                           const runtime::Value *slots) override {
    return scalars_.compileLoop(image, function, head, end, slots);
  }
  std::shared_ptr<const runtime::CompiledFunction>
  compileFunction(const runtime::Image &image, int32_t function,
                  const std::vector<runtime::SlotType> &arguments) override {
    return scalars_.compileFunction(image, function, arguments);
  }
  void beginParallel() override;
  void endParallel() override;

private:
  using Plan = runtime::BlockPlan;
  // The result of a request for a plan in a parallel section. monostate: the block can only be
  // planned with exact sizes; WantedCells: cells that must be inspected before planning.
  using Outcome = std::variant<std::monostate, Plan, Error, WantedCells>;

  std::shared_ptr<const runtime::Image> firstPlan(int32_t block,
                                                  std::span<const runtime::Value> inputs,
                                                  const runtime::BlockPlace &place);
  // What a plan is made from, beside the inputs.
  struct Request {
    std::vector<bool> varying;
    WantedCells wanted;
    SizeHistory history;
    int64_t surroundingBytes = 0;
    pipeline::UnknownSizes unknownSizes = pipeline::UnknownSizes::Reject;
    bool exactSizes = false;
    std::optional<size_t> generality = {}; // of sizeGeneralities, if sizes change
    bool isForeseen = false;               // that they change: none has so far

    Classification classify(const pipeline::FrozenBlock &block,
                            std::span<const runtime::Value> inputs) const;
    // After an attempt that left sizes open: asks for a plan that knows more of them, at last for one of
    // exactly these.
    void goOn();
  };
  Request requestFor(int32_t block, BlockPlans &known, std::span<const runtime::Value> inputs,
                     const runtime::BlockPlace &place) const;
  // Compiles in the background what `specialize` is going to ask for if inputs go on like these.
  void anticipate(int32_t block, std::span<const runtime::Value> inputs,
                  const runtime::BlockPlace &place);
  bool hasMadeManyPlans(int32_t block, const BlockPlans &known) const;
  std::shared_ptr<const runtime::Image> specialize(int32_t block,
                                                   std::span<const runtime::Value> inputs,
                                                   const runtime::BlockPlace &place);
  std::shared_ptr<const runtime::Image> specializeOnce(int32_t block,
                                                       std::span<const runtime::Value> inputs);
  const Outcome &request(int32_t block, std::span<const runtime::Value> inputs,
                         const std::vector<bool> &varying, const ClassificationPolicy &policy,
                         const WantedCells &wanted);
  Outcome makePlan(int32_t block, const Classification &classification);
  void tell(int32_t block, const Classification &classification, std::string reason,
            pipeline::Specialization result, std::chrono::steady_clock::time_point start);

  // With this many plans made by this run, or by all, the block's sizes evidently keep changing.
  static constexpr size_t fewPlans = 2, manyPlans = 16;
  // After this many plans with all sizes exact, the block is split where a size depends on data.
  static constexpr int exactPlanLimit = 2;

  ProgramPlans &plans_;
  const LateBindingOptions options_;
  ScalarCompiler &scalars_;
  Listener listener_;
  std::mutex listenerMutex_;
  llvm::DenseMap<int32_t, size_t> plansMade_; // by this run, before the current parallel section

  // By block: a copy of the first of its plans, so that repeated executions take no lock. Empty while
  // unknown; not used in parallel sections.
  struct FirstPlan {
    BuiltInPlan plan;
    BlockPlans *builtIn; // of the block, if the plan is one of built-in kernels
  };
  std::vector<std::optional<FirstPlan>> firstPlans_;

  // The current parallel section: requests by block and Classification::key(), and finished plans.
  bool isParallel_ = false;
  std::shared_mutex sectionMutex_; // guards the maps; never held while a plan is made or waited for
  std::map<std::pair<int32_t, std::string>, std::shared_future<Outcome>> requested_;
  std::map<int32_t, std::vector<Plan>> ready_;
};

} // namespace tokamak::exec
#endif
