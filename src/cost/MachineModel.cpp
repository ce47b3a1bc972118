#include "cost/MachineModel.h"

#include "abi/TileBytes.h"
#include "base/Error.h"
#include "base/HugePages.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace tokamak::cost {
double shareBeyond(double cacheBytes, double bytes) {
  return std::clamp(bytes / cacheBytes - 0.5, 0.0, 1.0);
}

namespace {

struct Field {
  const char *name;
  double MachineModel::*value;
};

constexpr Field fields[] = {
    {"nearestCacheBytes", &MachineModel::nearestCacheBytes},
    {"nearestReadBytesPerNanosecond", &MachineModel::nearestReadBytesPerNanosecond},
    {"nearestWriteBytesPerNanosecond", &MachineModel::nearestWriteBytesPerNanosecond},
    {"privateCacheBytes", &MachineModel::privateCacheBytes},
    {"privateReadBytesPerNanosecond", &MachineModel::privateReadBytesPerNanosecond},
    {"privateWriteBytesPerNanosecond", &MachineModel::privateWriteBytesPerNanosecond},
    {"sharedCacheBytes", &MachineModel::sharedCacheBytes},
    {"sharedReadBytesPerNanosecond", &MachineModel::sharedReadBytesPerNanosecond},
    {"sharedWriteBytesPerNanosecond", &MachineModel::sharedWriteBytesPerNanosecond},
    {"memoryReadBytesPerNanosecond", &MachineModel::memoryReadBytesPerNanosecond},
    {"memoryWriteBytesPerNanosecond", &MachineModel::memoryWriteBytesPerNanosecond},
    {"cacheLineBytes", &MachineModel::cacheLineBytes},
    {"addressRegisters", &MachineModel::addressRegisters},
    {"firstTouchNanosecondsPerByte", &MachineModel::firstTouchNanosecondsPerByte},
    {"firstTouchOfSmallPagesNanosecondsPerByte",
     &MachineModel::firstTouchOfSmallPagesNanosecondsPerByte},
    {"streamBytesAhead", &MachineModel::streamBytesAhead},
    {"singleStreamBytesAhead", &MachineModel::singleStreamBytesAhead},
    {"unhiddenShare", &MachineModel::unhiddenShare},
    {"flopsPerNanosecond", &MachineModel::flopsPerNanosecond},
    {"productsPerNanosecond", &MachineModel::productsPerNanosecond},
    {"singleProductsPerNanosecond", &MachineModel::singleProductsPerNanosecond},
    {"narrowSingleProductsPerNanosecond", &MachineModel::narrowSingleProductsPerNanosecond},
    {"nativeProductsPerNanosecond", &MachineModel::nativeProductsPerNanosecond},
    {"singleNativeProductsPerNanosecond", &MachineModel::singleNativeProductsPerNanosecond},
    {"convolutionsPerNanosecond", &MachineModel::convolutionsPerNanosecond},
    {"singleConvolutionsPerNanosecond", &MachineModel::singleConvolutionsPerNanosecond},
    {"nativeConvolutionsPerNanosecond", &MachineModel::nativeConvolutionsPerNanosecond},
    {"singleNativeConvolutionsPerNanosecond", &MachineModel::singleNativeConvolutionsPerNanosecond},
    {"productResultNanoseconds", &MachineModel::productResultNanoseconds},
    {"packedCellNanoseconds", &MachineModel::packedCellNanoseconds},
    {"singlePackedCellNanoseconds", &MachineModel::singlePackedCellNanoseconds},
    {"windowCellNanoseconds", &MachineModel::windowCellNanoseconds},
    {"compactRowSlowness", &MachineModel::compactRowSlowness},
    {"compactSumAdditions", &MachineModel::compactSumAdditions},
    {"compactExtremeAdditions", &MachineModel::compactExtremeAdditions},
    {"maskedVectorNanoseconds", &MachineModel::maskedVectorNanoseconds},
    {"narrowWriteAdditions", &MachineModel::narrowWriteAdditions},
    {"entryAdditions", &MachineModel::entryAdditions},
    {"entryRowAdditions", &MachineModel::entryRowAdditions},
    {"nearestGatherNanoseconds", &MachineModel::nearestGatherNanoseconds},
    {"privateGatherNanoseconds", &MachineModel::privateGatherNanoseconds},
    {"gatherNanoseconds", &MachineModel::gatherNanoseconds},
    {"scatterNanoseconds", &MachineModel::scatterNanoseconds},
    {"nativeEntryNanoseconds", &MachineModel::nativeEntryNanoseconds},
    {"nextLineNanoseconds", &MachineModel::nextLineNanoseconds},
    {"launchNanoseconds", &MachineModel::launchNanoseconds},
    {"coldLaunchNanoseconds", &MachineModel::coldLaunchNanoseconds},
    {"farLaunchNanoseconds", &MachineModel::farLaunchNanoseconds},
    {"arrayNanoseconds", &MachineModel::arrayNanoseconds},
    {"farArrayNanoseconds", &MachineModel::farArrayNanoseconds},
    {"threads", &MachineModel::threads},
    {"memorySpeedup", &MachineModel::memorySpeedup},
    {"computeSpeedup", &MachineModel::computeSpeedup},
    {"parallelLaunchNanoseconds", &MachineModel::parallelLaunchNanoseconds},
    {"nativeCellSlowness", &MachineModel::nativeCellSlowness},
    {"nativeSortSlowness", &MachineModel::nativeSortSlowness},
    {"nativeSolveSlowness", &MachineModel::nativeSolveSlowness},
};

// A time as a multiple of that of an addition.
bool isInAdditions(const Field &field) {
  std::string_view name = field.name;
  return name.ends_with("Additions") || name.ends_with("Slowness");
}

bool isRate(const Field &field) {
  std::string_view name = field.name;
  return name.ends_with("PerNanosecond") || name.ends_with("Speedup");
}

// Divisors have to be positive; costs may be zero.
bool isDivisor(const Field &field) {
  return isRate(field) || field.value == &MachineModel::cacheLineBytes ||
         field.value == &MachineModel::threads;
}

template <typename Costs, typename Visit> void forEachMeasuredCell(Costs &costs, Visit visit) {
  for (UnaryOperator op : measuredUnaryOperators())
    visit(mnemonic(op), costs.unary[static_cast<size_t>(op)]);
  for (BinaryOperator op : measuredBinaryOperators())
    visit(mnemonic(op), costs.binary[static_cast<size_t>(op)]);
}

// Takes the key "cells" out of the file, which may leave operators out.
void readCells(nlohmann::json &file, CellCosts &costs, const std::string &fileName) {
  auto found = file.find("cells");
  if (found == file.end())
    return;
  nlohmann::json cells = *found;
  file.erase(found);
  forEachMeasuredCell(costs, [&](std::string_view name, CellCost &cost) {
    auto entry = cells.find(name);
    if (entry == cells.end())
      return;
    try {
      cost = {entry->at("f64").get<double>(), entry->at("f32").get<double>()};
    } catch (const nlohmann::json::exception &) {
      throw Error("machine model " + fileName + ": expected numbers \"f64\" and \"f32\" of \"" +
                  std::string(name) + "\"");
    }
    cells.erase(entry);
  });
  if (!cells.empty())
    throw Error("machine model " + fileName + ": unknown operator \"" + cells.begin().key() + "\"");
}

// Where arrays are that an operator reads and writes: in a cache or in memory.
enum class Level : uint8_t { Nearest, Private, Shared, Memory };

// Nanoseconds for each byte.
struct ByteTimes {
  double read, written;
};

ByteTimes byteTimesIn(const MachineModel &machine, Level level) {
  switch (level) {
  case Level::Nearest:
    return {1 / machine.nearestReadBytesPerNanosecond, 1 / machine.nearestWriteBytesPerNanosecond};
  case Level::Private:
    return {1 / machine.privateReadBytesPerNanosecond, 1 / machine.privateWriteBytesPerNanosecond};
  case Level::Shared:
    return {1 / machine.sharedReadBytesPerNanosecond, 1 / machine.sharedWriteBytesPerNanosecond};
  case Level::Memory:
    return {1 / machine.memoryReadBytesPerNanosecond, 1 / machine.memoryWriteBytesPerNanosecond};
  }
  return {};
}

Level levelOf(const MachineModel &machine, double bytes) {
  return bytes <= machine.nearestCacheBytes   ? Level::Nearest
         : bytes <= machine.privateCacheBytes ? Level::Private
         : bytes <= machine.sharedCacheBytes  ? Level::Shared
                                              : Level::Memory;
}

ByteTimes between(ByteTimes near, ByteTimes far, double farShare) {
  return {near.read + farShare * (far.read - near.read),
          near.written + farShare * (far.written - near.written)};
}

// Of arrays if so many bytes are touched before they are used again.
ByteTimes byteTimesAmong(const MachineModel &machine, double bytes) {
  double beyondPrivate = shareBeyond(machine.privateCacheBytes, bytes);
  Level nearLevel = bytes <= machine.nearestCacheBytes ? Level::Nearest : Level::Private;
  if (beyondPrivate == 0)
    return byteTimesIn(machine, nearLevel);
  ByteTimes far = between(byteTimesIn(machine, Level::Shared), byteTimesIn(machine, Level::Memory),
                          shareBeyond(machine.sharedCacheBytes, bytes));
  return beyondPrivate == 1 ? far : between(byteTimesIn(machine, nearLevel), far, beyondPrivate);
}

Parts partsAmong(const MachineModel &machine, const Work &work, double bytes) {
  ByteTimes found = byteTimesAmong(machine, std::max(bytes, machine.touchedBytes));
  double recent = work.readBytes == 0 ? 0 : work.readBytes * byteTimesAmong(machine, bytes).read;
  return {.overhead = work.overhead + work.waiting,
          .moving = recent + work.foundBytes * found.read + work.writtenBytes * found.written,
          .computing = work.flops / machine.flopsPerNanosecond + work.gathering};
}

// Adds to each the share of the other that it doesn't hide.
Parts withUnhidden(const MachineModel &machine, Parts parts) {
  return {.overhead = parts.overhead,
          .moving = parts.moving + machine.unhiddenShare * parts.computing,
          .computing = parts.computing + machine.unhiddenShare * parts.moving};
}

} // namespace

