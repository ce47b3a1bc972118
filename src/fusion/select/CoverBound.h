// What every cover costs at least that has an unfinished one as a part (UnfinishedCover.h).
//
//   CoverBound bound(planBound, nodes, places, arrays, operators);
//   double least = bound.raise(depth, cover, cheapest, steps);     // nanoseconds
//
// PlanBound.h says how costs are shared among those who need an operand. Its bound is for all plans, so
// operators in the same slot have the same weight of computing, and what they compute again is counted once.
// Here each unfinished operator has a weight of its own, reads what it needs itself once, and can't compute what
// it waits for. Besides, a node's own cost is shared for each column, that is each operator or slot, by
// itself: whoever needs the node pays its share there; and so is what storing it takes among those who read it. What its
// operands take is shared as in PlanBound, for all columns the same, because it would be counted several times otherwise, if
// the node is needed in several.
//
// That counts nodes once of which the cheapest cover computes one copy for all cells and another one at the entries of a
// sparse array. Therefore nodes that the best plan known computes in several groups of slots, one for each driver, are split:
// each group has shares of its own for what their operands take. Of operands that are not split, a split node may pay a share
// in each of its groups, which is why others are not.
//
// Covers are visited depth first, so a cover begins with the shares of the one that it was made of, and a few
// steps along the slope of the bound suffice.
#ifndef TOKAMAK_FUSION_SELECT_COVERBOUND_H
#define TOKAMAK_FUSION_SELECT_COVERBOUND_H

#include "fusion/select/PlanBound.h"
#include "fusion/select/UnfinishedCover.h"

#include "llvm/ADT/SmallBitVector.h"

namespace tokamak::fusion {

class CoverBound {
public:
  using Nodes = UnfinishedCover::Nodes;

  // `nodes` in program order; `places` by operation: its place among them, or -1; `arrays` by input: the number
  // of the array, or -1 of a scalar; `operators` of the best plan known: ids of the pool.
  CoverBound(const PlanBound &bound, llvm::ArrayRef<int> nodes, llvm::ArrayRef<int> places,
             llvm::ArrayRef<int> arrays, llvm::ArrayRef<int> operators);

  // A bound, in nanoseconds, for all covers that contain this one, in which the last `depth` nodes are placed. The
  // shares are changed in at most so many steps, until the bound is `enough`. They begin as the last call for a
  // depth less by one left them.
  double raise(size_t depth, const UnfinishedCover &cover, double enough, int steps);

  // What is known of an unfinished operator since the last call: any other choice costs at least `enough`.
  struct Decided {
    llvm::SmallBitVector hopeless; // options
    Nodes reads, computes,
        leaves; // operands that it reads, those that it computes, and what it doesn't store
  };
  const std::vector<Decided> &decided() const { return decided_; }

