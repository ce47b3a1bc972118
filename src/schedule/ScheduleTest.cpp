// Schedules as text, and which of them are legal, on the bodies of docs/plan-ir.md.
#include "schedule/Schedule.h"

#include "ir/plan/testing/DocumentedBodies.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using tokamak::schedule::defaultSchedule;
using tokamak::schedule::Schedule;

namespace {

class ScheduleTest : public plan::DocumentedBodies {
protected:
  // "LINE: MESSAGE" of what is wrong in the lines; empty if nothing is.
  static std::string apply(plan::OperatorOp op, StringRef lines, Schedule &schedule) {
    std::optional<Error> wrong = applyText(op, lines, schedule);
    return wrong ? std::to_string(wrong->place().line) + ": " + wrong->message() : "";
  }

  // The default schedule with these lines instead; they must be right.
  Schedule scheduled(plan::OperatorOp op, StringRef lines) {
    Schedule schedule = defaultSchedule(op, {});
    EXPECT_EQ(apply(op, lines, schedule), "") << lines.str();
    return schedule;
  }

  // Why the default schedule with these lines is illegal; empty if it is legal.
  std::string complaint(StringRef name, StringRef lines) {
    plan::OperatorOp op = operatorOf(name);
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    bool isLegal = succeeded(checkSchedule(op, scheduled(op, lines)));
    EXPECT_EQ(isLegal, message.empty()) << lines.str();
    return message;
  }
  void expectComplaint(StringRef name, StringRef lines, StringRef expected) {
    EXPECT_NE(complaint(name, lines).find(expected.str()), std::string::npos)
        << lines.str() << "\n"
        << complaint(name, lines);
  }
};

TEST_F(ScheduleTest, DefaultsAreLegal) {
  for (const char *name :
       {"softmax", "running_mean", "cbind", "batched_product", "convolution", "attention"})
    EXPECT_EQ(complaint(name, ""), "") << name;
}

TEST_F(ScheduleTest, StreamsAreLeftToProcessorsThatFollowThem) {
  plan::OperatorOp op = operatorOf("softmax");
  Schedule prefetched = defaultSchedule(op, {}),
           followed = defaultSchedule(op, {.streams = {0, 0}});
  EXPECT_NE(textOf(op, prefetched).find("  streams prefetched by 2048\n"), std::string::npos);
  EXPECT_NE(textOf(op, followed).find("  streams followed\n"), std::string::npos);
  EXPECT_EQ(apply(op, textOf(op, followed), prefetched), "");
  EXPECT_EQ(prefetched.streamBytesAhead, 0);
}

TEST_F(ScheduleTest, OneArrayOfSinglesHasItsOwnDistance) {
  const std::string readsOne = "%1 = plan.unary abs %0 : !ij -> !ij",
                    readsTwo = R"(%y0 = plan.read %y (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.binary mul %0, %y0 : (!ij, !ij) -> !ij)";
  auto bytesAhead = [&](const char *type, const std::string &reading) {
    std::string text = fmt::format(R"(
!m = tensor<?x?x{0}>
!ij = !plan.cell<(d0, d1) -> {0}>
func.func @sum(%X: !m, %Y: !m) -> f64 {{
  %r = plan.operator (%x = %X [s0, s1], %y = %Y [s0, s1]) axes [s0 reduced, s1 reduced] -> scalar : (!m, !m) -> f64 {{
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    {1}
    %2 = plan.reduce sum %1 over [d0, d1] in f64 : !ij -> !plan.cell<() -> f64>
    plan.write %2 to 0 (d0, d1) -> () : !plan.cell<() -> f64>
  }}
  return %r : f64
}})",
                                   type, reading);
    module = parseSourceString<ModuleOp>(text, &context);
    schedule::Hardware hardware{.streams = {.bytesAhead = 128, .ofOneSingle = 256}};
    return module ? defaultSchedule(operatorOf("sum"), hardware).streamBytesAhead : -1;
  };
  EXPECT_EQ(bytesAhead("f32", readsOne), 256);
  EXPECT_EQ(bytesAhead("f64", readsOne), 128);
  EXPECT_EQ(bytesAhead("f32", readsTwo), 128);
}

TEST_F(ScheduleTest, CompactLoopsAreNeitherUnrolledNorInBlocks) {
  for (const char *name :
       {"chain", "running_mean", "cbind", "batched_product", "convolution", "attention"}) {
    plan::OperatorOp op = operatorOf(name);
    Schedule usual = defaultSchedule(op, {});
    EXPECT_TRUE(usual.block > 1 || usual.unroll > 1) << name;
    op.setCompact(true);
    Schedule compact = defaultSchedule(op, {});
    EXPECT_EQ(std::pair(compact.block, compact.unroll), std::pair(int64_t(1), int64_t(1))) << name;
    EXPECT_TRUE(succeeded(checkSchedule(op, compact))) << name;
    op.setCompact(false);
  }
}

