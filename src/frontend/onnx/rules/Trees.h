// Trees of decisions: each node compares a feature of a case with a number. Operators write them in different ways; this is
// what those have in common. `graph` and `x`, a row for each case, are those of a rule:
//
//   Trees trees; // one node, which sends cases whose first feature is at most 0.5 to the first of two leaves
//   trees.addNode({.feature = 0, .mode = TreeMode::LessOrEqual, .split = 0.5, .onTrue = 1, .onFalse = 2});
//   trees.roots = {0};
//   trees.addLeaves(2);
//   mlir::Value leaf = leavesOf(graph, trees, x); // of each case in each tree: 0 or 1
//
#ifndef TOKAMAK_FRONTEND_ONNX_RULES_TREES_H
#define TOKAMAK_FRONTEND_ONNX_RULES_TREES_H

#include "frontend/onnx/GraphBuilder.h"

#include <vector>

namespace tokamak::onnx {

enum class TreeMode : uint8_t {
  LessOrEqual,
  Less,
  GreaterOrEqual,
  Greater,
  Equal,
  NotEqual,
  Member
};
inline constexpr int64_t treeModes = 7;

// What a case does whose feature compares so with the split: it goes to a place. A NaN goes on as `nanIsTrue` says.
struct TreeNode {
  int64_t feature = 0;
  TreeMode mode = TreeMode::LessOrEqual;
  double split = 0;
  std::vector<double> members = {}; // with TreeMode::Member, instead of the split
  int64_t onTrue = 0, onFalse = 0;
  bool nanIsTrue = false;
};

// The places that a case goes through: nodes, and behind them leaves.
struct Trees {
  std::vector<TreeNode> nodes;
  Numbers roots; // places, one for each tree
  int64_t leaves = 0, depth = 0;

  void addNode(TreeNode node) { nodes.push_back(std::move(node)); }
  // When all nodes are there. Throws Error if a place is none, or nodes lead back to themselves.
  void addLeaves(int64_t count);
  int64_t places() const { return static_cast<int64_t>(nodes.size()) + leaves; }
};

// The leaf of each case in each tree, from 0: integers [cases, trees]. `x`: floats [cases, features].
mlir::Value leavesOf(GraphBuilder &graph, const Trees &trees, mlir::Value x);

} // namespace tokamak::onnx
#endif
