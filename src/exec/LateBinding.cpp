#include "exec/LateBinding.h"

#include "base/MemoryErrors.h"
#include "runtime/image/SurroundingBytes.h"

#include <bit>

using namespace tokamak;
using namespace tokamak::exec;
using pipeline::Tier;
using pipeline::UnknownSizes;
using runtime::Image;
using runtime::Value;

std::shared_ptr<const Image> LateBinding::planFor(int32_t block, std::span<Value> inputs,
                                                  const runtime::BlockPlace &place) {
  if (!isParallel_)
    if (auto image = firstPlan(block, inputs, place))
      return image;
  if (auto image = plans_.find(block, inputs, isParallel_ ? Tier::Compiled : options_.firstTier))
    return image;
  return isParallel_ ? specializeOnce(block, inputs) : specialize(block, inputs, place);
}

std::shared_ptr<const Image> LateBinding::firstPlan(int32_t block, std::span<const Value> inputs,
                                                    const runtime::BlockPlace &place) {
  if (firstPlans_.size() <= static_cast<size_t>(block))
    firstPlans_.resize(block + 1);
  std::optional<FirstPlan> &first = firstPlans_[block];
  if (!first)
    plans_.update(block, [&](BlockPlans &known) {
      if (!known.plans.empty())
        first = {{known.plans.front(), 0}, nullptr};
      else if (!known.builtIn.empty() && options_.firstTier == Tier::BuiltIn)
        first = {known.builtIn.front(), &known};
    });
  if (!first || !first->plan.plan.conditions.holdFor(inputs))
    return nullptr;
  if (first->builtIn && !first->builtIn->mayRun(first->plan)) {
    first.reset(); // another plan takes its place
    return nullptr;
  }
  if (first->builtIn && options_.compilesInBackground && first->builtIn->beginsCompiling())
    anticipate(block, inputs, place);
  return first->plan.plan.image;
}

void LateBinding::beginParallel() { isParallel_ = true; }

// Adds the plans that threads made to those of the program, ordered by key, not by time.
void LateBinding::endParallel() {
  isParallel_ = false;
  firstPlans_.clear(); // plans that are added may replace others
  for (auto &[blockAndKey, request] : requested_)
    if (const Plan *plan = std::get_if<Plan>(&request.get())) {
      plans_.update(blockAndKey.first, [&](BlockPlans &known) { known.add(*plan); });
      ++plansMade_[blockAndKey.first];
    }
  requested_.clear();
  ready_.clear();
}

//===- making plans --------------------------------------------------------------------------===//

static void add(const pipeline::Specialization &result, WantedCells &wanted) {
  for (const auto &[argument, cells] : result.wantedCells)
    wanted[argument] = cells;
}

void LateBinding::tell(int32_t block, const Classification &classification, std::string reason,
                       pipeline::Specialization result,
                       std::chrono::steady_clock::time_point start) {
  if (!listener_)
    return;
  SpecializationEvent event;
  event.block = plans_.block(block).name;
  event.place = plans_.block(block).place;
  event.reason = std::move(reason);
  event.inputs = classification.description;
  event.isLoaded = result.isLoaded;
  event.explanation = std::move(result.explanation);
  event.facts = std::move(result.facts);
  event.kernels = std::move(result.kernels);
  event.rules = std::move(result.rules);
  event.zeroRuleUses = std::move(result.zeroRuleUses);
  event.image = std::move(result.image);
  event.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::lock_guard lock(listenerMutex_);
  listener_(event);
}

bool LateBinding::hasMadeManyPlans(int32_t block, const BlockPlans &known) const {
  return known.plans.size() >= manyPlans || plansMade_.lookup(block) >= fewPlans;
}

// The number with only its first three bits, so that plans of earlier runs serve for sparse arrays of about as many entries.
static int64_t leadingBits(int64_t number) {
  int others = std::max<int>(std::bit_width(static_cast<uint64_t>(number)) - 3, 0);
  return number >> others << others;
}