// The two vectors of a row of ten columns are computed together.
TEST_F(ScheduleTest, NarrowRowsOfCompactLoopsAreVectors) {
  auto product = parseSourceString<ModuleOp>(R"(
func.func @product(%A: tensor<?x?xf64>, %B: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = plan.operator (%a = %A [10, 10], %b = %B [10, 10]) axes [10, 10, 10 reduced] -> [10, 10] {compact}
      : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64> {
    %0 = plan.read %a (d0, d1, d2) -> (d0, d2) : tensor<?x?xf64> -> !plan.cell<(d0, d2) -> f64>
    %1 = plan.read %b (d0, d1, d2) -> (d2, d1) : tensor<?x?xf64> -> !plan.cell<(d1, d2) -> f64>
    %2 = plan.binary mul %0, %1 : (!plan.cell<(d0, d2) -> f64>, !plan.cell<(d1, d2) -> f64>)
        -> !plan.cell<(d0, d1, d2) -> f64>
    %3 = plan.reduce sum %2 over [d2] in f64
        : !plan.cell<(d0, d1, d2) -> f64> -> !plan.cell<(d0, d1) -> f64>
    plan.write %3 to 0 (d0, d1, d2) -> (d0, d1) : !plan.cell<(d0, d1) -> f64>
  }
  return %r : tensor<?x?xf64>
})",
                                             &context);
  ASSERT_TRUE(product);
  product->walk([](plan::OperatorOp op) {
    Schedule schedule = defaultSchedule(op, {});
    EXPECT_TRUE(schedule.isVector(1));
    EXPECT_EQ(schedule.unroll, 2);
    EXPECT_EQ(schedule.block, 1);
    EXPECT_TRUE(succeeded(checkSchedule(op, schedule)));
  });
}

// colSums(X / rowSums(X)): the sums of few columns stay in registers, beside those of more four rows are divided together.
TEST_F(ScheduleTest, RowsDividedByTheirSums) {
  for (auto [columns, block, unroll] : {std::tuple(48, 1, 6), std::tuple(100, 4, 2)}) {
    auto shares = parseSourceString<ModuleOp>(fmt::format(R"(
func.func @shares(%X: tensor<?x?xf64>) -> tensor<?x?xf64> {{
  %r = plan.operator (%x = %X [s0, {0}]) axes [s0 reduced, {0} reduced] -> [1, {0}]
      : (tensor<?x?xf64>) -> tensor<?x?xf64> {{
    %0 = plan.read %x (d0, d1) -> (d0, d1) : tensor<?x?xf64> -> !plan.cell<(d0, d1) -> f64>
    %1 = plan.reduce sum %0 over [d1] in f64
        : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d0) -> f64>
    %2 = plan.binary div %0, %1 : (!plan.cell<(d0, d1) -> f64>, !plan.cell<(d0) -> f64>)
        -> !plan.cell<(d0, d1) -> f64>
    %3 = plan.reduce sum %2 over [d0] in f64
        : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d1) -> f64>
    plan.write %3 to 0 (d0, d1) -> (0, d1) : !plan.cell<(d1) -> f64>
  }}
  return %r : tensor<?x?xf64>
}})",
                                                          columns),
                                              &context);
    ASSERT_TRUE(shares);
    shares->walk([&, block = block, unroll = unroll](plan::OperatorOp op) {
      Schedule schedule = defaultSchedule(op, {.vectorRegisters = 32, .vectorBytes = 64});
      EXPECT_EQ(std::pair(schedule.block, schedule.unroll),
                std::pair(int64_t{block}, int64_t{unroll}));
      EXPECT_TRUE(succeeded(checkSchedule(op, schedule)));
    });
  }
}

TEST_F(ScheduleTest, DefaultOfAttention) {
  plan::OperatorOp op = operatorOf("attention");
  Schedule schedule = defaultSchedule(op, {.vectorRegisters = 32, .vectorBytes = 64});
  EXPECT_EQ(schedule.parallel, (SmallVector<unsigned>{0, 1, 2}));
  EXPECT_TRUE(schedule.isVector(3) && schedule.isVector(5));
  // Scores are computed once and read by three passes.
  EXPECT_FALSE(schedule.kept.empty());
  for (Value kept : schedule.kept)
    EXPECT_EQ(schedule.innerAxes(kept), SmallVector<unsigned>{3});
}

