// Chooses the operators that compute a block.
//
//   Plan plan = searchPlan(pool);
//
// The choices of different partitions (operations connected by possible fusions) are independent.
// The heuristic selectors only decide which results are stored; for each of them the best operator
// is taken that computes everything else itself. The selector `cost` begins with such plans, changed
// result by result and with operators merged as long as that makes them cheaper, takes over what a lower bound
// of all plans chooses (PlanBound.h), moves results between operators (ImproveCover.h), and then looks for
// anything cheaper among all covers of the partition (CoverSearch.h).
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
  llvm::SmallVector<int> nodes;     // in program order
  llvm::SmallVector<int> points;    // results that may be stored or computed again in their users
  llvm::SmallVector<int> operators; // the chosen ones: ids of the pool
  int64_t evaluated = 0;            // plans priced
  int64_t visited = 0;              // unfinished covers looked at
  double nanoseconds = 0;           // of the chosen plan, 0 if none was priced
  double least = 0;                 // no plan takes fewer nanoseconds
  double runnerUp = 0;              // the second best plan that was priced; 0: none
  bool isExact() const { return least >= nanoseconds * (1 - 1e-6); }
};

struct Plan {
  std::vector<Partition> partitions;
  llvm::BitVector
      shared; // by operation: stored only because several operators would compute this sum
  llvm::SmallVector<int> operators; // ids of the pool
  std::vector<RefusedMerge> refusedMerges;
};

// A search ends where it pays no more: after 10 ms, once it has taken longer than the best plan that may
// still be found would save in 1,000 runs, and at the latest after 0.1 s; where the block is in no loop, which
// may run it once, at the latest after the time of 5 runs. Pricing a plan takes about 50 ns
// times the square of the partition's size, an operator of a cover that is improved 70 ns times this size, a
// step that raises a bound 1 us times this size, a bound after a decision 0.25 us times this size, and covers
// what CoverSearch says; counting so instead of measuring makes plans the same on every run.
inline constexpr double searchedAnyway = 10e6, searchedAtMost = 100e6, runsThatPay = 1000,
                        runsSearched = 5, pricingNanoseconds = 50, pricingOperatorNanoseconds = 70,
                        raisingNanoseconds = 1000, boundNanoseconds = 250;
// Covers are searched for so long at least, whatever plans and bounds took before.
inline constexpr double searchedInCovers = 5e6;
// Of the time that is left, raising the bound and moving results between operators may take these shares.
inline constexpr double shareForRaising = 0.3, shareForImproving = 0.2;
// At first the bound is raised in at most so many steps. After every so many of them the plan is priced that
// makes the same choices as the bound.
inline constexpr int mostStepsAtFirst = 300, stepsUntilPriced = 30;
// If so much time with covers doesn't suffice, it is decided first whether some result is stored, provided that
// this closes at least this share of the gap between the bound and the cheapest plan. Below the first of these
// decisions so many results are tried.
inline constexpr double searchedBeforeDeciding = 1e6, worthDeciding = 0.2;
inline constexpr size_t mostTriedBelow = 8;

Plan searchPlan(OperatorPool &pool);

} // namespace tokamak::fusion
#endif