LateBinding::Request LateBinding::requestFor(int32_t block, BlockPlans &known,
                                             std::span<const Value> inputs,
                                             const runtime::BlockPlace &place) const {
  if (!known.surroundingBytes)
    known.surroundingBytes = leadingBits(runtime::surroundingBytes(place, inputs));
  Request request{known.varying, known.wanted, known.sizes, *known.surroundingBytes};
  if (!options_.specializesSizes)
    request.history.expectChanges();
  if (request.history.hasChanges() &&
      (!options_.specializesSizes || plans_.block(block).hasManySizes ||
       hasMadeManyPlans(block, known))) {
    request.generality = known.sizeGenerality;
    request.isForeseen = options_.specializesSizes && known.plans.empty() && known.builtIn.empty();
    request.unknownSizes = sizeGeneralities[known.sizeGenerality].unknownSizes;
  } else if (known.exactPlans >= exactPlanLimit) {
    request.unknownSizes = UnknownSizes::Split;
  }
  return request;
}

Classification LateBinding::Request::classify(const pipeline::FrozenBlock &block,
                                              std::span<const Value> inputs) const {
  ClassificationPolicy policy;
  policy.exactSizes = exactSizes;
  policy.surroundingBytes = surroundingBytes;
  if (generality) {
    policy.history = &history;
    policy.smallSizesChange = sizeGeneralities[*generality].smallSizesChange;
    policy.integersAreSizes = sizeGeneralities[*generality].integersAreSizes;
  }
  return exec::classify(block, inputs, varying, policy, wanted);
}

void LateBinding::Request::goOn() {
  constexpr size_t splitting = std::size(sizeGeneralities) - 1;
  // While changes are only foreseen, a plan for these sizes is better than one that splits the block,
  if (isForeseen && generality && *generality + 1 == splitting) {
    generality.reset();
    unknownSizes = UnknownSizes::Reject;
    return;
  }
  // which is made if there is no such plan.
  if (isForeseen && !generality) {
    isForeseen = false;
    generality = splitting;
    unknownSizes = sizeGeneralities[splitting].unknownSizes;
    return;
  }
  if (generality && ++*generality < std::size(sizeGeneralities)) {
    unknownSizes = sizeGeneralities[*generality].unknownSizes;
    return;
  }
  generality.reset();
  exactSizes = true;
  unknownSizes = UnknownSizes::Split;
}

static std::string whyPlanned(const BlockPlans &known, Tier tier, std::span<const Value> inputs) {
  if (tier == Tier::Compiled && known.plans.empty() && !known.builtIn.empty())
    return "built-in kernels have run for as long as compiling takes";
  if (!known.plans.empty())
    return known.plans.back().conditions.mismatch(inputs);
  if (!known.builtIn.empty())
    return known.builtIn.back().plan.conditions.mismatch(inputs);
  return "first execution";
}

void LateBinding::anticipate(int32_t block, std::span<const Value> inputs,
                             const runtime::BlockPlace &place) {
  Request request = plans_.update(
      block, [&](BlockPlans &known) { return requestFor(block, known, inputs, place); });
  plans_.compileInBackground(block, request.classify(plans_.block(block), inputs),
                             request.unknownSizes);
}

