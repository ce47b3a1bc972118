// What becomes of If, Loop and Scan; that results are right is shown by `./dev test onnx`.
#include "frontend/onnx/file/TensorReader.h"
#include "frontend/onnx/testing/ModelImport.h"

using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

class ControlFlowRulesTest : public ModelImport {
protected:
  static Message branchOf(const Message &node) {
    return graph({.nodes = {node}, .outputs = {valueInfo("r")}});
  }
  static Message ifNode(const std::string &condition, const Message &then,
                        const Message &otherwise) {
    return node({"If",
                 {condition},
                 {"y"},
                 {graphAttribute("then_branch", then), graphAttribute("else_branch", otherwise)}});
  }
  // Carries "v"; gives "o" in each iteration.
  static Message loopNode(const std::string &count, const std::string &condition,
                          const std::vector<Message> &nodes, const std::string &goesOn = "c") {
    Message body = graph({.nodes = nodes,
                          .inputs = {valueInfo("i", DataType::Int64, {}),
                                     valueInfo("c", DataType::Bool, {}), valueInfo("v")},
                          .outputs = {valueInfo(goesOn), valueInfo("next"), valueInfo("o")}});
    return node({"Loop", {count, condition, "x"}, {"y", "all"}, {graphAttribute("body", body)}});
  }
  static Message modelOf(const std::vector<Message> &nodes,
                         std::vector<Message> initializers = {}) {
    return graph(
        {.nodes = nodes,
         .initializers = std::move(initializers),
         .inputs = {valueInfo("x", DataType::Float, {2, 3}), valueInfo("n", DataType::Int64, {}),
                    valueInfo("p", DataType::Bool, {})},
         .outputs = {valueInfo("y")}});
  }
  // A value for an input.
  void give(const std::string &name, const Message &tensor) {
    given_.push_back(std::make_unique<std::string>(tensor));
    values_.push_back(std::make_unique<Tensor>(readTensor({name, *given_.back()})));
    known_.values[name] = values_.back().get();
  }

  std::vector<std::unique_ptr<std::string>> given_;
  std::vector<std::unique_ptr<Tensor>> values_;
};

TEST_F(ControlFlowRulesTest, writesOnlyTheBranchThatIsKnownToBeTaken) {
  Message yes = rawTensor<uint8_t>("yes", DataType::Bool, {}, {1});
  Message relu = branchOf(node({"Relu", {"x"}, {"r"}})),
          guess = branchOf(node({"Guess", {"x"}, {"r"}}));
  ASSERT_TRUE(import(modelOf({node({"Not", {"yes"}, {"no"}}), ifNode("no", guess, relu)}, {yes})));
  EXPECT_EQ(count("tok.if"), 0);
  EXPECT_FALSE(import(modelOf({ifNode("p", guess, relu)})));
  EXPECT_EQ(problems_.front(), "model.onnx: node 0 (If, opset 17), graph 'then_branch', node 0 "
                               "(Guess, opset 17): the operator 'Guess' is not supported yet");
}

// The shapes of both are known, cell by cell, and would be joined as integers of 64 bits.
TEST_F(ControlFlowRulesTest, branchesKeepShortIntegers) {
  auto shortShape = [](const char *of) {
    return graph({.nodes = {node({"Shape", {of}, {"s"}}),
                            node({"Cast", {"s"}, {"r"}, {intAttribute("to", 6)}})},
                  .outputs = {valueInfo("r")}});
  };
  Message two = rawTensor<int32_t>("two", DataType::Int32, {2}, {2, 2});
  Message choice = ifNode("p", shortShape("x"), shortShape("t"));
  ASSERT_TRUE(import(graph(
      {.nodes = {node({"Transpose", {"x"}, {"t"}}), choice, node({"Add", {"y", "two"}, {"sum"}})},
       .initializers = {two},
       .inputs = {valueInfo("x", DataType::Float, {2, 3}), valueInfo("p", DataType::Bool, {})},
       .outputs = {valueInfo("sum", DataType::Int32, {2})}})))
      << problems_.front();
}

