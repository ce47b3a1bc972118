#include "frontend/onnx/file/NodeOrder.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace tokamak::onnx {

NodeOrder::NodeOrder(size_t count, const std::vector<Edge> &edges) {
  // The edges from each node, one node after the other.
  std::vector<size_t> begins(count + 1), targets(edges.size()), missing(count);
  for (const Edge &edge : edges) {
    ++begins[edge.from + 1];
    ++missing[edge.to];
  }
  for (size_t i = 0; i < count; ++i)
    begins[i + 1] += begins[i];
  std::vector<size_t> next(begins.begin(), begins.end() - 1);
  for (const Edge &edge : edges)
    targets[next[edge.from]++] = edge.to;

  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i)
    if (missing[i] == 0)
      ready.push(i);
  nodes_.reserve(count);
  while (!ready.empty()) {
    size_t node = ready.top();
    ready.pop();
    nodes_.push_back(node);
    for (size_t i = begins[node]; i < begins[node + 1]; ++i)
      if (--missing[targets[i]] == 0)
        ready.push(targets[i]);
  }
  if (nodes_.size() < count)
    findCycle(edges, missing);
}

// Each node that is left needs another that is left: whoever walks along must come back.
void NodeOrder::findCycle(const std::vector<Edge> &edges, const std::vector<size_t> &missing) {
  constexpr size_t none = -1;
  std::vector<size_t> needs(missing.size(), none), place(missing.size(), none);
  for (const Edge &edge : edges)
    if (missing[edge.from] > 0 && missing[edge.to] > 0)
      needs[edge.to] = edge.from;
  size_t node = 0;
  while (missing[node] == 0)
    ++node;
  for (; place[node] == none; node = needs[node]) {
    place[node] = cycle_.size();
    cycle_.push_back(node);
  }
  cycle_.erase(cycle_.begin(), cycle_.begin() + static_cast<std::ptrdiff_t>(place[node]));
  std::rotate(cycle_.begin(), std::min_element(cycle_.begin(), cycle_.end()), cycle_.end());
}

} // namespace tokamak::onnx
