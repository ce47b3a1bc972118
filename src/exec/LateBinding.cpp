#include "exec/LateBinding.h"

#include <chrono>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Value;

LateBinding::LateBinding(pipeline::FrozenBlocks &blocks, const pipeline::SessionOptions &options,
                         codegen::KernelCompiler &kernels, Listener listener)
    : blocks_(blocks), options_(options), kernels_(kernels), listener_(std::move(listener)) {}

pipeline::CompileSession &LateBinding::session() {
  if (!session_ || session_->specializations() >= specializationsPerSession)
    session_ = std::make_unique<pipeline::CompileSession>(options_, kernels_);
  return *session_;
}

std::shared_ptr<const runtime::Image> LateBinding::planFor(int32_t block,
                                                           std::span<const Value> inputs) {
  std::lock_guard lock(mutex_);
  if (plans_.size() < blocks_.size())
    plans_.resize(blocks_.size());
  for (Plan &plan : plans_[block].plans)
    if (plan.conditions.holdFor(inputs))
      return plan.image;
  return specialize(block, inputs);
}

std::shared_ptr<const runtime::Image> LateBinding::specialize(int32_t number,
                                                              std::span<const Value> inputs) {
  auto start = std::chrono::steady_clock::now();
  BlockPlans &known = plans_[number];
  SpecializationEvent event;
  event.block = blocks_[number].name;
  event.place = blocks_[number].place;
  event.reason =
      known.plans.empty() ? "first execution" : known.plans.back().conditions.mismatch(inputs);

  // A scalar that changed once is never bound again.
  known.varying.resize(inputs.size(), false);
  for (size_t i = 0; i < known.lastScalars.size(); ++i)
    if (inputs[i].isNumber() && !identical(known.lastScalars[i], inputs[i]))
      known.varying[i] = true;
  known.lastScalars.clear();
  for (const Value &input : inputs)
    known.lastScalars.push_back(input.isNumber() ? input : Value());

  ClassificationPolicy policy;
  if (known.plans.size() >= narrowPlans)
    policy.narrowLimit = 1;
  Classification classification = classify(blocks_[number], inputs, known.varying, policy);
  bool mayBeExact = known.exactPlans < exactPlanLimit;
  auto result = session().specialize(blocks_, number, classification.facts, policy.narrowLimit,
                                     mayBeExact ? pipeline::UnknownSizes::Reject
                                                : pipeline::UnknownSizes::Split);
  if (!result.image) {
    policy.exactSizes = true;
    ++known.exactPlans;
    classification = classify(blocks_[number], inputs, known.varying, policy);
    result = session().specialize(blocks_, number, classification.facts, policy.narrowLimit,
                                  pipeline::UnknownSizes::Split);
  }
  if (known.plans.size() >= plansPerBlock)
    known.plans.erase(known.plans.begin());
  known.plans.push_back({std::move(classification.conditions), result.image});
  ++specializations_;

  event.inputs = std::move(classification.description);
  event.explanation = std::move(result.explanation);
  event.image = result.image;
  event.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (listener_)
    listener_(event);
  return result.image;
}
