// Chooses which results are stored although they could be computed inside their consumers. This
// determines the plan: for each stored result the best operator is taken, and then operators are
// merged.
//
//   Plan plan = searchPlan(pool);
//
// The choices of different partitions (operations connected by possible fusions) are independent.
// Within a partition, only the interesting points are choices: results with several consumers,
// vectors that consumers would recompute in every cell of a matrix, and products that can be
// computed either at the entries of a sparse array or by a native in all cells.
//
// Sums and products depend on the order of additions, which may differ between operators. In
// P = D <= rowMins(D), for example, a row of P would have no 1 if D contains a product and the
// minimum and the comparison computed it in different orders. Therefore a sum or product that
// several operators would compute is always stored by one operator and read by the others.
#ifndef TOKAMAK_FUSION_SELECT_PLANSEARCH_H
#define TOKAMAK_FUSION_SELECT_PLANSEARCH_H

#include "fusion/select/MergeOperators.h"

namespace tokamak::fusion {

struct Partition {
  llvm::SmallVector<int> nodes;      // in program order
  llvm::SmallVector<int> points;     // the interesting points
  int64_t evaluated = 0, pruned = 0; // plans priced; plans excluded by a bound
  bool exact = true; // false if there are too many points or plans: then the plan is at least as
                     // good as the better heuristic, improved by local search
  double nanoseconds = 0; // of the chosen plan, 0 if none was priced
  double least = 0;       // no plan takes fewer nanoseconds
  double runnerUp = 0;    // of the second-best plan that was priced, 0 if there was none
};

struct Plan {
  std::vector<Partition> partitions;
  llvm::BitVector
      shared; // by operation: stored only because several operators would compute this sum
  llvm::SmallVector<int> operators; // ids of the pool
  std::vector<RefusedMerge> refusedMerges;
};

// With at most this many interesting points in a partition, every plan is
// priced or excluded by a bound.
inline constexpr int mostExactPoints = 16;
// A search ends after `mostPricedPlans` with the best plan so far: compiling must not take longer
// than running. The time to price a plan grows with the cube of the partition's size, so fewer
// plans are priced in partitions with more than `nodesOfMostPlans` nodes.
inline constexpr int64_t mostPricedPlans = 4096, nodesOfMostPlans = 64;
// It ends earlier where it pays no more: after 20 ms, once it has taken longer than the best plan that
// may still be found would save in 1,000 runs. Pricing a plan takes about 40 ns times the square of the
// partition's size; counting so instead of measuring makes plans the same on every run.
inline constexpr double searchedAnyway = 20e6, runsThatPay = 1000, pricingNanoseconds = 40;

// The predicted nanoseconds of a partition's plan with these results stored, after merging.
double priceOf(OperatorPool &pool, const Partition &partition, llvm::BitVector stored);

Plan searchPlan(OperatorPool &pool);

} // namespace tokamak::fusion
#endif