// Outside of parallel sections: the inputs of earlier executions decide which scalars and sizes are bound.
std::shared_ptr<const Image> LateBinding::specialize(int32_t block, std::span<const Value> inputs,
                                                     const runtime::BlockPlace &place) {
  auto start = std::chrono::steady_clock::now();
  std::lock_guard making(plans_.making(block));
  firstPlans_[block].reset(); // a plan that is added may replace others
  if (auto image = plans_.find(block, inputs, options_.firstTier))
    return image; // another run has made it meanwhile

  std::string reason;
  Tier tier = Tier::Compiled;
  Request request = plans_.update(block, [&](BlockPlans &known) {
    if (options_.firstTier == Tier::BuiltIn)
      tier = known.tier();
    reason = whyPlanned(known, tier, inputs);
    known.noteSpecialization(inputs);
    return requestFor(block, known, inputs, place);
  });

  Classification classification;
  pipeline::Specialization result;
  bool compiledPays = false; // for the calls that are expected
  for (;;) {
    classification = request.classify(plans_.block(block), inputs);
    result = plans_.compile(block, classification, request.unknownSizes, tier);
    if (result.builtIn &&
        result.builtIn->ofOneExecution * options_.expectedCalls > result.builtIn->ofCompiling) {
      tier = Tier::Compiled;
      compiledPays = true;
      continue;
    }
    if (result.image)
      break;
    if (!result.wantedCells.empty()) {
      add(result, request.wanted);
    } else {
      request.goOn();
    }
  }
  std::shared_ptr<const Image> image = result.image;
  plans_.update(block, [&](BlockPlans &known) {
    known.wanted = request.wanted;
    known.exactPlans += request.exactSizes;
    if (request.generality)
      known.sizeGenerality = *request.generality;
    else if (request.isForeseen)
      known.forgetExpectedSizes(inputs);
    Plan plan{classification.conditions, image};
    if (result.builtIn)
      return known.addBuiltIn(std::move(plan), *result.builtIn);
    if (compiledPays || result.compiledPays)
      known.builtInNanoseconds = 0;
    known.add(std::move(plan));
  });
  ++plansMade_[block];
  tell(block, classification, std::move(reason), std::move(result), start);
  return image;
}

// In a parallel section: the plan is a function of the inputs and of the plans made before it.
std::shared_ptr<const Image> LateBinding::specializeOnce(int32_t block,
                                                         std::span<const Value> inputs) {
  {
    std::shared_lock lock(sectionMutex_);
    if (auto ready = ready_.find(block); ready != ready_.end())
      if (auto image = runtime::findPlan(ready->second, inputs))
        return image;
  }
  ClassificationPolicy policy;
  policy.fixedRanges = true;
  SizeHistory history;
  if (!options_.specializesSizes) {
    history.add(inputs);
    history.expectChanges();
    policy.history = &history;
  }
  std::vector<bool> varying(inputs.size(), false);
  WantedCells wanted;
  plans_.update(block, [&](const BlockPlans &known) {
    wanted = known.wanted;
    policy.surroundingBytes = known.surroundingBytes.value_or(0);
    if (hasMadeManyPlans(block, known))
      policy.narrowLimit = 1;
    for (size_t i = 0; i < known.varying.size(); ++i)
      varying[i] = known.varying[i] ||
                   (inputs[i].isNumber() && !runtime::identical(known.lastScalars[i], inputs[i]));
  });
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
  Classification classification = classify(plans_.block(block), inputs, varying, policy, wanted);
  std::promise<Outcome> promise;
  std::unique_lock lock(sectionMutex_);
  auto [entry, isFirst] = requested_.try_emplace({block, classification.key()});
  if (isFirst)
    entry->second = promise.get_future().share();
  std::shared_future<Outcome> request = entry->second;
  lock.unlock();
  if (isFirst)
    promise.set_value(makePlan(block, classification));
  return request.get();
}

LateBinding::Outcome LateBinding::makePlan(int32_t block, const Classification &classification) {
  auto start = std::chrono::steady_clock::now();
  try {
    auto result = withMemoryErrors(
        [&] { return plans_.compile(block, classification, UnknownSizes::Split, Tier::Compiled); });
    if (!result.wantedCells.empty()) {
      WantedCells wanted;
      add(result, wanted);
      return wanted;
    }
    if (!result.image)
      return std::monostate();
    Plan plan{classification.conditions, result.image};
    {
      std::unique_lock lock(sectionMutex_);
      ready_[block].push_back(plan);
    }
    tell(block, classification, "first execution in a parfor", std::move(result), start);
    return plan;
  } catch (const Error &error) {
    return error;
  } catch (const std::exception &error) {
    return Error(error.what(), ErrorKind::Internal);
  }
}
