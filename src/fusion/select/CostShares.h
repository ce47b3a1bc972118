// Who pays for what operations have in common. A bound of plans adds up what each operation costs with the
// operands that it needs; but users may share an operand, and readers what they read. So each of them pays
// a share of it, and the shares are at most 1 together. Whatever they are, no plan takes less than they
// say; the best shares are found by small steps along the slope of the bound, which are shares, too.
//
//   CostShares shares(facts);                          // equal ones
//   shares.moveAlong(slope, nanoseconds, facts);       // so far that the bound may rise by so much
//   double paid = shares.ofUse[use] * nanoseconds;     // of the operand, by its user
#ifndef TOKAMAK_FUSION_SELECT_COSTSHARES_H
#define TOKAMAK_FUSION_SELECT_COSTSHARES_H

#include "fusion/select/PartitionFacts.h"

namespace tokamak::fusion {

// With a weight of computing; moving has the rest.
inline double meanOf(const cost::Parts &parts, double computing) {
  return parts.overhead + computing * parts.computing + (1 - computing) * parts.moving;
}

struct CostShares {
  explicit CostShares(const PartitionFacts &facts);

  // By slot: an operator takes the longer of computing and moving cells, which is no less than any mean of
  // the two. This is the weight of computing in it; moving has the rest.
  std::vector<double> computing;
  // By use: what the user pays of its operand.
  std::vector<double> ofUse;
  // By node: what is paid of a node that has to be stored, whoever uses it.
  std::vector<double> ofStored;
  // By reading and set of exclusive readers: what each reader in the set pays.
  std::vector<llvm::SmallVector<double>> ofReaders;
  // By ExclusiveUses: what computing the node inside is charged for each of the uses, and all plans are given back once,
  // as a multiple of reading it. It is no share, but moves with them.
  std::vector<double> ofExclusives;

  double costIn(int slot, const cost::Parts &parts) const { return meanOf(parts, computing[slot]); }

  // Moves along the slope, by a step after which what it is the slope of would be higher by `rise` if it were
  // linear, and then to the nearest shares whose sum is 1. False if no step leads higher.
  bool moveAlong(const CostShares &slope, double rise, const PartitionFacts &facts);
};

// How far steps go: as far as if the bound were linear and half as far again; and from some steps without success on
// shorter.
class StepLength {
public:
  double value() const { return length_; }
  void note(bool isHigher) {
    if (withoutSuccess_ = isHigher ? 0 : withoutSuccess_ + 1; withoutSuccess_ < mostWithoutSuccess)
      return;
    length_ *= shorter;
    withoutSuccess_ = 0;
  }

private:
  static constexpr double shorter = 0.7;
  static constexpr int mostWithoutSuccess = 10;
  double length_ = 1.5;
  int withoutSuccess_ = 0;
};

// A share of a cost that several have in common, and by how much what it is a share of rises with it.
struct ShareSlope {
  double *share, slope;
};

// The square of the slope along which the shares of one cost can be moved: of what they rise by in common
// nothing is left, because their sum stays 1, nor of those that are 0 and would fall, which are removed.
double squareOfSlope(llvm::SmallVectorImpl<ShareSlope> &list);

// Moves the shares of one cost by a step along their slopes, and then to the nearest point with the sum 1 and no
// negative share (Held, Wolfe, Crowder, "Validation of subgradient optimization", Mathematical Programming 6,
// 1974).
void moveShares(llvm::ArrayRef<ShareSlope> list, double step);

// The same for weights, each of which stays between 0 and 1. The first adds to a square.
void addSquares(double &square, llvm::ArrayRef<double> weights, llvm::ArrayRef<double> slope);
void moveWeights(llvm::MutableArrayRef<double> weights, llvm::ArrayRef<double> slope, double step);

} // namespace tokamak::fusion
#endif
