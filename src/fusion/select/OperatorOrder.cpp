#include "fusion/select/OperatorOrder.h"

#include "llvm/ADT/Sequence.h"

#include <functional>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

OperatorOrder::OperatorOrder(const OperatorPool &pool, ArrayRef<int> operators)
    : pool_(pool), operatorAt_(pool.graph().size(), -1), predecessors_(pool.graph().size()) {
  const BlockGraph &graph = pool.graph();
  SmallVector<int> placeOf = llvm::to_vector(llvm::seq(graph.size()));
  for (int id : operators) {
    operatorAt_[pool[id].roots.back()] = id;
    for (int root : pool[id].roots)
      placeOf[root] = pool[id].roots.back();
  }
  for (int place = 0; place < graph.size(); ++place) {
    auto wait = [&](int operation) {
      if (operation >= 0 && placeOf[operation] != place &&
          !llvm::is_contained(predecessors_[place], placeOf[operation]))
        predecessors_[place].push_back(placeOf[operation]);
    };
    if (operatorAt_[place] >= 0) {
      pool[operatorAt_[place]].forEachInput(
          graph, [&](Use use) { wait(graph[use.user].producers[use.operand]); });
    } else {
      llvm::for_each(graph[place].producers, wait);
      llvm::for_each(graph[place].before, wait);
    }
  }
}

// Searches backwards from `to` for a path to `from` with more than one step. Returns the place just
// before `to` on this path, or -1.
int OperatorOrder::detour(int from, int to) const {
  BitVector visited(predecessors_.size());
  SmallVector<int> open;
  for (int last : predecessors_[to]) {
    if (last == from || visited[last])
      continue;
    open.assign({last});
    while (!open.empty())
      for (int before : predecessors_[open.pop_back_val()]) {
        if (before == from)
          return last;
        if (!visited[before]) {
          visited.set(before);
          open.push_back(before);
        }
      }
  }
  return -1;
}

int OperatorOrder::operationBetween(int a, int b) const {
  int first = pool_[a].roots.back(), second = pool_[b].roots.back();
  int between = detour(first, second);
  return between < 0 ? detour(second, first) : between;
}

bool OperatorOrder::isCyclic() const {
  enum : uint8_t { New, Open, Done };
  std::vector<uint8_t> states(predecessors_.size(), New);
  std::function<bool(int)> closesCycle = [&](int place) {
    if (states[place] != New)
      return states[place] == Open;
    states[place] = Open;
    bool found = llvm::any_of(predecessors_[place], closesCycle);
    states[place] = Done;
    return found;
  };
  return llvm::any_of(llvm::seq(static_cast<int>(predecessors_.size())), closesCycle);
}

SmallVector<int> OperatorOrder::sequence() const {
  const BlockGraph &graph = pool_.graph();
  BitVector waiting(graph.size());
  for (int place = 0; place < graph.size(); ++place)
    waiting[place] = operatorAt_[place] >= 0 || (!graph.isNode(place) && graph[place].live);
  auto isReady = [&](int place) {
    return llvm::none_of(predecessors_[place], [&](int before) { return waiting[before]; });
  };
  SmallVector<int> result;
  while (waiting.any()) {
    result.push_back(*llvm::find_if(waiting.set_bits(), isReady));
    waiting.reset(result.back());
  }
  return result;
}
