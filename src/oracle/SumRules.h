// Forward error bounds of everything that accumulates: sums, products, extremes, scans and matrix
// products, in any order, with any number of accumulators, with fused multiply-adds or without.
//
//   CellErrors errors = aggregateErrors(model, AggregateKind::Sum, AggregateDirection::Row,
//                                       {x, ex}, rowSums);
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
  // A cell of a factor of a matrix product.
  struct FactorCell {
    double value, error; // error: at least 0
    double magnitude;    // see ProductErrors; |value| where it is no product
    int granularity;
  };

  explicit SumBound(const ErrorModel &model) : model_(model) {}
  void add(double cell, double error);
  // A term that is a product of two cells, which themselves were summed of so many terms.
  void addProduct(const FactorCell &a, const FactorCell &b);
  void addInnerTerms(int64_t terms) { terms_ += terms; }
  // Of the sum so far, which the reference says is `result`.
  double error(double result) const;

  double carried() const { return unknown_ ? CellErrors::anything : carried_; }
  double magnitude() const { return magnitude_; }
  int granularity() const { return granularity_; }
  int64_t terms() const { return terms_; }

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
