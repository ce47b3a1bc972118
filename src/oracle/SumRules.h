// Forward error bounds of accumulating operations: sums, products, extremes, scans and matrix
// products, in any order, with any number of accumulators, with or without fused multiply-adds.
//
//   CellErrors errors = aggregateErrors(model, AggregateKind::Sum, AggregateDirection::Row,
//                                       {x, ex}, rowSums);
#ifndef TOKAMAK_ORACLE_SUMRULES_H
#define TOKAMAK_ORACLE_SUMRULES_H

#include "base/CellOperators.h"
#include "oracle/CellErrors.h"

namespace tokamak::oracle {

// The running error bound of a sum: (n + 2) u sum |x|, see Higham, Accuracy and Stability of
// Numerical Algorithms, 4.2. A sum of multiples of a power of two that is small enough is exact in
// every order, so its bound is 0, unless its terms may be products that were rounded.
class SumBound {
public:
  // A cell of a factor of a matrix product.
  struct FactorCell {
    double value, error; // error: at least 0
    double magnitude;    // see ProductErrors; |value| if not a product
    int granularity;
  };

  explicit SumBound(const ErrorModel &model) : model_(model) {}
  void add(double cell, double error);
  // Adds a term that is the product of two cells.
  void addProduct(const FactorCell &a, const FactorCell &b);
  void addInnerTerms(int64_t terms) { terms_ += terms; }
  // The error bound of the sum so far, whose reference value is `result`.
  double error(double result) const;

  double carried() const { return unknown_ ? CellErrors::anything : carried_; }
  double magnitude() const { return magnitude_; }
  int granularity() const { return granularity_; }
  int64_t terms() const { return terms_; }

private:
  const ErrorModel &model_;
  double magnitude_ = 0;      // sum of |terms|
  double carried_ = 0;        // sum of the terms' own error bounds
  int granularity_ = 1 << 20; // all terms are multiples of 2^granularity
  int64_t terms_ = 0;
  bool negativeZero_ = false, nan_ = false, infinite_ = false, unknown_ = false;
  bool mayBeUnrounded_ = false;
};

CellErrors aggregateErrors(const ErrorModel &model, AggregateKind kind,
                           AggregateDirection direction, Tracked x, const runtime::Value &result);
CellErrors traceErrors(const ErrorModel &model, Tracked x, const runtime::Value &result);
CellErrors matmulErrors(const ErrorModel &model, Tracked x, Tracked y,
                        const runtime::Value &result);
// cumsum, cumprod, cummin, cummax along the columns or, for sums, along the rows.
CellErrors scanErrors(const ErrorModel &model, AggregateKind kind, bool alongRows, Tracked x,
                      const runtime::Value &result);

} // namespace tokamak::oracle
#endif