TEST_F(ScheduleTest, TextIsReadBack) {
  for (auto [name, lines] :
       {std::pair("attention", ""),
        {"attention", "parallel d1, d0\nblock 5\nvector d5 by 16\nunroll 3\norder d4, d3\n"
                      "keep %8, %5\npack none"},
        {"attention", "parallel d0, d2, d1\npack none\nkeep none"},
        {"batched_product", "vector d2\npack %1 by d2\nvectors outside"},
        {"sum_of_product", "strip 64\nkeep %2\nunroll 2"},
        {"running_mean", "unroll 2"},
        {"cbind", "block 7"}}) {
    plan::OperatorOp op = operatorOf(name);
    Schedule schedule = scheduled(op, lines);
    std::string text = textOf(op, schedule);
    // It says all of the schedule, whatever it is applied to.
    Schedule again = defaultSchedule(op, {});
    EXPECT_EQ(apply(op, text, again), "") << text;
    EXPECT_EQ(textOf(op, again), text);
    EXPECT_EQ(again.parallel, schedule.parallel);
    EXPECT_EQ(again.vectors, schedule.vectors);
    EXPECT_EQ(again.order, schedule.order);
    EXPECT_EQ(std::tuple(again.block, again.lanes, again.unroll, again.strip, again.vectorsOutside),
              std::tuple(schedule.block, schedule.lanes, schedule.unroll, schedule.strip,
                         schedule.vectorsOutside));
    EXPECT_TRUE(llvm::equal(again.kept, schedule.kept)) << text;
    EXPECT_TRUE(llvm::equal(again.packed, schedule.packed)) << text;
  }
}

TEST_F(ScheduleTest, LinesReplaceOnlyWhatTheyName) {
  plan::OperatorOp op = operatorOf("attention");
  Schedule before = defaultSchedule(op, {}), after = before;
  EXPECT_EQ(apply(op, "# nothing\n\n   block   4   # places\n", after), "");
  EXPECT_EQ(after.block, 4);
  EXPECT_EQ(after.parallel, before.parallel);
  EXPECT_EQ(after.vectors, before.vectors);
  EXPECT_TRUE(llvm::equal(after.kept, before.kept));
  EXPECT_EQ(apply(op, "keep none\npack none\norder none", after), "");
  EXPECT_TRUE(after.kept.empty() && after.packed.empty() && after.order.empty());
  EXPECT_EQ(apply(op, "vector d5", after), "");
  EXPECT_EQ(after.lanes, before.lanes);
}

TEST_F(ScheduleTest, EntriesOfADriver) {
  plan::OperatorOp op = operatorOf("sampled");
  std::string text = textOf(op, defaultSchedule(op, {}));
  EXPECT_EQ(text.substr(0, text.find("  block")),
            "  # d1: the entries of operand 1\n  parallel d0\n");
  EXPECT_EQ(complaint("sampled", text), "");
  EXPECT_EQ(complaint("sampled", "unroll 2"), "");
  for (const char *lines : {"block 8", "vector d2", "vector d1, d2 by 16", "order d2, d1",
                            "order none", "vector d0, d1, d2"})
    expectComplaint("sampled", lines, "the entries of a driver are computed row by row");
}

TEST_F(ScheduleTest, WrongLines) {
  plan::OperatorOp op = operatorOf("attention");
  for (auto [lines, expected] :
       {std::pair(
            "blocks 4",
            "1: 'blocks' is none of parallel, block, vector, unroll, order, keep, strip, pack, "
            "windows, vectors and streams"),
        {"\nblock four", "2: expected a number instead of 'four'"},
        {"block", "1: expected a number instead of ''"},
        {"unroll 2 3", "1: expected a number instead of '2 3'"},
        {"vector d3 by d5", "1: expected a number instead of 'd5'"},
        {"parallel d6", "1: 'd6' is no axis; the operator has d0 to d5"},
        {"parallel d0,, d1", "1: '' is no axis; the operator has d0 to d5"},
        {"order 3", "1: '3' is no axis; the operator has d0 to d5"},
        {"keep %14", "1: '%14' is no value of the body, as %3 is"},
        {"keep 5", "1: '5' is no value of the body, as %3 is"},
        {"pack %1", "1: expected one axis behind 'by'"},
        {"pack %1 by d3, d5", "1: expected one axis behind 'by'"},
        {"pack %1 by none", "1: expected one axis behind 'by'"},
        {"streams prefetched", "1: expected a number instead of ''"},
        {"streams asked for by 64", "1: 'streams' is none of"},
        {"vectors between", "1: 'vectors' is none of"}}) {
    Schedule schedule = defaultSchedule(op, {});
    std::string wrong = apply(op, lines, schedule);
    EXPECT_EQ(wrong.substr(0, std::string(expected).size()), expected) << lines;
  }
}

