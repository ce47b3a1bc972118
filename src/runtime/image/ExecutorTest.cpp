#include "runtime/image/ImageTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

TEST(Executor, runsALoop) {
  Image image = newImage();
  FunctionBuilder(image, "main", 0, 0, 5)
      .constant(integer(1), 0)                    // counter
      .constant(integer(1000), 1)                 // to
      .constant(integer(1), 2)                    // step
      .constant(integer(0), 3)                    // sum
      .add(Opcode::LoopTest, 0, {0, 1, 2}, {}, 8) // 4
      .binary(BinaryOperator::Add, 3, 0, 3)       // 5
      .binary(BinaryOperator::Add, 0, 2, 0)       // 6
      .add(Opcode::Jump, 0, {}, {}, 4)            // 7
      .native("print", {3}, {})                   // 8
      .finish();
  Outcome outcome = runImage(image);
  EXPECT_EQ(outcome.output, "500500\n");
  EXPECT_EQ(outcome.arrays, 0);
}

TEST(Executor, branchesAndSelects) {
  Image image = newImage();
  FunctionBuilder(image, "main", 0, 0, 4)
      .constant(false, 0)
      .constant(1.5, 1)
      .constant("other", 2)
      .add(Opcode::IfElse, 0, {0, 1, 2}, {3})
      .native("print", {3}, {})
      .add(Opcode::BranchIfNot, 0, {0}, {}, 7)
      .native("print", {1}, {})
      .native("print", {0}, {})
      .finish();
  EXPECT_EQ(runImage(image).output, "other\nFALSE\n");
}

// f(n) = n < 1 ? 0 : n + f(n - 1)
static Image recursiveImage(Value argument) {
  Image image = newImage();
  FunctionBuilder(image, "main", 0, 0, 2)
      .constant(std::move(argument), 0)
      .add(Opcode::Call, 1, {0}, {1}, 0, 1)
      .native("print", {1}, {})
      .finish();
  FunctionBuilder(image, "f", 1, 1, 5)
      .constant(integer(1), 1)
      .constant(integer(0), 2)
      .binary(BinaryOperator::Lt, 0, 1, 3)
      .add(Opcode::BranchIfNot, 0, {3}, {}, 5)
      .add(Opcode::Return, 0, {2}, {})
      .binary(BinaryOperator::Sub, 0, 1, 3)
      .add(Opcode::Call, 1, {3}, {4})
      .binary(BinaryOperator::Add, 0, 4, 4)
      .finish({4});
  return image;
}

TEST(Executor, calls) { EXPECT_EQ(runImage(recursiveImage(integer(100))).output, "5050\n"); }

TEST(Executor, limitsRecursion) {
  Image image = recursiveImage(integer(1000000));
  std::string message = errorOf([&] { runImage(image); });
  EXPECT_NE(message.find("recursion too deep: function 'f'"), std::string::npos) << message;
}

TEST(Executor, placesErrorsAndCalls) {
  Image image = recursiveImage("text");
  image.functions[1].instructions[0].place = 0;
  try {
    runImage(image);
    FAIL();
  } catch (const Error &error) {
    // "text" < 1 compares strings, so only the subtraction fails.
    EXPECT_EQ(error.message(), "cannot compute \"text\" - 1: the operands must be numbers");
    EXPECT_EQ(error.place().line, 6);
    ASSERT_EQ(error.callStack().size(), 1u);
    EXPECT_EQ(error.callStack()[0].line, 2);
  }
}

TEST(Executor, updatesSoleOwnersInPlace) {
  Image image = newImage();
  FunctionBuilder(image, "main", 0, 1, 6)
      .constant(integer(2), 0)
      .constant(0.5, 1)
      .native("fill", {1, 0, 0}, {2})
      .add(Opcode::Move, 0, {2}, {3})
      .constant(integer(1), 4)
      .native("insert", {3, 1, 4, 4, 4, 4}, {3}, 1)
      .native("print", {3}, {})
      .add(Opcode::Rows, 0, {3}, {5})
      .native("print", {5}, {})
      .add(Opcode::Free, 0, {3}, {})
      .finish();
  Outcome outcome = runImage(image);
  EXPECT_EQ(outcome.output, "0.500 0.500\n0.500 0.500\n\n2\n");
  EXPECT_EQ(outcome.arrays, 2);
}

TEST(Executor, consumesTheLastOfEqualOperands) {
  Image image = newImage();
  FunctionBuilder(image, "main", 0, 0, 3)
      .constant(matrix(1, 1, {3}), 0)
      .native("cbind", {0, 0}, {1}, 2)
      .native("print", {1}, {})
      .finish();
  EXPECT_EQ(runImage(image).output, "3.000 3.000\n\n");
}

TEST(Executor, failsOnUnassignedVariablesWhenReadOnly) {
  Image image = newImage();
  FunctionBuilder(image, "main", 0, 0, 2)
      .constant(Undefined{"y"}, 0)
      .add(Opcode::Copy, 0, {0}, {1})
      .native("print", {1}, {})
      .finish();
  EXPECT_EQ(errorOf([&] { runImage(image); }),
            "variable 'y' has no value here: it was not assigned on the way taken");
}

TEST(Executor, runsBlocksByTheirPlans) {
  struct Provider : BlockProvider {
    std::shared_ptr<Image> plan = std::make_shared<Image>(newImage());
    int asked = 0;
    std::shared_ptr<const Image> planFor(int32_t block, std::span<Value> inputs,
                                         const BlockPlace &) override {
      EXPECT_EQ(block, 7);
      EXPECT_EQ(inputs.size(), 1u);
      ++asked;
      return plan;
    }
  } provider;
  FunctionBuilder(*provider.plan, "block", 1, 1, 2)
      .binary(BinaryOperator::Mul, 0, 0, 1)
      .finish({1});
  Image image = newImage();
  FunctionBuilder(image, "main", 0, 0, 2)
      .constant(3.0, 0)
      .add(Opcode::Block, 7, {0}, {1})
      .native("print", {1}, {})
      .finish();
  EXPECT_EQ(runImage(image, &provider).output, "9.0\n");
  EXPECT_EQ(provider.asked, 1);
}

TEST(Image, isPrintable) {
  Image image = recursiveImage(integer(3));
  std::ostringstream out;
  print(image, out);
  EXPECT_NE(out.str().find("function main: 2 slots\n"), std::string::npos);
  EXPECT_NE(out.str().find("s0 = constant 3"), std::string::npos);
  EXPECT_NE(out.str().find("s4 = call f(s3)"), std::string::npos);
  EXPECT_NE(out.str().find("branch-if-not s3 -> 5"), std::string::npos);
  EXPECT_NE(out.str().find("@ test.dml:1:1"), std::string::npos);
}
