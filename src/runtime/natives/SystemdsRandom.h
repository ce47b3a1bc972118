// The random numbers that SystemDS draws for the same seed, sizes, sparsity and distribution: for --random=systemds, with which
// whole programs can be compared with it to the last digit. They come block by block, of 1000 x 1000 cells: each block has a
// generator of its own (java.util.Random's linear congruential one), whose seed a generator of the program's seed draws
// (WELL1024a: F. Panneton, P. L'Ecuyer, M. Matsumoto 2006, "Improved long-period generators based on linear recurrences
// modulo 2", table II).
//
//   ArrayReference x = systemdsRandom(context, {.rows = 10, .columns = 10, .seed = 7});
#ifndef TOKAMAK_RUNTIME_NATIVES_SYSTEMDSRANDOM_H
#define TOKAMAK_RUNTIME_NATIVES_SYSTEMDSRANDOM_H

#include "runtime/natives/Native.h"
#include "runtime/natives/RandomNumbers.h"

namespace tokamak::runtime {

struct SystemdsDraw {
  int64_t rows = 1, columns = 1;
  CellDistribution distribution = CellDistribution::Uniform;
  double low = 0, high = 1; // of uniform numbers
  double lambda = 1;        // of Poisson's distribution
  double sparsity = 1;
  int64_t seed = 0;
};

// Throws Error for a lambda of 40 or more, whose numbers SystemDS draws in a way that is not known here.
ArrayReference systemdsRandom(ExecutionContext &context, const SystemdsDraw &draw);

// A column of integers from 1 to `range`, by reservoir sampling; with replacement each one may come several times.
ArrayReference systemdsSample(int64_t range, int64_t size, bool withReplacement, int64_t seed);

} // namespace tokamak::runtime
#endif
