// The speed of a machine, in bytes and operations per nanosecond, and the time that operators take
// on it.
//
//   cost::MachineModel machine = cost::readModelFile("machine-model.json").model;
//   double ns = cost::nanoseconds(machine, {.readBytes = 8e6, .flops = 2e6});
//
// Plans depend on the model only, never on measured times. Tests and
// reproducible runs use a fixed model.
#ifndef TOKAMAK_COST_MACHINEMODEL_H
#define TOKAMAK_COST_MACHINEMODEL_H

#include <string>

namespace tokamak::cost {

// The default values are the fixed model: a server core, in round numbers.
struct MachineModel {
  double cacheReadBytesPerNanosecond = 40;
  double cacheWriteBytesPerNanosecond = 20;
  double memoryReadBytesPerNanosecond = 12;
  double memoryWriteBytesPerNanosecond = 6;
  // If the arrays of an operator are larger than this in total, they stream from memory.
  double cacheBytes = 16 << 20;
  // The first-level data cache of a core, in which reads in any order cost no more than others, and
  // the unit in which memory is moved to it. As the operating system tells them.
  double nearestCacheBytes = 32 << 10;
  double cacheLineBytes = 64;
  // The registers that can hold addresses, of which a kernel needs one for each array: 16 on x86-64,
  // 31 on AArch64.
  double addressRegisters = 16;
  // The extra cost of memory that was never written before (the operating system has to
  // supply zeroed pages), and the share of results that get such memory instead of a
  // used buffer from the pool.
  double firstTouchNanosecondsPerByte = 0.4;
  double freshShare = 0.25;
  // Speed of additions in vector code that is limited by arithmetic.
  double flopsPerNanosecond = 8;
  // Time of one read at a random position of an array in the last-level cache.
  double gatherNanoseconds = 1;
  // Overhead of launching a kernel: from an instruction of the image to the first tile and back.
  double launchNanoseconds = 1500;

  bool operator==(const MachineModel &) const = default;
};

// The work of one execution of an operator.
struct Work {
  double readBytes = 0;
  double writtenBytes = 0;
  double flops = 0;
  double gathers = 0; // cache lines accessed in an order that hardware can't predict

  Work &operator+=(const Work &other) {
    readBytes += other.readBytes;
    writtenBytes += other.writtenBytes;
    flops += other.flops;
    gathers += other.gathers;
    return *this;
  }
};

// Nanoseconds that the parts of an operator's work take; gathers are part of computing. An operator
// computes while it reads.
struct Parts {
  double writing = 0, reading = 0, computing = 0;

  Parts &operator+=(const Parts &other);
  Parts operator*(int times) const;
  double total() const { return writing + (reading > computing ? reading : computing); }
};
Parts partsOf(const MachineModel &machine, const Work &work);

// Launch + writing + the longer of reading and computing.
double nanoseconds(const MachineModel &machine, const Work &work);

// What this work takes at least as a part of any operator's work, which may fit into the cache if this
// work does.
Parts leastPartsOf(const MachineModel &machine, const Work &work);

// The operations on cells that take no longer than reading this many bytes from memory: on the fixed
// model 5 for a double.
double operationsHiddenByReading(const MachineModel &machine, double bytes);

// Takes the better value of each figure, because disturbed measurements are never too fast.
MachineModel fasterOf(const MachineModel &first, const MachineModel &second);

std::string toJson(const MachineModel &machine);
// `name` is the file's name, for messages. Throws tokamak::Error if the text is not JSON or if a
// key is missing or unknown. The key "measured" is ignored: it belongs to ModelFile.h.
MachineModel parseMachineModel(const std::string &text, const std::string &name);

} // namespace tokamak::cost
#endif
