#include "exec/ProgramPlans.h"

#include "base/NeedsMemory.h"

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Image;
using runtime::Value;

// Capacity of the plan cache of one block; the oldest plan is evicted first.
static constexpr size_t plansPerBlock = 32;

void BlockPlans::add(runtime::BlockPlan plan) {
  if (plans.size() >= plansPerBlock)
    plans.erase(plans.begin());
  plans.push_back(std::move(plan));
}

BlockPlans &ProgramPlans::plansOf(int32_t block) {
  while (plans_.size() <= static_cast<size_t>(block))
    plans_.emplace_back();
  return plans_[block];
}

std::shared_ptr<const Image> ProgramPlans::find(int32_t block,
                                                std::span<const Value> inputs) const {
  std::shared_lock lock(mutex_);
  if (static_cast<size_t>(block) >= plans_.size())
    return nullptr;
  return runtime::findPlan(plans_[block].plans, inputs);
}

pipeline::Specialization ProgramPlans::compile(int32_t block, const Classification &classification,
                                               pipeline::UnknownSizes unknownSizes) {
  const SourcePlace place = blocks_[block].place; // a copy: compiling may add blocks
  NeedsMemory section(place);
  if (!compiledFiles_)
    return specialize(block, classification, unknownSizes);
  std::call_once(planFilesOpened_,
                 [&] { planFiles_.emplace(*compiledFiles_, kernels_, textOf(options_)); });
  std::string key = planFiles_->keyOf(blocks_[block], classification.conditions, unknownSizes);
  if (auto known = planFiles_->find(key, blocks_, block))
    return std::move(*known);
  auto result = specialize(block, classification, unknownSizes);
  planFiles_->keep(key, result, blocks_);
  return result;
}

pipeline::Specialization ProgramPlans::specialize(int32_t block,
                                                  const Classification &classification,
                                                  pipeline::UnknownSizes unknownSizes) {
  std::unique_ptr<pipeline::CompileSession> session;
  {
    std::lock_guard lock(sessionMutex_);
    if (!idleSessions_.empty()) {
      session = std::move(idleSessions_.back());
      idleSessions_.pop_back();
    }
  }
  if (!session)
    session = std::make_unique<pipeline::CompileSession>(options_, kernels_);
  auto result = session->specialize(blocks_, block, classification.conditions, unknownSizes);
  if (session->specializations() < specializationsPerSession) {
    std::lock_guard lock(sessionMutex_);
    idleSessions_.push_back(std::move(session));
  }
  return result;
}

std::vector<runtime::PlannedBlock> ProgramPlans::plannedBlocks() const {
  std::shared_lock lock(mutex_);
  std::vector<runtime::PlannedBlock> blocks(blocks_.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].name = blocks_[i].name;
    if (i < plans_.size())
      blocks[i].plans = plans_[i].plans;
  }
  return blocks;
}