  // How many possible computations of a node in an operator have been looked at: what all calls take.
  int64_t entries() const { return entriesLookedAt_; }
  // How many a step for all covers looks at.
  int64_t entriesOfStep() const;

private:
  // Where nodes may be computed: in an unfinished operator, with one of its options, or in any new one.
  struct Column {
    int slot, op = -1, option = -1;
    Nodes excluded = {}; // what the operator can't compute
    Nodes waits = {};    // what others have to store
    Nodes pending = {};  // operands of its members
    const UnfinishedCover::Arrays *read = nullptr;
  };
  // Who needs an operand: an unfinished operator, or a node that is not placed, in any column or those of a group.
  struct Payer {
    int op, user, producer; // places; -1: not this
    int group;              // -1: any
    llvm::SmallVector<const NodeUse *, 1> uses;
    double charge = 0; // for computing the operand inside (PlanBound.h)
  };
  // A payer's choice: to compute the operand in its own column, or to read it.
  struct Need {
    int payer, inside; // the operand's entry in the column; -1: none
    cost::Parts reading;
    bool mustCompute = false;
  };
  // A node that may be computed in a column. Costs are its own and what its operands take.
  struct Entry {
    int place, column;
    int group; // 0 of a node that isn't split
    int firstNeed = 0, endNeed = 0;
    bool isStorable = false;
    cost::Parts own = {}, storing = {};
    double ownCost = 0, operandsCost = 0;
    double ownCounted = 0, operandsCounted = 0; // the shares that a bound counts
  };
  // By column: the weight of computing; by payer and entry of its operand, and by entry: the shares of own
  // costs of payers and of the plan; by payer, and by place, and group: those of what operands take; by payer: those of
  // storing.
  struct Shares {
    std::vector<double> computing, own, planOwn, operands, planOperands, storing;
  };
  // The choices of one depth.
  struct Level {
    std::vector<Column> columns;
    std::vector<Entry> entries;                      // by place
    std::vector<int> entryOf;                        // by place and column; -1
    std::vector<Payer> payers;                       // by producer
    std::vector<int> firstEntry, firstPayer;         // by place, and an end
    std::vector<int> firstShare;                     // by payer: of its operand's entries
    std::vector<llvm::SmallVector<int, 4>> payersBy; // by place: of nodes that are not placed
    std::vector<Need> needs;
    std::vector<std::pair<int, int>> needsOf; // by column: of an unfinished operator
    Shares shares;
  };

  void split(llvm::ArrayRef<int> operators);
  void addColumns(Level &level, size_t left, const UnfinishedCover &cover) const;
  void addPayers(Level &level, size_t left, const UnfinishedCover &cover) const;
  void addEntries(Level &level, size_t left, const UnfinishedCover &cover) const;
  void startShares(size_t depth, const UnfinishedCover &cover);
  void startWithPlan(Level &level) const;
  void startWithPlan(Level &level, int place, int group, llvm::ArrayRef<double> given) const;
  double addUp(Level &level, const UnfinishedCover &cover);
  void decide(const Level &level, double most);
  Shares slope(Level &level, const UnfinishedCover &cover);
  bool move(Level &level, Shares &slope, double rise) const;

  bool isRead(const Column &column, const InputReader &reader) const;
  bool isFusable(const Payer &payer, int slot) const;
  double inside(const Level &level, const Need &need) const;
  double read(const Need &need, double computing) const;
  double paidByPlan(const Level &level, int number) const;
  // Of a payer or a place.
  size_t inGroup(size_t number, int group) const { return number * groups_ + group; }
  int groupsOf(int place) const { return split_[place] ? groups_ : 1; }
  double launches(size_t left, const UnfinishedCover &cover) const;
  double takenOff(size_t left) const;
  bool mustBeStored(int place) const { return bound_.storing(nodes_[place]) == Storing::Stored; }

  const PlanBound &bound_;
  const PartitionFacts &facts_;
  llvm::ArrayRef<int> nodes_, places_;
  double launch_;                 // nanoseconds
  Nodes computedOnce_, launched_; // of the latter no operator contains two
  std::vector<Nodes> allowed_;    // by slot
  int groups_ = 0;
  llvm::SmallVector<int> groupOfSlot_;
  std::vector<Nodes> plannedIn_; // by group: what the best plan known computes there
  Nodes split_;
  // By reading: the array, and the place of the node whose result it is, or -1; and what each reader pays.
  std::vector<std::pair<int, int>> readArrays_;
  std::vector<llvm::SmallVector<cost::Parts>> ofReaders_;
  std::vector<Level> levels_; // by depth

  // Of the last bound.
  std::vector<double> read_;   // by payer: what reading the operand takes, of what others do for it
  std::vector<int> readFrom_;  // the entry that stores it
  std::vector<double> byPlan_; // by place: what the plan pays
  std::vector<int> paidIn_;    // the entry that it pays for; -1
  std::vector<double> taken_;  // by column of an unfinished operator: with this option
  std::vector<int> chosen_;    // by operator: the column
  std::vector<Decided> decided_;
  int64_t entriesLookedAt_ = 0;
};

} // namespace tokamak::fusion
#endif
