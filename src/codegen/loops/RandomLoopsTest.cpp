// Random bodies under random schedules. A schedule decides neither what is computed nor, but for the
// order in which things are added up, how: blocks, unrolling, packing and keeping give the same bits.
//
//   TOKAMAK_RANDOM_LOOPS=5000       so many bodies instead of those that each test run checks
//   TOKAMAK_RANDOM_LOOPS_SEED=17    from this one on
#include "codegen/loops/LoopBody.h"
#include "codegen/testing/LoopKernelFixture.h"
#include "codegen/testing/RandomBody.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using tokamak::schedule::Schedule;

namespace {

class RandomLoopsTest : public LoopKernelFixture {
protected:
  bool isLegal(plan::OperatorOp op, const Schedule &schedule) {
    ScopedDiagnosticHandler ignored(&context, [](Diagnostic &) { return success(); });
    return succeeded(LoopBody::analyze(op, schedule));
  }

  // What does not change the order in which anything is added up.
  void varyWithoutOrder(plan::OperatorOp op, Schedule &schedule, Generator &random) {
    if (!schedule.vectorizesBlocks()) {
      shuffle(random, schedule.parallel);
      schedule.block = oneOf(random, std::vector<int64_t>{1, 2, 3, 4, 8, 11});
    }
    schedule.unroll = randomNumber(random, 1, 4);
    schedule.strip = schedule.vectorizesBlocks() && happens(random, 50)
                         ? schedule.unroll * schedule.lanes * randomNumber(random, 1, 5)
                         : 0;
    schedule.kept.clear();
    schedule.packed.clear();
    for (Operation &operation : op.getBody().front()) {
      if (operation.getNumResults() != 1 || isa<plan::SizeOp, plan::ConstantOp>(operation))
        continue;
      Value value = operation.getResult(0);
      if (auto read = dyn_cast<plan::ReadOp>(operation)) {
        SmallVector<unsigned> axes(read.getType().getAxes());
        llvm::erase_if(axes, [&](unsigned axis) { return !schedule.isVector(axis); });
        if (!axes.empty() && read.getIndices().empty() &&
            !read.getType().runsOver(schedule.parallel.back()) && happens(random, 50))
          schedule.packed[value] = oneOf(random, axes);
        continue;
      }
      bool isReadElsewhere = llvm::any_of(
          value.getUsers(), [](Operation *user) { return isa<plan::ReindexOp>(user); });
      bool mayHaveTo = isReadElsewhere || isa<plan::ScanOp>(operation);
      bool isComputedWithin = schedule.strip > 0
                                  ? schedule::runsOver(value, schedule.parallel.back())
                                  : !schedule.innerAxes(value).empty();
      if (isComputedWithin && happens(random, mayHaveTo ? 80 : 25))
        schedule.kept.insert(value);
    }
    schedule.vectorsOutside =
        schedule.vectors.size() == 1 && schedule.kept.empty() && happens(random, 50);
  }

  // Other tiles, other vectors, another order of loops.
  void vary(plan::OperatorOp op, Schedule &schedule, Generator &random) {
    schedule.parallel.clear();
    schedule.vectors.clear();
    schedule.order.clear();
    schedule.block = 1;
    for (unsigned axis = 0; axis < op.getAxisSizes().size(); ++axis)
      if (op.axisKind(axis) == plan::AxisKind::Parallel && happens(random, 70))
        schedule.parallel.push_back(axis);
    // Partial aggregates of tiles are merged.
    if (happens(random, 25)) {
      schedule.parallel.clear();
      for (unsigned axis = 0; axis < op.getAxisSizes().size(); ++axis)
        if (op.axisKind(axis) == plan::AxisKind::Reduced)
          schedule.parallel.push_back(axis);
    }
    if (schedule.parallel.empty())
      return;
    shuffle(random, schedule.parallel);
    for (unsigned axis = 0; axis < op.getAxisSizes().size(); ++axis) {
      if (!schedule.isParallel(axis) && op.axisKind(axis) != plan::AxisKind::Scanned &&
          happens(random, 50))
        schedule.vectors.push_back(axis);
      if (happens(random, 60))
        schedule.order.push_back(axis);
    }
    shuffle(random, schedule.order);
    if (happens(random, 30))
      schedule.vectors = {schedule.parallel.back()};
    schedule.lanes = happens(random, 30) ? 16 : 8;
    varyWithoutOrder(op, schedule, random);
    // The places of blocks are the lanes of vectors, beside others.
    if (happens(random, 30)) {
      schedule.block = schedule.lanes = 8;
      if (!schedule.isVector(schedule.parallel.back()))
        schedule.vectors.push_back(schedule.parallel.back());
    }
  }

  // Runs the schedule and some that have to give the same bits; false if something is wrong.
  void checkBits(plan::OperatorOp op, const RandomBody &body, const Schedule &schedule,
                 Generator &random) {
    std::string text = textOf(op, schedule);
    SCOPED_TRACE("schedule:\n" + text);
    // Blocks decide in which order partial aggregates are added up.
    bool merges = llvm::any_of(op.getBody().getOps<plan::ReduceOp>(),
                               [&](plan::ReduceOp reduce) { return schedule.isOfTiles(reduce); });
    std::vector<reference::CellArray> results = run(op, body.operands, text);
    ASSERT_EQ(difference(results, reference::meaningOf(op, body.operands), body.tolerance), "");
    int variants = 0;
    for (int attempt = 0; attempt < 8 && variants < 2; ++attempt) {
      Schedule other = schedule;
      varyWithoutOrder(op, other, random);
      if (!isLegal(op, other))
        continue;
      ++variants;
      ++schedules;
      std::string otherText = textOf(op, other);
      ASSERT_EQ(difference(run(op, body.operands, otherText), results, merges ? body.tolerance : 0),
                "")
          << otherText;
    }
  }

  int bodies = 0, refused = 0, schedules = 0;
};

int64_t numberFrom(const char *variable, int64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

TEST_F(RandomLoopsTest, SchedulesAgree) {
  int64_t first = numberFrom("TOKAMAK_RANDOM_LOOPS_SEED", 1),
          count = numberFrom("TOKAMAK_RANDOM_LOOPS", 150);
  for (int64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    RandomBody body = RandomBody::make(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + body.text);
    plan::OperatorOp op = parse(body.text);
    ASSERT_TRUE(op);
    Generator random(seed);
    Schedule byDefault = schedule::defaultSchedule(op, {});
    ++bodies;
    if (isLegal(op, byDefault))
      checkBits(op, body, byDefault, random);
    else
      ++refused;
    op.setCompact(true);
    if (Schedule compact = schedule::defaultSchedule(op, {}); isLegal(op, compact))
      checkBits(op, body, compact, random);
    op.setCompact(false);
    for (int attempt = 0; attempt < 5; ++attempt) {
      Schedule other = byDefault;
      vary(op, other, random);
      if (!isLegal(op, other))
        continue;
      ++schedules;
      checkBits(op, body, other, random);
      break;
    }
    modules.clear();
  }
  // The bodies have to be such that there is something to test.
  EXPECT_LE(refused, bodies * 3 / 10);
  EXPECT_GE(schedules, bodies);
  RecordProperty("schedules", schedules);
}

} // namespace
