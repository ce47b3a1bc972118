// Functions of models and graphs in attributes: what they see, and where their mistakes are reported.
#include "frontend/onnx/testing/ModelImport.h"

using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

class GraphImporterTest : public ModelImport {
protected:
  static ModelParts calling(const std::vector<Message> &nodes, std::vector<Message> functions) {
    return {.graph = graph({.nodes = nodes,
                            .inputs = {valueInfo("x", DataType::Float, {2, 3})},
                            .outputs = {valueInfo("y")}}),
            .functions = std::move(functions),
            .operatorSets = {{"", 17}, {"local", 1}}};
  }
  static Message call(const std::string &function, Names inputs, Names outputs,
                      std::vector<Message> attributes = {}) {
    return node({.opType = function,
                 .inputs = std::move(inputs),
                 .outputs = std::move(outputs),
                 .attributes = std::move(attributes),
                 .domain = "local"});
  }
  static Message floatAttribute(const std::string &name, float value) {
    return attribute(name, Attribute::Kind::Float, singleField(2, value));
  }

  bool hasConstant(double value) {
    bool found = false;
    imported_->module->walk([&](tokamak::tok::ConstantOp constant) {
      auto number = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue());
      found |= number && number.getValueAsDouble() == value;
    });
    return found;
  }
};

TEST_F(GraphImporterTest, writesNestedFunctionsInPlaceOfCalls) {
  Message inner = function({.name = "Inner",
                            .inputs = {"x"},
                            .outputs = {"y"},
                            .nodes = {node({"Exp", {"x"}, {"t"}}), node({"Tanh", {"t"}, {"y"}})}}),
          middle = function({.name = "Middle",
                             .inputs = {"a"},
                             .outputs = {"b"},
                             .nodes = {call("Inner", {"a"}, {"t"}), call("Inner", {"t"}, {"b"})}}),
          outer = function({.name = "Outer",
                            .inputs = {"t"},
                            .outputs = {"x"},
                            .nodes = {call("Middle", {"t"}, {"x"})}});
  ASSERT_TRUE(import(
      calling({node({"Abs", {"x"}, {"t"}}), call("Outer", {"t"}, {"y"})}, {inner, middle, outer})));
  EXPECT_EQ(count("tok.unary"), 5);
  // What a function writes is at the place of the outermost call.
  imported_->module->walk([&](tokamak::tok::UnaryOp op) {
    bool isAbs = op.getKind() == tokamak::UnaryOperator::Abs;
    EXPECT_EQ(mlir::cast<mlir::FileLineColLoc>(op.getLoc()).getLine(), isAbs ? 1U : 2U);
  });
}

TEST_F(GraphImporterTest, givesAttributesOfCallsToTheirNodes) {
  Message inner = function(
              {.name = "Inner",
               .inputs = {"x"},
               .outputs = {"y"},
               .nodes = {node({"Elu",
                               {"x"},
                               {"t"},
                               {referenceAttribute("alpha", Attribute::Kind::Float, "slope")}}),
                         node({"LeakyRelu",
                               {"t"},
                               {"y"},
                               {referenceAttribute("alpha", Attribute::Kind::Float, "other")}})},
               .attributes = {"slope"},
               .defaults = {floatAttribute("other", 0.125F)}}),
          outer = function(
              {.name = "Outer",
               .inputs = {"x"},
               .outputs = {"y"},
               .nodes = {call("Inner", {"x"}, {"y"},
                              {referenceAttribute("slope", Attribute::Kind::Float, "alpha")})},
               .attributes = {"alpha"}});
  ASSERT_TRUE(import(
      calling({call("Outer", {"x"}, {"y"}, {floatAttribute("alpha", 0.75F)})}, {inner, outer})));
  EXPECT_TRUE(hasConstant(0.75));
  EXPECT_TRUE(hasConstant(0.125));
  // An attribute that the call leaves out is left out by the node, too.
  ASSERT_TRUE(import(calling({call("Outer", {"x"}, {"y"})}, {inner, outer})));
  EXPECT_TRUE(hasConstant(1));
  EXPECT_FALSE(hasConstant(0.75));
}

