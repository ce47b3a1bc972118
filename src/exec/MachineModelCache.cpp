#include "exec/MachineModelCache.h"

#include "base/Error.h"
#include "base/RunInputs.h"
#include "cost/Calibration.h"
#include "exec/KernelCalibration.h"
#include "exec/NativeCalibration.h"
#include "runtime/image/KernelLaunch.h"

#include "runtime/parallel/TileScheduler.h"

#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <iomanip>
#include <sstream>
#include <system_error>
#include <unistd.h>

using namespace tokamak;
using namespace tokamak::exec;

// How many runs measure a disturbed machine again, once each, before the best result is kept.
static constexpr int mostAttempts = 5;
// For so long, earlier figures are of the same machine as later ones.
static constexpr double recentSeconds = 600;
static constexpr const char *dateFormat = "%Y-%m-%dT%H:%M:%SZ";

// Launches a kernel that does nothing, with a number and an array, several times, as inputs, some arrays and an aggregate
// as outputs. Returns the nanoseconds, as a profile counts them.
template <int inputs, int outputs>
static double launchNothing(runtime::Scheduler *scheduler, const runtime::Value &array) {
  static const abi::KernelPlan plan = [] {
    abi::KernelPlan plan;
    plan.name = "nothing";
    plan.extents[0] = abi::cellsOfInput(0);
    plan.extents[1] = Size::constant(1);
    plan.inputs.resize(inputs);
    plan.outputs.resize(outputs + 1);
    for (abi::KernelOutput &output : plan.outputs)
      output.sizes = {Size::constant(100), Size::constant(1)};
    plan.outputs.back().kind = abi::KernelOutput::Kind::PartialScalar;
    plan.kernel = [](const TokArguments *, const TokTile *, TokWorkspace *workspace) -> int32_t {
      workspace->partials[0] = 0;
      return 0;
    };
    plan.merge = [](const TokArguments *, double *, const double *) {};
    return plan;
  }();
  std::array<runtime::Value, inputs + 1> operands;
  operands.fill(array);
  operands.back() = 2.0;
  std::array<runtime::Value, outputs + 1> results;
  auto begin = std::chrono::steady_clock::now();
  runtime::launchKernel(plan, scheduler, operands, results);
  std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  return time.count();
}

// Why the model file can neither be read nor created; empty if it is missing or readable.
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
  if (!model_) {
    model_ = findOrMeasure();
    noteInputText("machine model, for --machine-model", cost::toJson(*model_));
  }
  return *model_;
}

cost::MachineModel MachineModelCache::findOrMeasure() {
  if (!file_.empty())
    return cost::readModelFile(file_).model;
  std::optional<std::string> path = cost::machineModelPath();
  if (std::string reason = path ? complaintAbout(*path) : ""; !reason.empty()) {
    if (warn_)
      warn_(fmt::format("can't use the machine model {}: {}; plans are made for a typical machine",
                        *path, reason));
    isFixed_ = true;
    return cost::MachineModel();
  }
  StoredModel stored = storedMachineModel();
  if (stored.file && (stored.reason.empty() || missing_ == Missing::Fixed))
    return stored.file->model;
  if (missing_ == Missing::Fixed) {
    isFixed_ = true;
    return cost::MachineModel();
  }
  try {
    cost::ModelFile measured = measureMachine(cost::quickCalibration, stored.reason);
    reasonOfMeasuring_ = stored.reason;
    return measured.model;
  } catch (const Error &) { // the run may use less memory than measuring takes
    isFixed_ = true;
    return cost::MachineModel();
  }
}

// Why a measurement doesn't hold for this machine; empty if it does.
static std::string differenceOf(const cost::Measurement &measured) {
  if (measured.version != cost::calibrationVersion)
    return "another version of Tokamak measured it before";
  if (measured.processor != cost::processorName())
    return fmt::format("it was measured on another processor before, {}", measured.processor);
  if (int threads = runtime::usableThreads(); measured.threads != threads)
    return fmt::format("the process may use {} thread{}, but {} when it was measured before",
                       threads, threads == 1 ? "" : "s", measured.threads);
  return "";
}

StoredModel exec::storedMachineModel() {
  std::optional<std::string> path = cost::machineModelPath();
  if (!path)
    return {std::nullopt,
            "there is no folder to keep it in: neither HOME nor XDG_CACHE_HOME is set"};
  std::error_code ignored;
  if (!std::filesystem::exists(*path, ignored))
    return {std::nullopt, "no run before needed it"};
  cost::ModelFile file;
  try {
    file = cost::readModelFile(*path);
  } catch (const Error &) {
  }
  if (!file.measured)
    return {std::nullopt, "the saved file is of another version of Tokamak, or damaged"};
  if (std::string difference = differenceOf(*file.measured); !difference.empty())
    return {std::nullopt, difference};
  bool isGood = !file.measured->isDisturbed || file.measured->attempts >= mostAttempts;
  return {file, isGood ? "" : "other programs used the processor when it was measured before"};
}

static cost::Calibration calibrate(int rounds) {
  constexpr int64_t fewCells = 100, cellsOfTwoTiles = 100'000;
  runtime::Scheduler scheduler(0);
  const runtime::Value small = runtime::Array::create({fewCells, 1}),
                       large = runtime::Array::create({cellsOfTwoTiles, 1});
  cost::Launches launches{.plain = [&] { return launchNothing<1, 0>(nullptr, small); },
                          .arrays = 1,
                          .withArrays = [&] { return launchNothing<4, 3>(nullptr, small); },
                          .additionalArrays = 6,
                          .threads = scheduler.threads()};
  if (scheduler.threads() > 1)
    launches.inParallel = [&] { return launchNothing<1, 0>(&scheduler, large); };
  cost::Calibration found = cost::calibrate(launches, rounds);
  found.isDisturbed |= !measureKernels(found.model, launches.threads, rounds);
  measureNatives(found.model, rounds);
  return found;
}

static bool isRecent(const std::string &date) {
  std::tm parts{};
  std::istringstream(date) >> std::get_time(&parts, dateFormat);
  return std::abs(std::difftime(std::time(nullptr), timegm(&parts))) < recentSeconds;
}

cost::ModelFile exec::measureMachine(int rounds, const std::string &reason) {
  std::optional<cost::ModelFile> before = storedMachineModel().file;
  cost::Calibration found = calibrate(rounds);
  cost::ModelFile file{found.model, cost::Measurement()};
  file.measured->date = fmt::format(fmt::runtime(std::string("{:") + dateFormat + "}"),
                                    fmt::gmtime(std::time(nullptr)));
  file.measured->processor = cost::processorName();
  file.measured->threads = runtime::usableThreads();
  file.measured->version = cost::calibrationVersion;
  file.measured->reason = reason;
  file.measured->isDisturbed = found.isDisturbed;
  // What disturbs a virtual machine from outside can't be seen in it, so figures measured shortly before may be the better ones
  // in any case; later its clock may be another one for long.
  if (before && (before->measured->isDisturbed || isRecent(before->measured->date))) {
    file.model = cost::fasterOf(found.model, before->model);
    file.measured->isDisturbed &= before->measured->isDisturbed;
    file.measured->attempts = before->measured->attempts + 1;
  }
  if (std::optional<std::string> path = cost::machineModelPath()) {
    try {
      cost::writeModelFile(file, *path);
    } catch (const Error &) {
      // A read-only home folder: the next run measures again.
    }
  }
  return file;
}
