#include "exec/ProgramPlans.h"

#include "base/NeedsMemory.h"

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Image;
using runtime::Value;

// Capacity of the plan cache of one block; the oldest plan is evicted first.
static constexpr size_t plansPerBlock = 32;

void BlockPlans::noteSpecialization(std::span<const Value> inputs) {
  varying.resize(inputs.size(), false);
  for (size_t i = 0; i < lastScalars.size(); ++i)
    if (inputs[i].isNumber() && !runtime::identical(lastScalars[i], inputs[i]))
      varying[i] = true;
  lastScalars.clear();
  for (const Value &input : inputs)
    lastScalars.push_back(input.isNumber() ? input : Value());
  sizes.add(inputs);
}

void BlockPlans::forgetExpectedSizes(std::span<const Value> inputs) {
  sizes = {};
  sizes.add(inputs);
}

void BlockPlans::add(runtime::BlockPlan plan) {
  if (plans.size() >= plansPerBlock)
    plans.erase(plans.begin());
  plans.push_back(std::move(plan));
  if (builtInNanoseconds <= 0)
    builtIn.clear();
}

void BlockPlans::addBuiltIn(runtime::BlockPlan plan, const pipeline::BuiltInRun &run) {
  if (builtIn.size() >= plansPerBlock)
    builtIn.erase(builtIn.begin());
  builtIn.push_back({std::move(plan), static_cast<int64_t>(run.ofOneExecution) + 1});
  if (builtInNanoseconds == INT64_MAX) {
    builtInNanoseconds = static_cast<int64_t>(run.ofCompiling);
    nanosecondsToCompileIn = builtInNanoseconds / 4;
  }
  builtInNanoseconds -= builtIn.back().nanoseconds; // it is about to be executed
}

BlockPlans &ProgramPlans::plansOf(int32_t block) {
  while (plans_.size() <= static_cast<size_t>(block)) {
    const pipeline::FrozenBlock &next = blocks_[static_cast<int32_t>(plans_.size())];
    plans_.emplace_back().sizes.expect(next.expectedSizes);
  }
  return plans_[block];
}

std::shared_ptr<const Image> ProgramPlans::find(int32_t block, std::span<const Value> inputs,
                                                pipeline::Tier tier) {
  std::shared_lock lock(mutex_);
  if (static_cast<size_t>(block) >= plans_.size())
    return nullptr;
  BlockPlans &known = plans_[block];
  if (auto image = runtime::findPlan(known.plans, inputs))
    return image;
  if (tier == pipeline::Tier::BuiltIn)
    for (const BuiltInPlan &each : known.builtIn)
      if (each.plan.conditions.holdFor(inputs))
        return known.mayRun(each) ? each.plan.image : nullptr;
  return nullptr;
}

pipeline::Specialization ProgramPlans::compile(int32_t block, const Classification &classification,
                                               pipeline::UnknownSizes unknownSizes,
                                               pipeline::Tier tier) {
  const SourcePlace place = blocks_[block].place; // a copy: compiling may add blocks
  NeedsMemory section(place);
  if (!compiledFiles_)
    return specialize(block, classification, unknownSizes, tier);
  std::call_once(planFilesOpened_,
                 [&] { planFiles_.emplace(*compiledFiles_, kernels_, options_); });
  auto keyOf = [&](pipeline::Tier tier) {
    return planFiles_->keyOf(blocks_[block], classification.conditions, unknownSizes, tier);
  };
  std::string key = keyOf(tier);
  if (auto known = planFiles_->find(key, blocks_, block)) {
    if (known->image || !known->compiledPays)
      return std::move(*known);
    auto compiled = compile(block, classification, unknownSizes, pipeline::Tier::Compiled);
    compiled.compiledPays = true;
    return compiled;
  }
  auto result = specialize(block, classification, unknownSizes, tier);
  if (result.compiledPays) {
    pipeline::Specialization verdict;
    verdict.compiledPays = true;
    planFiles_->keep(key, verdict, blocks_);
    key = keyOf(pipeline::Tier::Compiled);
  }
  planFiles_->keep(key, result, blocks_);
  return result;
}

pipeline::Specialization ProgramPlans::specialize(int32_t block,
                                                  const Classification &classification,
                                                  pipeline::UnknownSizes unknownSizes,
                                                  pipeline::Tier tier) {
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
  auto result = session->specialize(blocks_, block, classification.conditions, unknownSizes, tier);
  if (session->specializations() < specializationsPerSession) {
    std::lock_guard lock(sessionMutex_);
    idleSessions_.push_back(std::move(session));
  }
  return result;
}

void ProgramPlans::compileInBackground(int32_t block, Classification classification,
                                       pipeline::UnknownSizes unknownSizes) {
  std::lock_guard lock(backgroundMutex_);
  if (background_.valid() &&
      background_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return;
  try {
    background_ = std::async(std::launch::async, [this, block, classification, unknownSizes] {
      try {
        compile(block, classification, unknownSizes, pipeline::Tier::Compiled);
      } catch (const std::exception &) {
      }
    });
  } catch (const std::system_error &) {
    // There are no more threads.
  }
}
