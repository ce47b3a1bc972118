// The reference semantics of aggregations. Sums are compensated (Neumaier), so that the reference
// is closer to the exact value than any order of plain additions. A variance is the sum of squared
// distances from the mean, where the mean is corrected by the mean of these distances: the variance
// of equal cells is 0, and any other has a rounding error of at most (n + 8) * 2^-53 of its value,
// independent of the mean, unless the squares overflow.
//
//   reduce(AggregateKind::Mean, std::vector<double>{1, 2, 6}) == 3
#ifndef TOKAMAK_REFERENCE_AGGREGATEMEANING_H
#define TOKAMAK_REFERENCE_AGGREGATEMEANING_H

#include "base/CellOperators.h"
#include "runtime/values/Value.h"

#include <span>

namespace tokamak::reference {

// A running sum with a compensation term for rounding errors. A sum that is not finite is that of
// plain additions.
class CompensatedSum {
public:
  void add(double value);
  double value() const;

private:
  double sum_ = 0;
  double lost_ = 0;
};

// Reduces cells to one number. Results for no cells: sum 0, prod 1, min Inf, max -Inf, mean, var
// and sd NaN, index 1. Any NaN among the cells gives NaN, except that indices of extremes ignore NaN.
// Var and sd divide by n-1 and are 0 for one cell. IndexMax and IndexMin count from 1 and return the
// last of equal cells, FirstIndexMax and FirstIndexMin the first, which is 1 if no cell is better than
// -Inf or Inf.
double reduce(AggregateKind kind, std::span<const double> cells);

// Aggregates all cells (result: a double), each row (m x 1) or each column (1 x n).
runtime::Value aggregate(AggregateKind kind, AggregateDirection direction,
                         const runtime::Value &operand);

// cumsum, cumprod, cummin, cummax: each result cell aggregates the column's cells up to its row.
runtime::Value cumulate(AggregateKind kind, const runtime::Value &operand);
// Cumulative products in the type of cells: integers wrap.
runtime::Value cumulateCells(const runtime::Value &operand);
// As cumulate, along each row.
runtime::Value cumulateRows(AggregateKind kind, const runtime::Value &operand);
// For an operand with columns a and b: y_1 = a_1, y_i = a_i + b_i * y_(i-1); the result is n x 1.
runtime::Value cumulateSumProduct(const runtime::Value &operand);

} // namespace tokamak::reference
#endif