Parts partsOf(const MachineModel &machine, const Work &work) {
  return withUnhidden(machine, partsAmong(machine, work, work.bytes()));
}

double withAllHidden(const MachineModel &machine, const Parts &parts) {
  double longer = std::max(parts.moving, parts.computing),
         shorter = std::min(parts.moving, parts.computing), share = machine.unhiddenShare;
  return parts.overhead + (longer - share * shorter) / (1 - share * share);
}

double nanosecondsInParallel(const MachineModel &machine, const Work &work) {
  double threads = std::min(machine.threads, std::floor(work.bytes() / abi::tileBytes));
  if (threads < 2)
    return nanoseconds(machine, work);
  Parts parts = partsAmong(machine, work, work.bytes());
  double share = (threads - 1) / (machine.threads - 1);
  auto speedup = [&](double ofAll) { return 1 + share * (ofAll - 1); };
  // Each core has a private cache.
  double bytes = std::max(work.bytes() / threads, machine.touchedBytes / threads);
  parts.moving /=
      speedup(bytes <= machine.privateCacheBytes ? machine.computeSpeedup : machine.memorySpeedup);
  parts.computing /= speedup(machine.computeSpeedup);
  return machine.launchNanoseconds + machine.parallelLaunchNanoseconds +
         withUnhidden(machine, parts).total();
}

