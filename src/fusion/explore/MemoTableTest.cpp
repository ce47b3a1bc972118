#include "fusion/explore/MemoTable.h"
#include "fusion/explore/Notation.h"
#include "fusion/explore/TestBlock.h"

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

struct Explored {
  Explored(llvm::StringRef arguments, llvm::StringRef results, llvm::StringRef body)
      : block(arguments, results, body),
        graph(block.function(),
              [&](mlir::Value value) -> const tok::Facts & { return block.factsOf(value); }),
        memo(explore(graph)) {}

  // Writes each group of the operation that is natural or has fusable operands, as "cell 1 open":
  // loops ("sparse" with a driver, "native" for natives), fusable operands, state.
  std::string groups(int operation) {
    std::string text;
    for (const MemoGroup &group : memo.groups[operation]) {
      if (!group.natural && !group.fusable)
        continue;
      text += text.empty() ? "" : "; ";
      const Frame &frame = memo.frames[group.frame];
      text += (frame.isNative                  ? "native"
               : frame.driver                  ? "sparse"
               : frame.loops == Loops::AnyAxes ? "axes"
               : frame.loops == Loops::Scans
                   ? "scan"
                   : std::string(frame.loops == Loops::Cells ? "cell" : "row")) +
              " " + std::to_string(group.fusable) + (group.open ? " open" : " closed") +
              (group.storable ? "" : " side");
    }
    return text;
  }

  std::string refusals() {
    std::string text;
    for (const Refusal &refusal : memo.refusals)
      text += std::to_string(refusal.operation) + ": " + refusal.reason + "\n";
    return text;
  }

  TestBlock block;
  BlockGraph graph;
  MemoTable memo;
};

} // namespace

TEST(MemoTable, cellOperatorsOpenFuseAndClose) {
  Explored explored("X:mxn Y:mxn", "f64", R"(
    %0 = tok.binary mul %X, %Y : (!m, !m) -> !m
    %1 = tok.unary exp %0 : !m -> !m
    %2 = tok.aggregate sum full %1 : !m -> f64
    return %2 : f64)");
  EXPECT_EQ(explored.groups(0), "cell 0 open; row 0 open");
  EXPECT_EQ(explored.groups(1), "cell 1 open; row 1 open");
  EXPECT_EQ(explored.groups(2), "cell 1 closed; row 1 closed");
  EXPECT_EQ(explored.memo.entryCount(), 2 * (1 + 2 + 2));
  EXPECT_EQ(explored.refusals(), "");
}

TEST(MemoTable, bothOperandsAreMerged) {
  Explored explored("x:mx1 y:mx1", "!m", R"(
    %0 = tok.unary exp %x : !m -> !m
    %1 = tok.unary exp %y : !m -> !m
    %2 = tok.binary add %0, %1 : (!m, !m) -> !m
    return %2 : !m)");
  EXPECT_EQ(explored.groups(2), "cell 3 open") << "one column is no work for loops over rows";
}

TEST(MemoTable, operationsOnVectorsJoinLoopsOverRowsThatReadThem) {
  Explored explored("X:mxn y:mx1 z:mx1", "!m, !m, !m", R"(
    %0 = tok.binary sub %X, %y : (!m, !m) -> !m
    %1 = tok.unary exp %y : !m -> !m
    %2 = tok.unary exp %1 : !m -> !m
    %3 = tok.unary exp %z : !m -> !m
    return %0, %2, %3 : !m, !m, !m)");
  auto isInRowsOf = [&](int operation) {
    return llvm::any_of(explored.memo.groups[operation], [&](const MemoGroup &group) {
      const Frame &frame = explored.memo.frames[group.frame];
      return frame.loops == Loops::Rows && frame.space == explored.graph[0].spaces[0];
    });
  };
  EXPECT_TRUE(isInRowsOf(0));
  EXPECT_TRUE(isInRowsOf(1)) << "reads y as operation 0 does";
  EXPECT_TRUE(isInRowsOf(2)) << "reads what operation 1 computes";
  EXPECT_FALSE(isInRowsOf(3)) << "has nothing to do with X";
}