// As a script's: no kernel is launched for one cell.
TEST_F(ControlFlowRulesTest, doublesWithoutDimensionsAreScalars) {
  Message body =
      graph({.nodes = {node({"Mul", {"x", "s"}, {"scaled"}}),
                       node({"ReduceSum", {"scaled"}, {"next"}, {intAttribute("keepdims", 0)}}),
                       node({"Less", {"next", "limit"}, {"goesOn"}})},
             .inputs = {valueInfo("i", DataType::Int64, {}), valueInfo("c", DataType::Bool, {}),
                        valueInfo("s", DataType::Double, {})},
             .outputs = {valueInfo("goesOn"), valueInfo("next")}});
  mlir::ModuleOp module = import(graph(
      {.nodes = {node({"ReduceSum", {"x"}, {"all"}, {intAttribute("keepdims", 0)}}),
                 node({"Loop", {"", "p", "all"}, {"y"}, {graphAttribute("body", body)}})},
       .initializers = {rawTensor<double>("limit", DataType::Double, {}, {9})},
       .inputs = {valueInfo("x", DataType::Double, {2, 3}), valueInfo("p", DataType::Bool, {})},
       .outputs = {valueInfo("y", DataType::Double, {})}}));
  ASSERT_TRUE(module) << problems_.front();
  module.walk([](tokamak::tok::WhileOp loop) {
    EXPECT_EQ(llvm::count_if(loop.getOperandTypes(), [](mlir::Type type) { return type.isF64(); }),
              1);
  });
  module.walk([](tokamak::tok::BinaryOp operation) {
    if (operation.getKind() == tokamak::BinaryOperator::Mul) {
      EXPECT_TRUE(operation.getRhs().getType().isF64());
    }
    if (operation.getKind() == tokamak::BinaryOperator::Lt) {
      EXPECT_TRUE(operation.getType().isInteger(1));
    }
  });
}

TEST_F(ControlFlowRulesTest, asksForInputsThatDecideBetweenRanks) {
  Message flat = branchOf(node({"ReduceMax", {"x"}, {"r"}, {intAttribute("keepdims", 0)}})),
          whole = branchOf(node({"Relu", {"x"}, {"r"}}));
  Message three = rawTensor<int64_t>("three", DataType::Int64, {}, {3});
  Message choice =
      modelOf({node({"Equal", {"n", "three"}, {"is"}}), ifNode("is", flat, whole)}, {three});
  EXPECT_FALSE(import(choice));
  EXPECT_EQ(problems_.front(), "model.onnx: node 1 (If, opset 17): If whose branches give f32 of 0 "
                               "dimensions and f32 of 2 dimensions is not supported yet");
  EXPECT_TRUE(known_.wanted.contains("n"));
  give("n", rawTensor<int64_t>("n", DataType::Int64, {}, {3}));
  ASSERT_TRUE(import(choice));
  EXPECT_EQ(count("tok.if"), 0);
}

TEST_F(ControlFlowRulesTest, keepsSizesKnownThatBranchesGive) {
  Message shape = branchOf(node({"Shape", {"x"}, {"r"}}));
  Message transposed =
      graph({.nodes = {node({"Transpose", {"x"}, {"t"}}), node({"Shape", {"t"}, {"r"}})},
             .outputs = {valueInfo("r")}});
  Message choice =
      node({"If",
            {"p"},
            {"sizes"},
            {graphAttribute("then_branch", shape), graphAttribute("else_branch", transposed)}});
  ASSERT_TRUE(import(modelOf({choice, node({"Reshape", {"x", "sizes"}, {"y"}})})));
  EXPECT_EQ(count("tok.if"), 1);
}

TEST_F(ControlFlowRulesTest, countsIterationsWhereOnlyTheirNumberEndsALoop) {
  std::vector<Message> nodes = {node({"Relu", {"v"}, {"next"}}), node({"Exp", {"v"}, {"o"}})};
  ASSERT_TRUE(import(modelOf({loopNode("n", "", nodes)})));
  EXPECT_EQ(count("tok.for"), 1);
  ASSERT_TRUE(import(modelOf({loopNode("n", "p", nodes)})));
  EXPECT_EQ(count("tok.while"), 1);
  nodes.push_back(node({"Less", {"i", "n"}, {"goes"}}));
  ASSERT_TRUE(import(modelOf({loopNode("n", "", nodes, "goes")})));
  EXPECT_EQ(count("tok.while"), 1);
}

