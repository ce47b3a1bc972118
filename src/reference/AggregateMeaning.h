// What aggregations mean. Sums are compensated (Neumaier), so that the reference is closer to the
// exact value than any order of plain additions. Variances are sums of squared distances from the
// mean, which is corrected by the mean of the distances: of equal cells they are 0, and otherwise
// off by at most (n + 8) * 2^-53 of their value, whatever the mean is, where they do not overflow.
//
//   reduce(AggregateKind::Mean, std::vector<double>{1, 2, 6}) == 3
#ifndef TOKAMAK_REFERENCE_AGGREGATEMEANING_H
#define TOKAMAK_REFERENCE_AGGREGATEMEANING_H

#include "base/CellOperators.h"
#include "runtime/Value.h"

#include <span>

namespace tokamak::reference {

// A running sum that keeps what rounding lost. Once the sum is not finite it is what plain
// additions give.
class CompensatedSum {
public:
  void add(double value);
  double value() const;

private:
  double sum_ = 0;
  double lost_ = 0;
};

// One number for many. Of no cells: sum 0, prod 1, min Inf, max -Inf, mean, var and sd NaN,
// index 1. Any NaN among the cells gives NaN, except that IndexMax and IndexMin pass over NaN. Var
// and sd divide by n-1 and are 0 for one cell. IndexMax and IndexMin count from 1 and take the last
// of equals.
double reduce(AggregateKind kind, std::span<const double> cells);

// Of all cells (a double), of the cells of each row (m x 1) or of each column (1 x n).
runtime::Value aggregate(AggregateKind kind, AggregateDirection direction,
                         const runtime::Value &operand);

// cumsum, cumprod, cummin, cummax: down each column, the aggregate of the cells so far.
runtime::Value cumulate(AggregateKind kind, const runtime::Value &operand);
// The same along each row.
runtime::Value cumulateRows(AggregateKind kind, const runtime::Value &operand);
// Of the columns a and b: y_1 = a_1, y_i = a_i + b_i * y_(i-1), n x 1.
runtime::Value cumulateSumProduct(const runtime::Value &operand);

} // namespace tokamak::reference
#endif