TEST(MemoTable, sequencesAreCountedWhereArraysSayHowManyRowsThereAre) {
  Explored explored("X:20xn", "!m, !m", R"(
    %one = tok.constant 1.0 : f64
    %last = tok.constant 20.0 : f64
    %end = tok.constant unit : none
    %step = tok.constant 0.5 : f64
    %0 = tok.seq %one, %last, %end : (f64, f64, none) -> !m
    %1 = tok.binary mul %X, %0 : (!m, !m) -> !m
    %2 = tok.seq %one, %last, %step : (f64, f64, f64) -> !m
    return %1, %2 : !m, !m)");
  EXPECT_EQ(explored.graph[4].kind, NodeKind::Sequence);
  EXPECT_EQ(explored.groups(5), "cell 2 open; row 2 open") << "operand 1 is counted";
  EXPECT_EQ(explored.graph[6].kind, NodeKind::None) << "steps of 0.5 are added up";
}

TEST(MemoTable, rowTemplateGoesOnWithRowsAndClosesAtColumns) {
  Explored explored("X:mxn v:nx1 w:mx1", "!m", R"(
    %0 = tok.matmul %X, %v : (!m, !m) -> !m
    %1 = tok.binary mul %w, %0 : (!m, !m) -> !m
    %2 = tok.transpose %X : (!m) -> !m
    %3 = tok.matmul %2, %1 : (!m, !m) -> !m
    return %3 : !m)");
  EXPECT_EQ(explored.groups(0), "row 0 open");
  EXPECT_EQ(explored.groups(1), "row 2 open; cell 0 open");
  EXPECT_EQ(explored.groups(3), "row 2 closed");
  EXPECT_EQ(explored.graph[3].kind, NodeKind::TransposedProduct);
  EXPECT_FALSE(explored.graph[2].live) << "the transposed matrix is never made";
}

TEST(MemoTable, productsOfVectorsAreRecognised) {
  Explored explored("X:mxn u:mx1 v:mx1 B:mxp", "!m, !m, !m", R"(
    %0 = tok.transpose %u : (!m) -> !m
    %1 = tok.matmul %0, %v : (!m, !m) -> !m
    %2 = tok.matmul %0, %X : (!m, !m) -> !m
    %x = tok.transpose %X : (!m) -> !m
    %3 = tok.matmul %x, %B : (!m, !m) -> !m
    return %1, %2, %3 : !m, !m, !m)");
  EXPECT_EQ(explored.graph[1].kind, NodeKind::TransposedProduct);
  EXPECT_EQ(explored.groups(1), "cell 0 closed") << "of two vectors it is one loop over cells";
  EXPECT_EQ(explored.graph[2].kind, NodeKind::TransposedProduct);
  EXPECT_EQ(explored.graph[4].kind, NodeKind::None);
  EXPECT_EQ(explored.refusals(), "4: matmul: no operand has at most 64 columns or is sparse\n");
}

TEST(MemoTable, broadcastNeedsAProof) {
  Explored explored("X:mxn c:mx1 r:1xn s:1x1 Y:mxk z:kx1", "!m, !m, !m, !m, !m", R"(
    %0 = tok.binary add %X, %c : (!m, !m) -> !m
    %1 = tok.binary add %X, %r : (!m, !m) -> !m
    %2 = tok.binary add %X, %s : (!m, !m) -> !m
    %3 = tok.binary add %X, %Y : (!m, !m) -> !m
    %4 = tok.binary add %X, %z : (!m, !m) -> !m
    return %0, %1, %2, %3, %4 : !m, !m, !m, !m, !m)");
  for (int operation : {0, 1, 2})
    EXPECT_EQ(explored.graph[operation].kind, NodeKind::Elementwise);
  EXPECT_EQ(explored.refusals(), "3: sizes not proved equal: columns of X and columns of Y\n"
                                 "4: sizes not proved equal: rows of X and rows of z\n");
}

