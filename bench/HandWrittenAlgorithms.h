// What the hand-written algorithms share.
//
//   double squared = dot(residual, residual);
#ifndef TOKAMAK_BENCH_HANDWRITTENALGORITHMS_H
#define TOKAMAK_BENCH_HANDWRITTENALGORITHMS_H

#include "HandWritten.h"

namespace bench {

double dot(const std::vector<double> &a, const std::vector<double> &b);

// The regressions by Newton's method (HandWrittenRegression.cpp), for 10 and 100 columns.
template <int columns> bool measureRegression(const Task &task);

} // namespace bench
#endif
