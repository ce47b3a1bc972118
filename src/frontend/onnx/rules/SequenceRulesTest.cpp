// What becomes of sequences and optionals; that results are right is shown by `./dev test onnx`.
#include "frontend/onnx/testing/ModelImport.h"

using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

class SequenceRulesTest : public ModelImport {
protected:
  static Message number(const std::string &name, int64_t value) {
    return rawTensor<int64_t>(name, DataType::Int64, {}, {value});
  }
  // Nodes that go on from the sequence "s" of "a" and "b", to "y".
  static Message onSequence(std::vector<Message> nodes) {
    nodes.insert(nodes.begin(), node({"SequenceConstruct", {"a", "b"}, {"s"}}));
    return graph(
        {.nodes = std::move(nodes),
         .initializers = {number("one", 1), number("two", 2), number("last", -1)},
         .inputs = {valueInfo("a", DataType::Float, {2}), valueInfo("b", DataType::Float, {3}),
                    valueInfo("c", DataType::Bool, {})},
         .outputs = {valueInfo("y")}});
  }
  mlir::Value result(unsigned number) {
    return imported_->module->getBody()->front().getRegion(0).front().getTerminator()->getOperand(
        number);
  }
  mlir::Value parameter(unsigned number) {
    return imported_->module->getBody()->front().getRegion(0).front().getArgument(number);
  }
};

TEST_F(SequenceRulesTest, leavesOnlyTensorsInTheProgram) {
  ASSERT_TRUE(import(onSequence({node({"SequenceInsert", {"s", "b", "one"}, {"t"}}), // a b b
                                 node({"SequenceErase", {"t"}, {"u"}}),              // a b
                                 node({"SequenceAt", {"u", "last"}, {"y"}})})));
  EXPECT_EQ(result(0), parameter(1));
  ASSERT_TRUE(import(onSequence({node({"SequenceInsert", {"s", "b", "one"}, {"y"}})})));
  ASSERT_EQ(imported_->results.size(), 3U);
  EXPECT_EQ(result(0), parameter(0));
  EXPECT_EQ(result(2), parameter(1));
}

TEST_F(SequenceRulesTest, checksPlaces) {
  EXPECT_FALSE(import(onSequence({node({"SequenceAt", {"s", "two"}, {"y"}})})));
  EXPECT_EQ(problems_.front(),
            "model.onnx: node 1 (SequenceAt, opset 17): place 2 of a sequence of 2 elements");
  EXPECT_FALSE(import(onSequence({node({"SequenceAt", {"a", "one"}, {"y"}})})));
  EXPECT_EQ(problems_.front(), "model.onnx: node 1 (SequenceAt, opset 17): operand 1 is a tensor, "
                               "where a sequence is expected");
  EXPECT_FALSE(import(onSequence({node({"Relu", {"s"}, {"y"}})})));
  EXPECT_EQ(
      problems_.front(),
      "model.onnx: node 1 (Relu, opset 17): operand 1 is a sequence, where a tensor is expected");
}

TEST_F(SequenceRulesTest, joinsSequencesOfBranches) {
  auto branch = [](const std::string &first, const std::string &second) {
    return graph({.nodes = {node({"SequenceConstruct", {first, second}, {"r"}})},
                  .outputs = {valueInfo("r")}});
  };
  Message choice = node({"If",
                         {"c"},
                         {"t"},
                         {graphAttribute("then_branch", branch("a", "b")),
                          graphAttribute("else_branch", branch("b", "a"))}});
  ASSERT_TRUE(import(onSequence({choice, node({"SequenceAt", {"t", "one"}, {"y"}})})));
  EXPECT_EQ(count("tok.if"), 1);
}

TEST_F(SequenceRulesTest, knowsWhetherOptionalsHaveValues) {
  auto chosen = [&](const Names &value) {
    Message relu = graph({.nodes = {node({"Relu", {"a"}, {"r"}})}, .outputs = {valueInfo("r")}}),
            guess = graph({.nodes = {node({"Exp", {"a"}, {"r"}})}, .outputs = {valueInfo("r")}});
    EXPECT_TRUE(import(onSequence(
        {node({"Optional", value, {"o"}}), node({"OptionalHasElement", {"o"}, {"has"}}),
         node({"If",
               {"has"},
               {"y"},
               {graphAttribute("then_branch", relu), graphAttribute("else_branch", guess)}})})));
    EXPECT_EQ(count("tok.if"), 0);
    return count("tok.binary") == 1; // Relu is a maximum
  };
  EXPECT_TRUE(chosen({"b"}));
  EXPECT_FALSE(chosen({}));
  EXPECT_FALSE(import(
      onSequence({node({"Optional", {}, {"o"}}), node({"OptionalGetElement", {"o"}, {"y"}})})));
  EXPECT_EQ(problems_.front(),
            "model.onnx: node 2 (OptionalGetElement, opset 17): the optional has no value");
}

} // namespace
