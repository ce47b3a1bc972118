// Late binding: supplies the plan of a block when it is reached, from the plan cache or by
// specialising it.
//
//   LateBinding binding(blocks, sessionOptions, kernels, listener);
//   Executor(image, &binding, context).run();
#ifndef TOKAMAK_EXEC_LATEBINDING_H
#define TOKAMAK_EXEC_LATEBINDING_H

#include "exec/PlanConditions.h"

#include <mutex>

namespace tokamak::exec {

// Told of every specialisation, for --explain and --stats.
struct SpecializationEvent {
  std::string block;
  SourcePlace place;
  std::string inputs;      // sizes and bound scalars
  std::string reason;      // "first execution", "input 2 has size 10x1", ...
  std::string explanation; // what fusion says, if asked
  double milliseconds = 0;
  std::shared_ptr<const runtime::Image> image;
};

class LateBinding : public runtime::BlockProvider {
public:
  using Listener = std::function<void(const SpecializationEvent &)>;
  // References must outlive the object. `listener` may be empty.
  LateBinding(pipeline::FrozenBlocks &blocks, const pipeline::SessionOptions &options,
              codegen::KernelCompiler &kernels, Listener listener);

  std::shared_ptr<const runtime::Image> planFor(int32_t block,
                                                std::span<const runtime::Value> inputs) override;
  int64_t specializations() const { return specializations_; }

private:
  struct Plan {
    PlanConditions conditions;
    std::shared_ptr<const runtime::Image> image;
  };
  struct BlockPlans {
    std::vector<Plan> plans;
    std::vector<bool> varying;               // scalars seen to change
    std::vector<runtime::Value> lastScalars; // what they were when the block was last specialised
    int exactPlans = 0;
  };

  std::shared_ptr<const runtime::Image> specialize(int32_t block,
                                                   std::span<const runtime::Value> inputs);
  pipeline::CompileSession &session();

  // A session's context grows with what it has seen; after this many specialisations a new one
  // takes over.
  static constexpr int64_t specializationsPerSession = 200;
  // More plans than this for one block mean that its narrow sizes keep changing: they become
  // symbols.
  static constexpr size_t narrowPlans = 4;
  // More plans with all sizes exact than this: the block is split where a size depends on its data.
  static constexpr int exactPlanLimit = 2;
  // The cache of one block; the oldest plan goes first.
  static constexpr size_t plansPerBlock = 32;

  pipeline::FrozenBlocks &blocks_;
  const pipeline::SessionOptions &options_;
  codegen::KernelCompiler &kernels_;
  Listener listener_;
  std::mutex mutex_; // at most one compilation at a time
  std::unique_ptr<pipeline::CompileSession> session_;
  std::deque<BlockPlans> plans_;
  int64_t specializations_ = 0;
};

} // namespace tokamak::exec
#endif
