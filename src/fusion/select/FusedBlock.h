// Blocks for the tests of fusion: parses them from text, fuses them and describes the result.
//
//   FusedBlock block("X:mxn y:mx1 s", "f64", R"( %0 = tok.unary exp %X : !m -> !m ... )");
//   EXPECT_EQ(block.fuse().operators(), "cell(1) -> 1");
#ifndef TOKAMAK_FUSION_SELECT_FUSEDBLOCK_H
#define TOKAMAK_FUSION_SELECT_FUSEDBLOCK_H

#include "fusion/explore/TestBlock.h"
#include "fusion/select/FuseBlock.h"
#include "fusion/select/OperatorPool.h"

#include "mlir/IR/Verifier.h"

namespace tokamak::fusion {

class FusedBlock : public TestBlock {
public:
  using TestBlock::TestBlock;

  // Fuses and verifies. Call it once.
  FusedBlock &fuse(Selector selector = Selector::Cost) {
    FusionOptions options{selector, &machine, &explanation};
    EXPECT_TRUE(succeeded(fuseBlock(
        function(), [&](mlir::Value value) -> const tok::Facts & { return factsOf(value); },
        options)));
    EXPECT_TRUE(succeeded(mlir::verify(*module)));
    return *this;
  }

  // The operators in order, with template, number of operands and number of results:
  // "row(2) -> 1; multiagg(4) -> 2".
  std::string operators() {
    std::string text;
    for (plan::OperatorOp op : function().getOps<plan::OperatorOp>())
      text += (text.empty() ? "" : "; ") + plan::nameOfBody(op).str() + "(" +
              std::to_string(op.getInputs().size()) + ") -> " + std::to_string(op.getNumResults());
    return text;
  }

  // The number of operations of this kind in the bodies of all operators.
  template <typename Op> int countInBodies() {
    int count = 0;
    for (plan::OperatorOp op : function().getOps<plan::OperatorOp>())
      for ([[maybe_unused]] Op inside : op.getBody().getOps<Op>())
        ++count;
    return count;
  }

  cost::MachineModel machine;
  std::string explanation;
};

// What searches for plans of the block begin with, as `auto [graph, memo, pool] = Candidates(block);`.
struct Candidates {
  explicit Candidates(FusedBlock &block)
      : graph(block.function(),
              [&](mlir::Value value) -> const tok::Facts & { return block.factsOf(value); }),
        memo(explore(graph)), pool(graph, memo, block.machine) {}

  BlockGraph graph;
  MemoTable memo;
  OperatorPool pool;
};

} // namespace tokamak::fusion
#endif
