#include "exec/LateBinding.h"

#include "base/MemoryErrors.h"
#include "base/NeedsMemory.h"

#include <chrono>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Image;
using runtime::Value;

LateBinding::LateBinding(pipeline::FrozenBlocks &blocks, const pipeline::SessionOptions &options,
                         codegen::KernelCompiler &kernels, Listener listener)
    : blocks_(blocks), options_(options), kernels_(kernels), listener_(std::move(listener)) {}

// Call with the lock held for writing. Returned references stay valid: plans_ is a deque.
LateBinding::BlockPlans &LateBinding::plansOf(int32_t block) {
  if (plans_.size() <= static_cast<size_t>(block))
    plans_.resize(block + 1);
  return plans_[block];
}

std::shared_ptr<const Image> LateBinding::planFor(int32_t block, std::span<const Value> inputs) {
  {
    std::shared_lock lock(mutex_);
    if (static_cast<size_t>(block) < plans_.size()) {
      const BlockPlans &known = plans_[block];
      if (auto image = runtime::findPlan(known.plans, inputs))
        return image;
      if (auto image = runtime::findPlan(known.ready, inputs))
        return image;
    }
  }
  return isParallel_ ? specializeOnce(block, inputs) : specialize(block, inputs);
}

void LateBinding::beginParallel() { isParallel_ = true; }

// Adds the plans that threads made to the others, ordered by key, not by time.
void LateBinding::endParallel() {
  std::unique_lock lock(mutex_);
  isParallel_ = false;
  for (BlockPlans &known : plans_) {
    for (auto &[key, request] : known.requested)
      if (const Plan *plan = std::get_if<Plan>(&request.get()))
        known.plans.push_back(*plan);
    known.requested.clear();
    known.ready.clear();
    if (known.plans.size() > plansPerBlock)
      known.plans.erase(known.plans.begin(), known.plans.end() - plansPerBlock);
  }
}

std::vector<runtime::PlannedBlock> LateBinding::plannedBlocks() {
  std::shared_lock lock(mutex_);
  std::vector<runtime::PlannedBlock> blocks(blocks_.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].name = blocks_[i].name;
    if (i < plans_.size())
      blocks[i].plans = plans_[i].plans;
  }
  return blocks;
}

//===- making plans --------------------------------------------------------------------------===//

static void add(const pipeline::Specialization &result, WantedCells &wanted) {
  for (const fusion::WantedCells::Input &input : result.wantedCells)
    wanted[input.argument] = input.cells;
}

pipeline::Specialization LateBinding::compile(int32_t block, const Classification &classification,
                                              const ClassificationPolicy &policy,
                                              pipeline::UnknownSizes unknownSizes) {
  std::unique_ptr<pipeline::CompileSession> session;
  {
    std::lock_guard lock(sessionMutex_);
    if (!idleSessions_.empty()) {
      session = std::move(idleSessions_.back());
      idleSessions_.pop_back();
    }
  }
  const SourcePlace place = blocks_[block].place; // a copy: compiling may add blocks
  NeedsMemory section(place);
  if (!session)
    session = std::make_unique<pipeline::CompileSession>(options_, kernels_);
  auto result = session->specialize(blocks_, block, classification.conditions, unknownSizes);
  if (session->specializations() < specializationsPerSession) {
    std::lock_guard lock(sessionMutex_);
    idleSessions_.push_back(std::move(session));
  }
  return result;
}

void LateBinding::tell(int32_t block, const Classification &classification, std::string reason,
                       pipeline::Specialization result,
                       std::chrono::steady_clock::time_point start) {
  ++specializations_;
  if (!listener_)
    return;
  SpecializationEvent event;
  event.block = blocks_[block].name;
  event.place = blocks_[block].place;
  event.reason = std::move(reason);
  event.inputs = classification.description;
  event.explanation = std::move(result.explanation);
  event.rules = std::move(result.rules);
  event.zeroRuleUses = std::move(result.zeroRuleUses);
  event.image = std::move(result.image);
  event.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::lock_guard lock(listenerMutex_);
  listener_(event);
}

