#include "fusion/select/MergeOperators.h"

#include "fusion/select/OperatorOrder.h"

#include <optional>
#include <queue>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

namespace {

class Merger {
public:
  Merger(OperatorPool &pool, SmallVectorImpl<int> &operators)
      : pool_(pool), operators_(operators), readers_(pool.graph().size()) {}

  std::vector<RefusedMerge> run() {
    for (int id : operators_)
      count(id, 1);
    for (size_t b = 0; b < operators_.size(); ++b)
      for (size_t a = 0; a < b; ++a)
        consider(operators_[a], operators_[b]);
    while (!merges_.empty()) {
      Merge best = merges_.top();
      merges_.pop();
      // One of the two may be part of another operator by now.
      if (llvm::is_contained(operators_, best.first) &&
          llvm::is_contained(operators_, best.second) && isOrderly(best))
        apply(best);
    }
    return std::move(refused_);
  }

private:
  struct Merge {
    float gain; // a float, so that gains that differ by rounding errors compare equal
    size_t number;
    int first, second, merged;
    // The priority: the largest gain; among equal gains the one that was found first.
    bool operator<(const Merge &other) const {
      return gain != other.gain ? gain < other.gain : number > other.number;
    }
  };

  void count(int id, int change) {
    for (int read : pool_[id].reads)
      readers_[read] += change;
  }

  void consider(int first, int second) {
    // A root remains a result if it must be stored or if other operators read it.
    int merged = pool_.merge(first, second, [&](int root) {
      int others = readers_[root] - pool_[first].doesRead(root) - pool_[second].doesRead(root);
      return pool_.mustBeStored(root) || others > 0;
    });
    if (merged < 0)
      return;
    double gain = pool_[first].nanoseconds + pool_[second].nanoseconds - pool_[merged].nanoseconds;
    if (gain > 0)
      merges_.push({static_cast<float>(gain), found_++, first, second, merged});
  }

  bool isOrderly(const Merge &merge) {
    if (!order_)
      order_.emplace(pool_, operators_);
    int between = order_->operationBetween(merge.first, merge.second);
    if (between >= 0)
      refused_.push_back({merge.first, merge.second, between});
    return between < 0;
  }

  void apply(const Merge &merge) {
    order_.reset();
    count(merge.first, -1);
    count(merge.second, -1);
    count(merge.merged, 1);
    llvm::erase(operators_, merge.second);
    *llvm::find(operators_, merge.first) = merge.merged;
    for (int id : operators_)
      if (id != merge.merged)
        consider(id, merge.merged);
  }

  OperatorPool &pool_;
  SmallVectorImpl<int> &operators_;
  std::vector<RefusedMerge> refused_;
  SmallVector<int> readers_; // by node: operators that read its result
  std::priority_queue<Merge> merges_;
  size_t found_ = 0;
  std::optional<OperatorOrder> order_; // of the current operators; computed on demand
};

} // namespace

std::vector<RefusedMerge> fusion::mergeOperators(OperatorPool &pool,
                                                 SmallVectorImpl<int> &operators) {
  return Merger(pool, operators).run();
}
