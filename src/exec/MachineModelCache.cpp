#include "exec/MachineModelCache.h"

#include "base/Error.h"
#include "base/RunInputs.h"
#include "runtime/KernelLaunch.h"

#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

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

// Why the file of the model can neither be read nor made; empty if there is none, or a plain file.
static std::string complaintAbout(const std::string &path) {
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    return "";
  if (!std::filesystem::status_known(status))
    return error.message();
  if (status.type() != std::filesystem::file_type::regular)
    return "it is no plain file";
  return access(path.c_str(), R_OK) == 0 ? "" : std::generic_category().message(errno);
}

const cost::MachineModel &MachineModelCache::model() {
  std::lock_guard lock(mutex_);
  if (!model_)
    noteInputText("machine model, for --machine-model", cost::toJson(findOrMeasure()));
  return *model_;
}

const cost::MachineModel &MachineModelCache::findOrMeasure() {
  if (!file_.empty())
    return model_.emplace(cost::loadMachineModel(file_));
  std::optional<std::string> path = cost::machineModelPath();
  if (std::string reason = path ? complaintAbout(*path) : ""; !reason.empty()) {
    if (warn_)
      warn_(fmt::format("can't use the machine model {}: {}; plans are made for a typical machine",
                        *path, reason));
    return model_.emplace();
  }
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
