#include "fusion/select/CostShares.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

CostShares::CostShares(const PartitionFacts &facts)
    : computing(facts.slots.size(), 0.5), ofUse(facts.uses.size()),
      ofStored(facts.pool.graph().size()), ofExclusives(facts.exclusiveUses.size()) {
  for (int node : facts.nodes) {
    bool isStored = facts.pool.mustBeStored(node);
    double share = 1 / (static_cast<double>(facts.usesOf[node].size()) + isStored);
    for (int use : facts.usesOf[node])
      ofUse[use] = share;
    ofStored[node] = isStored ? share : 0;
  }
  for (const InputReading &reading : facts.readings) {
    size_t sets = reading.exclusives.size();
    ofReaders.emplace_back(sets, 1 / static_cast<double>(sets));
  }
}

// Slopes that differ by less than this share of them are equal.
static constexpr double rounding = 1e-9;

double fusion::squareOfSlope(SmallVectorImpl<ShareSlope> &list) {
  double square = 0;
  for (size_t before = 0; before != list.size();) {
    before = list.size();
    double mean = 0;
    for (ShareSlope entry : list)
      mean += entry.slope / static_cast<double>(before);
    llvm::erase_if(list, [&](ShareSlope entry) { return *entry.share <= 0 && entry.slope < mean; });
    if (before == list.size())
      for (ShareSlope entry : list)
        square += (entry.slope - mean) * (entry.slope - mean);
  }
  return square;
}

// The nearest point lies by the same amount below all shares that stay positive. Along a slope that is nearly
// the same for all, a step may be so long that only the differences between shares are known to enough digits.
void fusion::moveShares(ArrayRef<ShareSlope> list, double step) {
  ShareSlope first = list.front();
  SmallVector<double> moved;
  for (ShareSlope entry : list)
    moved.push_back(*entry.share - *first.share + step * (entry.slope - first.slope));
  double most = *llvm::max_element(moved);
  for (double &share : moved)
    share -= most;
  SmallVector<double> sorted = moved;
  llvm::sort(sorted, std::greater<>());
  double sum = 0, below = 0;
  for (auto [number, share] : llvm::enumerate(sorted)) {
    sum += share;
    if (double amount = (sum - 1) / static_cast<double>(number + 1); share > amount)
      below = amount;
  }
  for (auto [entry, share] : llvm::zip(list, moved))
    *entry.share = std::max(0.0, share - below);
}

void fusion::addSquares(double &square, ArrayRef<double> weights, ArrayRef<double> slope) {
  for (auto [weight, change] : llvm::zip(weights, slope))
    square += (change < 0 ? weight <= 0 : weight >= 1) ? 0 : change * change;
}

void fusion::moveWeights(MutableArrayRef<double> weights, ArrayRef<double> slope, double step) {
  for (auto [weight, change] : llvm::zip(weights, slope))
    weight = std::clamp(weight + step * change, 0.0, 1.0);
}

// Calls `visit` with each list of shares of the same cost, and their slopes.
template <typename Visit>
static void forEachCost(CostShares &shares, const CostShares &slope, const PartitionFacts &facts,
                        Visit visit) {
  SmallVector<ShareSlope> list;
  for (int node : facts.nodes) {
    list = {{&shares.ofStored[node], slope.ofStored[node]}};
    for (int use : facts.usesOf[node])
      list.push_back({&shares.ofUse[use], slope.ofUse[use]});
    visit(list);
  }
  for (auto [ofReaders, slopes] : llvm::zip(shares.ofReaders, slope.ofReaders)) {
    list.clear();
    for (auto [share, change] : llvm::zip(ofReaders, slopes))
      list.push_back({&share, change});
    visit(list);
  }
}

bool CostShares::moveAlong(const CostShares &slope, double rise, const PartitionFacts &facts) {
  double square = 0, whole = 0;
  forEachCost(*this, slope, facts, [&](SmallVectorImpl<ShareSlope> &list) {
    for (ShareSlope entry : list)
      whole += entry.slope * entry.slope;
    square += squareOfSlope(list);
  });
  addSquares(square, computing, slope.computing);
  for (double change : slope.computing)
    whole += change * change;
  for (auto [charge, change] : llvm::zip(ofExclusives, slope.ofExclusives)) {
    whole += change * change;
    square += change < 0 && charge <= 0 ? 0 : change * change;
  }
  if (square <= whole * rounding * rounding)
    return false;

  double step = rise / square;
  moveWeights(computing, slope.computing, step);
  for (auto [charge, change] : llvm::zip(ofExclusives, slope.ofExclusives))
    charge = std::max(0.0, charge + step * change);
  forEachCost(*this, slope, facts, [&](ArrayRef<ShareSlope> list) { moveShares(list, step); });
  return true;
}
