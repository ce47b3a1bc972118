#include "runtime/image/ImageTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

constexpr int threadCounts[] = {1, 2, 4, 8};

// An image whose main runs one parallel loop over 1:iterations, with the carried value `initial`
// and no captured values, and prints the result.
class LoopImage {
public:
  LoopImage(int64_t iterations, Value initial, ParallelLoop loop) : image(newImage()) {
    loop.body = 1;
    image.loops.push_back(std::move(loop));
    FunctionBuilder(image, "main", 0, 0, 5)
        .constant(integer(1), 0)
        .constant(integer(iterations), 1)
        .constant(std::move(initial), 2)
        .add(Opcode::ParallelLoop, 0, {0, 1, 0, 2}, {3}, 0, 0)
        .native("print", {3}, {})
        .finish();
  }
  // Slots 0 and 1 of the body: the counter and the carried value.
  FunctionBuilder body(int32_t slots) { return {image, "main.iteration", 2, 1, slots}; }
  Image image;
};

// R[i, 1] = i * i
LoopImage squares(int64_t rows, bool isIndependent) {
  LoopImage loop(rows, Array::filled({rows, 1}, -1), {0, 0, isIndependent, {Merge::Cells}, {}});
  loop.body(5)
      .binary(BinaryOperator::Mul, 0, 0, 2)
      .constant(integer(1), 3)
      .add(Opcode::Native, 0, {1, 2, 0, 0, 3, 3}, {4}, 1, 1)
      .finish({4});
  loop.image.natives.insert(loop.image.natives.begin(), findNative("insert"));
  // print has become native 1.
  for (Instruction &instruction : loop.image.functions[0].instructions)
    instruction.index += instruction.opcode == Opcode::Native;
  return loop;
}

} // namespace

TEST(ParallelLoop, replacesCells) {
  for (bool isIndependent : {true, false})
    for (int threads : threadCounts) {
      LoopImage loop = squares(100, isIndependent);
      std::string output = runImage(loop.image, nullptr, threads).output;
      EXPECT_EQ(output.substr(0, 20), "1.000\n4.000\n9.000\n16");
      EXPECT_NE(output.find("10000.000\n"), std::string::npos) << output;
      EXPECT_EQ(output.find('-'), std::string::npos);
    }
}

TEST(ParallelLoop, replacesCellsOfSparseMatrices) {
  LoopImage loop = squares(100, true);
  for (Value &constant : loop.image.constants)
    if (constant.isArray())
      constant = Value(Array::asSparse(Array::filled({100, 1}, 0)));
  EXPECT_EQ(runImage(loop.image, nullptr, 2).output,
            runImage(squares(100, true).image, nullptr, 1).output);
}

TEST(ParallelLoop, sumsInAFixedOrder) {
  std::string first;
  for (int threads : threadCounts) {
    LoopImage loop(1000, matrix(1, 1, {0.1}), {0, 0, true, {Merge::Sum}, {}});
    // sum = sum + (i * 0.1), as matrices
    loop.body(6)
        .constant(0.1, 2)
        .binary(BinaryOperator::Mul, 0, 2, 2)
        .constant(integer(1), 3)
        .native("fill", {2, 3, 3}, {4})
        .constant("+", 5)
        .native("outer", {1, 4, 5}, {4})
        .finish({4});
    std::string output = runImage(loop.image, nullptr, threads).output;
    if (first.empty())
      first = output;
    EXPECT_EQ(output, first);
    EXPECT_EQ(output.substr(0, 9), "50050.100");
  }
}

TEST(ParallelLoop, sumsIntegers) {
  for (int threads : threadCounts) {
    LoopImage loop(1000, integer(5), {0, 0, false, {Merge::Sum}, {}});
    loop.body(2).binary(BinaryOperator::Add, 1, 0, 1).finish({1});
    EXPECT_EQ(runImage(loop.image, nullptr, threads).output, "500505\n");
  }
}

TEST(ParallelLoop, takesWhatTheLastIterationLeaves) {
  LoopImage loop(1000, Value(), {0, 0, true, {Merge::Last}, {}});
  loop.body(2).finish({0});
  EXPECT_EQ(runImage(loop.image, nullptr, 4).output, "1000\n");
}

TEST(ParallelLoop, runsInOrderWhatItDoesNotKnow) {
  LoopImage loop(20, 1.0, {0, 0, false, {}, {}});
  loop.body(2).binary(BinaryOperator::Add, 1, 1, 1).finish({1});
  EXPECT_EQ(runImage(loop.image, nullptr, 4).output, "1048576.0\n");
}

