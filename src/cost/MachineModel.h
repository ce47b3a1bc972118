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

#include "cost/CellCost.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace tokamak::cost {

// The default values are the fixed model: a server core, in round numbers. Speeds are those of one
// thread.
struct MachineModel {
  // Caches as a core sees them, and memory. What an operator reads and writes comes from the nearest
  // one that holds all of it. The first two sizes are as the operating system tells them. A speed of
  // writing is that of an operator that reads meanwhile.
  double nearestCacheBytes = 32 << 10;
  double nearestReadBytesPerNanosecond = 40;
  double nearestWriteBytesPerNanosecond = 20;
  double privateCacheBytes = 1 << 20;
  double privateReadBytesPerNanosecond = 40;
  double privateWriteBytesPerNanosecond = 20;
  double sharedCacheBytes = 16 << 20;
  double sharedReadBytesPerNanosecond = 40;
  double sharedWriteBytesPerNanosecond = 20;
  double memoryReadBytesPerNanosecond = 12;
  double memoryWriteBytesPerNanosecond = 6;
  // The unit in which memory is moved to caches.
  double cacheLineBytes = 64;
  // The registers that can hold addresses, of which a kernel needs one for each array: 16 on x86-64,
  // 31 on AArch64.
  double addressRegisters = 16;
  // The extra cost of memory that was never written before: the operating system has to supply zeroed pages, huge
  // ones for large results (`hugePagesFrom`) and small ones for others. Results that fit the private cache get used buffers
  // from the pool.
  double firstTouchNanosecondsPerByte = 0.4;
  double firstTouchOfSmallPagesNanosecondsPerByte = 0.4;
  // How far ahead kernels ask memory for the cells of arrays, in bytes, and those of one array of f32; 0: not at all.
  double streamBytesAhead = 2048;
  double singleStreamBytesAhead = 2048;
  // Of what an operator moves while it computes, or computes while it moves, whichever is shorter: the share that
  // takes time of its own. Loads and stores take places in the pipeline that arithmetic needs.
  double unhiddenShare = 0.15;
  // Additions of doubles in vector code that is limited by arithmetic: the unit of CellCosts.
  double flopsPerNanosecond = 8;
  // Multiplications, each with an addition, of products in kernels, of f32 whose columns fill one vector
  // or more, and in the runtime's.
  double productsPerNanosecond = 8;
  double singleProductsPerNanosecond = 16;
  double narrowSingleProductsPerNanosecond = 16;
  double nativeProductsPerNanosecond = 9.6;
  double singleNativeProductsPerNanosecond = 19.2;
  // The same of convolutions in kernels and in the runtime's.
  double convolutionsPerNanosecond = 8;
  double singleConvolutionsPerNanosecond = 16;
  double nativeConvolutionsPerNanosecond = 9.6;
  double singleNativeConvolutionsPerNanosecond = 19.2;
  // What products take beside multiplications: in kernels for each cell of the result, in the runtime's for
  // each cell of doubles, or of f32, of the factors, which are packed first, and of the result; and in the
  // runtime's convolutions for each cell of doubles of the windows, which are written down.
  double productResultNanoseconds = 0;
  double packedCellNanoseconds = 3;
  double singlePackedCellNanoseconds = 1.5;
  double windowCellNanoseconds = 6;
  // What loops take beside their operators. Those over few places (plan::hasFewPlaces) compute narrow rows
  // cell by cell, each so many times as long as in a vector, and wait for each addition to an
  // aggregate, and longer for each comparison: so many additions.
  double compactRowSlowness = 8;
  double compactSumAdditions = 3;
  double compactExtremeAdditions = 5;
  // Of each vector of eight doubles or sixteen f32 at the end of a row that is written under a mask.
  double maskedVectorNanoseconds = 0;
  // Of writing a cell of rows that are computed across, in additions.
  double narrowWriteAdditions = 0;
  // Of finding the next entry of a sparse array, in additions.
  double entryAdditions = 2;
  // Of going on to the next row that has entries, in additions.
  double entryRowAdditions = 10;
  // Of each cell of a vector that is gathered from the nearest cache.
  double nearestGatherNanoseconds = 0.2;
  // Time of one access at a random position of an array in the private and in the shared cache.
  double privateGatherNanoseconds = 1;
  double gatherNanoseconds = 1;
  // Besides, if an entry adds to the sum of its column: a later one may have to wait for it.
  double scatterNanoseconds = 0;
  // Of each entry of a sparse array that a native multiplies.
  double nativeEntryNanoseconds = 0.25;
  // Of each cache line that is read behind one at a random position.
  double nextLineNanoseconds = 1;
  // Overhead of launching a kernel, in a row; if all that it needs was replaced in the private cache; and if it was in all
  // caches.
  double launchNanoseconds = 1500;
  double coldLaunchNanoseconds = 1500;
  double farLaunchNanoseconds = 1500;
  // Of each array that it reads or writes; and if all caches hold others.
  double arrayNanoseconds = 0;
  double farArrayNanoseconds = 0;
  // All threads that a process of this machine has, and how many times as fast as one they read and
  // write memory, and compute. Only reports depend on these figures: plans are the same for any
  // number of threads.
  double threads = 2;
  double memorySpeedup = 1.5;
  double computeSpeedup = 2;
  // Of a kernel with several tiles, to have other threads take part.
  double parallelLaunchNanoseconds = 3000;
  // How many times as long as base/Natives.def says natives compute: those that move and make cells, that
  // sort, and that solve equations.
  double nativeCellSlowness = 1;
  double nativeSortSlowness = 1;
  double nativeSolveSlowness = 1;
  // What cell operators take, in additions.
  CellCosts cells = {};

