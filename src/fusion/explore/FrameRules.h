// Which operation may be computed in an operator over an iteration space, which of its operands may
// be computed in the same operator, and which results can be stored. All of it follows from the
// axes that the operation runs over and from those that it reduces. `judge` decides only legality,
// never cost; what it allows is what kernels are generated for.
//
//   Verdict verdict = judge(graph, node, {Loops::Rows, space});
//   if (verdict.isLegal && (verdict.fusable & 1))    // operand 0 may be computed in the operator
//   if (has(verdict.reduced, Axes::Rows))            // a sum over rows: complete after the last one
//
// In a frame of any axes the space is a column of rows. Its values run over these and one other axis of
// any length; arrays are read at any place.
//
// A frame with a driver (one or several sparse arrays of the frame's shape) is evaluated at the
// driver's entries only; its values either run over rows and columns (computed at the entries) or
// are computed in every row. A value at the entries that is stored, aggregated or an operand of a
// matrix product must be zero outside the driver's entries.
#ifndef TOKAMAK_FUSION_EXPLORE_FRAMERULES_H
#define TOKAMAK_FUSION_EXPLORE_FRAMERULES_H

#include "fusion/explore/BlockGraph.h"

namespace tokamak::fusion {

using plan::Axes;

// How kernels go through an iteration space: one loop over its cells, or row by row. Or as body and
// schedule say: with all rows independent of each other, or one after the other.
enum class Loops : uint8_t { Cells, Rows, AnyAxes, Scans };

// A way to compute operations: loops over an iteration space, or the runtime's native.
struct Frame {
  Loops loops = Loops::Cells;
  Shape space;
  EntryPattern driver = {}; // none: all cells are computed
  bool isNative = false;    // the operation alone, by the native
  bool operator==(const Frame &other) const = default;
};

struct Verdict {
  bool isLegal = false;
  Axes over = {};        // the axes along which the operation computes
  Axes reduced = {};     // those of them that it sums or aggregates over
  bool open = false;     // the result is complete cell by cell (or row by row), so other operations
                         // of the operator can use it
  bool storable = false; // the result may be a result of the operator
  bool natural = false;  // the operation itself runs over all of the frame's space
  uint8_t fusable = 0;   // bit k: this operation allows operand k to be computed in the operator
  bool isSampled = false; // a product of two rows for each entry of the driver
};
Verdict judge(const BlockGraph &graph, int node, const Frame &frame);

// Why no operator can compute the user's operand together with the user; a sentence without its
// subject.
std::string refusalOfEdge(const BlockGraph &graph, Use use);

} // namespace tokamak::fusion
#endif