TEST(MemoTable, vectorsAreBroadcastOnEitherSide) {
  Explored explored("X:mxn c:mx1 r:1xn s:1x1", "!m, !m, !m, !m, !m", R"(
    %0 = tok.binary add %c, %X : (!m, !m) -> !m
    %1 = tok.binary add %r, %X : (!m, !m) -> !m
    %2 = tok.binary add %s, %X : (!m, !m) -> !m
    %3 = tok.binary add %c, %r : (!m, !m) -> !m
    %4 = tok.ifelse %r, %c, %s : (!m, !m, !m) -> !m
    return %0, %1, %2, %3, %4 : !m, !m, !m, !m, !m)");
  for (int operation : {0, 1, 2, 3, 4}) {
    EXPECT_EQ(explored.graph[operation].kind, NodeKind::Elementwise);
    EXPECT_EQ(explored.graph[operation].spaces[0], explored.graph[0].spaces[0]);
  }
  EXPECT_EQ(explored.refusals(), "");
}

TEST(MemoTable, oneRepeatedAndOneWholeNeedAProof) {
  Explored explored("X:mxn c:mx1 r:1xn", "!m, !m, !m, !m", R"(
    %0 = tok.binary add one_repeated %r, %c : (!m, !m) -> !m
    %2 = tok.binary add one_repeated %r, %X : (!m, !m) -> !m
    %1 = tok.ifelse one_whole %r, %c, %r : (!m, !m, !m) -> !m
    %3 = tok.ifelse one_whole %r, %c, %X : (!m, !m, !m) -> !m
    return %0, %2, %1, %3 : !m, !m, !m, !m)");
  EXPECT_EQ(explored.refusals(), "0: sizes not proved equal: rows of r and rows of c\n"
                                 "2: sizes not proved equal: rows of r and rows of c\n");
  EXPECT_EQ(explored.graph[3].kind, NodeKind::Elementwise);
}

TEST(MemoTable, vectorsAreSideValuesOfWiderSpaces) {
  Explored explored("X:mxn y:mx1", "!m", R"(
    %0 = tok.unary exp %y : !m -> !m
    %1 = tok.binary mul %X, %0 : (!m, !m) -> !m
    return %1 : !m)");
  EXPECT_EQ(explored.groups(1), "cell 2 open; row 2 open");
  for (size_t frame = 0; frame < explored.memo.frames.size(); ++frame)
    if (const MemoGroup *group = explored.memo.find(0, static_cast<int>(frame));
        group && explored.memo.frames[frame].space == explored.graph[1].spaces[0])
      EXPECT_EQ(group->over, Axes::Rows);
}

// Slices whose range is proved to be inside of X, cbind and cumsum are read and written in place.
TEST(MemoTable, loopsOverAnyAxesReadAndWriteInPlace) {
  Explored explored("X:1000x90 Y:10x90", "!m, !m", R"(
    %one = tok.constant 1 : i64
    %two = tok.constant 2 : i64
    %ninety = tok.constant 90 : i64
    %last = tok.constant 1000 : i64
    %3 = tok.slice %X, %two, %last, %one, %ninety : (!m, i64, i64, i64, i64) -> !m
    %5 = tok.unary exp %3 : !m -> !m
    %6 = tok.cbind %5, %3 : (!m, !m) -> !m
    %7 = tok.native "cumsum"(%3) : (!m) -> !m
    return %6, %7 : !m, !m)");
  EXPECT_EQ(explored.groups(4), "axes 0 open; native 0 closed");
  EXPECT_EQ(explored.groups(5), "axes 1 open; cell 0 open; row 0 open; scan 1 open");
  EXPECT_EQ(explored.groups(6), "axes 3 closed; native 0 closed");
  EXPECT_EQ(explored.groups(7), "native 0 closed; scan 1 open");
}

// What all cells of a result with slices add up to needs no array of them; sums over rows are complete only after the last row.
TEST(MemoTable, aggregatesOfWhatIsReadInPlace) {
  Explored explored("X:1000x90", "f64, !m", R"(
    %one = tok.constant 1 : i64
    %two = tok.constant 2 : i64
    %ninety = tok.constant 90 : i64
    %last = tok.constant 1000 : i64
    %3 = tok.slice %X, %two, %last, %one, %ninety : (!m, i64, i64, i64, i64) -> !m
    %5 = tok.unary exp %3 : !m -> !m
    %6 = tok.aggregate sum full %5 : !m -> f64
    %7 = tok.aggregate sum column %5 : !m -> !m
    return %6, %7 : f64, !m)");
  EXPECT_EQ(explored.groups(6), "axes 1 closed; cell 1 closed; row 1 closed");
  EXPECT_EQ(explored.groups(7), "row 1 closed");
}

