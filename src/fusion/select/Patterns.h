// The fused operators that the first generation of SystemML had, written by hand one by one: sums of
// squares and products, X + s * Y, chains of products t(X) %*% (w * (X %*% v)), and products that are
// needed at the cells of a weight matrix only. --fusion=patterns fuses these and nothing else.
//
//   for (const PatternMatch &match : matchPatterns(graph))
//     llvm::errs() << match.name << " at operation " << match.root;     // "sum of squares at ..."
//   llvm::BitVector stored = storedOutsidePatterns(graph);
//
// What an operator of a pattern computes is found by its shape in the block alone. Results inside of
// it have no other reader, and no operation belongs to two patterns, so nothing is computed twice.
#ifndef TOKAMAK_FUSION_SELECT_PATTERNS_H
#define TOKAMAK_FUSION_SELECT_PATTERNS_H

#include "fusion/explore/BlockGraph.h"

namespace tokamak::fusion {

struct PatternMatch {
  llvm::StringRef name;
  int root;                      // the operation whose result the operator has
  llvm::SmallVector<int> inside; // the operations that are computed with it
};

// The patterns found in the block, from its end to its beginning. At each operation the first one of
// the table that fits is taken.
std::vector<PatternMatch> matchPatterns(const BlockGraph &graph);

// All results but those inside of patterns.
llvm::BitVector storedOutsidePatterns(const BlockGraph &graph);

} // namespace tokamak::fusion
#endif
