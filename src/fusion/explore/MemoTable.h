// The memo table: every legal way in which an operation of a block can be part of a fused operator.
// An entry is an operation, a frame (loops over an iteration space, or over the entries of a
// sparse array) and the operands that are computed in the same operator. `select` builds operators
// from entries without checking legality again.
//
//   MemoTable memo = explore(graph);
//   const MemoGroup *group = memo.find(node, frame);         // an index into memo.frames
//   if (group && group->fusable & 1) ...                     // operand 0 may be fused
#ifndef TOKAMAK_FUSION_EXPLORE_MEMOTABLE_H
#define TOKAMAK_FUSION_EXPLORE_MEMOTABLE_H

#include "fusion/explore/FrameRules.h"

namespace tokamak::fusion {

// All entries of one operation in one frame: one for every subset of `fusable`, because an operand
// that can be computed in the operator can also be read.
struct MemoGroup : Verdict { // `fusable`: without operands that are not open in this frame
  int frame;
};

struct Refusal {
  int operation;
  std::string reason;
};

struct MemoTable {
  std::vector<Frame> frames;
  std::vector<std::vector<MemoGroup>>
      groups; // by operation, in order of frames; empty for operations without a kernel
  std::vector<Refusal> refusals; // in program order, those of sparse arrays last

  const MemoGroup *find(int operation, int frame) const;
  // Whether the user's operand may be computed in the same operator as the user, in any frame.
  bool isFusable(Use use) const;
  int entryCount() const;
};

// The patterns that may be drivers of operators.
enum class Drivers : uint8_t {
  Shared, // not those of elementwise results with one reader: these are rather computed together
          // with their reader
  All,
};

MemoTable explore(const BlockGraph &graph, Drivers drivers = Drivers::Shared);

} // namespace tokamak::fusion
#endif
