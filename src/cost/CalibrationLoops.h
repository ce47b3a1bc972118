// The loops that calibration measures. They use the machine's widest vectors, as generated kernels do.
//
//   CellBuffer buffer = allocateCells(6 << 20);      // null if there is no memory
//   writeAll(buffer.get(), 6 << 20, 1.0);
//   double sum = readAll(buffer.get(), 6 << 20);
#ifndef TOKAMAK_COST_CALIBRATIONLOOPS_H
#define TOKAMAK_COST_CALIBRATIONLOOPS_H

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tokamak::cost {

struct FreeCells {
  void operator()(double *cells) const { std::free(cells); }
};
using CellBuffer = std::unique_ptr<double, FreeCells>;

// In huge pages, like the runtime's large arrays: their first touch costs a fraction of that of small
// pages.
CellBuffer allocateCells(int64_t count);

struct UnmapCells {
  size_t bytes = 0;
  void operator()(double *cells) const;
};
using PageBuffer = std::unique_ptr<double, UnmapCells>;

// In the system's small pages, as arrays of some megabytes and less; never touched before. Null if there is no memory.
PageBuffer mapSmallPages(int64_t count);

// Counts are multiples of 32.
double readAll(const double *cells, int64_t count);
void writeAll(double *cells, int64_t count, double value);
void copyAll(const double *from, double *to, int64_t count);

// A multiplication and an addition for each of 8 independent vectors of 8 lanes in each step.
inline constexpr int64_t operationsPerStep = 128;
double computeSteps(int64_t steps);

// Reads `count` of 2^bits cells in a pseudo-random order. As in a kernel that reads cells by a list
// of indices, positions are cheap to compute, the reads don't depend on each other, and later ones are
// prefetched.
double readScattered(const double *cells, int bits, int64_t count);

// The same, but of each position the first cells of so many cache lines of 64 bytes that follow each
// other; 2^bits cells are read, and the lines behind them.
double readScatteredLines(const double *cells, int bits, int64_t count, int lines);

// Flushes cells from all caches, where the machine has an instruction for that. Just reading other
// memory is not enough: a virtual machine may use more cache than it reports.
void flush(const double *cells, int64_t count);

} // namespace tokamak::cost
#endif
