// The reference semantics of statistics of vectors and groups, and of operations on distinct
// values. Absent weights, sizes and orders are nothing-values.
//
//   median(column, Value()).asDouble()
#ifndef TOKAMAK_REFERENCE_STATISTICMEANING_H
#define TOKAMAK_REFERENCE_STATISTICMEANING_H

#include "runtime/values/Value.h"

namespace tokamak::reference {

// With weights, each value counts as often as its weight says.
runtime::Value quantile(const runtime::Value &values, const runtime::Value &weights,
                        const runtime::Value &probabilities);
runtime::Value median(const runtime::Value &values, const runtime::Value &weights);
// The mean of the middle half of the sorted values.
runtime::Value interQuartileMean(const runtime::Value &values, const runtime::Value &weights);
// Order 0 is the count, 1 the mean, 2 to 4 the central moments.
runtime::Value moment(const runtime::Value &values, const runtime::Value &weights,
                      const runtime::Value &order);
runtime::Value covariance(const runtime::Value &x, const runtime::Value &y,
                          const runtime::Value &weights);

// The direction is "rc" (all cells), "r" (each row) or "c" (each column).
runtime::Value unique(const runtime::Value &operand, const runtime::Value &direction);
runtime::Value countDistinct(const runtime::Value &operand, const runtime::Value &direction);
// Whether some cell equals the pattern or, for a matrix, whether every row of the pattern occurs.
runtime::Value contains(const runtime::Value &operand, const runtime::Value &pattern);

// Applies fn to the rows of each group; the result has a row for each group.
runtime::Value aggregateGroups(const runtime::Value &target, const runtime::Value &groups,
                               const runtime::Value &fn, const runtime::Value &weights,
                               const runtime::Value &groupCount, const runtime::Value &order);

} // namespace tokamak::reference
#endif
