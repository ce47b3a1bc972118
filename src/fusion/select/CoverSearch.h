// Finds the cheapest way to cover operations with operators: exactly, by branch and bound over all
// legal covers.
//
//   CoverSearch search(pool, bound, partition.nodes, partition.operators, {nanoseconds, mayTake});
//   if (std::optional<llvm::SmallVector<int>> better = search.run()) ...   // ids of the pool
//   if (search.least() < search.nanoseconds()) ...               // not all covers were looked at
//
// A cover is a list of operators. Each has a frame, members that the frame allows, and results
// among them. An operation may be a member of several operators, but of one only if it adds up (see
// PlanSearch.h). Every value that is read, or needed behind the covered operations, is the result of
// one operator; operators don't depend on each other in a cycle.
//
// Operations are visited from the last to the first. When it is an operation's turn, all its users
// have been placed, so it is decided which of the operators that use it compute it inside and, if
// others read it, which operator stores it: one of those, another one, or a new one. The frame of an
// operator stays open among those that allow all its members. What `bound` says of storing a result is
// kept to. An unfinished cover costs at least
// what its operators cost so far, and what CoverBound says of them and the operations that are left.
#ifndef TOKAMAK_FUSION_SELECT_COVERSEARCH_H
#define TOKAMAK_FUSION_SELECT_COVERSEARCH_H

#include "fusion/select/CoverBound.h"

#include <optional>

namespace tokamak::fusion {

class CoverSearch {
public:
  struct Limits {
    double cheapest;       // nanoseconds: what has to be beaten
    double mayTake;        // nanoseconds, as `took` counts them
    bool leavesOut = true; // what can't be cheaper; false to test bounds on all covers
  };

  // `nodes` in program order, for which the search `isPossible`; `operators` of the best plan known, for the bounds.
  CoverSearch(OperatorPool &pool, const PlanBound &bound, llvm::ArrayRef<int> nodes,
              llvm::ArrayRef<int> operators, Limits limits);
  static bool isPossible(const OperatorPool &pool, llvm::ArrayRef<int> nodes);

  // The ids of the cheapest operators; nullopt if none are cheaper than the limit.
  std::optional<llvm::SmallVector<int>> run();

  double nanoseconds() const { return cheapest_; } // of those, or the limit
  double runnerUp() const { return runnerUp_; }    // of the second cheapest that was found; 0: none
  int64_t visited() const { return visited_; }     // unfinished covers
  // Nanoseconds that looking at covers takes, counted and not measured, so that plans are the same on every run.
  double took() const {
    return static_cast<double>(visited_) * coverNanoseconds +
           static_cast<double>(raised_->entries()) * entryNanoseconds;
  }
  static constexpr double coverNanoseconds = 2000, entryNanoseconds = 18;
  // The largest share of a cover's time that a bound said of a part of it, if nothing is left out. Above
  // 1, a bound is wrong.
  double tightest() const { return tightest_; }
  // No cover takes fewer nanoseconds.
  double least() const { return std::min(least_, cheapest_); }

private:
  using Nodes = UnfinishedCover::Nodes;
  using Draft = UnfinishedCover::Operator;
  using Option = UnfinishedCover::Option;

  // How the current node is used by a draft.
  struct DraftUse {
    int draft;
    llvm::SmallVector<Use, 2> uses;
  };

  int stepsAtFirst() const;
  double boundAt(size_t depth);
  void visit(size_t depth);
  void takeDecisions(std::vector<std::pair<int, Draft>> &before);
  void decide(size_t depth, llvm::ArrayRef<DraftUse> users, uint64_t inside);
  void store(size_t depth, int node, int draft);
  void finish();

  bool isFusable(int node, const DraftUse &use, const Option &option) const;
  bool keepOptions(Draft &draft, llvm::function_ref<bool(const Option &)> keep) const;
  bool addMember(Draft &draft, int node) const;
  void addRead(Draft &draft, const DraftUse &use, int node) const;
  bool addRoot(Draft &draft, int node) const;
  bool price(Draft &draft) const;

  OperatorPool &pool_;
  const OperatorCost &cost_;
  const PlanBound &bound_;
  llvm::ArrayRef<int> nodes_;
  Limits limits_;
  llvm::SmallVector<int> places_; // by operation; -1 of those that are not nodes
  llvm::SmallVector<int> arrays_; // by input: the number of the array; -1 of scalars
  std::vector<Nodes> waitsOf_;    // by operation: nodes whose results it needs
  std::vector<Nodes> separated_;  // by node

  UnfinishedCover cover_;
  std::vector<Draft> &drafts_ = cover_.operators;
  std::optional<CoverBound> raised_;
  int64_t visited_ = 0;
  double cheapest_, least_, runnerUp_ = 0, tightest_ = 0;
  std::vector<double> bounds_; // of the cover that is being made, by depth
  std::vector<FusedOperator> best_;
};

} // namespace tokamak::fusion
#endif