  // No figures of the machine; `inBlock` sets them. The bytes that are touched between two uses of an array that
  // operators find (Work::foundBytes), and the share of results that get memory that was never written before instead
  // of a used buffer from the pool.
  double touchedBytes = 0;
  double freshShare = 0;

  bool operator==(const MachineModel &) const = default;
};

// The work of one execution of an operator.
struct Work {
  double readBytes = 0; // of arrays that were written shortly before
  // Of arrays that others were touched after: those that a block is given, and buffers for results.
  double foundBytes = 0;
  double writtenBytes = 0;
  double flops = 0;
  double gathering = 0; // nanoseconds of accesses in an order that hardware can't predict
  // Nanoseconds in which nothing else is done: of each array, and of what depends on their sizes, as conversions.
  double overhead = 0, waiting = 0;

  Work &operator+=(const Work &other) {
    readBytes += other.readBytes;
    foundBytes += other.foundBytes;
    writtenBytes += other.writtenBytes;
    flops += other.flops;
    gathering += other.gathering;
    overhead += other.overhead;
    waiting += other.waiting;
    return *this;
  }
  double bytes() const { return readBytes + foundBytes + writtenBytes; }
  // Of arrays that are so many times as large, but no more of them.
  Work times(double factor) const {
    return {factor * readBytes, factor * foundBytes, factor * writtenBytes,
            factor * flops,     factor * gathering,  overhead,
            factor * waiting};
  }
};

// Nanoseconds that the parts of an operator's work take. Gathers are part of computing. An operator
// computes while it moves cells from and to memory, but for a share (MachineModel::unhiddenShare): each of the two has
// that share of the other, so that parts add up and the longer one is what an operator takes.
struct Parts {
  double overhead = 0, moving = 0, computing = 0;

  Parts &operator+=(const Parts &other) {
    overhead += other.overhead;
    moving += other.moving;
    computing += other.computing;
    return *this;
  }
  double total() const { return overhead + std::max(moving, computing); }
};
Parts partsOf(const MachineModel &machine, const Work &work);

// What an operator with such parts would take if it hid all of the shorter one.
double withAllHidden(const MachineModel &machine, const Parts &parts);

// Launch + overhead + the longer of moving and computing.
double nanoseconds(const MachineModel &machine, const Work &work);

// On all threads of the machine, of which each works on tiles of the operator's cells.
double nanosecondsInParallel(const MachineModel &machine, const Work &work);

// The machine as operators find it in a block that is executed in a loop of so many operations on arrays, or in none,
// if so many bytes are touched from one execution to the next: where these don't fit the private cache, arrays have left it,
// and so has code, of kernels and of natives, but for what operators have in common. Code of a loop of many operations
// replaces that in the nearest cache, too; a part of straight code is found in none. A loop finds the buffers that its last
// iteration has freed; straight code gets its buffers from the operating system.
MachineModel inBlock(const MachineModel &machine, double touchedBytes,
                     std::optional<int64_t> loopOperations);

// What this work takes at least as a part of the work of any operator that moves so many bytes or more, and these
// may fit into the cache.
Parts leastPartsOf(const MachineModel &machine, const Work &work, double operatorBytes);

// The operations on cells that take no longer than reading this many bytes from memory: on the fixed
// model 5 for a double.
double operationsHiddenByReading(const MachineModel &machine, double bytes);

// Of a result of so many bytes: until the operating system has supplied memory for it.
double firstTouchNanoseconds(const MachineModel &machine, double bytes);

// The share of so many bytes that a cache doesn't hold until they are used again: nothing of what fills
// it by half, all of what is half as much again as it.
double shareBeyond(double cacheBytes, double bytes);

// Time of an access at a random position of an array of so many bytes. In the nearest cache it costs
// no more than others.
double gatherNanoseconds(const MachineModel &machine, double arrayBytes);

// The same of a row of so many bytes.
double gatherRowNanoseconds(const MachineModel &machine, double arrayBytes, double rowBytes);

// Takes the better value of each figure of a machine that was measured twice, because disturbed measurements are never
// too fast; of distances, those that were measured `first`.
MachineModel fasterOf(const MachineModel &first, const MachineModel &second);

std::string toJson(const MachineModel &machine);
// `name` is the file's name, for messages. Throws tokamak::Error if the text is not JSON or if a
// key is missing or unknown. The key "measured" is ignored: it belongs to ModelFile.h.
MachineModel parseMachineModel(const std::string &text, const std::string &name);

} // namespace tokamak::cost
#endif
