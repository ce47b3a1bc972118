#include "exec/MachineModelCache.h"

#include "base/Error.h"

#include <filesystem>

using namespace tokamak;
using namespace tokamak::exec;

const cost::MachineModel &MachineModelCache::model() {
  if (model_)
    return *model_;
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
  model_ = cost::calibrate();
  if (path) {
    try {
      cost::saveMachineModel(*model_, *path);
    } catch (const Error &) {
      // A read-only home: measured again next time.
    }
  }
  return *model_;
}
