// What the templates allow: which operation may be computed in a Cell or Row operator over an
// iteration space, which of its operands may be computed in the same operator, and which results
// can be stored. Nothing here looks at cost.
//
//   Verdict verdict = judge(graph, node, FusionTemplate::Row, {-1, -2});
//   if (verdict.legal && (verdict.fusable & 1))   // operand 0 may be computed in the same operator
//
// MultiAgg has no rules of its own: it is a Cell operator that results in several full aggregates
// and nothing else.
#ifndef TOKAMAK_FUSION_EXPLORE_TEMPLATERULES_H
#define TOKAMAK_FUSION_EXPLORE_TEMPLATERULES_H

#include "fusion/explore/BlockGraph.h"

namespace tokamak::fusion {

using plan::FusionTemplate;

// How a value lies in an iteration space m×n.
enum class Extent : uint8_t { None, Wide, PerRow, PerColumn, Single };
Extent extentOf(Shape value, Shape space);

struct Verdict {
  bool legal = false; // the operation may be part of such an operator at all
  bool open = false;  // its result is complete cell by cell (or row by row): others may go on with
                      // it in the same operator
  bool storable = false; // the operator may result in it
  uint8_t fusable =
      0; // bit k: operand k need not be an input, as far as this operation is concerned
};
Verdict judge(const BlockGraph &graph, int node, FusionTemplate fusionTemplate, Shape space);

// How often the operation is evaluated, in cells of its own: all operators of a Cell kernel run in
// every cell.
double evaluations(const BlockGraph &graph, int node, FusionTemplate fusionTemplate, Shape space);

// Why the user's operand can not be computed together with it under any template; a sentence
// without its subject.
std::string refusalOfEdge(const BlockGraph &graph, Use use);

} // namespace tokamak::fusion
#endif
