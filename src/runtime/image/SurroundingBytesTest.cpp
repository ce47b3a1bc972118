#include "runtime/image/SurroundingBytes.h"
#include "runtime/image/ImageTesting.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

// Slots 0 to 3 hold arrays of 1, 10, 100 and 1000 doubles.
//
//   0        block 0 (0)
//   1        loop-test 4 -> 7
//   2          loop-test 4 -> 5
//   3            block 1 (1)
//   4            jump -> 2
//   5          block 2 (2, 1)
//   6          jump -> 1
class SurroundingBytes : public ::testing::Test {
protected:
  SurroundingBytes() {
    FunctionBuilder(image_, "main", 0, 0, 6)
        .add(Opcode::Block, 0, {0}, {5})
        .add(Opcode::LoopTest, 0, {4, 4, 4}, {}, 7)
        .add(Opcode::LoopTest, 0, {4, 4, 4}, {}, 5)
        .add(Opcode::Block, 1, {1}, {5})
        .add(Opcode::Jump, 0, {}, {}, 2)
        .add(Opcode::Block, 2, {2, 1}, {5})
        .add(Opcode::Jump, 0, {}, {}, 1)
        .finish();
    for (int64_t cells : {1, 10, 100, 1000})
      slots_.emplace_back(Array::filled({cells, 1}, 1.0));
    slots_.resize(6);
  }
  int64_t cellsAround(int instruction, std::vector<Value> arguments = {}) {
    const ImageFunction &function = image_.functions.front();
    return surroundingBytes({function, function.instructions[instruction], slots_.data()},
                            arguments) /
           static_cast<int64_t>(sizeof(double));
  }

  Image image_ = newImage();
  std::vector<Value> slots_;
};

TEST_F(SurroundingBytes, areOfAllArraysOutsideOfLoops) { EXPECT_EQ(cellsAround(0), 1111); }

TEST_F(SurroundingBytes, areOfArraysThatTheInnermostLoopNames) {
  EXPECT_EQ(cellsAround(3), 10);
  EXPECT_EQ(cellsAround(5), 110);
}

TEST_F(SurroundingBytes, countAnArrayOnce) {
  EXPECT_EQ(cellsAround(3, {slots_[1]}), 10);
  Value moved = std::move(slots_[2]);
  slots_[2] = Value();
  EXPECT_EQ(cellsAround(5, {moved}), 110) << "of the block's arguments, too";
}

} // namespace
