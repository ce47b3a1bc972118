// Chooses which results are stored although they could be computed inside their consumers. That
// decides the plan: each operator is then the best one for its result, and operators that go
// together are merged.
//
// The choices of different partitions (operations connected by possible fusions) do not influence
// each other. Within one, only interesting points are a choice: results with several consumers,
// vectors that could only be computed again and again along a matrix, and products that could be
// computed at the entries of a CSR array or before, in all cells.
//
// Sums and products depend on the order in which they are added up, which no two operators need to
// share: of P = D <= rowMins(D) every row would have to have a smallest value, but has none where D
// holds a product that the minimum and the comparison compute differently. So whatever the choices,
// what several operators would add up is stored by one of its own, and all of them read that.
#ifndef TOKAMAK_FUSION_SELECT_PLANSEARCH_H
#define TOKAMAK_FUSION_SELECT_PLANSEARCH_H

#include "fusion/select/FuseBlock.h"
#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

struct Partition {
  llvm::SmallVector<int> nodes;      // in program order
  llvm::SmallVector<int> points;     // the interesting ones
  int64_t evaluated = 0, pruned = 0; // plans priced; plans that a bound showed to be no better
  bool exact = true; // false: too many points or plans; then the better heuristic improved point by
                     // point, or better
  double nanoseconds = 0; // of the chosen plan, 0 where none was priced
};

struct Plan {
  std::vector<Partition> partitions;
  llvm::BitVector stored; // by operation: its consumers read it
  llvm::BitVector shared; // those of them that several operators would have added up otherwise
  llvm::SmallVector<int> operators; // ids of the pool, one result each, in program order
};

// Up to so many interesting points of a partition every plan is looked at or excluded by a bound.
inline constexpr int mostExactPoints = 16;
// A search ends here with the best plan so far: compiling must not take longer than running.
// Pricing a plan takes a time that grows with the cube of the partition, so that of partitions
// larger than this many nodes fewer plans are priced.
inline constexpr int64_t mostPricedPlans = 4096, nodesOfMostPlans = 64;

// Nanoseconds of a partition's plan under an assignment, when operators that go together are
// merged.
double priceOf(OperatorPool &pool, const Partition &partition, const llvm::BitVector &stored);

Plan searchPlan(OperatorPool &pool, Selector selector);

} // namespace tokamak::fusion
#endif