MachineModel inBlock(const MachineModel &machine, double touchedBytes,
                     std::optional<int64_t> loopOperations) {
  // These were fitted to the operators of `./dev bench --predictions`. Of a kernel's code, of its launch and of what the
  // launch reads, about so much for each operation in it.
  constexpr double codeBytes = 400;
  // The share of what a launch needs that other operators don't use, too. Calibration measures launches after which nothing
  // of it is left.
  constexpr double ownShare = 0.8;
  // What it takes to find that in the private cache, as a share of what it takes to find it in the next one.
  constexpr double nearShare = 0.4;
  MachineModel result = machine;
  double far = shareBeyond(machine.sharedCacheBytes, touchedBytes), cold = 1;
  if (loopOperations) {
    double code = codeBytes * static_cast<double>(*loopOperations);
    cold = std::max(nearShare * shareBeyond(machine.nearestCacheBytes, code),
                    shareBeyond(machine.privateCacheBytes, touchedBytes));
    result.touchedBytes = touchedBytes;
    result.freshShare = 0;
  } else { // other arrays have filled the private cache
    result.touchedBytes = std::max(touchedBytes, 1.5 * machine.privateCacheBytes);
    result.freshShare = 1;
  }
  result.launchNanoseconds +=
      ownShare * cold * std::max(machine.coldLaunchNanoseconds - machine.launchNanoseconds, 0.0) +
      (loopOperations ? far : 1) *
          std::max(machine.farLaunchNanoseconds - machine.coldLaunchNanoseconds, 0.0);
  result.arrayNanoseconds +=
      far * std::max(machine.farArrayNanoseconds - machine.arrayNanoseconds, 0.0);
  return result;
}

double nanoseconds(const MachineModel &machine, const Work &work) {
  return machine.launchNanoseconds + partsOf(machine, work).total();
}

Parts leastPartsOf(const MachineModel &machine, const Work &work, double operatorBytes) {
  double fewest = std::max(work.bytes(), operatorBytes);
  Parts least = partsAmong(machine, work, fewest);
  // A measured cache may be slower than one that is farther away.
  for (double cache :
       {machine.nearestCacheBytes, machine.privateCacheBytes, machine.sharedCacheBytes})
    for (double bytes : {cache / 2, cache * 1.5})
      if (bytes > fewest)
        least.moving = std::min(least.moving, partsAmong(machine, work, bytes).moving);
  return withUnhidden(machine, least);
}

