#include "cost/MachineModel.h"

#include "base/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>

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
    {"nearestCacheBytes", &MachineModel::nearestCacheBytes},
    {"cacheLineBytes", &MachineModel::cacheLineBytes},
    {"addressRegisters", &MachineModel::addressRegisters},
    {"firstTouchNanosecondsPerByte", &MachineModel::firstTouchNanosecondsPerByte},
    {"freshShare", &MachineModel::freshShare},
    {"flopsPerNanosecond", &MachineModel::flopsPerNanosecond},
    {"gatherNanoseconds", &MachineModel::gatherNanoseconds},
    {"launchNanoseconds", &MachineModel::launchNanoseconds},
};

bool isRate(const Field &field) {
  return std::string(field.name).find("PerNanosecond") != std::string::npos;
}

// Divisors have to be positive; costs may be zero.
bool isDivisor(const Field &field) {
  return isRate(field) || field.value == &MachineModel::cacheLineBytes;
}

Parts partsAt(const MachineModel &machine, const Work &work, double readRate, double writeRate) {
  double freshCost = machine.freshShare * machine.firstTouchNanosecondsPerByte;
  return {.writing = work.writtenBytes * (1 / writeRate + freshCost),
          .reading = work.readBytes / readRate,
          .computing =
              work.flops / machine.flopsPerNanosecond + work.gathers * machine.gatherNanoseconds};
}

} // namespace

Parts &Parts::operator+=(const Parts &other) {
  writing += other.writing;
  reading += other.reading;
  computing += other.computing;
  return *this;
}

Parts Parts::operator*(int times) const {
  return {writing * times, reading * times, computing * times};
}

Parts partsOf(const MachineModel &machine, const Work &work) {
  bool cached = work.readBytes + work.writtenBytes <= machine.cacheBytes;
  return cached ? partsAt(machine, work, machine.cacheReadBytesPerNanosecond,
                          machine.cacheWriteBytesPerNanosecond)
                : partsAt(machine, work, machine.memoryReadBytesPerNanosecond,
                          machine.memoryWriteBytesPerNanosecond);
}

double nanoseconds(const MachineModel &machine, const Work &work) {
  return machine.launchNanoseconds + partsOf(machine, work).total();
}

Parts leastPartsOf(const MachineModel &machine, const Work &work) {
  Parts streamed = partsAt(machine, work, machine.memoryReadBytesPerNanosecond,
                           machine.memoryWriteBytesPerNanosecond);
  if (work.readBytes + work.writtenBytes > machine.cacheBytes)
    return streamed;
  // A measured cache may be slower than memory.
  Parts cached = partsOf(machine, work);
  return {.writing = std::min(cached.writing, streamed.writing),
          .reading = std::min(cached.reading, streamed.reading),
          .computing = cached.computing};
}

double operationsHiddenByReading(const MachineModel &machine, double bytes) {
  return bytes / machine.memoryReadBytesPerNanosecond * machine.flopsPerNanosecond;
}

std::string toJson(const MachineModel &machine) {
  nlohmann::ordered_json json;
  for (const Field &field : fields)
    json[field.name] = machine.*field.value;
  return json.dump(2) + "\n";
}

MachineModel fasterOf(const MachineModel &first, const MachineModel &second) {
  MachineModel result;
  for (const Field &field : fields) {
    double a = first.*field.value, b = second.*field.value;
    result.*field.value = isRate(field) ? std::max(a, b) : std::min(a, b);
  }
  return result;
}

MachineModel parseMachineModel(const std::string &text, const std::string &name) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    throw Error("machine model " + name + ": not a JSON object");
  json.erase("measured");
  MachineModel machine;
  for (const Field &field : fields) {
    auto found = json.find(field.name);
    if (found == json.end() || !found->is_number())
      throw Error("machine model " + name + ": expected a number \"" + field.name + "\"");
    double value = found->get<double>();
    if (value < 0 || (value == 0 && isDivisor(field)))
      throw Error("machine model " + name + ": \"" + field.name + "\" must be positive");
    machine.*field.value = value;
    json.erase(found);
  }
  if (!json.empty())
    throw Error("machine model " + name + ": unknown key \"" + json.begin().key() + "\"");
  return machine;
}

} // namespace tokamak::cost
