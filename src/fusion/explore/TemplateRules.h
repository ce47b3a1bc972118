// What the templates allow: which operation may be computed in an operator over an iteration space,
// which of its operands may be computed in the same operator, and which results can be stored.
// `judge` decides only legality, never cost.
//
//   Verdict verdict = judge(graph, node, {FusionTemplate::Row, {-1, -2}, f64});
//   if (verdict.isLegal() && (verdict.fusable & 1))   // operand 0 may be computed in the operator
//
// A frame with a driver (one or several CSR arrays of the frame's shape) is evaluated at the
// driver's entries only; its values are either Wide (computed at the entries) or computed in every
// row. A Wide value that is stored, aggregated or an operand of a matrix product must be zero
// outside the driver's entries. With a driver there is one frame for all templates; the operator's
// template name follows from its operations. MultiAgg has no rules of its own: it is a Cell
// operator whose results are several full aggregates and nothing else.
#ifndef TOKAMAK_FUSION_EXPLORE_TEMPLATERULES_H
#define TOKAMAK_FUSION_EXPLORE_TEMPLATERULES_H

#include "fusion/explore/BlockGraph.h"

namespace tokamak::fusion {

using plan::FusionTemplate;

// A way to compute operations: a template over an iteration space, or the runtime's native product.
struct Frame {
  FusionTemplate fusionTemplate = FusionTemplate::Cell;
  Shape space;
  EntryPattern driver = {}; // none: all cells are computed
  bool isNative = false;    // the product alone, by the native
  bool operator==(const Frame &other) const = default;
};

// The shape of a value in an iteration space m×n. Wide: m×n, PerRow: m×1, PerColumn: 1×n, Single:
// 1×1, Narrow: m×k with another k. None: any other shape.
enum class Extent : uint8_t { None, Wide, PerRow, PerColumn, Single, Narrow };
Extent extentOf(const Shape &value, const Frame &frame);

// The role of an operation in an operator.
enum class Role : uint8_t {
  None, // it can't be part of the operator
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
  bool open = false;     // the result is complete cell by cell (or row by row), so other operations
                         // of the operator can use it
  bool storable = false; // the result may be a result of the operator
  bool natural = false;  // the operation itself runs over all of the frame's space
  bool flipped = false;  // kernels compute the transposed result: t(X) %*% Q for t(Q) %*% X
  uint8_t fusable = 0;   // bit k: this operation allows operand k to be computed in the operator
  bool isLegal() const { return role != Role::None; }
};
Verdict judge(const BlockGraph &graph, int node, const Frame &frame);

// How often an elementwise operation is evaluated in the frame.
double evaluations(const BlockGraph &graph, int node, const Frame &frame);

// Why no template can compute the user's operand together with the user; a
// sentence without its subject.
std::string refusalOfEdge(const BlockGraph &graph, Use use);

} // namespace tokamak::fusion
#endif
