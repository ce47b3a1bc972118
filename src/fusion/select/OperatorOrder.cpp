#include "fusion/select/OperatorOrder.h"

#include <functional>
#include <queue>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

OperatorOrder::OperatorOrder(const OperatorPool &pool, ArrayRef<int> operators)
    : pool_(pool), operators_(operators), operatorCount_(static_cast<int>(operators.size())) {
  const BlockGraph &graph = pool.graph();
  SmallVector<int> unitOf(graph.size());
  for (int index = 0; index < graph.size(); ++index)
    unitOf[index] = operatorCount_ + index;
  for (auto [unit, id] : llvm::enumerate(operators))
    for (int root : pool[id].roots)
      unitOf[root] = static_cast<int>(unit);

  predecessors_.resize(operatorCount_ + graph.size());
  auto wait = [&](int unit, int operation) {
    if (operation >= 0 && unitOf[operation] != unit &&
        !llvm::is_contained(predecessors_[unit], unitOf[operation]))
      predecessors_[unit].push_back(unitOf[operation]);
  };
  for (auto [unit, id] : llvm::enumerate(operators))
    pool[id].forEachInput(graph, [&, unit = static_cast<int>(unit)](Use use) {
      wait(unit, graph[use.user].producers[use.operand]);
    });
  for (int index = 0; index < graph.size(); ++index) {
    for (int producer : graph[index].producers)
      wait(operatorCount_ + index, producer);
    for (int earlier : graph[index].before)
      wait(operatorCount_ + index, earlier);
  }
}

// Searches backwards from `to` for a path to `from` with more than one step. Returns the unit just
// before `to` on this path, or -1.
int OperatorOrder::detour(int from, int to) const {
  BitVector visited(predecessors_.size());
  std::function<bool(int)> follows = [&](int unit) {
    if (unit == from || visited[unit])
      return unit == from;
    visited.set(unit);
    return llvm::any_of(predecessors_[unit], follows);
  };
  for (int last : predecessors_[to])
    if (last != from && follows(last))
      return last;
  return -1;
}

int OperatorOrder::operationBetween(int a, int b) const {
  int unit = detour(a, b);
  if (unit < 0)
    unit = detour(b, a);
  return unit < 0 ? -1 : placeOf(unit);
}

SmallVector<int> OperatorOrder::sequence() const {
  const BlockGraph &graph = pool_.graph();
  auto isUnit = [&](int unit) {
    int index = unit - operatorCount_;
    return index < 0 || (graph[index].live && !graph.isNode(index));
  };
  int units = static_cast<int>(predecessors_.size());
  SmallVector<int> waiting(units);
  std::vector<SmallVector<int, 4>> successors(units);
  using Place = std::pair<int, int>; // position in the program, unit
  std::priority_queue<Place, std::vector<Place>, std::greater<>> ready;
  for (int unit = 0; unit < units; ++unit) {
    if (!isUnit(unit))
      continue;
    for (int predecessor : predecessors_[unit]) {
      ++waiting[unit];
      successors[predecessor].push_back(unit);
    }
    if (!waiting[unit])
      ready.emplace(placeOf(unit), unit);
  }
  SmallVector<int> result;
  while (!ready.empty()) {
    int unit = ready.top().second;
    ready.pop();
    result.push_back(unit);
    for (int successor : successors[unit])
      if (--waiting[successor] == 0)
        ready.emplace(placeOf(successor), successor);
  }
  return result;
}
