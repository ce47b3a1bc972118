#include "cost/MachineModel.h"

#include "base/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

namespace tokamak::cost {
namespace {

struct Field {
  const char *name;
  double MachineModel::*value;
};

constexpr Field fields[] = {
    {"cacheReadBytesPerNanosecond", &MachineModel::cacheReadBytesPerNanosecond},
    {"cacheWriteBytesPerNanosecond", &MachineModel::cacheWriteBytesPerNanosecond},
    {"memoryReadBytesPerNanosecond", &MachineModel::memoryReadBytesPerNanosecond},
    {"memoryWriteBytesPerNanosecond", &MachineModel::memoryWriteBytesPerNanosecond},
    {"cacheBytes", &MachineModel::cacheBytes},
    {"firstTouchNanosecondsPerByte", &MachineModel::firstTouchNanosecondsPerByte},
    {"freshShare", &MachineModel::freshShare},
    {"flopsPerNanosecond", &MachineModel::flopsPerNanosecond},
    {"gatherNanoseconds", &MachineModel::gatherNanoseconds},
    {"launchNanoseconds", &MachineModel::launchNanoseconds},
};

// Rates divide: they have to be positive. Costs may be zero.
bool isRate(const Field &field) {
  return std::string(field.name).find("PerNanosecond") != std::string::npos;
}

double computing(const MachineModel &machine, const Work &work) {
  return work.flops / machine.flopsPerNanosecond + work.gathers * machine.gatherNanoseconds;
}

} // namespace

double nanoseconds(const MachineModel &machine, const Work &work) {
  bool cached = work.readBytes + work.writtenBytes <= machine.cacheBytes;
  double readRate =
      cached ? machine.cacheReadBytesPerNanosecond : machine.memoryReadBytesPerNanosecond;
  double writeRate =
      cached ? machine.cacheWriteBytesPerNanosecond : machine.memoryWriteBytesPerNanosecond;
  double freshCost = machine.freshShare * machine.firstTouchNanosecondsPerByte;
  return machine.launchNanoseconds + work.writtenBytes * (1 / writeRate + freshCost) +
         std::max(work.readBytes / readRate, computing(machine, work));
}

double leastNanoseconds(const MachineModel &machine, const Work &work, double cachedReadBytes) {
  double writeRate =
      std::max(machine.cacheWriteBytesPerNanosecond, machine.memoryWriteBytesPerNanosecond);
  double readRate =
      std::max(machine.cacheReadBytesPerNanosecond, machine.memoryReadBytesPerNanosecond);
  double freshCost = machine.freshShare * machine.firstTouchNanosecondsPerByte;
  double reading =
      cachedReadBytes / readRate + work.readBytes / machine.memoryReadBytesPerNanosecond;
  return machine.launchNanoseconds + work.writtenBytes * (1 / writeRate + freshCost) +
         std::max(reading, computing(machine, work));
}

std::string toJson(const MachineModel &machine) {
  nlohmann::ordered_json json;
  for (const Field &field : fields)
    json[field.name] = machine.*field.value;
  return json.dump(2) + "\n";
}

MachineModel loadMachineModel(const std::string &path) {
  std::error_code ignored;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, ignored)) // a pipe without a writer would block
    file.open(path);
  if (!file.is_open())
    throw Error("machine model " + path + ": cannot be read");
  nlohmann::json json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    throw Error("machine model " + path + ": not a JSON object");
  MachineModel machine;
  for (const Field &field : fields) {
    auto found = json.find(field.name);
    if (found == json.end() || !found->is_number())
      throw Error("machine model " + path + ": expected a number \"" + field.name + "\"");
    double value = found->get<double>();
    if (value < 0 || (value == 0 && isRate(field)))
      throw Error("machine model " + path + ": \"" + field.name + "\" must be positive");
    machine.*field.value = value;
    json.erase(found);
  }
  if (!json.empty())
    throw Error("machine model " + path + ": unknown key \"" + json.begin().key() + "\"");
  return machine;
}

void saveMachineModel(const MachineModel &machine, const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code problem;
  fs::path target(path);
  if (target.has_parent_path())
    fs::create_directories(target.parent_path(), problem);
  // Two processes may calibrate at the same time: each writes a file of its own.
  fs::path temporary = path + "." + std::to_string(getpid());
  std::ofstream file(temporary);
  file << toJson(machine);
  file.close();
  if (file)
    fs::rename(temporary, target, problem);
  if (!file || problem) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw Error("machine model " + path + ": cannot be written");
  }
}

std::optional<std::string> machineModelPath() {
  auto variable = [](const char *name) -> std::optional<std::string> {
    const char *value = std::getenv(name);
    return value && *value ? std::optional<std::string>(value) : std::nullopt;
  };
  const std::string file = "/tokamak/machine-model.json";
  if (auto cache = variable("XDG_CACHE_HOME"))
    return *cache + file;
  if (auto home = variable("HOME"))
    return *home + "/.cache" + file;
  return std::nullopt;
}

} // namespace tokamak::cost