TEST(ParallelLoop, doesNothingForNoIterations) {
  LoopImage loop(-5, 1.0, {0, 0, false, {Merge::Sum}, {}});
  loop.body(2).binary(BinaryOperator::Add, 1, 0, 1).finish({1});
  EXPECT_EQ(runImage(loop.image, nullptr, 4).output, "1.0\n");
}

TEST(ParallelLoop, printsInTheOrderOfIterations) {
  for (int threads : threadCounts) {
    LoopImage loop(100, integer(0), {0, 0, true, {Merge::Last}, {}});
    loop.body(2).native("print", {0}, {}).finish({0});
    std::string expected;
    for (int i = 1; i <= 100; ++i)
      expected += std::to_string(i) + "\n";
    EXPECT_EQ(runImage(loop.image, nullptr, threads).output, expected + "100\n");
  }
}

TEST(ParallelLoop, reportsTheFirstErrorAndWhatWasPrintedBefore) {
  for (int threads : threadCounts) {
    // All iterations from the 40th on fail, each with a message of its own.
    LoopImage loop(1000, integer(0), {0, 0, true, {Merge::Last}, {}});
    loop.body(4)
        .native("print", {0}, {})
        .constant(integer(40), 2)
        .binary(BinaryOperator::Ge, 0, 2, 3)
        .add(Opcode::BranchIfNot, 0, {3}, {}, 5)
        .native("stop", {0}, {})
        .finish({0});
    std::ostringstream output;
    Scheduler scheduler(threads);
    ExecutionContext context;
    context.output = &output;
    context.scheduler = &scheduler;
    Executor executor(loop.image, nullptr, context);
    EXPECT_EQ(errorOf([&] { executor.run(); }), "40");
    EXPECT_EQ(output.str().substr(output.str().size() - 6), "39\n40\n");
  }
}

TEST(ParallelLoop, drawsTheSameNumbersOnAnyThreads) {
  std::string first;
  for (int threads : threadCounts) {
    LoopImage loop(200, matrix(1, 1, {0}), {0, 0, true, {Merge::Last}, {}});
    loop.body(6)
        .constant(integer(1000), 2)
        .constant(integer(1), 3)
        .constant(false, 4)
        .constant(Value(), 5)
        .native("sample", {2, 3, 4, 5}, {1})
        .native("print", {1}, {})
        .finish({1});
    std::string output = runImage(loop.image, nullptr, threads).output;
    if (first.empty())
      first = output;
    EXPECT_EQ(output, first);
  }
  EXPECT_NE(first.substr(0, 20), first.substr(20, 20)); // iterations draw different numbers
}

TEST(ParallelLoop, mergesLists) {
  for (int threads : threadCounts) {
    auto list = std::make_shared<List>();
    list->elements.resize(100, Value(int64_t{0}));
    LoopImage loop(100, Value(std::shared_ptr<const List>(list)), {0, 0, true, {Merge::Cells}, {}});
    loop.body(4)
        .constant(Value(), 2)
        .binary(BinaryOperator::Mul, 0, 0, 3)
        .native("list_insert", {1, 3, 0, 2}, {1}, 1)
        .finish({1});
    std::string output = runImage(loop.image, nullptr, threads).output;
    EXPECT_NE(output.find("10000"), std::string::npos) << output;
    EXPECT_NE(output.find("2500"), std::string::npos) << output;
  }
}

TEST(CellUpdates, joinNeighbours) {
  ArrayReference matrix = Array::filled({4, 4}, 1);
  CellUpdates updates;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 4; ++j)
      updates.note({i, i + 1, j, j + 1}, *matrix);
  EXPECT_LE(updates.regions().size(), 2u);
  ArrayPointer into = Array::filled({4, 4}, 0);
  copyRegions(updates.regions(), matrix, *into);
  EXPECT_EQ(into->countNonZeros(), 16);
}

TEST(CellUpdates, leaveOutWritesToTheTarget) {
  ArrayReference matrix = Array::filled({4, 4}, 1);
  CellUpdates updates;
  updates.setTarget(matrix.get());
  updates.note({0, 1, 0, 1}, *matrix);
  EXPECT_TRUE(updates.regions().empty());
  updates.note({0, 1, 0, 1}, *matrix->copy());
  EXPECT_EQ(updates.regions().size(), 1u);
}
