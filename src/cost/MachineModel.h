// What this machine can do, in bytes and operations per nanosecond; operator costs are computed
// from it.
//
//   cost::MachineModel machine = cost::readModelFile("machine-model.json").model;
//   double ns = cost::nanoseconds(machine, {.readBytes = 8e6, .flops = 2e6});
//
// Plans depend on the model, never on the clock: tests and reproducible runs use a fixed model.
#ifndef TOKAMAK_COST_MACHINEMODEL_H
#define TOKAMAK_COST_MACHINEMODEL_H

#include <string>

namespace tokamak::cost {

// The defaults are the fixed model: a round-numbered server core.
struct MachineModel {
  double cacheReadBytesPerNanosecond = 40;
  double cacheWriteBytesPerNanosecond = 20;
  double memoryReadBytesPerNanosecond = 12;
  double memoryWriteBytesPerNanosecond = 6;
  // An operator whose arrays together are larger than this streams them from memory.
  double cacheBytes = 16 << 20;
  // Extra cost of memory that was never written before (the kernel has to supply zeroed pages), and
  // the share of results that do not get a used buffer from the pool.
  double firstTouchNanosecondsPerByte = 0.4;
  double freshShare = 0.25;
  // Additions in vector code that is limited by arithmetic.
  double flopsPerNanosecond = 8;
  // One read at a random position of an array in the last-level cache.
  double gatherNanoseconds = 1;
  // From one instruction of the image to the first tile and back.
  double launchNanoseconds = 1500;

  bool operator==(const MachineModel &) const = default;
};

// What an operator does once.
struct Work {
  double readBytes = 0;
  double writtenBytes = 0;
  double flops = 0;
  double gathers = 0; // cache lines read or written in an order that can't be foreseen
};

// launch + writing + the longer of reading and computing, gathers being part of computing.
double nanoseconds(const MachineModel &machine, const Work &work);

// A time that no operator with this work can beat, however its arrays are spread over several
// launches: `cachedReadBytes` are of arrays that fit into the cache, `work.readBytes` of those that
// can not.
double leastNanoseconds(const MachineModel &machine, const Work &work, double cachedReadBytes);

// Of each figure the better one: a disturbed measurement is never too fast.
MachineModel fasterOf(const MachineModel &first, const MachineModel &second);

std::string toJson(const MachineModel &machine);
// `name` is the file's, for messages. Throws tokamak::Error where the text is not JSON, or misses
// or misspells a key. The key "measured" is a file's own (ModelFile.h).
MachineModel parseMachineModel(const std::string &text, const std::string &name);

} // namespace tokamak::cost
#endif
