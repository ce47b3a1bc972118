// What every plan of a partition costs at least, however its operations are fused. Searches use it to
// leave out plans that can't be cheaper than the best one known, and to say how much a better plan
// could save at most.
//
//   PartitionFacts facts(pool, partition.nodes);
//   PlanBound bound(facts);
//   if (bound.nanoseconds() >= cheapest) ...                  // nothing cheaper exists
//   PlanBound half(bound, node, Storing::Inside);             // of the plans that don't store the node
//
// An operator takes as long as its launch, its overhead, and the longer of computing and moving cells: at
// least as long as any mean of the two. In a view (PartitionFacts.h), in which this mean depends on the
// frame, costs add up. There an operation computed in some frame costs what it takes there and, for each
// operand that it owns, the lesser of two: computing the operand in the same frame, or storing it in its
// best frame and reading it. Each operation is owned by one of its users, the one for which that is
// dearest; the others get it for nothing. This is dynamic programming over a forest.
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
  // Counts reading with other nodes and changes the means of the views where that raises the bound, until
  // it is high enough.
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
  double unowned(int view, int node) const { return parts_[view].unowned[node]; }
  // The user that owns a node; -1 if none does.
  int owner(int view, int node) const { return parts_[view].owner[node]; }
  // What a node costs its owner in this frame.
  double owned(int view, int node, int frame) const {
    return parts_[view].owned[node * frames_ + frame];
  }
  // What it costs if another operator computes and stores it, without reading it.
  double stored(int view, int node) const { return parts_[view].stored[node]; }
  // What reading an input once costs.
  double reading(int view, int input) const { return parts_[view].reading[input]; }

private:
  struct InView {                       // by node, or by node and frame
    std::vector<double> inFrame, owned; // computed in the frame; needed by its owner there
    std::vector<double> stored;         // in the best frame
    std::vector<double> unowned;
    std::vector<int> owner;
    std::vector<double> reading; // by input
    double readers = 0;          // what all `readers` of inputs read
  };

  int allow();
  // What all plans take at least in the view; infinite if there is none. Nodes before `first` cost as much
  // as before.
  double addUp(int view, int first = 0);
  void addNode(int view, int node);
  void addReaders(int view);
  void countElsewhere(PartitionFacts &facts, double enough);
  void changeShares(PartitionFacts &facts, int view, double enough);
  double ownedBy(int view, const NodeUse &use, int node, int frame) const;

  const PartitionFacts *facts_;
  size_t frames_;
  std::vector<Storing> storing_;         // by node
  std::vector<llvm::BitVector> allowed_; // frames, by node
  InView parts_[viewCount];
  double nanoseconds_ = 0;
};

} // namespace tokamak::fusion
#endif
