// What the templates allow: which operation may be computed in an operator over an iteration space,
// which of its operands may be computed in the same operator, and which results can be stored.
// `judge` decides only legality, never cost.
//
//   Verdict verdict = judge(graph, node, {FusionTemplate::Row, {-1, -2}, f64});
//   if (verdict.isLegal() && (verdict.fusable & 1))   // operand 0 may be computed in the same one
//
// A frame with a driver, one or several CSR arrays of the frame's shape, is evaluated at their
// entries alone; values are then Wide (at the entries), or complete in every row. What is stored,
// aggregated or multiplied as a matrix there has to be zero where the driver is. All templates are
// one frame with a driver; what an operator in it is called follows from its operations. MultiAgg
// has no rules of its own: it is a Cell operator that results in several full aggregates and
// nothing else.
#ifndef TOKAMAK_FUSION_EXPLORE_TEMPLATERULES_H
#define TOKAMAK_FUSION_EXPLORE_TEMPLATERULES_H

#include "fusion/explore/BlockGraph.h"

namespace tokamak::fusion {

using plan::FusionTemplate;

// A way of computing: a template over an iteration space, or a product by the runtime's native.
struct Frame {
  FusionTemplate fusionTemplate = FusionTemplate::Cell;
  Shape space;
  mlir::Type elementType = {};
  EntryPattern driver = {}; // none: all cells are computed
  bool isNative = false;    // the product alone, by the native
  bool operator==(const Frame &other) const = default;
};

// How a value lies in an iteration space m×n: m×n, m×1, 1×n, 1×1, or m×k with another k.
enum class Extent : uint8_t { None, Wide, PerRow, PerColumn, Single, Narrow };
Extent extentOf(Shape value, const Frame &frame);

// What an operation does in a frame.
enum class Role : uint8_t {
  None, // it can not be part of such an operator
  Elementwise,
  Aggregate,
  RowsTimes,       // wide %*% B: m×k
  TransposedTimes, // t(wide) %*% Q: n×k
  NarrowTimes,     // t(Q) %*% wide: k×n
  Dot,             // t(Q) %*% u, both m×k or m×1
  Sampled,         // U %*% t(V) at the entries: wide
  Native,
};

struct Verdict {
  Role role = Role::None;
  bool open = false;     // its result is complete cell by cell (or row by row): others may go on
                         // with it in the same operator
  bool storable = false; // the operator may result in it
  bool natural = false;  // the operation itself runs over all of the frame's space
  bool flipped = false;  // kernels compute the transposed result: of t(Q) %*% X, t(X) %*% Q
  uint8_t fusable = 0;   // bit k: operand k need not be an input, as far as this operation is
                         // concerned
  bool isLegal() const { return role != Role::None; }
};
Verdict judge(const BlockGraph &graph, int node, const Frame &frame);

// How often an elementwise operation is evaluated in the frame.
double evaluations(const BlockGraph &graph, int node, const Frame &frame);

// Why the user's operand can not be computed together with it under any template; a sentence
// without its subject.
std::string refusalOfEdge(const BlockGraph &graph, Use use);

} // namespace tokamak::fusion
#endif