// Outside of parallel sections: only one thread requests plans, and the inputs of earlier
// executions decide which scalars are bound.
std::shared_ptr<const Image> LateBinding::specialize(int32_t number,
                                                     std::span<const Value> inputs) {
  auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  BlockPlans &known = plansOf(number);
  std::string reason =
      known.plans.empty() ? "first execution" : known.plans.back().conditions.mismatch(inputs);

  // A scalar that changed once is never bound again.
  known.varying.resize(inputs.size(), false);
  for (size_t i = 0; i < known.lastScalars.size(); ++i)
    if (inputs[i].isNumber() && !runtime::identical(known.lastScalars[i], inputs[i]))
      known.varying[i] = true;
  known.lastScalars.clear();
  for (const Value &input : inputs)
    known.lastScalars.push_back(input.isNumber() ? input : Value());
  lock.unlock();

  ClassificationPolicy policy;
  if (known.plans.size() >= narrowPlans)
    policy.narrowLimit = 1;
  auto unknownSizes = known.exactPlans < exactPlanLimit ? pipeline::UnknownSizes::Reject
                                                        : pipeline::UnknownSizes::Split;
  Classification classification;
  pipeline::Specialization result;
  for (;;) {
    classification = classify(blocks_[number], inputs, known.varying, policy, known.wanted);
    result = compile(number, classification, policy, unknownSizes);
    if (result.image)
      break;
    if (!result.wantedCells.empty()) {
      add(result, known.wanted);
    } else {
      policy.exactSizes = true;
      unknownSizes = pipeline::UnknownSizes::Split;
      ++known.exactPlans;
    }
  }

  lock.lock();
  if (known.plans.size() >= plansPerBlock)
    known.plans.erase(known.plans.begin());
  known.plans.push_back({classification.conditions, result.image});
  lock.unlock();
  std::shared_ptr<const Image> image = result.image;
  tell(number, classification, std::move(reason), std::move(result), start);
  return image;
}

// In a parallel section: the plan is a function of the inputs and of the plans made before it.
std::shared_ptr<const Image> LateBinding::specializeOnce(int32_t block,
                                                         std::span<const Value> inputs) {
  ClassificationPolicy policy;
  policy.fixedRanges = true;
  std::vector<bool> varying(inputs.size(), false);
  WantedCells wanted;
  {
    std::unique_lock lock(mutex_);
    const BlockPlans &known = plansOf(block);
    wanted = known.wanted;
    if (known.plans.size() >= narrowPlans)
      policy.narrowLimit = 1;
    for (size_t i = 0; i < known.varying.size(); ++i)
      varying[i] = known.varying[i] ||
                   (inputs[i].isNumber() && !runtime::identical(known.lastScalars[i], inputs[i]));
  }
  for (;;) {
    const Outcome &outcome = request(block, inputs, varying, policy, wanted);
    if (const Plan *plan = std::get_if<Plan>(&outcome))
      return plan->image;
    // Each thread throws its own copy: it adds the places of its own call path.
    if (const Error *error = std::get_if<Error>(&outcome))
      throw Error(*error);
    if (const WantedCells *more = std::get_if<WantedCells>(&outcome))
      wanted.insert(more->begin(), more->end());
    else
      policy.exactSizes = true;
  }
}

// The reference stays valid until the section ends.
const LateBinding::Outcome &LateBinding::request(int32_t block, std::span<const Value> inputs,
                                                 const std::vector<bool> &varying,
                                                 const ClassificationPolicy &policy,
                                                 const WantedCells &wanted) {
  Classification classification = classify(blocks_[block], inputs, varying, policy, wanted);
  std::promise<Outcome> promise;
  std::unique_lock lock(mutex_);
  auto [entry, isFirst] = plansOf(block).requested.try_emplace(classification.key());
  if (isFirst)
    entry->second = promise.get_future().share();
  std::shared_future<Outcome> request = entry->second;
  lock.unlock();
  if (isFirst)
    promise.set_value(makePlan(block, classification, policy));
  return request.get();
}

LateBinding::Outcome LateBinding::makePlan(int32_t block, const Classification &classification,
                                           const ClassificationPolicy &policy) {
  auto start = std::chrono::steady_clock::now();
  try {
    auto result = withMemoryErrors(
        [&] { return compile(block, classification, policy, pipeline::UnknownSizes::Split); });
    if (!result.wantedCells.empty()) {
      WantedCells wanted;
      add(result, wanted);
      return wanted;
    }
    if (!result.image)
      return std::monostate();
    Plan plan{classification.conditions, result.image};
    {
      std::unique_lock lock(mutex_);
      plansOf(block).ready.push_back(plan);
    }
    tell(block, classification, "first execution in a parfor", std::move(result), start);
    return plan;
  } catch (const Error &error) {
    return error;
  } catch (const std::exception &error) {
    return Error(error.what(), ErrorKind::Internal);
  }
}
