// The order in which the nodes of a graph can run.
//
//   std::vector<NodeOrder::Edge> edges = {{.from = 1, .to = 0}};   // node 0 needs a result of node 1
//   NodeOrder order(2, edges);
//   (order.nodes() == std::vector<size_t>{1, 0})
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_NODEORDER_H
#define TOKAMAK_FRONTEND_ONNX_FILE_NODEORDER_H

#include <cstddef>
#include <vector>

namespace tokamak::onnx {

class NodeOrder {
public:
  // Node `to` needs a result of node `from`.
  struct Edge {
    size_t from, to;
  };

  NodeOrder(size_t count, const std::vector<Edge> &edges);

  // All nodes, each behind those it needs and, of those that could come next, the one that stands
  // first in the file. Fewer than all if some need each other.
  const std::vector<size_t> &nodes() const { return nodes_; }
  // If so, some that do: each needs a result of the next, and the last of the first.
  const std::vector<size_t> &cycle() const { return cycle_; }

private:
  void findCycle(const std::vector<Edge> &edges, const std::vector<size_t> &missing);

  std::vector<size_t> nodes_, cycle_;
};

} // namespace tokamak::onnx
#endif