// Half of the private cache holds what was read of the array lately, and the other half what comes in order meanwhile.
double gatherNanoseconds(const MachineModel &machine, double arrayBytes) {
  if (levelOf(machine, arrayBytes) == Level::Nearest)
    return 0;
  double held = std::min(1.0, machine.privateCacheBytes / 2 / arrayBytes);
  return held * machine.privateGatherNanoseconds + (1 - held) * machine.gatherNanoseconds;
}

double gatherRowNanoseconds(const MachineModel &machine, double arrayBytes, double rowBytes) {
  double first = gatherNanoseconds(machine, arrayBytes),
         lines = std::max(1.0, rowBytes / machine.cacheLineBytes);
  return first + (lines - 1) * std::min(first, machine.nextLineNanoseconds);
}

double firstTouchNanoseconds(const MachineModel &machine, double bytes) {
  double ofByte = bytes < static_cast<double>(hugePagesFrom)
                      ? machine.firstTouchOfSmallPagesNanosecondsPerByte
                      : machine.firstTouchNanosecondsPerByte;
  return bytes * ofByte * machine.freshShare * shareBeyond(machine.privateCacheBytes, bytes);
}

double operationsHiddenByReading(const MachineModel &machine, double bytes) {
  return bytes / machine.memoryReadBytesPerNanosecond * machine.flopsPerNanosecond;
}

std::string toJson(const MachineModel &machine) {
  nlohmann::ordered_json json;
  for (const Field &field : fields)
    json[field.name] = machine.*field.value;
  forEachMeasuredCell(machine.cells, [&](std::string_view name, const CellCost &cost) {
    json["cells"][name] = {{"f64", cost.f64}, {"f32", cost.f32}};
  });
  return json.dump(2) + "\n";
}

// Multiples of other figures are compared as times and speeds: if additions alone were disturbed, everything else seems to
// take fewer of them.
MachineModel fasterOf(const MachineModel &first, const MachineModel &second) {
  MachineModel result;
  result.flopsPerNanosecond = std::max(first.flopsPerNanosecond, second.flopsPerNanosecond);
  auto fasterAdditions = [&](double ofFirst, double ofSecond) {
    return std::min(ofFirst / first.flopsPerNanosecond, ofSecond / second.flopsPerNanosecond) *
           result.flopsPerNanosecond;
  };
  for (const Field &field : fields) {
    double a = first.*field.value, b = second.*field.value;
    result.*field.value = isInAdditions(field) ? fasterAdditions(a, b)
                          : isRate(field)      ? std::max(a, b)
                                               : std::min(a, b);
  }
  // What an array takes is a difference of launches, so that only both together say how long one takes.
  auto fasterLaunch = [&](double MachineModel::*launch, double MachineModel::*array) {
    constexpr double arrays = 4;
    auto takes = [&](const MachineModel &machine) {
      return machine.*launch + arrays * machine.*array;
    };
    const MachineModel &faster = takes(first) < takes(second) ? first : second;
    result.*launch = faster.*launch;
    result.*array = faster.*array;
  };
  fasterLaunch(&MachineModel::launchNanoseconds, &MachineModel::arrayNanoseconds);
  fasterLaunch(&MachineModel::farLaunchNanoseconds, &MachineModel::farArrayNanoseconds);
  auto fasterOnAllThreads = [&](double MachineModel::*speedup, double MachineModel::*rate) {
    double most = std::max(first.*speedup * first.*rate, second.*speedup * second.*rate);
    result.*speedup = std::max(1.0, most / result.*rate);
  };
  fasterOnAllThreads(&MachineModel::memorySpeedup, &MachineModel::memoryReadBytesPerNanosecond);
  fasterOnAllThreads(&MachineModel::computeSpeedup, &MachineModel::flopsPerNanosecond);
  result.streamBytesAhead = first.streamBytesAhead;
  result.singleStreamBytesAhead = first.singleStreamBytesAhead;
  std::vector<CellCost> others;
  forEachMeasuredCell(second.cells,
                      [&](std::string_view, const CellCost &cost) { others.push_back(cost); });
  result.cells = first.cells;
  auto other = others.begin();
  forEachMeasuredCell(result.cells, [&](std::string_view, CellCost &cost) {
    cost = {fasterAdditions(cost.f64, other->f64), fasterAdditions(cost.f32, other->f32)};
    ++other;
  });
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
  readCells(json, machine.cells, name);
  if (!json.empty())
    throw Error("machine model " + name + ": unknown key \"" + json.begin().key() + "\"");
  return machine;
}

} // namespace tokamak::cost
