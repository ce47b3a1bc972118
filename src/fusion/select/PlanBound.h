// What every plan of a partition costs at least, however its operations are fused. Searches use it to
// leave out plans that can't be cheaper than the best one known, and to say how much a better plan
// could save at most.
//
//   PartitionFacts facts(pool, partition.nodes);
//   PlanBound bound(facts);
//   if (bound.nanoseconds() >= cheapest) ...                  // nothing cheaper exists
//   PlanBound half(bound, node, Storing::Inside);             // of the plans that don't store the node
//
// An operator takes as long as its launch, its overhead, and the longer of computing and moving cells. So
// all operators take at least as long as all launches, all overhead and all computing, and at least as
// long as all launches, all overhead and all moving: two views, in each of which costs add up. In a view, an
// operation computed in some frame costs what it computes there and, for each operand that it owns, the
// lesser of two: computing the operand in the same frame, or storing it in its best frame and reading
// it. Each operation is owned by one of its users, the one for which that is dearest; the others get it
// for nothing. This is dynamic programming over a forest.
//
// Inputs are read as often as they have readers of which no operator contains two: in
// t(X) %*% (p * (X %*% v)), one operator can compute both products, but if p = f(sum(X %*% v)), X is
// read twice.
#ifndef TOKAMAK_FUSION_SELECT_PLANBOUND_H
#define TOKAMAK_FUSION_SELECT_PLANBOUND_H

#include "fusion/select/PartitionFacts.h"

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
  // Counts reading with other nodes where that raises the bound, one after the other, until it is high
  // enough.
  static void raise(PartitionFacts &facts, double enough);
  // With one more decision.
  PlanBound(const PlanBound &bound, int node, Storing storing);

  // A lower bound for all plans; infinite if there is none.
  double nanoseconds() const { return nanoseconds_; }

  const PartitionFacts &facts() const { return *facts_; }
  Storing storing(int node) const { return storing_[node]; }
  // Whether an operator with the frame may contain the node.
  bool allows(int node, int frame) const { return allowed_[node][frame]; }

  // The parts of the bound, in nanoseconds. What a node costs that no user owns; 0 if one does.
  double unowned(View view, int node) const { return unowned_[view][node]; }
  // The user that owns a node; -1 if none does.
  int owner(View view, int node) const { return owner_[view][node]; }
  // What a node costs its owner in this frame.
  double owned(View view, int node, int frame) const { return costs_[view][node].owned[frame]; }
  // What it costs if another operator computes and stores it, without reading it.
  double stored(View view, int node) const { return costs_[view][node].stored; }
  // The most of these costs that an operator can do while it does the other part of its work: of a node
  // that it computes, and of a node that it reads.
  double hidden(View view, int node) const { return facts_->hidden[view][node]; }
  double hiddenReading(View view, int node) const { return facts_->hiddenReading[view][node]; }
  // What reading an input once costs.
  double reading(View view, int input) const { return reading_[view][input]; }

private:
  struct Costs { // of a node, in one view
    llvm::SmallVector<double, 8> inFrame,
        owned;     // by frame: computed there; needed by its owner there
    double stored; // in the best frame
  };

  void allow();
  // What all plans take at least in the view; infinite if there is none.
  double addUp(View view);
  void addNode(View view, int node);
  double ownedBy(View view, const NodeUse &use, int node, int frame) const;

  const PartitionFacts *facts_;
  std::vector<Storing> storing_;         // by node
  std::vector<llvm::BitVector> allowed_; // frames, by node
  std::vector<Costs> costs_[2];          // by node
  std::vector<double> unowned_[2];
  std::vector<int> owner_[2];
  std::vector<double> reading_[2]; // by input
  double nanoseconds_ = 0;
};

} // namespace tokamak::fusion
#endif
