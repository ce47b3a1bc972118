#include "runtime/model/LoadedEntry.h"

#include "base/Error.h"
#include "runtime/image/Executor.h"
#include "runtime/model/Processor.h"
#include "runtime/parallel/TileScheduler.h"

#include <atomic>
#include <fmt/format.h>
#include <mutex>

using namespace tokamak;
using namespace tokamak::runtime;

static Native nativeOf(const TokNativeEntry &entry) {
  const NativeRow *row = findNativeRow(entry.name);
  if (!row)
    internalError(fmt::format("the runtime has no native {}", entry.name));
  return {*row, reinterpret_cast<NativeFunction *>(entry.function)};
}

LoadedEntry::LoadedEntry(const TokModel &model, const TokModelEntry &entry) {
  for (const TokNativeEntry &native : std::span(model.natives, model.nativeCount))
    natives.push_back(nativeOf(native));
  auto kernel = [&](const std::string &name) -> KernelCode {
    for (const TokKernelEntry &each : std::span(model.kernels, model.kernelCount))
      if (name == each.name)
        return {each.kernel, each.merge};
    return {};
  };
  auto native = [&](std::string_view name) -> const Native * {
    for (const Native &each : natives)
      if (each.row.name == name)
        return &each;
    return nullptr;
  };
  program = PlannedProgram::from({entry.image, entry.imageBytes}, {kernel, native});
  for (const TokModelWeight &weight : std::span(entry.weights, entry.weightCount))
    weights.emplace_back(Array::over(Shape(std::span(weight.sizes, weight.rank)),
                                     static_cast<ElementType>(weight.type),
                                     static_cast<const std::byte *>(weight.cells)));
  if (entry.preparation > 0)
    prepareWeights(entry.preparation - 1);
}

// What the function computes from its weights alone is computed once (pipeline/PrepareWeights.h).
void LoadedEntry::prepareWeights(size_t function) {
  Scheduler scheduler(1);
  ExecutionContext context;
  context.scheduler = &scheduler;
  PlanTable plans(program);
  std::vector<Value> prepared(program.image.functions[function].resultCount);
  Executor(program.image, &plans, context).call(function, weights, prepared);
  alignArrays(prepared);
  weights = std::move(prepared);
}

// Whether the code may be called at all.
static void check(const TokModel &model) {
  if (model.version != TOK_MODEL_VERSION || model.kernelVersion != TOK_ABI_VERSION)
    internalError("it was compiled for another version of the runtime that it is linked with");
  if (auto missing = missingFeatures(model.processor); !missing.empty())
    throw Error(fmt::format("it was compiled for processors with {}, which this one doesn't have; "
                            "expected a model that was compiled for another --target",
                            fmt::join(missing, ", ")));
}

const LoadedEntry &LoadedEntry::of(const TokModel &model, TokModelEntry &entry) {
  static std::mutex mutex;
  std::atomic_ref<void *> known(entry.loaded);
  if (void *ready = known.load(std::memory_order_acquire))
    return *static_cast<LoadedEntry *>(ready);
  std::lock_guard lock(mutex);
  if (!known.load(std::memory_order_relaxed)) {
    check(model);
    known.store(new LoadedEntry(model, entry), std::memory_order_release);
  }
  return *static_cast<LoadedEntry *>(known.load(std::memory_order_relaxed));
}
