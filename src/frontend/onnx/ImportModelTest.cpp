// What becomes of models; that results are right is shown by `./dev test onnx`.
#include "frontend/onnx/file/TensorReader.h"
#include "frontend/onnx/testing/ModelImport.h"

using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

using ImportModelTest = ModelImport;

TEST_F(ImportModelTest, leavesNoArraysOfSizes) {
  std::string zero = rawTensor<int64_t>("zero", DataType::Int64, {1}, {0}),
              rest = rawTensor<int64_t>("rest", DataType::Int64, {1}, {-1});
  ASSERT_TRUE(import(graph(
      {.nodes = {node({"Shape", {"x"}, {"sizes"}}), node({"Gather", {"sizes", "zero"}, {"first"}}),
                 node({"Concat", {"first", "rest"}, {"wanted"}, {intAttribute("axis", 0)}}),
                 node({"Reshape", {"x", "wanted"}, {"y"}})},
       .initializers = {zero, rest},
       .inputs = {valueInfo("x", DataType::Float, {2, 3, 4})},
       .outputs = {valueInfo("y", DataType::Float, {2, 12})}})));
  EXPECT_EQ(count("take") + count("join") + count("tok.fill"), 0);
  EXPECT_EQ(count("tok.view"), 1);
}

TEST_F(ImportModelTest, asksForInputsThatDecideRanks) {
  std::string sum = graph(
      {.nodes = {node({"ReduceSum", {"x", "axes"}, {"y"}})},
       .inputs = {valueInfo("x", DataType::Float, {2, 3}), valueInfo("axes", DataType::Int64, {1})},
       .outputs = {valueInfo("y", DataType::Float, {1, 3})}});
  EXPECT_FALSE(import(sum));
  EXPECT_TRUE(known_.wanted.contains("axes"));
  EXPECT_EQ(problems_.front(), "model.onnx: node 0 (ReduceSum, opset 17): axes that are not "
                               "numbers of the model is not supported yet");
  std::string axes = rawTensor<int64_t>("axes", DataType::Int64, {1}, {0});
  Tensor given = readTensor({"axes.pb", axes});
  known_.values["axes"] = &given;
  ASSERT_TRUE(import(sum));
  EXPECT_EQ(imported_->inputs.size(), 1U);
}

TEST_F(ImportModelTest, reportsEveryNodeThatItCantImport) {
  EXPECT_FALSE(
      import(graph({.nodes = {node({"Relu", {"x"}, {"a"}}), node({"Guess", {"a"}, {"b"}}),
                              node({"Relu", {"b"}, {"c"}}), node({"Wonder", {"a"}, {"y"}})},
                    .inputs = {valueInfo("x", DataType::Float, {2})},
                    .outputs = {valueInfo("y", DataType::Float, {2})}})));
  ASSERT_EQ(problems_.size(), 2U);
  EXPECT_EQ(problems_[0],
            "model.onnx: node 1 (Guess, opset 17): the operator 'Guess' is not supported yet");
  EXPECT_EQ(problems_[1],
            "model.onnx: node 3 (Wonder, opset 17): the operator 'Wonder' is not supported yet");
}

TEST_F(ImportModelTest, passesLargeWeightsAsArguments) {
  std::vector<float> cells(100, 0.5F);
  ASSERT_TRUE(import(
      graph({.nodes = {node({"MatMul", {"x", "w"}, {"a"}}), node({"Add", {"a", "b"}, {"y"}})},
             .initializers = {rawTensor("w", DataType::Float, {10, 10}, cells),
                              rawTensor("b", DataType::Float, {10}, std::vector<float>(10, 1.0F))},
             .inputs = {valueInfo("x", DataType::Float, {2, 10})},
             .outputs = {valueInfo("y", DataType::Float, {2, 10})}})));
  ASSERT_EQ(imported_->weights.size(), 1U);
  EXPECT_EQ(imported_->weights.front()->name, "w");
  EXPECT_EQ(count("tok.literal"), 1);
}

} // namespace
