#include "runtime/natives/PoolLines.h"

#include "base/WidestVectors.h"

using namespace tokamak::runtime;

namespace {

TOKAMAK_WIDEST_VECTORS void combineFloats(PoolKind kind, float *to, const float *from,
                                          int64_t count, int64_t step) {
  combineCells(kind, to, from, count, step);
}

TOKAMAK_WIDEST_VECTORS void combineDoubles(PoolKind kind, double *to, const double *from,
                                           int64_t count, int64_t step) {
  combineCells(kind, to, from, count, step);
}

} // namespace

template <>
void tokamak::runtime::combineLine(PoolKind kind, float *to, const float *from, int64_t count,
                                   int64_t step) {
  combineFloats(kind, to, from, count, step);
}

template <>
void tokamak::runtime::combineLine(PoolKind kind, double *to, const double *from, int64_t count,
                                   int64_t step) {
  combineDoubles(kind, to, from, count, step);
}
