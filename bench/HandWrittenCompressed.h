// A sparse matrix in compressed rows, and the one that sparse benchmarks read.
//
//   CompressedRows X = scatter(20000, 20000, 1e-3), columns = transposed(X);
#ifndef TOKAMAK_BENCH_HANDWRITTENCOMPRESSED_H
#define TOKAMAK_BENCH_HANDWRITTENCOMPRESSED_H

#include "HandWritten.h"

namespace bench {

struct CompressedRows {
  int64_t columns;
  std::vector<int64_t> offsets;
  std::vector<int32_t> indices;
  std::vector<double> values;

  int64_t rows() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

// rows x columns x density entries at the pseudo-random places that bench/programs computes, too;
// entries at the same place are added up.
CompressedRows scatter(int64_t rows, int64_t columns, double density);

CompressedRows transposed(const CompressedRows &X);

} // namespace bench
#endif
