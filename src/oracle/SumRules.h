// Forward error bounds of everything that accumulates: sums, products, extremes, scans and matrix
// products, in any order, with any number of accumulators, with fused multiply-adds or without.
//
//   CellErrors errors = aggregateErrors(model, AggregateKind::Sum, AggregateDirection::Row, {x,
//   ex},
//                                       rowSums);
#ifndef TOKAMAK_ORACLE_SUMRULES_H
#define TOKAMAK_ORACLE_SUMRULES_H

#include "base/CellOperators.h"
#include "oracle/CellErrors.h"

namespace tokamak::oracle {

// The bound of a sum grows with it: (n + 2) u sum |x|, see Higham, Accuracy and Stability of
// Numerical Algorithms, 4.2. Sums of whole multiples of a power of two that stay small enough are
// exact in every order, and so is their bound.
class SumBound {
public:
  explicit SumBound(const ErrorModel &model) : model_(model) {}
  void add(double cell, double error);
  // A term that is a product of two cells.
  void addProduct(double a, double ea, double b, double eb);
  // Of the sum so far, which the reference says is `result`.
  double error(double result) const;

private:
  const ErrorModel &model_;
  double magnitude_ = 0;      // sum of |terms|
  double carried_ = 0;        // sum of the terms' own errors
  int granularity_ = 1 << 20; // all terms are multiples of 2^granularity
  int64_t terms_ = 0;
  bool negativeZero_ = false, nan_ = false, infinite_ = false, unknown_ = false;
};

CellErrors aggregateErrors(const ErrorModel &model, AggregateKind kind,
                           AggregateDirection direction, Tracked x, const runtime::Value &result);
CellErrors traceErrors(const ErrorModel &model, Tracked x, const runtime::Value &result);
CellErrors matmulErrors(const ErrorModel &model, Tracked x, Tracked y,
                        const runtime::Value &result);
// cumsum, cumprod, cummin, cummax, down the columns or, of sums, along the rows.
CellErrors scanErrors(const ErrorModel &model, AggregateKind kind, bool alongRows, Tracked x,
                      const runtime::Value &result);

} // namespace tokamak::oracle
#endif