TEST_F(ScheduleTest, IllegalTiles) {
  expectComplaint("attention", "parallel none", "has no parallel axis");
  expectComplaint(
      "attention", "parallel d0, d3",
      "d0 is scheduled as parallel, but is not aggregated together with the other axes");
  expectComplaint("softmax", "parallel d1\nvector none\nkeep none\npack none",
                  "aggregated over tiles, so that nothing can be computed with it");
  expectComplaint("running_mean", "parallel d0\nvector none", "something is scanned along it");
  expectComplaint("attention", "parallel d0, d1, d0", "d0 is scheduled as parallel twice");
  expectComplaint("cbind", "parallel d0, d1\nvector d2\npack none\nkeep none",
                  "every place along it would write the same cells");
  expectComplaint("attention", "block 0", "blocks have 1 to 64 places");
  expectComplaint("attention", "block 65", "blocks have 1 to 64 places");
  expectComplaint("attention", "unroll 0", "1 to 16 vectors are unrolled");
  expectComplaint("attention", "unroll 17", "1 to 16 vectors are unrolled");
  EXPECT_EQ(complaint("attention", "block 64\nunroll 16"), "");
  expectComplaint("attention", "streams prefetched by -64",
                  "streams are prefetched by 0 to 1048576 bytes");
}

TEST_F(ScheduleTest, IllegalVectors) {
  expectComplaint("attention", "vector d5 by 4\npack none", "vectors have 8 or 16 cells");
  expectComplaint("attention", "vector d2, d5\nblock 1\npack none",
                  "vectors along the last parallel axis are the only ones");
  expectComplaint("attention", "vector d2\nblock 4\npack none",
                  "blocks whose places are the lanes of vectors have 8 places");
  expectComplaint("attention", "vector d2 by 16\nblock 8\npack none",
                  "blocks whose places are the lanes of vectors have 16 places");
  EXPECT_EQ(complaint("attention", "vector d2 by 16\nblock 16\npack none"), "");
  EXPECT_EQ(complaint("attention", "vector d2, d5\nblock 8\npack none"), "");
  EXPECT_EQ(complaint("attention", "vector d2\nblock 1\npack none"), "");
  expectComplaint("attention", "vector d0\npack none",
                  "d0 can't be computed in vectors: it is parallel");
  expectComplaint("running_mean", "vector d0\npack none",
                  "d0 can't be computed in vectors: it is scanned");
  expectComplaint("attention", "vector d3, d3\npack none", "d3 is listed twice");
  expectComplaint("attention", "vectors outside\nkeep none",
                  "only the vectors of a single pass can be outside");
  expectComplaint("batched_product", "vector none\npack none\nvectors outside",
                  "only the vectors of a single pass can be outside");
}

TEST_F(ScheduleTest, IllegalKeeping) {
  expectComplaint("attention", "keep %0",
                  "only values that are computed within a block can be kept");
  expectComplaint("attention", "keep %6",
                  "only values that are computed within a block can be kept");
  Schedule foreign = defaultSchedule(operatorOf("attention"), {});
  foreign.kept.insert(operatorOf("softmax").getBody().front().front().getResult(0));
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    EXPECT_NE(diagnostic.str().find("keeps a value of another body"), std::string::npos);
    return success();
  });
  EXPECT_TRUE(failed(checkSchedule(operatorOf("attention"), foreign)));
}

TEST_F(ScheduleTest, IllegalStrips) {
  EXPECT_EQ(complaint("sum_of_product", "strip 64\nkeep %2"), "");
  EXPECT_EQ(complaint("sum_of_product", "strip 4096"), "");
  expectComplaint("sum_of_product", "strip 60",
                  "a multiple of the vectors that are computed together");
  expectComplaint("sum_of_product", "unroll 4\nstrip 8", "computed together, 32, and at most 4096");
  expectComplaint("sum_of_product", "strip 8192", "at most 4096");
  expectComplaint("sum_of_product", "keep %2",
                  "only values that are computed within a block can be kept");
  expectComplaint("sum_of_product", "strip 64\nkeep %0",
                  "only values that are computed within a block can be kept");
  expectComplaint("attention", "strip 64",
                  "strips are cut from the one axis along which vectors run");
  expectComplaint("running_mean", "strip 64",
                  "runs over other axes than the one that strips are cut from");
}

TEST_F(ScheduleTest, IllegalPacking) {
  expectComplaint("attention", "pack none\npack %0 by d4",
                  "differs from place to place of a block");
  expectComplaint("attention", "pack none\npack %8 by d3", "only what is read");
  expectComplaint("attention", "pack none\npack %1 by d5", "can't be packed by vectors along d5");
  expectComplaint("attention", "pack none\npack %1 by d4", "can't be packed by vectors along d4");
  expectComplaint("attention", "block 4\npack none\npack %0 by d2",
                  "the places of its blocks are no vectors");
  EXPECT_EQ(complaint("attention", "vector d2, d5\nblock 8\npack none\npack %0 by d2"), "");
  EXPECT_EQ(complaint("attention", "pack none\npack %1 by d3\npack %11 by d5"), "");
}

} // namespace
