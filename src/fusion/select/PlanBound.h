// What every plan of a partition costs at least, however its operations are fused. Searches use it to
// leave out plans that can't be cheaper than the best one known, and to say how much a better plan
// could save at most.
//
//   PartitionFacts facts(pool, partition.nodes);
//   PlanBound bound(facts);
//   bound.raise(cheapest, 100);                               // by better shares, in at most 100 steps
//   if (bound.nanoseconds() >= cheapest) ...                  // nothing cheaper exists
//   PlanBound half(bound, node, Storing::Inside);             // of the plans that don't store the node
//
// An operation computed in some slot (OperatorSlots.h) costs what it takes there and, for each operand, its share
// (CostShares.h) of the lesser of two: computing the operand in the same slot, or storing it in its best
// slot, to which its share of reading is added. What has to be stored is paid for by its users and by the
// plan. The bound is the sum of what the plan pays, and of launches.
//
// Why no plan takes less: follow the operands of what a plan stores to the operators that compute them. If
// each operand were followed from one user, drawn with a probability of its share, one operator at most would be
// found for each operation, and the time that it spends on it would be counted once. The bound is no more than
// the mean of that over all draws.
//
// Besides, of uses of which at most one computes its operand inside (ExclusiveUses), each that does is charged an amount,
// and the amount is taken off once. On a draw, which visits each user once, a plan is charged no more than that.
//
// For given choices the bound is linear in each share, so its slope is known: what each payer pays of how much.
#ifndef TOKAMAK_FUSION_SELECT_PLANBOUND_H
#define TOKAMAK_FUSION_SELECT_PLANBOUND_H

#include "fusion/select/CostShares.h"

namespace tokamak::fusion {

// What is decided about an operation's result.
enum class Storing : uint8_t {
  Open,
  Stored, // by one operator, whatever others do
  Inside, // never: all users compute it
};

class PlanBound {
public:
  explicit PlanBound(const PartitionFacts &facts);
  // The same with other shares.
  PlanBound(const PlanBound &bound, CostShares shares);
  // With one more decision.
  PlanBound(const PlanBound &bound, int node, Storing storing);

  // Changes the shares, in at most so many steps, until the bound is high enough. Steps are no longer than the last ones.
  void raise(double enough, int steps);

  // A lower bound for all plans; infinite if there is none.
  double nanoseconds() const { return nanoseconds_; }

  // The results that would be stored if a plan made the same choices.
  llvm::BitVector storedByChoices() const;

  const PartitionFacts &facts() const { return *facts_; }
  const CostShares &shares() const { return shares_; }
  Storing storing(int node) const { return storing_[node]; }
  // Whether an operator with the slot may contain the node.
  bool allows(int node, int slot) const { return allowed_[node][slot]; }

  // What the use is charged if it computes its operand inside; and what is taken off for the node's uses.
  double charge(int use) const { return charges_[use]; }
  double takenOff(int exclusiveUses) const {
    return shares_.ofExclusives[exclusiveUses] * facts_->exclusiveUses[exclusiveUses].reading;
  }

  // A reader's share of reading; none if what is read takes no time.
  double shareOfReading(const InputReader &reader) const {
    return reader.reading < 0 ? 0 : readerShares_[reader.reading][reader.position];
  }

private:
  void startWith(double computing);
  void chooseOwner(int node);
  int allow();
  void addUp(int first = 0);
  void addNode(int node);
  void payReaders();
  CostShares slope() const;
  // What a user pays of its operand if both can be computed in the slot, or if it reads it.
  double paid(int use, int slot) const { return std::min(paidInside(use, slot), read(use, slot)); }
  double paidStored(int use) const;
  double paidInside(int use, int slot) const;
  double paidReading(const InputReader &reader) const {
    return reader.reading < 0 ? 0
                              : shareOfReading(reader) * reading_[reader.reading][reader.position];
  }
  double read(int use, int slot) const {
    return paidStored(use) + paidReading(facts_->uses[use].readers[slot]);
  }

  const PartitionFacts *facts_;
  size_t slots_; // their number
  CostShares shares_;
  std::vector<Storing> storing_;                   // by node
  std::vector<llvm::BitVector> allowed_;           // slots, by node
  std::vector<double> inSlot_;                     // by node and slot: computed there
  std::vector<double> stored_;                     // by node: in the best slot
  std::vector<int> storedIn_, paidIn_;             // the best slot; if the plan pays for the node
  std::vector<double> paidByPlan_;                 // by node
  std::vector<llvm::SmallVector<double>> reading_; // by reading and position
  std::vector<double> charges_;                    // by use
  std::vector<llvm::SmallVector<double>> readerShares_; // by reading and position
  double nanoseconds_ = 0;
  StepLength length_;
};

} // namespace tokamak::fusion
#endif