TEST_F(GraphImporterTest, leavesOutOperandsThatCallsLeaveOut) {
  Message clip = function(
      {.name = "Limit",
       .inputs = {"x", "low", "high"},
       .outputs = {"y", "z"},
       .nodes = {node({"Clip", {"x", "low", "high"}, {"y"}}), node({"Exp", {"x"}, {"z"}})}});
  ASSERT_TRUE(import(calling({call("Limit", {"x", "", "x"}, {"y"})}, {clip})));
  EXPECT_EQ(count("tok.binary"), 1); // no maximum
}

TEST_F(GraphImporterTest, takesTheVersionsThatAFunctionImports) {
  // Bounds are attributes in version 6, operands since 11.
  Message clip = function({.name = "Limit",
                           .inputs = {"x"},
                           .outputs = {"y"},
                           .nodes = {node({"Clip", {"x"}, {"y"}, {floatAttribute("max", 6)}})},
                           .operatorSets = {{"", 9}}});
  ASSERT_TRUE(import(calling({call("Limit", {"x"}, {"y"})}, {clip})));
  EXPECT_TRUE(hasConstant(6));
}

TEST_F(GraphImporterTest, showsAGraphGivenByACallTheNamesOfTheCall) {
  Message branch =
      graph({.nodes = {node({"Add", {"x", "own"}, {"r"}})}, .outputs = {valueInfo("r")}});
  // "own" is another value in the function.
  Message choose = function(
      {.name = "Choose",
       .inputs = {"c", "own"},
       .outputs = {"y"},
       .nodes = {node({"If",
                       {"c"},
                       {"y"},
                       {referenceAttribute("then_branch", Attribute::Kind::Graph, "body"),
                        referenceAttribute("else_branch", Attribute::Kind::Graph, "body")}})},
       .attributes = {"body"}});
  ASSERT_TRUE(import(calling({node({"Exp", {"x"}, {"own"}}),
                              node({"ReduceMax", {"x"}, {"m"}, {intAttribute("keepdims", 0)}}),
                              node({"Greater", {"m", "m"}, {"c"}}),
                              call("Choose", {"c", "m"}, {"y"}, {graphAttribute("body", branch)})},
                             {choose})));
  int sums = 0;
  imported_->module->walk([&](tokamak::tok::BinaryOp op) {
    if (op.getKind() != tokamak::BinaryOperator::Add)
      return;
    ++sums;
    EXPECT_TRUE(op.getRhs().getDefiningOp<tokamak::tok::UnaryOp>());
  });
  EXPECT_EQ(sums, 2);
}

TEST_F(GraphImporterTest, namesThePathToAMistake) {
  Message inner = function({.name = "Inner",
                            .inputs = {"x"},
                            .outputs = {"y"},
                            .nodes = {node({"Guess", {"x"}, {"y"}})}}),
          outer = function({.name = "Outer",
                            .inputs = {"x"},
                            .outputs = {"y"},
                            .nodes = {call("Inner", {"x"}, {"y"})}});
  EXPECT_FALSE(
      import(calling({call("Outer", {"x"}, {"t"}), node({"Relu", {"t"}, {"y"}})}, {inner, outer})));
  ASSERT_EQ(problems_.size(), 1U);
  EXPECT_EQ(problems_[0], "model.onnx: node 0 (local.Outer, opset 1), function 'local.Outer', node "
                          "0 (local.Inner, opset 1), "
                          "function 'local.Inner', node 0 (Guess, opset 17): the operator 'Guess' "
                          "is not supported yet");
}

TEST_F(GraphImporterTest, passesLargeWeightsOfInnerGraphsAsArguments) {
  Message weight = rawTensor("w", DataType::Float, {100}, std::vector<float>(100, 0.5F));
  auto branch = [&](const std::string &opType) {
    return graph({.nodes = {node({opType, {"x", "w"}, {"r"}})},
                  .initializers = {weight},
                  .outputs = {valueInfo("r")}});
  };
  ASSERT_TRUE(import(
      graph({.nodes = {node({"If",
                             {"c"},
                             {"y"},
                             {graphAttribute("then_branch", branch("Add")),
                              graphAttribute("else_branch", branch("Mul"))}})},
             .inputs = {valueInfo("x", DataType::Float, {100}), valueInfo("c", DataType::Bool, {})},
             .outputs = {valueInfo("y")}})));
  EXPECT_EQ(imported_->weights.size(), 2U);
  EXPECT_EQ(count("tok.literal"), 0);
}

} // namespace