TEST_F(ControlFlowRulesTest, refusesLoopsThatItCantType) {
  auto problem = [&](const std::string &count, const Message &next) {
    EXPECT_FALSE(import(modelOf({loopNode(count, "", {next, node({"Exp", {"v"}, {"o"}})})})));
    return problems_.front();
  };
  EXPECT_EQ(problem("n", node({"ReduceMax", {"v"}, {"next"}, {intAttribute("keepdims", 0)}})),
            "model.onnx: node 0 (Loop, opset 17): a loop that carries f32 of 2 dimensions in one "
            "iteration and f32 of 0 dimensions in the next is not supported yet");
  EXPECT_EQ(problem("", node({"Relu", {"v"}, {"next"}})),
            "model.onnx: node 0 (Loop, opset 17): the loop never ends: it has neither a number of "
            "iterations nor a condition");
  EXPECT_EQ(problem("n", node({"SequenceConstruct", {"v"}, {"next"}})),
            "model.onnx: node 0 (Loop, opset 17): a loop that carries a tensor in one iteration "
            "and a sequence in another is not supported yet");
}

TEST_F(ControlFlowRulesTest, goesOnBehindWhatItRefuses) {
  std::vector<Message> guesses = {node({"Guess", {"v"}, {"next"}}), node({"Exp", {"v"}, {"o"}})};
  Message guess = branchOf(node({"Guess", {"x"}, {"r"}}));
  EXPECT_FALSE(import(
      modelOf({loopNode("n", "", guesses),
               node({"If",
                     {"p"},
                     {"z"},
                     {graphAttribute("then_branch", guess), graphAttribute("else_branch", guess)}}),
               node({"Exp", {"x"}, {"e"}}), node({"Wonder", {"e"}, {"w"}})})));
  ASSERT_EQ(problems_.size(), 4U);
  EXPECT_EQ(problems_[0], "model.onnx: node 0 (Loop, opset 17), graph 'body', node 0 (Guess, opset "
                          "17): the operator 'Guess' is not supported yet");
  EXPECT_EQ(problems_[3],
            "model.onnx: node 3 (Wonder, opset 17): the operator 'Wonder' is not supported yet");
}

TEST_F(ControlFlowRulesTest, lendsNoValueOfABranchToTheGraphAroundIt) {
  // Both branches and the node behind them want the sizes as an array, which each writes for itself.
  Message branch = branchOf(node({"Gather", {"sizes", "n"}, {"r"}}));
  ASSERT_TRUE(import(modelOf(
      {node({"Shape", {"x"}, {"sizes"}}),
       node({"If",
             {"p"},
             {"a"},
             {graphAttribute("then_branch", branch), graphAttribute("else_branch", branch)}}),
       node({"Gather", {"sizes", "n"}, {"b"}}), node({"Add", {"a", "b"}, {"y"}})})));
}

TEST_F(ControlFlowRulesTest, writesOutLoopsThatCarrySequences) {
  Message body = graph({.nodes = {node({"SequenceInsert", {"s", "x"}, {"t"}})},
                        .inputs = {valueInfo("i", DataType::Int64, {}),
                                   valueInfo("c", DataType::Bool, {}), valueInfo("s")},
                        .outputs = {valueInfo("c"), valueInfo("t")}});
  Message sequences = graph(
      {.nodes = {node({"SequenceEmpty", {}, {"none"}}),
                 node({"Loop", {"n", "", "none"}, {"all"}, {graphAttribute("body", body)}}),
                 node({"ConcatFromSequence", {"all"}, {"y"}, {intAttribute("axis", 0)}})},
       .inputs = {valueInfo("x", DataType::Float, {2, 3}), valueInfo("n", DataType::Int64, {})},
       .outputs = {valueInfo("y")}});
  EXPECT_FALSE(import(sequences));
  EXPECT_EQ(problems_.front(),
            "model.onnx: node 1 (Loop, opset 17): Loop with sequences whose number of iterations "
            "is not a number of the model is not supported yet");
  give("n", rawTensor<int64_t>("n", DataType::Int64, {}, {3}));
  ASSERT_TRUE(import(sequences));
  EXPECT_EQ(count("tok.for") + count("tok.while"), 0);
  EXPECT_EQ(count("join"), 1);
  // As many iterations as a file of some bytes can ask for end, too.
  give("n", rawTensor<int64_t>("n", DataType::Int64, {}, {int64_t{1} << 62}));
  EXPECT_FALSE(import(sequences));
  EXPECT_NE(problems_.front().find("the nodes are too many when calls and loops are written out"),
            std::string::npos)
      << problems_.front();
}

} // namespace
