#include "exec/MachineModelCache.h"

#include "base/Error.h"
#include "runtime/KernelLaunch.h"

#include <filesystem>

using namespace tokamak;
using namespace tokamak::exec;

// Launches a kernel that does nothing but result in an array: what is left is the launch.
static void launchNothing() {
  abi::KernelPlan plan;
  plan.name = "nothing";
  plan.extents[0].value = plan.extents[1].value = 1;
  plan.outputs.emplace_back();
  plan.outputs[0].rows.value = plan.outputs[0].columns.value = 1;
  plan.kernel = [](const TokArguments *, const TokTile *, TokWorkspace *) -> int32_t { return 0; };
  runtime::Value result[1];
  runtime::launchKernel(plan, nullptr, {}, result);
}

const cost::MachineModel &MachineModelCache::model() {
  std::lock_guard lock(mutex_);
  return model_ ? *model_ : findOrMeasure();
}

const cost::MachineModel &MachineModelCache::findOrMeasure() {
  if (!file_.empty())
    return model_.emplace(cost::loadMachineModel(file_));
  std::optional<std::string> path = cost::machineModelPath();
  if (path && std::filesystem::exists(*path)) {
    try {
      return model_.emplace(cost::loadMachineModel(*path));
    } catch (const Error &) {
      // Written by another version, or damaged: measure again.
    }
  }
  model_ = cost::calibrate(launchNothing);
  if (path) {
    try {
      cost::saveMachineModel(*model_, *path);
    } catch (const Error &) {
      // A read-only home: measured again next time.
    }
  }
  return *model_;
}