// Parts of one row, too; but nothing else of one row opens loops over any axes.
TEST(MemoTable, partsOfARowAreReadInPlace) {
  Explored explored("X:1x90 Y:1x45", "!m, !m", R"(
    %one = tok.constant 1 : i64
    %half = tok.constant 45 : i64
    %2 = tok.slice %X, %one, %one, %one, %half : (!m, i64, i64, i64, i64) -> !m
    %3 = tok.binary mul %2, %Y : (!m, !m) -> !m
    %4 = tok.cbind %3, %Y : (!m, !m) -> !m
    return %3, %4 : !m, !m)");
  EXPECT_EQ(explored.groups(2), "axes 0 open; native 0 closed");
  EXPECT_EQ(explored.groups(3), "axes 1 open; cell 0 open");
  EXPECT_EQ(explored.groups(4), "");
  Explored whole("X:1x90 Y:1x90", "!m", R"(
    %0 = tok.binary mul %X, %Y : (!m, !m) -> !m
    return %0 : !m)");
  EXPECT_EQ(whole.groups(0), "cell 0 open");
}

TEST(MemoTable, slicesThatMayBeOutsideAreLeftToTheNative) {
  Explored explored("X:mx90 s", "!m", R"(
    %one = tok.constant 1 : i64
    %ninety = tok.constant 90 : i64
    %last = tok.constant 1000 : i64
    %3 = tok.slice %X, %one, %last, %one, %ninety : (!m, i64, i64, i64, i64) -> !m
    %4 = tok.unary exp %3 : !m -> !m
    return %4 : !m)");
  EXPECT_EQ(explored.graph[3].kind, NodeKind::None);
}

TEST(MemoTable, refusalsNameTheReader) {
  Explored explored("X:mxn", "f64, !m", R"(
    %0 = tok.aggregate sum column %X : !m -> !m loc("c")
    %1 = tok.binary div %X, %0 : (!m, !m) -> !m loc("Y")
    %2 = tok.native "rev"(%1) : (!m) -> !m
    %3 = tok.aggregate mean full %2 : !m -> f64 loc("average")
    return %3, %2 : f64, !m)");
  EXPECT_EQ(explored.refusals(),
            "0: read by Y: a sum over rows is complete only after the last row\n"
            "1: read by native, for which no kernel is generated\n"
            "3: mean, var and sd are generated only after they were decomposed into sums\n");
}

TEST(BlockGraph, effectsKeepTheirOrder) {
  Explored explored("X:mxn Y:pxm s", "!m", R"(
    "tok.print"(%s) : (f64) -> ()
    %1 = tok.matmul %X, %Y : (!m, !m) -> !m
    "tok.print"(%s) : (f64) -> ()
    return %1 : !m)");
  EXPECT_EQ(explored.graph[1].before, (llvm::SmallVector<int, 2>{0}));
  EXPECT_EQ(explored.graph[2].before, (llvm::SmallVector<int, 2>{0, 1}));
}

TEST(Notation, writesExpressionsAsAScriptWould) {
  Explored explored("X:mxn y:mx1 s", "!m", R"(
    %two = tok.constant 2.0 : f64
    %0 = tok.binary add %X, %y : (!m, !m) -> !m
    %1 = tok.binary mul %s, %0 : (f64, !m) -> !m
    %2 = tok.binary pow %1, %two : (!m, f64) -> !m
    %3 = tok.unary neg %2 : !m -> !m
    %4 = tok.binary max %3, %two : (!m, f64) -> !m
    %5 = tok.aggregate sum row %4 : !m -> !m
    return %5 : !m)");
  EXPECT_EQ(notation(explored.graph[4].operation->getResult(0)), "-(s * (X + y))^2");
  EXPECT_EQ(notation(explored.graph[6].operation->getResult(0)),
            "rowSums(max(-(s * (X + y))^2, 2))");
}
